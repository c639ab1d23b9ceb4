// SPDX-License-Identifier: MIT
//
// Any bytes as an ONNX model end with a network or an error that says why not. The first byte
// chooses what the CPU may compute, whether the model is only checked, and whether it is to be in
// int8, with a sample of its inputs.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nvdla/import.hpp"
#include "nvdla/types/error.hpp"

namespace {

// A sample takes as long as its elements, and more.
constexpr std::int64_t kMostElements = 4096;

// Has the model in int8, with one sample of small numbers.
void add_sample(std::span<const std::byte> model, nvdla::ImportOptions& options) {
  options.precision = nvdla::Precision::kInt8;
  nvdla::Sample sample;
  for (const nvdla::ImportedTensor& input : nvdla::read_model_inputs(model, options)) {
    std::int64_t count = 1;
    for (const std::int64_t size : input.sizes) count *= size;
    if (count > kMostElements) return;
    std::vector<float>& numbers = sample.emplace_back();
    for (std::int64_t i = 0; i < count; ++i)
      numbers.push_back(static_cast<float>(i * 7 % 23) / 11 - 1);
  }
  options.samples.push_back(std::move(sample));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  nvdla::ImportOptions options;
  options.cpu = (data[0] & 1) != 0 ? nvdla::CpuUse::kAll : nvdla::CpuUse::kNone;
  options.check = (data[0] & 2) != 0;
  const auto model = std::as_bytes(std::span(data, size).subspan(1));
  try {
    if ((data[0] & 8) != 0) add_sample(model, options);
    (void)nvdla::import_model(
        model, nvdla::configuration_info((data[0] & 4) != 0 ? "nv_small" : "nv_full"), options);
  } catch (const nvdla::Error&) {
  }
  return 0;
}
