// SPDX-License-Identifier: MIT
#include "model/predict.hpp"

#include "cost/unit_cycles.hpp"
#include "model/cdp/cdp_layer.hpp"
#include "model/move/rubik.hpp"

namespace nvdla::model {

cost::LayerCycles predict_conv(const cost::Machine& machine, const cost::MemoryTiming& memory,
                               const ConvLayer& layer, bool fetches_data, bool fetches_weights,
                               const SdpLayer& sdp, const PdpLayer* pdp) {
  cost::ConvGeometry conv = geometry(layer);
  conv.fetches_data = fetches_data;
  conv.fetches_weights = fetches_weights;
  if (pdp == nullptr) return cost::conv_cycles(machine, memory, conv, geometry(sdp), nullptr);
  const cost::PdpGeometry pool = geometry(*pdp);
  return cost::conv_cycles(machine, memory, conv, geometry(sdp), &pool);
}

cost::LayerCycles predict_sdp(const cost::Machine& machine, const cost::MemoryTiming& memory,
                              const SdpLayer& layer, const PdpLayer* pdp) {
  if (pdp == nullptr) return cost::sdp_cycles(machine, memory, geometry(layer), nullptr);
  const cost::PdpGeometry pool = geometry(*pdp);
  return cost::sdp_cycles(machine, memory, geometry(layer), &pool);
}

cost::LayerCycles Predictor::convolution(const RegisterFile& registers) {
  const ConvLayer layer = read_conv(registers);
  const SdpLayer sdp = read_sdp(registers);
  const PdpLayer pdp = sdp.to_pdp ? read_pdp(registers) : PdpLayer{};
  const bool fetches_data = !(layer.data_reuse && data_kept_);
  const bool fetches_weights = !(layer.weight_reuse && weights_kept_);
  data_kept_ = layer.keep_data;
  weights_kept_ = layer.keep_weights;
  return predict_conv(machine_, memory_, layer, fetches_data, fetches_weights, sdp,
                      sdp.to_pdp ? &pdp : nullptr);
}

std::optional<cost::LayerCycles> Predictor::next(const RegisterFile& registers) {
  if (registers.running(NVDLA_UNIT_CDMA)) return convolution(registers);
  if (registers.running(NVDLA_UNIT_SDP)) {
    const SdpLayer sdp = read_sdp(registers);
    const PdpLayer pdp = sdp.to_pdp ? read_pdp(registers) : PdpLayer{};
    return predict_sdp(machine_, memory_, sdp, sdp.to_pdp ? &pdp : nullptr);
  }
  if (registers.running(NVDLA_UNIT_PDP))
    return cost::pdp_cycles(machine_, memory_, geometry(read_pdp(registers)));
  if (registers.running(NVDLA_UNIT_CDP))
    return cost::cdp_cycles(machine_, memory_, geometry(read_cdp(registers)));
  if (registers.running(NVDLA_UNIT_RBK))
    return cost::rubik_cycles(machine_, memory_,
                              geometry(read_rubik(registers.view(NVDLA_UNIT_RBK))));
  return std::nullopt;
}

}  // namespace nvdla::model
