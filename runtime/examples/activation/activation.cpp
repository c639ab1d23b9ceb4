// SPDX-License-Identifier: MIT
//
// An activation that nothing has ready-made: GELU as a look-up table, in int8 and in fp16, for
// every number that an int8 tensor can hold. main() is in ../main.cpp.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nvdla/nvdla.hpp>
#include <vector>

namespace {

// Numbers from -8 to 7.9375 in steps of 1/16.
constexpr nvdla::Quantization kInput{.scale = 1 / 16.0F};
constexpr int kCount = 256;

double gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }

// The greatest error that the device makes.
double greatest_error(const nvdla::Device& device, const nvdla::Lut& lut) {
  const nvdla::Precision precision = lut.format().precision;
  nvdla::Network network;
  const nvdla::Tensor x = network.input("x", {.channels = kCount}, precision, lut.format().input);
  nvdla::Pointwise layer{.name = "gelu"};
  lut.apply(layer);
  network.output(network.pointwise(x, layer), "y", lut.format().output);
  nvdla::Request request = network.build(device);

  std::vector<float> numbers(kCount), results(kCount);
  for (int i = 0; float& number : numbers) number = static_cast<float>(i++ - 128) * kInput.scale;
  request.write("x", nvdla::Layout::kNchw, numbers);
  request.run();
  request.read("y", nvdla::Layout::kNchw, results);
  double greatest = 0;
  for (int i = 0; i < kCount; ++i) {
    // int8 saturates: greater results become the greatest int8 value.
    double wanted = gelu(numbers[i]);
    if (precision == nvdla::Precision::kInt8)
      wanted = std::min(wanted, 127 * static_cast<double>(lut.format().output.scale));
    greatest = std::max(greatest, std::abs(results[i] - wanted) / std::max(1.0, wanted));
  }
  return greatest;
}

}  // namespace

bool run(const nvdla::Device& device) {
  nvdla::LutFormat bytes;
  bytes.input = kInput;
  bytes.output = {.scale = 1 / 16.0F};
  bytes.input_bits = 8;  // straight from the tensor
  const nvdla::Lut int8 = nvdla::Lut::fit(gelu, {}, bytes);
  const nvdla::Lut fp16 = nvdla::Lut::fit(gelu, {-8, 8}, nvdla::Precision::kFp16);

  bool good = true;
  for (const nvdla::Lut& lut : {int8, fp16}) {
    const double error = greatest_error(device, lut);
    const nvdla::LutReport& report = lut.report();
    std::printf("%s: found at most %.6f, reported %.6f at %g\n",
                lut.format().precision == nvdla::Precision::kInt8 ? "int8" : "fp16", error,
                report.error, report.input);
    good = good && error <= report.error + 1e-9;
  }
  return good;
}
