// SPDX-License-Identifier: MIT
//
// A context of the kernel. It lives as long as a job of it has not been asked how it ended: that is
// where the kernel says which layer hung.
#ifndef NVDLA_BACKEND_KERNEL_KERNEL_CONTEXT_HPP
#define NVDLA_BACKEND_KERNEL_KERNEL_CONTEXT_HPP

#include <cstdint>
#include <memory>
#include <optional>

#include "backend/kernel/node.hpp"

namespace nvdla::detail {

class KernelContext {
 public:
  // Throws kNoMemory, kGone.
  explicit KernelContext(std::shared_ptr<const Node> node);
  ~KernelContext();
  KernelContext(const KernelContext&) = delete;
  KernelContext& operator=(const KernelContext&) = delete;

  std::uint32_t id() const noexcept { return id_; }
  // The layer at which its guilty job hung; nothing without one.
  std::optional<std::uint32_t> guilty_layer() const noexcept;

 private:
  std::shared_ptr<const Node> node_;
  std::uint32_t id_ = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_KERNEL_CONTEXT_HPP
