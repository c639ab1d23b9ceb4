// SPDX-License-Identifier: MIT
#include "backend/model/model_backend.hpp"

#include <fmt/format.h>

#include <atomic>
#include <memory>

#include "backend/inprocess/address_space.hpp"
#include "backend/inprocess/local_backend.hpp"
#include "backend/model/model_buffer.hpp"
#include "backend/model/runner.hpp"
#include "nvdla/types/error.hpp"

namespace nvdla::detail {
namespace {

// `SramRoom` counts what buffers take of a secondary memory of limited size.
class SramRoom : public std::enable_shared_from_this<SramRoom> {
 public:
  explicit SramRoom(std::uint64_t size) : size_(size), free_(size) {}

  // Returns a buffer whose bytes become free with it. Throws kNoMemory.
  std::shared_ptr<LocalBuffer> allocate(DeviceId id, const std::shared_ptr<AddressSpace>& space,
                                        std::uint64_t bytes) {
    take(bytes);
    std::unique_ptr<LocalBuffer> buffer;
    try {
      buffer = std::make_unique<ModelBuffer>(id, space, bytes, Memory::kSram);
    } catch (...) {
      free_ += bytes;
      throw;
    }
    return {buffer.release(), [self = shared_from_this(), bytes](const LocalBuffer* freed) {
              delete freed;
              self->free_ += bytes;
            }};
  }

 private:
  void take(std::uint64_t bytes) {
    std::uint64_t free = free_;
    do {
      if (bytes > free) {
        throw Error(ErrorCode::kNoMemory,
                    fmt::format("no room for {} bytes in secondary memory: {} of {} are free",
                                bytes, free, size_));
      }
    } while (!free_.compare_exchange_weak(free, free - bytes));
  }

  const std::uint64_t size_;
  std::atomic<std::uint64_t> free_;
};

}  // namespace

std::shared_ptr<Backend> make_model_backend(const nvdla_hw& hw, const ModelOptions& given) {
  const model::Options options = {.quirks = model::silicon_quirks(hw),
                                  .threads = given.threads,
                                  .fast_half = given.fast_fp16,
                                  .memory = given.memory};
  LocalDevice device{.hw = &hw, .backend = "model"};
  device.fast_fp16 = given.fast_fp16;
  device.memory = memory_speed(given.memory);
  device.sram_bytes = given.sram_bytes;
  device.runner = std::make_unique<ModelRunner>(hw, options);
  const auto space = std::make_shared<AddressSpace>(hw.address_bits);
  const auto sram = given.sram_bytes == 0 ? nullptr : std::make_shared<SramRoom>(given.sram_bytes);
  device.allocate = [space, sram](DeviceId id, std::uint64_t bytes,
                                  Memory memory) -> std::shared_ptr<LocalBuffer> {
    if (sram == nullptr || memory != Memory::kSram)
      return std::make_shared<ModelBuffer>(id, space, bytes, memory);
    return sram->allocate(id, space, bytes);
  };
  // SRAM of limited size is counted as it is allocated.
  device.adopt = [space, sram](DeviceId id, const std::shared_ptr<HostPages>& pages,
                               Memory memory) -> std::shared_ptr<LocalBuffer> {
    if (sram != nullptr && memory == Memory::kSram) return nullptr;
    return std::make_shared<ModelBuffer>(id, space, pages, memory);
  };
  return make_local_backend(std::move(device));
}

}  // namespace nvdla::detail
