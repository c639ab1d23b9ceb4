// SPDX-License-Identifier: MIT
#include "model/core/counters.hpp"

#include <algorithm>

namespace nvdla::model::cycles {
namespace {

// Registers stop at all ones.
std::uint32_t fitting(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

}  // namespace

void Counters::set(Unit unit, std::uint32_t offset, std::uint64_t value) {
  registers_.set_statistic(unit, offset, fitting(value));
}

bool Counters::sdp_counts() const {
  return registers_.running(NVDLA_UNIT_SDP_RDMA) &&
         NVDLA_VIEW_FIELD(registers_.view(NVDLA_UNIT_SDP_RDMA), SDP_RDMA_D_PERF_ENABLE,
                          PERF_DMA_EN) != 0;
}

void Counters::set_sdp(const Stalls& stalls) {
  set(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_PERF_MRDMA_READ_STALL, stalls.sdp[0]);
  set(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_PERF_BRDMA_READ_STALL, stalls.sdp[1]);
  set(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_PERF_NRDMA_READ_STALL, stalls.sdp[2]);
  set(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_PERF_ERDMA_READ_STALL, stalls.sdp[3]);
}

void Counters::count(const ConvWork& work, const SdpLayer& sdp, const PdpLayer* pdp) {
  const bool cdma =
      NVDLA_VIEW_FIELD(registers_.view(NVDLA_UNIT_CDMA), CDMA_D_PERF_ENABLE, DMA_EN) != 0;
  const bool rdma = sdp_counts();
  if (!cdma && !rdma) return;
  const Stalls stalls = conv_cycles(hw_, memory_, work, sdp, pdp).stalls;
  if (rdma) set_sdp(stalls);
  if (!cdma) return;
  set(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_PERF_DAT_READ_STALL, stalls.data);
  set(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_PERF_WT_READ_STALL, stalls.weights);
  set(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_PERF_DAT_READ_LATENCY, stalls.data_latency);
  set(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_PERF_WT_READ_LATENCY,
      weight_latency_ ? stalls.weight_latency : 0);
}

void Counters::count(const SdpLayer& layer, const PdpLayer* pdp) {
  if (sdp_counts()) set_sdp(sdp_cycles(hw_, memory_, layer, pdp).stalls);
}

void Counters::count(const PdpLayer& layer) {
  set(NVDLA_UNIT_PDP, NVDLA_PDP_D_PERF_WRITE_STALL, 0);
  if (!layer.has_rdma) return;
  const bool enabled =
      NVDLA_VIEW_FIELD(registers_.view(NVDLA_UNIT_PDP_RDMA), PDP_RDMA_D_PERF_ENABLE, DMA_EN) != 0;
  set(NVDLA_UNIT_PDP_RDMA, NVDLA_PDP_RDMA_D_PERF_READ_STALL,
      enabled ? pdp_cycles(hw_, memory_, layer).stalls.pdp : 0);
}

void Counters::count(const CdpLayer& layer) {
  const bool enabled =
      NVDLA_VIEW_FIELD(registers_.view(NVDLA_UNIT_CDP_RDMA), CDP_RDMA_D_PERF_ENABLE, DMA_EN) != 0;
  set(NVDLA_UNIT_CDP, NVDLA_CDP_D_PERF_WRITE_STALL, 0);
  set(NVDLA_UNIT_CDP_RDMA, NVDLA_CDP_RDMA_D_PERF_READ_STALL,
      enabled ? cdp_cycles(hw_, memory_, layer).stalls.cdp : 0);
}

void Counters::count(const RubikLayer& layer) {
  const bool enabled =
      NVDLA_VIEW_FIELD(registers_.view(NVDLA_UNIT_RBK), RBK_D_PERF_ENABLE, PERF_EN) != 0;
  set(NVDLA_UNIT_RBK, NVDLA_RBK_D_PERF_WRITE_STALL, 0);
  set(NVDLA_UNIT_RBK, NVDLA_RBK_D_PERF_READ_STALL,
      enabled ? rubik_cycles(hw_, memory_, layer).stalls.rubik : 0);
}

void Counters::count_bdma(unsigned group, const Reads& moved) {
  if ((registers_.single(NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_STATUS) &
       NVDLA_BDMA_CFG_STATUS_STALL_COUNT_EN_MASK) == 0)
    return;
  registers_.set_single(
      NVDLA_UNIT_BDMA,
      group == 0 ? NVDLA_BDMA_STATUS_GRP0_READ_STALL : NVDLA_BDMA_STATUS_GRP1_READ_STALL,
      fitting(bdma_cycles(memory_, moved).stalls.bdma));
}

}  // namespace nvdla::model::cycles
