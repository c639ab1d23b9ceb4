// SPDX-License-Identifier: MIT
#include "nvdla/operators/functions.hpp"

#include <algorithm>
#include <cmath>

namespace nvdla {

double gelu(double x) noexcept { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }

double sigmoid(double x) noexcept { return 1 / (1 + std::exp(-x)); }

double swish(double x) noexcept { return x / (1 + std::exp(-x)); }

// The exponent is never positive, so nothing overflows.
double softplus(double x) noexcept { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double mish(double x) noexcept { return x * std::tanh(softplus(x)); }

double hard_sigmoid(double x) noexcept { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }

double hard_swish(double x) noexcept { return x * hard_sigmoid(x); }

double leaky_relu(double x, double slope) noexcept { return x < 0 ? x * slope : x; }

double elu(double x, double alpha) noexcept { return x < 0 ? alpha * std::expm1(x) : x; }

}  // namespace nvdla
