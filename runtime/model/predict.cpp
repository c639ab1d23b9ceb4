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

cost::LayerGeometry LayerReader::convolution(const RegisterFile& registers) {
  const ConvLayer layer = read_conv(registers);
  const SdpLayer sdp = read_sdp(registers);
  cost::LayerGeometry to{.kind = cost::LayerGeometry::Kind::kConv};
  to.conv = geometry(layer);
  to.conv.fetches_data = !(layer.data_reuse && data_kept_);
  to.conv.fetches_weights = !(layer.weight_reuse && weights_kept_);
  data_kept_ = layer.keep_data;
  weights_kept_ = layer.keep_weights;
  to.sdp = geometry(sdp);
  to.pooled = sdp.to_pdp;
  if (to.pooled) to.pdp = geometry(read_pdp(registers));
  return to;
}

std::optional<cost::LayerGeometry> LayerReader::next(const RegisterFile& registers) {
  using Kind = cost::LayerGeometry::Kind;
  if (registers.running(NVDLA_UNIT_CDMA)) return convolution(registers);
  cost::LayerGeometry to;
  if (registers.running(NVDLA_UNIT_SDP)) {
    const SdpLayer sdp = read_sdp(registers);
    to.kind = Kind::kSdp;
    to.sdp = geometry(sdp);
    to.pooled = sdp.to_pdp;
    if (to.pooled) to.pdp = geometry(read_pdp(registers));
  } else if (registers.running(NVDLA_UNIT_PDP)) {
    to.kind = Kind::kPdp;
    to.pdp = geometry(read_pdp(registers));
  } else if (registers.running(NVDLA_UNIT_CDP)) {
    to.kind = Kind::kCdp;
    to.cdp = geometry(read_cdp(registers));
  } else if (registers.running(NVDLA_UNIT_RBK)) {
    to.kind = Kind::kRubik;
    to.rubik = geometry(read_rubik(registers.view(NVDLA_UNIT_RBK)));
  } else {
    return std::nullopt;
  }
  return to;
}

}  // namespace nvdla::model
