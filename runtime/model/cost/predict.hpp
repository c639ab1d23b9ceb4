// SPDX-License-Identifier: MIT
//
// How long the layer takes that registers describe.
#ifndef NVDLA_MODEL_COST_PREDICT_HPP
#define NVDLA_MODEL_COST_PREDICT_HPP

#include <optional>

#include "model/core/register_file.hpp"
#include "model/cost/layer_cycles.hpp"
#include "model/cost/memory_timing.hpp"

namespace nvdla::model::cycles {

// Layers one after another: what a convolution keeps in the buffer the next need not fetch.
class Predictor {
 public:
  Predictor(const nvdla_hw& hw, const MemoryTiming& memory) noexcept : hw_(hw), memory_(memory) {}

  // The layer of the groups at CONSUMER that are enabled, a legal one. None if no unit with groups
  // is.
  std::optional<LayerCycles> next(const RegisterFile& registers);

 private:
  LayerCycles convolution(const RegisterFile& registers);

  const nvdla_hw& hw_;
  MemoryTiming memory_;
  bool data_kept_ = false, weights_kept_ = false;
};

}  // namespace nvdla::model::cycles

#endif  // NVDLA_MODEL_COST_PREDICT_HPP
