// SPDX-License-Identifier: MIT
//
// A buffer whose bytes this process reaches and whose address it tells the device.
#ifndef NVDLA_BACKEND_INPROCESS_LOCAL_BUFFER_HPP
#define NVDLA_BACKEND_INPROCESS_LOCAL_BUFFER_HPP

#include <cstddef>
#include <cstdint>

#include "backend/backend.hpp"

namespace nvdla::detail {

class LocalBuffer : public BufferImpl {
 public:
  std::byte* data() const noexcept { return data_; }
  std::uint64_t address() const noexcept { return address_; }
  // The CPU wrote; called by who did not map it.
  virtual void changed() noexcept = 0;

 protected:
  LocalBuffer(DeviceId device, std::uint64_t size, Memory memory) noexcept
      : BufferImpl(device, size, memory) {}
  void place(std::byte* data, std::uint64_t address) noexcept {
    data_ = data;
    address_ = address;
  }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t address_ = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INPROCESS_LOCAL_BUFFER_HPP
