// SPDX-License-Identifier: MIT
#include "common/lift/launches.hpp"

#include <algorithm>

namespace nvdla::test {

namespace {

constexpr std::uint32_t kOpEnables[] = NVDLA_UNIT_OP_ENABLES;
// PRODUCER has the same place in all units.
constexpr std::uint32_t kProducer = 1;

constexpr model::Unit kConvolution[] = {NVDLA_UNIT_CDMA, NVDLA_UNIT_CSC, NVDLA_UNIT_CMAC_A,
                                        NVDLA_UNIT_CMAC_B, NVDLA_UNIT_CACC};

constexpr std::uint32_t bit(model::Unit unit) { return 1u << unit; }

}  // namespace

void LaunchTracker::write(std::uint32_t byte_address, std::uint32_t value) {
  const auto* info = model::register_at(map_, byte_address);
  if (info == nullptr) return;
  const model::Unit unit = info->unit;
  if (unit == NVDLA_UNIT_BDMA) {
    transfers_.write(byte_address, value);
    if (info->offset == NVDLA_BDMA_CFG_LAUNCH0 && (value & 1) != 0) launch_transfers(0);
    if (info->offset == NVDLA_BDMA_CFG_LAUNCH1 && (value & 1) != 0) launch_transfers(1);
    return;
  }
  if (info->scope == model::Scope::kSingle) {
    if (info->name == "S_POINTER") producer_[unit] = value & kProducer;
    single_.write(byte_address, value);
    return;
  }
  groups_[unit][producer_[unit]][byte_address] = value;
  if (info->offset == kOpEnables[unit] && (value & 1) != 0) enable(unit, byte_address);
}

// The group keeps its registers, but is not enabled when its layer has ended.
void LaunchTracker::enable(model::Unit unit, std::uint32_t byte_address) {
  Values& group = groups_[unit][producer_[unit]];
  enabled_[unit].push_back({order_++, producer_[unit], group});
  group.erase(byte_address);
}

void LaunchTracker::launch_transfers(unsigned group) {
  enabled_[NVDLA_UNIT_BDMA].push_back({order_++, group, {}});
  launched_transfers_.push_back(transfers_);
  transfers_.forget_commands();
}

std::uint32_t LaunchTracker::field(model::Unit unit, std::uint32_t offset,
                                   std::uint32_t mask) const {
  const auto& values = enabled_[unit].front().values;
  const auto found = values.find(*model::unit_base(map_, unit) + offset);
  const std::uint32_t value =
      found != values.end() ? found->second : model::find_register(map_, unit, offset)->reset[map_];
  return value & mask;
}

// The SDP at hand takes what the read DMA brings: its input, or operands.
bool LaunchTracker::sdp_takes_reads() const {
  const auto set = [&](std::uint32_t offset, std::uint32_t mask) {
    return field(NVDLA_UNIT_SDP, offset, mask) != 0;
  };
  if (!set(NVDLA_SDP_D_FEATURE_MODE_CFG, NVDLA_SDP_D_FEATURE_MODE_CFG_FLYING_MODE_MASK))
    return true;
  // The operators have the same bits.
  static_assert(NVDLA_SDP_D_DP_BS_CFG_BS_MUL_BYPASS_MASK ==
                NVDLA_SDP_D_DP_EW_CFG_EW_MUL_BYPASS_MASK);
  constexpr struct {
    std::uint32_t config, alu, mul;
  } kOperators[] = {{NVDLA_SDP_D_DP_BS_CFG, NVDLA_SDP_D_DP_BS_ALU_CFG, NVDLA_SDP_D_DP_BS_MUL_CFG},
                    {NVDLA_SDP_D_DP_BN_CFG, NVDLA_SDP_D_DP_BN_ALU_CFG, NVDLA_SDP_D_DP_BN_MUL_CFG},
                    {NVDLA_SDP_D_DP_EW_CFG, NVDLA_SDP_D_DP_EW_ALU_CFG, NVDLA_SDP_D_DP_EW_MUL_CFG}};
  for (const auto& at : kOperators) {
    if (set(at.config, NVDLA_SDP_D_DP_BS_CFG_BS_BYPASS_MASK)) continue;
    if (!set(at.config, NVDLA_SDP_D_DP_BS_CFG_BS_ALU_BYPASS_MASK) &&
        set(at.alu, NVDLA_SDP_D_DP_BS_ALU_CFG_BS_ALU_SRC_MASK))
      return true;
    if (!set(at.config, NVDLA_SDP_D_DP_BS_CFG_BS_MUL_BYPASS_MASK) &&
        set(at.mul, NVDLA_SDP_D_DP_BS_MUL_CFG_BS_MUL_SRC_MASK))
      return true;
  }
  return false;
}

// A read DMA on the fly with all operands off ends at once, whatever SDP does.
void LaunchTracker::end_idle_reads() {
  const auto set = [&](std::uint32_t offset, std::uint32_t mask) {
    return field(NVDLA_UNIT_SDP_RDMA, offset, mask) != 0;
  };
  while (
      any(NVDLA_UNIT_SDP_RDMA) &&
      set(NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG_FLYING_MODE_MASK) &&
      set(NVDLA_SDP_RDMA_D_BRDMA_CFG, NVDLA_SDP_RDMA_D_BRDMA_CFG_BRDMA_DISABLE_MASK) &&
      set(NVDLA_SDP_RDMA_D_NRDMA_CFG, NVDLA_SDP_RDMA_D_NRDMA_CFG_NRDMA_DISABLE_MASK) &&
      set(NVDLA_SDP_RDMA_D_ERDMA_CFG, NVDLA_SDP_RDMA_D_ERDMA_CFG_ERDMA_DISABLE_MASK))
    enabled_[NVDLA_UNIT_SDP_RDMA].pop_front();
}

// SDP on its own, behind the convolution, before pooling.
void LaunchTracker::find_sdp(std::vector<Found>& found) const {
  if (!any(NVDLA_UNIT_SDP)) return;
  Found layer{bit(NVDLA_UNIT_SDP), enabled_[NVDLA_UNIT_SDP].front().order};
  const bool flying = field(NVDLA_UNIT_SDP, NVDLA_SDP_D_FEATURE_MODE_CFG,
                            NVDLA_SDP_D_FEATURE_MODE_CFG_FLYING_MODE_MASK) != 0;
  const bool pooled = field(NVDLA_UNIT_SDP, NVDLA_SDP_D_FEATURE_MODE_CFG,
                            NVDLA_SDP_D_FEATURE_MODE_CFG_OUTPUT_DST_MASK) != 0;
  const bool takes = sdp_takes_reads();
  const bool reads = takes && any(NVDLA_UNIT_SDP_RDMA) &&
                     (field(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG,
                            NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG_FLYING_MODE_MASK) != 0) == flying;
  if (reads) layer.units |= bit(NVDLA_UNIT_SDP_RDMA);
  if (takes && !reads) return;
  for (const model::Unit unit : kConvolution) {
    if (!flying) break;
    if (!any(unit)) return;
    layer.units |= bit(unit);
  }
  if (pooled) {
    if (!any(NVDLA_UNIT_PDP) || field(NVDLA_UNIT_PDP, NVDLA_PDP_D_OPERATION_MODE_CFG,
                                      NVDLA_PDP_D_OPERATION_MODE_CFG_FLYING_MODE_MASK) != 0)
      return;
    layer.units |= bit(NVDLA_UNIT_PDP);
  }
  found.push_back(layer);
}

std::vector<LaunchTracker::Found> LaunchTracker::find() const {
  std::vector<Found> found;
  find_sdp(found);
  if (any(NVDLA_UNIT_PDP) && any(NVDLA_UNIT_PDP_RDMA) &&
      field(NVDLA_UNIT_PDP, NVDLA_PDP_D_OPERATION_MODE_CFG,
            NVDLA_PDP_D_OPERATION_MODE_CFG_FLYING_MODE_MASK) != 0)
    found.push_back(
        {bit(NVDLA_UNIT_PDP) | bit(NVDLA_UNIT_PDP_RDMA), enabled_[NVDLA_UNIT_PDP].front().order});
  if (any(NVDLA_UNIT_CDP) && any(NVDLA_UNIT_CDP_RDMA))
    found.push_back(
        {bit(NVDLA_UNIT_CDP) | bit(NVDLA_UNIT_CDP_RDMA), enabled_[NVDLA_UNIT_CDP].front().order});
  for (const model::Unit unit : {NVDLA_UNIT_RBK, NVDLA_UNIT_BDMA}) {
    if (any(unit)) found.push_back({bit(unit), enabled_[unit].front().order});
  }
  return found;
}

Launch LaunchTracker::take(const Found& found) {
  Launch launch{single_, found.units, 0};
  if (found.units == bit(NVDLA_UNIT_BDMA)) {
    launch.registers = launched_transfers_.front();
    launched_transfers_.pop_front();
  }
  for (const auto& unit : model::units()) {
    if ((found.units & bit(unit.unit)) == 0) continue;
    const Enabled& group = enabled_[unit.unit].front();
    for (const auto& [byte_address, value] : group.values)
      launch.registers.write(byte_address, value);
    launch.groups |= group.group << unit.unit;
    enabled_[unit.unit].pop_front();
  }
  return launch;
}

std::vector<Launch> LaunchTracker::run() {
  std::vector<Launch> launches;
  end_idle_reads();
  for (auto found = find(); !found.empty(); found = find()) {
    const auto first = std::min_element(
        found.begin(), found.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
    launches.push_back(take(*first));
    end_idle_reads();
  }
  return launches;
}

std::uint32_t LaunchTracker::waiting() const noexcept {
  std::uint32_t units = 0;
  for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; unit++)
    units |= enabled_[unit].empty() ? 0u : 1u << unit;
  return units;
}

}  // namespace nvdla::test
