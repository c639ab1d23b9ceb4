// SPDX-License-Identifier: MIT
#include "emulator/simulated_model.hpp"

#include <algorithm>
#include <stdexcept>

namespace nvdla::emulator {
namespace {

// The approximate number of cycles of a register access.
constexpr std::uint64_t kAccessCycles = 10;

nvdla_sim_memory memory_of(model::Ram ram) {
  return ram == model::Ram::kSecondary ? NVDLA_SIM_SRAM : NVDLA_SIM_DRAM;
}

}  // namespace

void SimulatedBus::settle() noexcept {
  if (pending_ != 0) nvdla_sim_write(sim_, memory_, address_, part_.data(), pending_, nullptr);
  pending_ = 0;
}

model::Mapping SimulatedBus::map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                                 bool write) noexcept {
  static constexpr std::uint8_t kNoByte[kPart / 8] = {};
  settle();
  const std::size_t bytes = std::min<std::uint64_t>(size, kPart);
  const nvdla_sim_memory memory = memory_of(ram);
  if (!write) {
    const bool good = nvdla_sim_read(sim_, memory, address, part_.data(), bytes) == 0;
    return good ? model::Mapping{part_.data(), bytes} : model::Mapping{};
  }
  // Writes no byte, to find out whether there is memory.
  if (nvdla_sim_write(sim_, memory, address, part_.data(), bytes, kNoByte) != 0) return {};
  memory_ = memory;
  address_ = address;
  pending_ = bytes;
  return {part_.data(), bytes};
}

// A model has no clock: a step of it, which may be a layer, counts as a cycle, and where nothing
// can happen any more time jumps.
const nvdla_sim_callbacks SimulatedModel::kCallbacks = {
    .csb_read = [](void* context, std::uint32_t offset) -> std::uint32_t {
      auto& self = *static_cast<SimulatedModel*>(context);
      self.cycle_ += kAccessCycles;
      return self.device_.read(offset);
    },
    .csb_write =
        [](void* context, std::uint32_t offset, std::uint32_t value) {
          auto& self = *static_cast<SimulatedModel*>(context);
          self.cycle_ += kAccessCycles;
          self.device_.write(offset, value);
        },
    .run =
        [](void* context, std::uint64_t cycles) {
          auto& self = *static_cast<SimulatedModel*>(context);
          self.cycle_ += self.device_.step() || self.device_.interrupt() ? 1 : cycles;
          self.bus_.settle();
        },
    .cycle = [](void* context) { return static_cast<SimulatedModel*>(context)->cycle_; },
    .interrupt = [](void* context) -> int {
      return static_cast<SimulatedModel*>(context)->device_.interrupt() ? 1 : 0;
    },
    .reset =
        [](void* context) {
          auto& self = *static_cast<SimulatedModel*>(context);
          self.device_.reset();
          // Here reset has ended when its line is down again.
          while (self.device_.step()) self.bus_.settle();
        },
};

SimulatedModel::SimulatedModel(const std::string& path, const nvdla_hw& hw, const Options& options)
    : device_(hw, bus_, options.model) {
  const nvdla_sim_options who = {.configuration = options.configuration.c_str(),
                                 .name = "device model",
                                 .only_messages = options.only_messages ? 1 : 0};
  sim_ = nvdla_sim_open(path.c_str(), &who, &kCallbacks, this);
  const std::string error = sim_ == nullptr ? "no memory" : nvdla_sim_error(sim_);
  if (!error.empty()) {
    nvdla_sim_close(sim_);
    throw std::runtime_error(error);
  }
  bus_.connect(sim_);
}

SimulatedModel::~SimulatedModel() { nvdla_sim_close(sim_); }

std::string SimulatedModel::serve() {
  return nvdla_sim_serve(sim_) == 0 ? std::string() : nvdla_sim_error(sim_);
}

}  // namespace nvdla::emulator
