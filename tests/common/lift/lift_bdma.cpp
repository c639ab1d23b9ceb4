// SPDX-License-Identifier: MIT
#include "common/lift/lift_units.hpp"

namespace nvdla::test {

std::vector<nvdla_transfer> lift_transfers(const LaunchRegisters& registers,
                                           const SurfaceAt& surface) {
  std::vector<nvdla_transfer> transfers;
  for (const auto& command : registers.commands()) {
    const auto value = [&](std::uint32_t offset) { return command.at(offset); };
    nvdla_transfer transfer{};
    transfer.line_bytes = (value(NVDLA_BDMA_CFG_LINE) + 1) * 32;
    transfer.lines = value(NVDLA_BDMA_CFG_LINE_REPEAT) + 1;
    transfer.surfaces = value(NVDLA_BDMA_CFG_SURF_REPEAT) + 1;
    const std::uint32_t cmd = value(NVDLA_BDMA_CFG_CMD);
    transfer.source =
        surface(cmd & NVDLA_BDMA_CFG_CMD_SRC_RAM_TYPE_MASK, value(NVDLA_BDMA_CFG_SRC_ADDR_HIGH),
                value(NVDLA_BDMA_CFG_SRC_ADDR_LOW), value(NVDLA_BDMA_CFG_SRC_LINE),
                value(NVDLA_BDMA_CFG_SRC_SURF));
    transfer.destination =
        surface(cmd & NVDLA_BDMA_CFG_CMD_DST_RAM_TYPE_MASK, value(NVDLA_BDMA_CFG_DST_ADDR_HIGH),
                value(NVDLA_BDMA_CFG_DST_ADDR_LOW), value(NVDLA_BDMA_CFG_DST_LINE),
                value(NVDLA_BDMA_CFG_DST_SURF));
    transfers.push_back(transfer);
  }
  return transfers;
}

}  // namespace nvdla::test
