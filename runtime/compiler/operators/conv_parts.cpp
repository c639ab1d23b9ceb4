// SPDX-License-Identifier: MIT
#include "compiler/operators/conv_parts.hpp"

#include <cmath>
#include <type_traits>

#include "nvdla/types/half.hpp"

namespace nvdla::detail {

Precision kernel_precision(const KernelSpan& weights) noexcept {
  constexpr Precision kByIndex[] = {Precision::kInt8, Precision::kInt16, Precision::kFp16,
                                    Precision::kFp16};
  return kByIndex[weights.index()];
}

std::size_t kernel_count(const KernelSpan& weights) noexcept {
  return std::visit([](const auto& span) { return span.size(); }, weights);
}

Kernels copy_kernels(const KernelSpan& weights, const WeightsDesc& d) {
  if (kernel_count(weights) != d.elements()) {
    throw_invalid_argument("{} weights given, {}x{}x{}x{} (KCRS) are {}", kernel_count(weights),
                           d.kernels, d.channels, d.kernel_height, d.kernel_width, d.elements());
  }
  return std::visit(
      [](const auto& span) -> Kernels {
        using T = std::remove_cvref_t<decltype(span[0])>;
        if constexpr (std::is_same_v<T, std::int8_t>) {
          return std::vector<std::int8_t>(span.begin(), span.end());
        } else {
          std::vector<std::int16_t> list;
          list.reserve(span.size());
          for (const T value : span) {
            if constexpr (std::is_same_v<T, float>) {
              list.push_back(static_cast<std::int16_t>(to_half(value)));
            } else {
              list.push_back(static_cast<std::int16_t>(value));
            }
          }
          return list;
        }
      },
      weights);
}

Precision conv_result(Precision processing, const std::optional<Precision>& wanted) {
  if (!wanted) return processing;
  check_precision(*wanted);
  // SDP on the fly works in what the convolution does.
  if (sdp_processing(processing, *wanted) != processing) {
    throw_invalid_argument(
        "a convolution in {} makes no {}: let a pointwise layer convert its result",
        precision_name(processing), precision_name(*wanted));
  }
  return *wanted;
}

bool nan_to_zero(const Arithmetic& arithmetic, Precision processing, Kernels& kernels) {
  check_nan_to_zero(arithmetic.nan_to_zero || arithmetic.nan_sums_to_zero, processing);
  if (!arithmetic.nan_to_zero) return false;
  // The logic reads NaN of kernels as zero where it does so for the input, the reference model does
  // not: zeros are the same for both.
  for (std::int16_t& bits : std::get<std::vector<std::int16_t>>(kernels)) {
    if (std::isnan(from_half(static_cast<std::uint16_t>(bits)))) bits = 0;
  }
  return true;
}

void check_bias(std::size_t integers, std::size_t reals, std::uint32_t kernels,
                Precision processing) {
  const bool half = processing == Precision::kFp16;
  if (half ? integers != 0 : reals != 0) {
    throw_invalid_argument("the layer works in {}, its bias is {}", precision_name(processing),
                           half ? "bias_reals" : "bias");
  }
  if (const std::size_t count = integers + reals; count != 0 && count != kernels) {
    throw_invalid_argument("{} bias values given, {} kernels need as many or none", count, kernels);
  }
}

}  // namespace nvdla::detail
