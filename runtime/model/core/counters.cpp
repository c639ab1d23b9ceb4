// SPDX-License-Identifier: MIT
#include "model/core/counters.hpp"

#include <algorithm>

namespace nvdla::model {
namespace {

// Registers stop at all ones.
std::uint32_t fitting(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

}  // namespace

void Counters::set(Unit unit, std::uint32_t offset, std::uint64_t value) {
  registers_.set_statistic(unit, offset, fitting(value));
}

bool Counters::cdma_counts() const {
  return NVDLA_VIEW_FIELD(registers_.view(NVDLA_UNIT_CDMA), CDMA_D_PERF_ENABLE, DMA_EN) != 0;
}

bool Counters::sdp_counts() const {
  return registers_.running(NVDLA_UNIT_SDP_RDMA) &&
         NVDLA_VIEW_FIELD(registers_.view(NVDLA_UNIT_SDP_RDMA), SDP_RDMA_D_PERF_ENABLE,
                          PERF_DMA_EN) != 0;
}

bool Counters::pdp_counts() const {
  return NVDLA_VIEW_FIELD(registers_.view(NVDLA_UNIT_PDP_RDMA), PDP_RDMA_D_PERF_ENABLE, DMA_EN) !=
         0;
}

bool Counters::cdp_counts() const {
  return NVDLA_VIEW_FIELD(registers_.view(NVDLA_UNIT_CDP_RDMA), CDP_RDMA_D_PERF_ENABLE, DMA_EN) !=
         0;
}

bool Counters::rubik_counts() const {
  return NVDLA_VIEW_FIELD(registers_.view(NVDLA_UNIT_RBK), RBK_D_PERF_ENABLE, PERF_EN) != 0;
}

bool Counters::bdma_counts() const {
  return (registers_.single(NVDLA_UNIT_BDMA, NVDLA_BDMA_CFG_STATUS) &
          NVDLA_BDMA_CFG_STATUS_STALL_COUNT_EN_MASK) != 0;
}

void Counters::set_conv(const cost::Stalls& stalls) {
  if (sdp_counts()) set_sdp(stalls);
  if (!cdma_counts()) return;
  set(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_PERF_DAT_READ_STALL, stalls.data);
  set(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_PERF_WT_READ_STALL, stalls.weights);
  set(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_PERF_DAT_READ_LATENCY, stalls.data_latency);
  set(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_PERF_WT_READ_LATENCY,
      weight_latency_ ? stalls.weight_latency : 0);
}

void Counters::set_sdp(const cost::Stalls& stalls) {
  set(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_PERF_MRDMA_READ_STALL, stalls.sdp[0]);
  set(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_PERF_BRDMA_READ_STALL, stalls.sdp[1]);
  set(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_PERF_NRDMA_READ_STALL, stalls.sdp[2]);
  set(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_PERF_ERDMA_READ_STALL, stalls.sdp[3]);
}

void Counters::count_flying_pdp() { set(NVDLA_UNIT_PDP, NVDLA_PDP_D_PERF_WRITE_STALL, 0); }

void Counters::set_pdp(std::uint64_t stall) {
  set(NVDLA_UNIT_PDP, NVDLA_PDP_D_PERF_WRITE_STALL, 0);
  set(NVDLA_UNIT_PDP_RDMA, NVDLA_PDP_RDMA_D_PERF_READ_STALL, stall);
}

void Counters::set_cdp(std::uint64_t stall) {
  set(NVDLA_UNIT_CDP, NVDLA_CDP_D_PERF_WRITE_STALL, 0);
  set(NVDLA_UNIT_CDP_RDMA, NVDLA_CDP_RDMA_D_PERF_READ_STALL, stall);
}

void Counters::set_rubik(std::uint64_t stall) {
  set(NVDLA_UNIT_RBK, NVDLA_RBK_D_PERF_WRITE_STALL, 0);
  set(NVDLA_UNIT_RBK, NVDLA_RBK_D_PERF_READ_STALL, stall);
}

void Counters::set_bdma(unsigned group, std::uint64_t stall) {
  registers_.set_single(
      NVDLA_UNIT_BDMA,
      group == 0 ? NVDLA_BDMA_STATUS_GRP0_READ_STALL : NVDLA_BDMA_STATUS_GRP1_READ_STALL,
      fitting(stall));
}

}  // namespace nvdla::model
