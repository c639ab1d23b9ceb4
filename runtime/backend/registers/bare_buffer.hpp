// SPDX-License-Identifier: MIT
//
// Memory of a bare device as a buffer.
#ifndef NVDLA_BACKEND_REGISTERS_BARE_BUFFER_HPP
#define NVDLA_BACKEND_REGISTERS_BARE_BUFFER_HPP

#include <memory>
#include <utility>

#include "backend/inprocess/local_buffer.hpp"
#include "backend/registers/bare_device.hpp"

namespace nvdla::detail {

class BareBuffer final : public LocalBuffer {
 public:
  // Throws kNoMemory.
  BareBuffer(DeviceId id, std::shared_ptr<BareDevice> device, std::uint64_t bytes, Memory memory)
      : LocalBuffer(id, bytes, memory),
        device_(std::move(device)),
        memory_(device_->allocate(bytes, memory)) {
    place(memory_->data(), memory_->address());
  }

  std::byte* begin_access(MapMode mode) override {
    if (mode != MapMode::kWrite) memory_->sync_for_cpu();
    return data();
  }
  void end_access(MapMode mode) noexcept override {
    if (mode != MapMode::kRead) changed();
  }
  void changed() noexcept override { memory_->sync_for_device(); }
  // The device may go on writing there.
  void abandon() noexcept { memory_->abandon(); }

 private:
  std::shared_ptr<BareDevice> device_;
  std::unique_ptr<BareMemory> memory_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_BARE_BUFFER_HPP
