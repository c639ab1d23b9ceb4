// SPDX-License-Identifier: MIT
//
// Any bytes as an ONNX model end with a network or an error that says why not. The first byte
// chooses what the CPU may compute and whether the model is only checked.
#include <cstddef>
#include <cstdint>
#include <span>

#include "nvdla/import.hpp"
#include "nvdla/types/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  nvdla::ImportOptions options;
  options.cpu = (data[0] & 1) != 0 ? nvdla::CpuUse::kAll : nvdla::CpuUse::kNone;
  options.check = (data[0] & 2) != 0;
  const auto model = std::as_bytes(std::span(data, size).subspan(1));
  try {
    (void)nvdla::import_model(
        model, nvdla::configuration_info((data[0] & 4) != 0 ? "nv_small" : "nv_full"), options);
  } catch (const nvdla::Error&) {
  }
  return 0;
}
