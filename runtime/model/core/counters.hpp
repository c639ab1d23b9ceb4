// SPDX-License-Identifier: MIT
//
// The registers in which units count what they waited for, filled from the predicted cycles. Only
// where counting is enabled; else the register has 0, and nothing is predicted.
#ifndef NVDLA_MODEL_CORE_COUNTERS_HPP
#define NVDLA_MODEL_CORE_COUNTERS_HPP

#include "model/core/register_file.hpp"
#include "model/cost/move_cycles.hpp"
#include "model/cost/pipeline_cycles.hpp"

namespace nvdla::model::cycles {

class Counters {
 public:
  // The logic of the second generation does not count the latency of weights (`weight_latency`).
  Counters(const nvdla_hw& hw, const MemoryTiming& memory, RegisterFile& registers,
           bool weight_latency) noexcept
      : hw_(hw), memory_(memory), registers_(registers), weight_latency_(weight_latency) {}

  // Of the layers at CONSUMER, before they end. Writing never waits: nothing reads meanwhile that
  // would be in its way.
  void count(const ConvWork& work, const SdpLayer& sdp, const PdpLayer* pdp);
  void count(const SdpLayer& layer, const PdpLayer* pdp);
  void count(const PdpLayer& layer);
  void count(const CdpLayer& layer);
  void count(const RubikLayer& layer);
  // `group` has no registers of its own.
  void count_bdma(unsigned group, const Reads& moved);

  const nvdla_hw& hw() const noexcept { return hw_; }

 private:
  void set(Unit unit, std::uint32_t offset, std::uint64_t value);
  bool sdp_counts() const;
  void set_sdp(const Stalls& stalls);

  const nvdla_hw& hw_;
  MemoryTiming memory_;
  RegisterFile& registers_;
  bool weight_latency_;
};

}  // namespace nvdla::model::cycles

#endif  // NVDLA_MODEL_CORE_COUNTERS_HPP
