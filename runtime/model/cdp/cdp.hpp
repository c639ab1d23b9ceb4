// SPDX-License-Identifier: MIT
//
// CDP and CDP_RDMA as units of the device: when a layer starts, what it latches, why it waits.
#ifndef NVDLA_MODEL_CDP_CDP_HPP
#define NVDLA_MODEL_CDP_CDP_HPP

#include <cstdint>
#include <string>

#include "model/cdp/cdp_pass.hpp"
#include "model/core/blocked_list.hpp"
#include "model/core/counters.hpp"
#include "model/core/options.hpp"

namespace nvdla::model {

class Cdp {
 public:
  Cdp(const nvdla_hw& hw, RegisterFile& registers, Dma& dma, const UnitKernels& kernels,
      Quirks quirks, Counters& counters, ThreadPool& pool)
      : hw_(hw),
        registers_(registers),
        counters_(counters),
        quirks_(quirks),
        pass_(hw, dma, kernels, pool) {}

  void reset() { stuck_.clear(); }

  // Runs a layer if one is there and can; gives its interrupts.
  bool run(std::uint32_t& interrupts);
  void list_blocked(BlockedList& list) const;

 private:
  const nvdla_hw& hw_;
  RegisterFile& registers_;
  Counters& counters_;
  Quirks quirks_;
  CdpPass pass_;
  std::string stuck_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CDP_CDP_HPP
