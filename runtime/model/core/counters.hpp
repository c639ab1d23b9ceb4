// SPDX-License-Identifier: MIT
//
// The registers in which units count what they waited for, filled from the predicted cycles. Only
// where counting is enabled; else the register has 0, and nothing is predicted.
#ifndef NVDLA_MODEL_CORE_COUNTERS_HPP
#define NVDLA_MODEL_CORE_COUNTERS_HPP

#include "cost/layer_cycles.hpp"
#include "cost/memory_timing.hpp"
#include "model/core/machine.hpp"
#include "model/core/register_file.hpp"

namespace nvdla::model {

// Each function counts the layers at CONSUMER, before they end. `predict` returns their
// cost::LayerCycles and is called only where a register wants them.
class Counters {
 public:
  // The logic of the second generation does not count the latency of weights (`weight_latency`).
  Counters(const nvdla_hw& hw, const cost::MemoryTiming& memory, RegisterFile& registers,
           bool weight_latency) noexcept
      : machine_(machine_of(hw)),
        memory_(memory),
        registers_(registers),
        weight_latency_(weight_latency) {}

  const cost::Machine& machine() const noexcept { return machine_; }
  const cost::MemoryTiming& memory() const noexcept { return memory_; }

  template <typename Predict>
  void count_conv(Predict predict) {
    if (cdma_counts() || sdp_counts()) set_conv(predict().stalls);
  }
  template <typename Predict>
  void count_sdp(Predict predict) {
    if (sdp_counts()) set_sdp(predict().stalls);
  }
  // PDP from memory; on the fly nothing is read.
  template <typename Predict>
  void count_pdp(Predict predict) {
    set_pdp(pdp_counts() ? predict().stalls.pdp : 0);
  }
  void count_flying_pdp();
  template <typename Predict>
  void count_cdp(Predict predict) {
    set_cdp(cdp_counts() ? predict().stalls.cdp : 0);
  }
  template <typename Predict>
  void count_rubik(Predict predict) {
    set_rubik(rubik_counts() ? predict().stalls.rubik : 0);
  }
  // `group` has no registers of its own.
  template <typename Predict>
  void count_bdma(unsigned group, Predict predict) {
    if (bdma_counts()) set_bdma(group, predict().stalls.bdma);
  }

 private:
  bool cdma_counts() const;
  bool sdp_counts() const;
  bool pdp_counts() const;
  bool cdp_counts() const;
  bool rubik_counts() const;
  bool bdma_counts() const;
  void set(Unit unit, std::uint32_t offset, std::uint64_t value);
  void set_conv(const cost::Stalls& stalls);
  void set_sdp(const cost::Stalls& stalls);
  void set_pdp(std::uint64_t stall);
  void set_cdp(std::uint64_t stall);
  void set_rubik(std::uint64_t stall);
  void set_bdma(unsigned group, std::uint64_t stall);

  cost::Machine machine_;
  cost::MemoryTiming memory_;
  RegisterFile& registers_;
  bool weight_latency_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_COUNTERS_HPP
