// SPDX-License-Identifier: MIT
//
// Predicted cycles of layers as registers describe them.
#ifndef NVDLA_MODEL_PREDICT_HPP
#define NVDLA_MODEL_PREDICT_HPP

#include <optional>

#include "cost/layer_cycles.hpp"
#include "cost/memory_timing.hpp"
#include "cost/sequence_cycles.hpp"
#include "model/conv/conv_layer.hpp"
#include "model/core/machine.hpp"
#include "model/core/register_file.hpp"
#include "model/pdp/pdp_layer.hpp"
#include "model/sdp/sdp_layer.hpp"

namespace nvdla::model {

// Predict a convolution or SDP from memory; `pdp` is the layer that takes SDP's results, or null.
cost::LayerCycles predict_conv(const cost::Machine& machine, const cost::MemoryTiming& memory,
                               const ConvLayer& layer, bool fetches_data, bool fetches_weights,
                               const SdpLayer& sdp, const PdpLayer* pdp);
cost::LayerCycles predict_sdp(const cost::Machine& machine, const cost::MemoryTiming& memory,
                              const SdpLayer& layer, const PdpLayer* pdp);

// `LayerReader` reads layers one after another: what a convolution keeps in the buffer the next
// need not fetch.
class LayerReader {
 public:
  // Returns the geometry of the layer of the groups at CONSUMER that are enabled, a legal one. None
  // if no unit with groups is.
  std::optional<cost::LayerGeometry> next(const RegisterFile& registers);

 private:
  cost::LayerGeometry convolution(const RegisterFile& registers);

  bool data_kept_ = false, weights_kept_ = false;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_PREDICT_HPP
