// SPDX-License-Identifier: MIT
//
// Operators that the CPU computes between two programs of the device, for loadables and for
// networks. nvdla/operators/cpu_operators.hpp specifies them.
#ifndef NVDLA_HOST_OPS_COMPUTE_HPP
#define NVDLA_HOST_OPS_COMPUTE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host_ops/cube.hpp"

namespace nvdla::cpu {

// Computes the softmax along the channels of each position. Source and target may be the same
// elements. Arithmetic is fp32, except for the sum, where the source has loadables' rounding; else
// double.
void softmax(const Source& from, const Target& to);

// Computes (shift + scale * x) ^ power, with the arithmetic of softmax().
struct PowerOf {
  float power = 1, scale = 1, shift = 0;
};
void power(const Source& from, const Target& to, const PowerOf& numbers);

// Writes the channel of the greatest element, the first of several. NaN is less than all others.
void argmax(const Source& from, const Target& to);

// Computes (x - mean) / sqrt(variance + epsilon) * gamma + beta along the channels of each
// position. An empty gamma is 1, an empty beta 0.
struct Normal {
  std::span<const float> gamma, beta;
  double epsilon = 0;
};
void normalise(const Source& from, const Target& to, const Normal& numbers);
// Does the same over the positions of each channel.
void normalise_positions(const Source& from, const Target& to, const Normal& numbers);

// Replaces each element by the entry of `table`, which has an element for each value of the
// source's bits.
void look_up(const Source& from, const Target& to, std::span<const std::byte> table);

// Transposes axes: axis i of the target (0 channels, 1 height, 2 width) is axis order[i] of the
// source.
void permute(const Source& from, const Target& to, const std::array<std::uint32_t, 3>& order);

// Copies the elements, in the order CHW, into a cube of another shape with as many elements.
void reshape(const Source& from, const Target& to);

// Multiplies matrices whose rows are positions and whose columns are channels: element j of row i
// is from.row(i) times b.row(j), or times b.column(j). `factor` is the worth of a product of
// elements without their zero points, in steps of the target.
void multiply(const Source& a, const Source& b, const Target& to, bool transposed, double factor);

}  // namespace nvdla::cpu

#endif  // NVDLA_HOST_OPS_COMPUTE_HPP
