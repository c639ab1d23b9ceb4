// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "backend/registers/mmio/dma_memory.hpp"
#include "backend/registers/mmio/io_memory.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr const char* kMemoryFile = "/dev/mem";

// Devices of x86 see what its caches hold. Elsewhere the mapping is none of a cache, and where the
// kernel has no map of the memory itself it is one of a device: words that are not aligned fault.
#if defined(__x86_64__) || defined(__i386__)
constexpr int kOpenFlags = 0;
constexpr bool kWordsOnly = false;
#else
constexpr int kOpenFlags = O_SYNC;
constexpr bool kWordsOnly = true;
#endif

class ReservedMemory final : public DmaMemory {
 public:
  ReservedMemory(const System& system, std::string_view name, const MemoryWindow& window)
      : bytes_(static_cast<std::size_t>(window.size)),
        file_(system.open(kMemoryFile, name, kOpenFlags)) {
    take_alone(file_, window.address, window.size, name);
    data_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(),
                   static_cast<off_t>(window.address));
    if (data_ == MAP_FAILED) {
      throw_error(ErrorCode::kNoDevice, "{}: memory at {:#x} cannot be mapped: {}", name,
                  window.address, std::strerror(errno));
    }
    ranges_.push_back({static_cast<std::byte*>(data_), window.address, window.size});
  }
  ~ReservedMemory() override { ::munmap(data_, bytes_); }

  bool words_only() const noexcept override { return kWordsOnly; }

 private:
  std::size_t bytes_;
  Descriptor file_;
  void* data_ = MAP_FAILED;
};

}  // namespace

std::unique_ptr<DmaMemory> make_reserved_memory(const System& system, std::string_view name,
                                                const MemoryWindow& window) {
  IoMemory(system, name).check_memory(window, name);
  return std::make_unique<ReservedMemory>(system, name, window);
}

}  // namespace nvdla::detail
