// SPDX-License-Identifier: MIT
//
// Throws errors about arguments: every message states what was found and what would be right.
#ifndef NVDLA_SUPPORT_CHECK_HPP
#define NVDLA_SUPPORT_CHECK_HPP

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "nvdla/types/error.hpp"

namespace nvdla::detail {

// The greatest side of a cube, in elements: the registers have 13 bits.
inline constexpr std::uint32_t kMaxSide = 8192;

template <typename... Args>
[[noreturn]] void throw_error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void throw_invalid_argument(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

// Throws an error that names `what` unless `value` is in min..max.
template <typename T>
void check_range(std::string_view what, T value, T min, T max) {
  if (value < min || value > max) {
    throw_invalid_argument("{} {} is not in {}..{}", what, value, min, max);
  }
}

// Runs `call` and adds `place`, and the index of the layer if there is one, to any error that it
// throws.
template <typename Call>
auto with_error_context(const std::string& place, std::optional<std::uint32_t> layer,
                        const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    nvdla_error detail = error.detail();
    if (layer) {
      detail.object = NVDLA_OBJECT_LAYER;
      detail.index = *layer;
    }
    throw Error(static_cast<ErrorCode>(error.code().value()),
                fmt::format("{}: {}", place, error.what()), detail);
  }
}

// "layer 3 'conv2'", or "layer 3" if it has no name.
inline std::string layer_text(std::size_t index, std::string_view name) {
  return name.empty() ? fmt::format("layer {}", index) : fmt::format("layer {} '{}'", index, name);
}

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_CHECK_HPP
