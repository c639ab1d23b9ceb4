// SPDX-License-Identifier: MIT
#include "tools/replay/targets/model_target.hpp"

#include <fmt/format.h>

#include "model/core/register_info.hpp"

namespace nvdla::replay {

ModelTarget::ModelTarget(const nvdla_hw& hw, const model::Options& options,
                         model::Memory::Spaces spaces)
    : memory_(spaces), device_(hw, memory_, options) {
  // Reset has ended before anything is played: a trace may read once, where a driver polls, that
  // the convolution buffer is cleared.
  while (device_.step()) {
  }
}

std::uint32_t ModelTarget::read(std::uint32_t offset) { return device_.read(offset); }

void ModelTarget::write(std::uint32_t offset, std::uint32_t value) { device_.write(offset, value); }

void ModelTarget::load(model::Ram ram, std::uint64_t address, std::span<const std::byte> bytes) {
  memory_.load(ram, address, bytes);
}

void ModelTarget::fill(model::Ram ram, std::uint64_t address, std::uint64_t size,
                       std::uint8_t byte) {
  memory_.fill(ram, address, size, std::byte{byte});
}

void ModelTarget::fetch(model::Ram ram, std::uint64_t address, std::span<std::byte> bytes) {
  memory_.read(ram, address, bytes);
}

bool ModelTarget::step() { return device_.step(); }

bool ModelTarget::idle() { return device_.idle(); }

std::vector<std::string> ModelTarget::blocked() {
  std::vector<std::string> reasons;
  for (const model::Blocked& blocked : device_.blocked())
    reasons.push_back(fmt::format("{} group {}: {}",
                                  model::unit_name(static_cast<model::Unit>(blocked.unit)),
                                  blocked.group, blocked.reason));
  return reasons;
}

std::string ModelTarget::refusals() {
  const model::Refusals refusals = device_.refusals();
  if (refusals.count == 0) return {};
  return fmt::format("memory refused {} accesses, the first a {} at {:#x}", refusals.count,
                     refusals.first_write ? "write" : "read", refusals.first_address);
}

}  // namespace nvdla::replay
