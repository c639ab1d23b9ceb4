// SPDX-License-Identifier: MIT
#include "model/pdp/pdp.hpp"

#include "cost/unit_cycles.hpp"

namespace nvdla::model {
namespace {

constexpr std::uint32_t kPdpDone = NVDLA_GLB_S_INTR_STATUS_PDP_DONE_STATUS0_MASK;

}  // namespace

bool Pdp::run(std::uint32_t& interrupts) {
  if (!stuck_.empty() || !registers_.running(NVDLA_UNIT_PDP)) return false;
  const PdpLayer layer = read_pdp(registers_);
  if (!layer.has_rdma) return false;
  stuck_ = pdp_fault(hw_, layer);
  if (!stuck_.empty()) return false;
  pass_.begin(layer);
  pass_.run_from_memory();
  interrupts = finish(layer);
  return true;
}

bool Pdp::takes_sdp() const {
  if (!stuck_.empty() || !registers_.running(NVDLA_UNIT_PDP)) return false;
  return !read_pdp(registers_).from_memory;
}

std::string Pdp::join(const SdpLayer& sdp) {
  flying_ = read_pdp(registers_);
  stuck_ = pdp_fault(hw_, flying_, sdp);
  return stuck_;
}

AtomSink& Pdp::begin() {
  pass_.begin(flying_);
  return pass_;
}

std::uint32_t Pdp::end() { return finish(flying_); }

std::uint32_t Pdp::finish(const PdpLayer& layer) {
  const PdpCounters counters = pass_.end();
  const auto latch = [&](std::uint32_t offset, std::uint32_t value) {
    registers_.set_statistic(NVDLA_UNIT_PDP, offset, value);
  };
  latch(NVDLA_PDP_D_NAN_INPUT_NUM, counters.nan_in);
  latch(NVDLA_PDP_D_INF_INPUT_NUM, counters.infinite_in);
  latch(NVDLA_PDP_D_NAN_OUTPUT_NUM, counters.nan_out);
  if (layer.has_rdma) {
    counters_.count_pdp(
        [&] { return cost::pdp_cycles(counters_.machine(), counters_.memory(), geometry(layer)); });
  } else {
    counters_.count_flying_pdp();
  }
  if (layer.has_rdma) registers_.finish(NVDLA_UNIT_PDP_RDMA);
  const std::uint32_t interrupts = kPdpDone << registers_.consumer(NVDLA_UNIT_PDP);
  registers_.finish(NVDLA_UNIT_PDP);
  return interrupts;
}

void Pdp::list_blocked(BlockedList& list) const {
  list.add_waiting_group(NVDLA_UNIT_PDP_RDMA);
  list.add_waiting_group(NVDLA_UNIT_PDP);
  const bool rdma = registers_.running(NVDLA_UNIT_PDP_RDMA);
  if (!registers_.running(NVDLA_UNIT_PDP)) {
    list.add(NVDLA_UNIT_PDP_RDMA, "waits for PDP to be enabled");
    return;
  }
  const bool from_memory = read_pdp(registers_).from_memory;
  std::string reason = stuck_;
  if (reason.empty())
    reason = from_memory ? (rdma ? "" : "waits for PDP_RDMA to be enabled")
                         : "waits for SDP with OUTPUT_DST PDP";
  if (reason.empty()) return;
  list.add(NVDLA_UNIT_PDP, reason);
  list.add(NVDLA_UNIT_PDP_RDMA,
           from_memory ? "waits for PDP: " + reason : "brings what PDP on the fly does not take");
}

}  // namespace nvdla::model
