// SPDX-License-Identifier: MIT
//
// Where counters are: the registers, and the bit that makes them count.
#include <string_view>

#include "lift/plan.hpp"

namespace nvdla::test {
namespace {

struct Source {
  std::uint32_t counter;
  std::string_view name;     // of the register
  std::string_view enabled;  // by this field of D_PERF_ENABLE in the same unit; always if empty
};

constexpr Source kSources[] = {
    {NVDLA_COUNTER_CDMA_NAN_DATA, "CDMA.D_NAN_INPUT_DATA_NUM", ""},
    {NVDLA_COUNTER_CDMA_NAN_WEIGHT, "CDMA.D_NAN_INPUT_WEIGHT_NUM", ""},
    {NVDLA_COUNTER_CDMA_INF_DATA, "CDMA.D_INF_INPUT_DATA_NUM", ""},
    {NVDLA_COUNTER_CDMA_INF_WEIGHT, "CDMA.D_INF_INPUT_WEIGHT_NUM", ""},
    {NVDLA_COUNTER_CACC_SATURATION, "CACC.D_OUT_SATURATION", ""},
    {NVDLA_COUNTER_SDP_RDMA_NAN, "SDP_RDMA.D_STATUS_NAN_INPUT_NUM", "PERF_NAN_INF_COUNT_EN"},
    {NVDLA_COUNTER_SDP_RDMA_INF, "SDP_RDMA.D_STATUS_INF_INPUT_NUM", "PERF_NAN_INF_COUNT_EN"},
    {NVDLA_COUNTER_SDP_UNEQUAL, "SDP.D_STATUS", ""},
    {NVDLA_COUNTER_SDP_NAN_OUT, "SDP.D_STATUS_NAN_OUTPUT_NUM", "PERF_NAN_INF_COUNT_EN"},
    {NVDLA_COUNTER_SDP_SATURATION, "SDP.D_PERF_OUT_SATURATION", "PERF_SAT_EN"},
    {NVDLA_COUNTER_SDP_LUT_UNDERFLOW, "SDP.D_PERF_LUT_UFLOW", "PERF_LUT_EN"},
    {NVDLA_COUNTER_SDP_LUT_OVERFLOW, "SDP.D_PERF_LUT_OFLOW", "PERF_LUT_EN"},
    {NVDLA_COUNTER_SDP_LUT_HYBRID, "SDP.D_PERF_LUT_HYBRID", "PERF_LUT_EN"},
    {NVDLA_COUNTER_SDP_LUT_LE_HIT, "SDP.D_PERF_LUT_LE_HIT", "PERF_LUT_EN"},
    {NVDLA_COUNTER_SDP_LUT_LO_HIT, "SDP.D_PERF_LUT_LO_HIT", "PERF_LUT_EN"},
    {NVDLA_COUNTER_PDP_NAN_IN, "PDP.D_NAN_INPUT_NUM", ""},
    {NVDLA_COUNTER_PDP_INF_IN, "PDP.D_INF_INPUT_NUM", ""},
    {NVDLA_COUNTER_PDP_NAN_OUT, "PDP.D_NAN_OUTPUT_NUM", ""},
    {NVDLA_COUNTER_CDP_NAN_IN, "CDP.D_NAN_INPUT_NUM", ""},
    {NVDLA_COUNTER_CDP_INF_IN, "CDP.D_INF_INPUT_NUM", ""},
    {NVDLA_COUNTER_CDP_NAN_OUT, "CDP.D_NAN_OUTPUT_NUM", ""},
    {NVDLA_COUNTER_CDP_SATURATION, "CDP.D_OUT_SATURATION", ""},
    {NVDLA_COUNTER_CDP_LUT_UNDERFLOW, "CDP.D_PERF_LUT_UFLOW", "LUT_EN"},
    {NVDLA_COUNTER_CDP_LUT_OVERFLOW, "CDP.D_PERF_LUT_OFLOW", "LUT_EN"},
    {NVDLA_COUNTER_CDP_LUT_HYBRID, "CDP.D_PERF_LUT_HYBRID", "LUT_EN"},
    {NVDLA_COUNTER_CDP_LUT_LE_HIT, "CDP.D_PERF_LUT_LE_HIT", "LUT_EN"},
    {NVDLA_COUNTER_CDP_LUT_LO_HIT, "CDP.D_PERF_LUT_LO_HIT", "LUT_EN"},
};

}  // namespace

std::optional<std::uint32_t> counter_of(model::RegisterMap map, std::uint32_t byte_address) {
  const auto* info = model::register_at(map, byte_address);
  if (info == nullptr) return std::nullopt;
  for (const auto& source : kSources) {
    if (model::find_register(source.name) == info) return source.counter;
  }
  return std::nullopt;
}

bool counts(const LaunchRegisters& launch, std::uint32_t counter) {
  for (const auto& source : kSources) {
    if (source.counter != counter) continue;
    if (source.enabled.empty()) return true;
    const auto* info = model::find_register(source.name);
    for (const auto& other : model::unit_info(info->unit).registers) {
      if (other.name != "D_PERF_ENABLE") continue;
      const auto* field = other.find_field(source.enabled);
      return (launch.read(other.unit, other.offset) & field->mask(launch.map())) != 0;
    }
  }
  return false;
}

}  // namespace nvdla::test
