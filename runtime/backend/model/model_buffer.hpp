// SPDX-License-Identifier: MIT
//
// A buffer of the model: host memory, an address, and a number that says when the bytes changed.
#ifndef NVDLA_BACKEND_MODEL_MODEL_BUFFER_HPP
#define NVDLA_BACKEND_MODEL_MODEL_BUFFER_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/backend.hpp"
#include "backend/inprocess/address_space.hpp"
#include "backend/inprocess/local_buffer.hpp"
#include "support/host_pages.hpp"

namespace nvdla::detail {

class ModelBuffer final : public LocalBuffer {
 public:
  // Zeroed. Throws kNoMemory.
  ModelBuffer(DeviceId device, std::shared_ptr<AddressSpace> space, std::uint64_t size,
              Memory memory);
  // Has these pages, which nobody writes to.
  ModelBuffer(DeviceId device, std::shared_ptr<AddressSpace> space,
              std::shared_ptr<HostPages> pages, Memory memory);
  ~ModelBuffer() override;

  std::byte* begin_access(MapMode mode) override;
  void end_access(MapMode mode) noexcept override;

  // Never the same for different contents, nor for different buffers.
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  void changed() noexcept override;

 private:
  std::uint64_t take_address() const;

  std::shared_ptr<AddressSpace> space_;
  std::shared_ptr<HostPages> pages_;  // where the bytes are not the buffer's own
  std::atomic<std::uint64_t> generation_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_MODEL_MODEL_BUFFER_HPP
