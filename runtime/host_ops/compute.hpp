// SPDX-License-Identifier: MIT
//
// Operators that the CPU does between two programs of the device: those that loadables leave to it,
// and those of networks. What they compute is said in nvdla/operators/cpu_operators.hpp.
#ifndef NVDLA_HOST_OPS_COMPUTE_HPP
#define NVDLA_HOST_OPS_COMPUTE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host_ops/cube.hpp"

namespace nvdla::cpu {

// Along channels, at each position. Source and target may be the same elements. In fp32, but for
// the sum, where the source is rounded as loadables are; else in doubles.
void softmax(const Source& from, const Target& to);

// (shift + scale * x) to the power; likewise.
struct PowerOf {
  float power = 1, scale = 1, shift = 0;
};
void power(const Source& from, const Target& to, const PowerOf& numbers);

// The channel of the greatest element, the first of several; NaN is less than all others.
void argmax(const Source& from, const Target& to);

// (x - mean) / sqrt(variance + epsilon) * gamma + beta, along channels at each position; no gamma
// is 1, no beta is 0.
struct Normal {
  std::span<const float> gamma, beta;
  double epsilon = 0;
};
void normalise(const Source& from, const Target& to, const Normal& numbers);
// The same over the positions of each channel.
void normalise_positions(const Source& from, const Target& to, const Normal& numbers);

// What `table` has for each element that there can be, as elements, by the bits of the source's.
void look_up(const Source& from, const Target& to, std::span<const std::byte> table);

// Axis i of the target (0 channels, 1 height, 2 width) is axis order[i] of the source.
void permute(const Source& from, const Target& to, const std::array<std::uint32_t, 3>& order);

// Gives as many elements another shape; their order, CHW, stays.
void reshape(const Source& from, const Target& to);

// Positions are rows, channels columns: from.row(i) times b.row(j), or b.column(j), for element j
// of row i. `factor` is what a product of elements without their zero points is worth in steps of
// the target.
void multiply(const Source& a, const Source& b, const Target& to, bool transposed, double factor);

}  // namespace nvdla::cpu

#endif  // NVDLA_HOST_OPS_COMPUTE_HPP
