// SPDX-License-Identifier: MIT
//
// PDP and PDP_RDMA as units of the device: when a layer starts, what it latches, why it waits.
#ifndef NVDLA_MODEL_PDP_PDP_HPP
#define NVDLA_MODEL_PDP_PDP_HPP

#include <cstdint>
#include <string>

#include "model/core/blocked_list.hpp"
#include "model/core/counters.hpp"
#include "model/pdp/pdp_pass.hpp"

namespace nvdla::model {

class Pdp {
 public:
  Pdp(const nvdla_hw& hw, RegisterFile& registers, Dma& dma, const UnitKernels& kernels,
      Quirks quirks, Counters& counters, ThreadPool& pool)
      : hw_(hw),
        registers_(registers),
        counters_(counters),
        pass_(hw, dma, kernels, quirks, pool) {}

  void reset() { stuck_.clear(); }

  // Runs a layer from memory if one is there and can; gives its interrupts.
  bool run(std::uint32_t& interrupts);

  // The layer at CONSUMER takes SDP's output; until then SDP is held back.
  bool takes_sdp() const;
  // Why SDP and this layer will never end together; then the layer is stuck.
  std::string join(const SdpLayer& sdp);
  // After join(): SDP's atoms go to the sink, then the layer ends.
  AtomSink& begin();
  std::uint32_t end();
  // The layer that was joined.
  const PdpLayer& flying() const noexcept { return flying_; }

  void list_blocked(BlockedList& list) const;

 private:
  std::uint32_t finish(const PdpLayer& layer);

  const nvdla_hw& hw_;
  RegisterFile& registers_;
  Counters& counters_;
  PdpPass pass_;
  PdpLayer flying_;
  std::string stuck_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_PDP_PDP_HPP
