// SPDX-License-Identifier: MIT
//
// A buffer of the kernel driver, mapped for as long as it lives.
#ifndef NVDLA_BACKEND_KERNEL_KERNEL_BUFFER_HPP
#define NVDLA_BACKEND_KERNEL_KERNEL_BUFFER_HPP

#include <memory>

#include "backend/backend.hpp"
#include "backend/kernel/node.hpp"

namespace nvdla::detail {

class KernelBuffer final : public BufferImpl {
 public:
  // Throws kNoMemory, kNotAvailable. `coherent`: the device sees the CPU's caches.
  KernelBuffer(DeviceId device, std::shared_ptr<const Node> node, bool coherent, std::uint64_t size,
               Memory memory);
  ~KernelBuffer() override;

  std::byte* begin_access(MapMode mode) override;
  void end_access(MapMode mode) noexcept override;

  std::uint32_t handle() const noexcept { return handle_; }
  std::byte* data() const noexcept { return data_; }

 private:
  void sync(std::uint32_t direction) const noexcept;
  void close() noexcept;

  std::shared_ptr<const Node> node_;
  bool coherent_;
  std::uint32_t handle_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_KERNEL_BUFFER_HPP
