// SPDX-License-Identifier: MIT
#include "quantized_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "nvdla/nvdla.hpp"

namespace nvdla::import_test {

double QuantizedInput::real(std::size_t index) const {
  return static_cast<double>(elements[index] - quantization.zero_point) *
         static_cast<double>(quantization.scale);
}

void QuantizedMaker::scale_of(const std::string& name, const Quantization& quantization) {
  maker.floats(name + ".scale", {}, {quantization.scale});
  maker.integers(name + ".zero", {}, {quantization.zero_point}, ::onnx::TensorProto::INT8);
}

QuantizedInput& QuantizedMaker::input(const std::string& name, const Sizes& sizes,
                                      const Quantization& quantization) {
  maker.input(name, sizes, ::onnx::TensorProto::INT8);
  scale_of(name, quantization);
  maker.node("DequantizeLinear", {name, name + ".scale", name + ".zero"}, {name + ".real"});
  QuantizedInput& input = inputs[name];
  input.name = name;
  input.quantization = quantization;
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  for (std::int64_t i = 0; i < count; ++i)
    input.elements.push_back(
        static_cast<std::int8_t>((i * 53 + 17 * (i / 7) + 91 * count_) % 256 - 128));
  ++count_;
  return input;
}

std::vector<double> QuantizedMaker::kernels(const std::string& name, const Sizes& sizes,
                                            const std::vector<float>& scales, std::int64_t axis) {
  std::int64_t count = 1, inner = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    count *= sizes[i];
    if (static_cast<std::int64_t>(i) > axis) inner *= sizes[i];
  }
  std::vector<std::int64_t> elements;
  std::vector<double> reals;
  for (std::int64_t i = 0; i < count; ++i) {
    elements.push_back((i * 37 + 11 * (i / 5)) % 255 - 127);
    const std::size_t scale =
        scales.size() == 1
            ? 0
            : static_cast<std::size_t>(i / inner % static_cast<std::int64_t>(scales.size()));
    reals.push_back(static_cast<double>(elements.back()) * static_cast<double>(scales[scale]));
  }
  maker.integers(name + ".integers", sizes, elements, ::onnx::TensorProto::INT8);
  const Sizes list = scales.size() == 1 ? Sizes{} : Sizes{static_cast<std::int64_t>(scales.size())};
  maker.floats(name + ".scale", list, scales);
  maker.integers(name + ".zero", list, std::vector<std::int64_t>(scales.size(), 0),
                 ::onnx::TensorProto::INT8);
  auto& node =
      maker.node("DequantizeLinear", {name + ".integers", name + ".scale", name + ".zero"}, {name});
  if (scales.size() > 1) set(node, "axis", axis);
  return reals;
}

void QuantizedMaker::quantize(const std::string& from, const std::string& to,
                              const Quantization& quantization) {
  scale_of(to, quantization);
  maker.node("QuantizeLinear", {from, to + ".scale", to + ".zero"}, {to});
}

void QuantizedMaker::output(const std::string& value, const Quantization& quantization) {
  output_ = quantization;
  quantize(value, "y", quantization);
  maker.output("y");
}

int QuantizedMaker::compare(const std::vector<double>& reals, double slack,
                            const ImportOptions& options, const std::string& configuration) {
  const ImportedModel model = maker.import(options, configuration);
  Request request = model.network.compile(Device::open("model:" + configuration)).create_request();
  for (const auto& [name, input] : inputs)
    request.write(name, Layout::kNchw, std::span<const std::int8_t>(input.elements));
  request.run();
  std::vector<std::int8_t> out(reals.size());
  request.read("y", Layout::kNchw, std::span<std::int8_t>(out));
  int ties = 0;
  for (std::size_t i = 0; i < reals.size(); ++i) {
    const double steps = reals[i] / static_cast<double>(output_.scale);
    const double right = std::clamp(std::round(steps) + output_.zero_point, -128.0, 127.0);
    if (out[i] == right) continue;
    const bool tie = std::fabs(std::fabs(steps - std::trunc(steps)) - 0.5) <= slack &&
                     std::fabs(out[i] - right) <= 1;
    EXPECT_TRUE(tie) << "element " << i << " is " << int{out[i]} << " on " << configuration
                     << "; right is " << right << ", of " << steps;
    ties += tie ? 1 : 0;
  }
  return ties;
}

int QuantizedMaker::expect(const std::vector<double>& reals, double slack,
                           const ImportOptions& options,
                           const std::vector<std::string>& configurations) {
  int most = 0;
  for (const std::string& configuration : configurations)
    most = std::max(most, compare(reals, slack, options, configuration));
  return most;
}

}  // namespace nvdla::import_test
