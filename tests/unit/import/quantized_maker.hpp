// SPDX-License-Identifier: MIT
//
// Models in int8: operators between DequantizeLinear and QuantizeLinear, and what they have to
// give.
#ifndef NVDLA_TESTS_UNIT_IMPORT_QUANTIZED_MAKER_HPP
#define NVDLA_TESTS_UNIT_IMPORT_QUANTIZED_MAKER_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model_maker.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::import_test {

// An input of int8 with its elements, which follow from its number.
struct QuantizedInput {
  std::string name;
  Quantization quantization;
  std::vector<std::int8_t> elements;

  // Returns the real number that an element stands for.
  double real(std::size_t index) const;
};

// `QuantizedMaker` makes a model whose inputs and output are int8 with scales. Between them are
// nodes of real numbers.
class QuantizedMaker {
 public:
  explicit QuantizedMaker(std::int64_t opset = 13) : maker(opset) {}

  // Adds an input of int8; nodes read it as real numbers by the same name with ".real" behind it.
  QuantizedInput& input(const std::string& name, const Sizes& sizes,
                        const Quantization& quantization);
  // Adds kernels of int8 with scales along an axis, or one scale; returns their real numbers. Nodes
  // read them by `name`.
  std::vector<double> kernels(const std::string& name, const Sizes& sizes,
                              const std::vector<float>& scales, std::int64_t axis);
  // Quantises a value, which becomes the output "y".
  void output(const std::string& value, const Quantization& quantization);
  // Adds a QuantizeLinear of one value to another.
  void quantize(const std::string& from, const std::string& to, const Quantization& quantization);

  // Runs the model on each configuration and compares its output with the real numbers, rounded.
  // Results next to a tie, by `slack` steps or less, may be the other neighbour. Returns how many
  // are, on the configuration that has most.
  int expect(const std::vector<double>& reals, double slack = 1e-3,
             const ImportOptions& options = {},
             const std::vector<std::string>& configurations = {"nv_full", "nv_large", "nv_small"});

  ModelMaker maker;
  std::map<std::string, QuantizedInput> inputs;

 private:
  int compare(const std::vector<double>& reals, double slack, const ImportOptions& options,
              const std::string& configuration);
  void scale_of(const std::string& name, const Quantization& quantization);

  Quantization output_;
  int count_ = 0;
};

}  // namespace nvdla::import_test

#endif  // NVDLA_TESTS_UNIT_IMPORT_QUANTIZED_MAKER_HPP
