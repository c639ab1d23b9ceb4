// SPDX-License-Identifier: MIT
//
// Everything that the CPU does between two programs of the device, as data: networks keep it,
// loadables have it written down, and both run it here.
#ifndef NVDLA_HOST_OPS_OPERATION_HPP
#define NVDLA_HOST_OPS_OPERATION_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "host_ops/average.hpp"
#include "host_ops/compute.hpp"
#include "host_ops/cube.hpp"

namespace nvdla::cpu {

struct SoftmaxOperation {
  Elements::Rounding rounding = Elements::Rounding::kNearest;
  Quantization input = {}, output = {};
};

struct PowerOperation {
  Elements::Rounding rounding = Elements::Rounding::kNearest;
  Quantization input = {}, output = {};
  PowerOf numbers = {};
};

// `TableOperation` has a result for each element that there can be, by the bits of the element.
struct TableOperation {
  std::shared_ptr<const std::vector<std::byte>> results;
};

// `NormalizationFields` are what both normalisations have.
struct NormalizationFields {
  Quantization input = {}, output = {};
  double epsilon = 0;
  std::vector<float> gamma = {}, beta = {};  // one for each channel, or none
};

// `NormalOperation` works over the channels of each position, `InstanceOperation` over the
// positions of each channel.
struct NormalOperation : NormalizationFields {};
struct InstanceOperation : NormalizationFields {};

// See multiply(); elements stand for multiples of a step, so that only zero points matter.
struct ProductOperation {
  std::int32_t a_zero_point = 0, b_zero_point = 0, output_zero_point = 0;
  bool transposed = false;
  double factor = 1;
};

struct ArgmaxOperation {};

struct AverageOperation {
  AverageWindow window = {};
};

struct ReshapeOperation {};

// Axis i of the output (0 channels, 1 height, 2 width) is axis order[i] of the input.
struct TransposeOperation {
  std::array<std::uint32_t, 3> order = {0, 1, 2};
};

struct Operation {
  std::variant<SoftmaxOperation, PowerOperation, TableOperation, NormalOperation, ProductOperation,
               ArgmaxOperation, AverageOperation, ReshapeOperation, TransposeOperation,
               InstanceOperation>
      kind;
};

// "softmax", "layer-normalization", ...: what loadables call it, too.
std::string_view operation_name(const Operation& operation);

// The bytes of a cube from its first one on; `desc` is resolved and no planes.
struct Input {
  TensorDesc desc;
  std::span<const std::byte> bytes;
};
struct Output {
  TensorDesc desc;
  std::span<std::byte> bytes;
};

// One input, of a product two. Lanes beyond the last channel of the output become zero.
void run(const Operation& operation, std::span<const Input> inputs, const Output& output);

}  // namespace nvdla::cpu

#endif  // NVDLA_HOST_OPS_OPERATION_HPP
