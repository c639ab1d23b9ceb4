// SPDX-License-Identifier: MIT
#include "nvdla/lowlevel/folding.hpp"

#include <algorithm>

#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/shape.hpp"
#include "packing/cbuf.hpp"
#include "packing/conv_steps.hpp"
#include "packing/fold_elements.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla {
namespace {

using arith::ceil_div;
using detail::kMaxSide;
using detail::throw_invalid_argument;

std::uint32_t lead_of(const nvdla_conv& c) {
  return (c.stride_width - c.pad_left % c.stride_width) % c.stride_width;
}

std::uint32_t folded_kernel(const nvdla_conv& c) {
  return static_cast<std::uint32_t>(ceil_div(c.kernel_width + lead_of(c), c.stride_width));
}

std::uint32_t folded_left(const nvdla_conv& c) {
  return (c.pad_left + lead_of(c)) / c.stride_width;
}

// Folded columns from the first of the input to the last that a window covers.
std::int64_t columns_used(const nvdla_conv& c) {
  return std::int64_t{conv_output(c).width} - 1 + folded_kernel(c) - folded_left(c);
}

std::uint64_t macs(const nvdla_conv& c) {
  const Shape out = conv_output(c);
  return std::uint64_t{c.kernels} * c.channels * c.kernel_height * c.kernel_width * out.height *
         out.width * std::max(c.batch, 1U);
}

template <typename T>
std::vector<T> fold_kernels(const nvdla_conv& conv, std::span<const T> kcrs) {
  const Folding f = fold_width(conv);
  const std::size_t rows = conv.kernel_height, columns = conv.kernel_width;
  const std::size_t kernels = conv.kernels, channels = conv.channels;
  if (kcrs.size() != kernels * channels * rows * columns) {
    throw_invalid_argument("{} weights given, {}x{}x{}x{} (KCRS) are {}", kcrs.size(), kernels,
                           channels, rows, columns, kernels * channels * rows * columns);
  }
  std::vector<T> folded(kernels * f.conv.channels * rows * f.conv.kernel_width);
  const T* source = kcrs.data();
  for (std::size_t k = 0; k < kernels; ++k) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t s = 0; s < columns; ++s, ++source) {
          const std::size_t tap = s + f.lead;
          const std::size_t channel = tap % f.columns * channels + c;
          folded[((k * f.conv.channels + channel) * rows + r) * f.conv.kernel_width +
                 tap / f.columns] = *source;
        }
      }
    }
  }
  return folded;
}

}  // namespace

const char* cannot_fold(const nvdla_conv& c) {
  if (c.mode != NVDLA_CONV_DIRECT) return "only direct convolutions are folded";
  if (c.in_precision == NVDLA_PRECISION_FP16 || c.proc_precision == NVDLA_PRECISION_FP16) {
    return "fp16 sums depend on their order, which folding changes";
  }
  if (c.stride_width < 2) return "a stride_width of 1 leaves nothing to fold";
  if (c.dilation_width != 1) return "kernels with a dilation_width have gaps that do not fold";
  if (std::uint64_t{c.channels} * c.stride_width > kMaxSide) {
    return "the folded tensor would have more than 8192 channels";
  }
  if (columns_used(c) < 1) return "its windows see padding only";
  return nullptr;
}

Folding fold_width(const nvdla_conv& conv) {
  if (const char* reason = cannot_fold(conv))
    throw_invalid_argument("not folded in width: {}", reason);
  Folding f;
  f.columns = conv.stride_width;
  f.lead = lead_of(conv);
  f.conv = conv;
  f.conv.stride_width = 1;
  f.conv.channels = conv.channels * f.columns;
  f.conv.kernel_width = folded_kernel(conv);
  f.conv.pad_left = folded_left(conv);
  const auto used = static_cast<std::uint32_t>(columns_used(conv));
  f.conv.width = std::min(static_cast<std::uint32_t>(ceil_div(conv.width, f.columns)), used);
  f.conv.pad_right = used - f.conv.width;
  f.shape.batch = conv.batch;
  f.shape.channels = f.conv.channels;
  f.shape.height = conv.height;
  f.shape.width = f.conv.width;
  return f;
}

std::vector<std::int8_t> fold_weights(const nvdla_conv& conv, std::span<const std::int8_t> kcrs) {
  return fold_kernels(conv, kcrs);
}

std::vector<std::int16_t> fold_weights(const nvdla_conv& conv, std::span<const std::int16_t> kcrs) {
  return fold_kernels(conv, kcrs);
}

std::vector<std::int8_t> fold_tensor(const nvdla_conv& conv, Layout layout,
                                     std::span<const std::int8_t> source) {
  return detail::fold_elements(conv, layout, source, static_cast<std::int8_t>(conv.pad_value));
}

std::vector<std::int16_t> fold_tensor(const nvdla_conv& conv, Layout layout,
                                      std::span<const std::int16_t> source) {
  return detail::fold_elements(conv, layout, source, static_cast<std::int16_t>(conv.pad_value));
}

double mac_utilisation(const DeviceInfo& info, const nvdla_conv& conv) {
  const double capacity =
      static_cast<double>(info.atomic_c) * static_cast<double>(detail::kernel_group(info, conv));
  return static_cast<double>(macs(conv)) /
         (static_cast<double>(detail::conv_steps(info, conv)) * capacity);
}

bool folding_pays(const DeviceInfo& info, const nvdla_conv& conv) {
  // The same products are useful either way, so fewer steps are a higher utilisation.
  return cannot_fold(conv) == nullptr &&
         detail::conv_steps(info, fold_width(conv).conv) < detail::conv_steps(info, conv);
}

}  // namespace nvdla
