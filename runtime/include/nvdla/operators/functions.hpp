// SPDX-License-Identifier: MIT
//
/// @file
/// Functions of one number that networks ask for: of activations (Network::activation()), and of
/// what the CPU computes (Network::apply()). Others are any function of the application.
#ifndef NVDLA_OPERATORS_FUNCTIONS_HPP
#define NVDLA_OPERATORS_FUNCTIONS_HPP

#include "nvdla/types/export.hpp"

namespace nvdla {

/// x / 2 * (1 + erf(x / sqrt(2)))
NVDLA_API double gelu(double x) noexcept;
NVDLA_API double sigmoid(double x) noexcept;   ///< 1 / (1 + e^-x)
NVDLA_API double swish(double x) noexcept;     ///< x / (1 + e^-x), SiLU
NVDLA_API double softplus(double x) noexcept;  ///< ln(1 + e^x)
NVDLA_API double mish(double x) noexcept;      ///< x * tanh(ln(1 + e^x))
/// x / 6 + 1 / 2, from 0 to 1
NVDLA_API double hard_sigmoid(double x) noexcept;
/// x * hard_sigmoid(x)
NVDLA_API double hard_swish(double x) noexcept;
/// x, or where it is negative x * slope
NVDLA_API double leaky_relu(double x, double slope) noexcept;
/// x, or where it is negative alpha * (e^x - 1)
NVDLA_API double elu(double x, double alpha = 1) noexcept;

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_FUNCTIONS_HPP
