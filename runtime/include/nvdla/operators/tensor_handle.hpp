// SPDX-License-Identifier: MIT
//
/// @file
/// The handle of a tensor of a network.
#ifndef NVDLA_OPERATORS_TENSOR_HANDLE_HPP
#define NVDLA_OPERATORS_TENSOR_HANDLE_HPP

#include <cstdint>

#include "nvdla/types/export.hpp"

namespace nvdla {

namespace detail {
struct TensorHandle;
}

/// A tensor of the network that returned it, also after that was moved. Any other network, and a
/// network that took the place of this one, refuses it as kInvalidArgument, as does every call that
/// needs a tensor and is given an empty handle.
class Tensor {
 public:
  /// An empty handle: no tensor.
  constexpr Tensor() noexcept = default;
  /// True unless the handle is empty.
  constexpr explicit operator bool() const noexcept { return network_ != 0; }
  /// True for handles of the same tensor.
  friend constexpr bool operator==(const Tensor&, const Tensor&) noexcept = default;

 private:
  friend struct detail::TensorHandle;
  std::uint64_t network_ = 0;  ///< no two networks of a process have the same number
  std::uint32_t index_ = 0;
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_TENSOR_HANDLE_HPP
