// SPDX-License-Identifier: MIT
#include "backend/model/model_buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>
#include <new>

#include "nvdla/types/error.hpp"

namespace nvdla::detail {
namespace {

constexpr std::align_val_t kHostAlignment{64};
// From here on zero pages of the system: nothing is touched that is not used.
constexpr std::uint64_t kPagesFrom = 1 << 20;

std::uint64_t new_generation() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::byte* take_memory(std::uint64_t size) {
  if (size > SIZE_MAX / 2) return nullptr;
  const auto bytes = static_cast<std::size_t>(size);
  if (size >= kPagesFrom) {
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages);
  }
  void* memory = ::operator new(bytes, kHostAlignment, std::nothrow);
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return static_cast<std::byte*>(memory);
}

void give_memory_back(std::byte* data, std::uint64_t size) noexcept {
  if (size >= kPagesFrom) {
    munmap(data, static_cast<std::size_t>(size));
  } else {
    ::operator delete(data, kHostAlignment);
  }
}

}  // namespace

std::uint64_t ModelBuffer::take_address() const {
  const auto address = space_->take(size());
  if (!address) {
    throw Error(ErrorCode::kNoMemory,
                fmt::format("no room for {} bytes in the device's address space", size()));
  }
  return *address;
}

ModelBuffer::ModelBuffer(DeviceId device, std::shared_ptr<AddressSpace> space, std::uint64_t size,
                         Memory memory)
    : LocalBuffer(device, size, memory), space_(std::move(space)), generation_(new_generation()) {
  const std::uint64_t address = take_address();
  std::byte* const data = take_memory(size);
  if (data == nullptr) {
    space_->give_back(address);
    throw Error(ErrorCode::kNoMemory, fmt::format("no memory for a buffer of {} bytes", size));
  }
  place(data, address);
}

ModelBuffer::ModelBuffer(DeviceId device, std::shared_ptr<AddressSpace> space,
                         std::shared_ptr<HostPages> pages, Memory memory)
    : LocalBuffer(device, pages->size(), memory),
      space_(std::move(space)),
      pages_(std::move(pages)),
      generation_(new_generation()) {
  place(pages_->data(), take_address());
}

ModelBuffer::~ModelBuffer() {
  space_->give_back(address());
  if (pages_ == nullptr) give_memory_back(data(), size());
}

std::byte* ModelBuffer::begin_access(MapMode mode) {
  // Also at the beginning: whoever looks while a map is open must not trust what it kept.
  if (mode != MapMode::kRead) changed();
  return data();
}

void ModelBuffer::end_access(MapMode mode) noexcept {
  if (mode != MapMode::kRead) changed();
}

void ModelBuffer::changed() noexcept {
  generation_.store(new_generation(), std::memory_order_release);
}

}  // namespace nvdla::detail
