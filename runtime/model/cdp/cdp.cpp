// SPDX-License-Identifier: MIT
#include "model/cdp/cdp.hpp"

#include "cost/unit_cycles.hpp"

namespace nvdla::model {
namespace {

constexpr std::uint32_t kCdpDone = NVDLA_GLB_S_INTR_STATUS_CDP_DONE_STATUS0_MASK;

}  // namespace

bool Cdp::run(std::uint32_t& interrupts) {
  if (!stuck_.empty() || !registers_.running(NVDLA_UNIT_CDP)) return false;
  const CdpLayer layer = read_cdp(registers_);
  if (!layer.has_rdma) return false;
  stuck_ = cdp_fault(hw_, layer);
  if (!stuck_.empty()) return false;
  // The reference model counts whatever LUT_EN says.
  const bool count = layer.count_lut || quirks_ == Quirks::kCmodel;
  const CdpCounters counters = pass_.run(layer, count);
  const auto latch = [&](std::uint32_t offset, std::uint32_t value) {
    registers_.set_statistic(NVDLA_UNIT_CDP, offset, value);
  };
  latch(NVDLA_CDP_D_NAN_INPUT_NUM, counters.nan_in);
  latch(NVDLA_CDP_D_INF_INPUT_NUM, counters.infinite_in);
  latch(NVDLA_CDP_D_NAN_OUTPUT_NUM, counters.nan_out);
  // Tied to 0 in the logic of the second generation.
  const bool saturates = hw_.regmap == NVDLA_REGMAP_NV_FULL || quirks_ == Quirks::kCmodel;
  latch(NVDLA_CDP_D_OUT_SATURATION, saturates ? counters.saturated : 0);
  latch(NVDLA_CDP_D_PERF_LUT_UFLOW, count ? counters.underflow : 0);
  latch(NVDLA_CDP_D_PERF_LUT_OFLOW, count ? counters.overflow : 0);
  latch(NVDLA_CDP_D_PERF_LUT_HYBRID, count ? counters.hybrid : 0);
  latch(NVDLA_CDP_D_PERF_LUT_LE_HIT, count ? counters.le_hit : 0);
  latch(NVDLA_CDP_D_PERF_LUT_LO_HIT, count ? counters.lo_hit : 0);
  counters_.count_cdp(
      [&] { return cost::cdp_cycles(counters_.machine(), counters_.memory(), geometry(layer)); });
  registers_.finish(NVDLA_UNIT_CDP_RDMA);
  interrupts = kCdpDone << registers_.consumer(NVDLA_UNIT_CDP);
  registers_.finish(NVDLA_UNIT_CDP);
  return true;
}

void Cdp::list_blocked(BlockedList& list) const {
  list.add_waiting_group(NVDLA_UNIT_CDP_RDMA);
  list.add_waiting_group(NVDLA_UNIT_CDP);
  if (!registers_.running(NVDLA_UNIT_CDP)) {
    list.add(NVDLA_UNIT_CDP_RDMA, "waits for CDP to be enabled");
  } else if (!registers_.running(NVDLA_UNIT_CDP_RDMA)) {
    list.add(NVDLA_UNIT_CDP, "waits for CDP_RDMA to be enabled");
  } else if (!stuck_.empty()) {
    list.add(NVDLA_UNIT_CDP, stuck_);
    list.add(NVDLA_UNIT_CDP_RDMA, "waits for CDP: " + stuck_);
  }
}

}  // namespace nvdla::model
