// SPDX-License-Identifier: MIT
#include "model/cost/predict.hpp"

#include "model/cost/move_cycles.hpp"
#include "model/cost/pipeline_cycles.hpp"

namespace nvdla::model::cycles {

LayerCycles Predictor::convolution(const RegisterFile& registers) {
  const ConvLayer layer = read_conv(registers);
  const SdpLayer sdp = read_sdp(registers);
  const PdpLayer pdp = sdp.to_pdp ? read_pdp(registers) : PdpLayer{};
  const ConvWork work = {.layer = layer,
                         .data = !(layer.data_reuse && data_kept_),
                         .weights = !(layer.weight_reuse && weights_kept_)};
  data_kept_ = layer.keep_data;
  weights_kept_ = layer.keep_weights;
  return conv_cycles(hw_, memory_, work, sdp, sdp.to_pdp ? &pdp : nullptr);
}

std::optional<LayerCycles> Predictor::next(const RegisterFile& registers) {
  if (registers.running(NVDLA_UNIT_CDMA)) return convolution(registers);
  if (registers.running(NVDLA_UNIT_SDP)) {
    const SdpLayer sdp = read_sdp(registers);
    const PdpLayer pdp = sdp.to_pdp ? read_pdp(registers) : PdpLayer{};
    return sdp_cycles(hw_, memory_, sdp, sdp.to_pdp ? &pdp : nullptr);
  }
  if (registers.running(NVDLA_UNIT_PDP)) return pdp_cycles(hw_, memory_, read_pdp(registers));
  if (registers.running(NVDLA_UNIT_CDP)) return cdp_cycles(hw_, memory_, read_cdp(registers));
  if (registers.running(NVDLA_UNIT_RBK))
    return rubik_cycles(hw_, memory_, read_rubik(registers.view(NVDLA_UNIT_RBK)));
  return std::nullopt;
}

}  // namespace nvdla::model::cycles
