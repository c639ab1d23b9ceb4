// SPDX-License-Identifier: MIT
//
// Look-up tables in layers of networks.
#include "lut/lut_state.hpp"
#include "nvdla/operators/convolution.hpp"
#include "nvdla/operators/normalization.hpp"
#include "nvdla/operators/pointwise.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/precision.hpp"
#include "support/check.hpp"

namespace nvdla {
namespace {

// fp16 has no converters: one that changes nothing stands for that.
Converter converter(const nvdla_convert& c, Precision precision) {
  if (precision == Precision::kFp16) return {};
  return {c.offset, static_cast<std::int16_t>(c.scale), c.truncate};
}

const nvdla_lut* table_for(const Lut& lut, std::uint32_t unit, const char* layer) {
  if (lut.table().unit != unit) {
    detail::throw_invalid_argument("a {} looks up in {}, the table is for {}", layer,
                                   unit == NVDLA_LUT_SDP ? "SDP" : "CDP",
                                   unit == NVDLA_LUT_SDP ? "CDP" : "SDP");
  }
  return &lut.table();
}

}  // namespace

void Lut::apply(Convolution& layer) const {
  layer.y.lut = table_for(*this, NVDLA_LUT_SDP, "convolution");
  layer.output = converter(state_->output, state_->format.precision);
  layer.precision = state_->format.precision;
}

void Lut::apply(Pointwise& layer) const {
  layer.y.lut = table_for(*this, NVDLA_LUT_SDP, "pointwise layer");
  layer.output = converter(state_->output, state_->format.precision);
  layer.precision = state_->format.precision;
}

void Lut::apply(Normalization& layer) const {
  layer.lut = table_for(*this, NVDLA_LUT_CDP, "normalisation");
  layer.window = state_->window;
  layer.input = converter(state_->input, state_->format.precision);
  layer.output = converter(state_->output, state_->format.precision);
  if (state_->format.precision != Precision::kFp16) layer.quantization = state_->format.output;
}

}  // namespace nvdla
