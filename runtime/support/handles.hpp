// SPDX-License-Identifier: MIT
//
// From public handles to what is behind them, and back. For the library only.
#ifndef NVDLA_SUPPORT_HANDLES_HPP
#define NVDLA_SUPPORT_HANDLES_HPP

#include <memory>
#include <utility>

namespace nvdla::detail {

struct Handles {
  template <typename Handle>
  static const auto& impl(const Handle& handle) noexcept {
    return handle.impl_;
  }
  template <typename Handle, typename Impl>
  static Handle make(std::shared_ptr<Impl> impl) {
    return Handle(std::move(impl));
  }
};

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_HANDLES_HPP
