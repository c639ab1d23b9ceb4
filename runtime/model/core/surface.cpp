// SPDX-License-Identifier: MIT
#include "model/core/surface.hpp"

namespace nvdla::model {

const char* precision_name(Precision precision) noexcept {
  switch (precision) {
    case Precision::kInt8:
      return "int8";
    case Precision::kInt16:
      return "int16";
    case Precision::kFp16:
      return "fp16";
  }
  return "reserved precision 3";
}

void announce_lines(Dma& dma, Ram ram, std::uint64_t base, std::uint64_t stride,
                    std::uint64_t lines, std::uint64_t bytes) noexcept {
  if (stride <= 2 * bytes) {
    dma.written(ram, base, (lines - 1) * stride + bytes);
    return;
  }
  for (std::uint64_t y = 0; y < lines; ++y) dma.written(ram, base + y * stride, bytes);
}

}  // namespace nvdla::model
