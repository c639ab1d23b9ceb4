// SPDX-License-Identifier: MIT
#include "host_ops/operation.hpp"

#include "host_ops/compute.hpp"

namespace nvdla::cpu {
namespace {

struct Name {
  std::string_view operator()(const SoftmaxOperation&) const { return "softmax"; }
  std::string_view operator()(const PowerOperation&) const { return "power"; }
  std::string_view operator()(const TableOperation&) const { return "table"; }
  std::string_view operator()(const NormalOperation&) const { return "layer-normalization"; }
  std::string_view operator()(const InstanceOperation&) const { return "instance-normalization"; }
  std::string_view operator()(const ProductOperation&) const { return "product"; }
  std::string_view operator()(const ArgmaxOperation&) const { return "argmax"; }
  std::string_view operator()(const AverageOperation&) const { return "average"; }
  std::string_view operator()(const ReshapeOperation&) const { return "reshape"; }
  std::string_view operator()(const TransposeOperation&) const { return "transpose"; }
};

class Runner {
 public:
  Runner(std::span<const Input> inputs, const Output& output) : inputs_(inputs), output_(output) {}

  void operator()(const SoftmaxOperation& op) const {
    softmax(source(0, op.input, op.rounding), target(op.output, op.rounding));
  }
  void operator()(const PowerOperation& op) const {
    power(source(0, op.input, op.rounding), target(op.output, op.rounding), op.numbers);
  }
  void operator()(const TableOperation& op) const { look_up(source(0), target(), *op.results); }
  void operator()(const NormalOperation& op) const {
    normalise(source(0, op.input), target(op.output), {op.gamma, op.beta, op.epsilon});
  }
  void operator()(const InstanceOperation& op) const {
    normalise_positions(source(0, op.input), target(op.output), {op.gamma, op.beta, op.epsilon});
  }
  void operator()(const ProductOperation& op) const {
    multiply(source(0, {1, op.a_zero_point}), source(1, {1, op.b_zero_point}),
             target({1, op.output_zero_point}), op.transposed, op.factor);
  }
  void operator()(const ArgmaxOperation&) const { argmax(source(0), target()); }
  void operator()(const AverageOperation& op) const { average(source(0), target(), op.window); }
  void operator()(const ReshapeOperation&) const { reshape(source(0), target()); }
  void operator()(const TransposeOperation& op) const { permute(source(0), target(), op.order); }

 private:
  using Rounding = Elements::Rounding;

  Source source(std::size_t index, const Quantization& quantization = {},
                Rounding rounding = Rounding::kNearest) const {
    const Input& from = inputs_[index];
    return {CubeLayout(from.desc), {from.desc.precision, quantization, rounding}, from.bytes};
  }
  Target target(const Quantization& quantization = {},
                Rounding rounding = Rounding::kNearest) const {
    const Target to(CubeLayout(output_.desc), {output_.desc.precision, quantization, rounding},
                    output_.bytes);
    to.clear_lanes();
    return to;
  }

  std::span<const Input> inputs_;
  const Output& output_;
};

}  // namespace

std::string_view operation_name(const Operation& operation) {
  return std::visit(Name(), operation.kind);
}

void run(const Operation& operation, std::span<const Input> inputs, const Output& output) {
  std::visit(Runner(inputs, output), operation.kind);
}

}  // namespace nvdla::cpu
