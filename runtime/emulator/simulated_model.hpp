// SPDX-License-Identifier: MIT
//
// Runs the device model as a simulation of the logic would run: behind libnvdla-sim. It uses that
// library as a harness around Verilated logic does.
#ifndef NVDLA_EMULATOR_SIMULATED_MODEL_HPP
#define NVDLA_EMULATOR_SIMULATED_MODEL_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "model/core/bus.hpp"
#include "model/device.hpp"
#include "sim/nvdla_sim.h"

namespace nvdla::emulator {

// `SimulatedBus` has the core's memory interfaces. The model needs bytes to work on, so map()
// returns a copy of a part of memory. The copy was read before, or is written back on the next
// access to another part.
class SimulatedBus final : public model::Bus {
 public:
  void connect(nvdla_sim* sim) noexcept { sim_ = sim; }
  // Writes what is pending.
  void settle() noexcept;

  model::Mapping map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override;
  // The other side may write at any time.
  std::uint64_t generation(model::Ram, std::uint64_t, std::uint64_t) const noexcept override {
    return 0;
  }
  void written(model::Ram, std::uint64_t, std::uint64_t) noexcept override {}

 private:
  static constexpr std::size_t kPart = 4096;

  nvdla_sim* sim_ = nullptr;
  std::array<std::byte, kPart> part_{};
  // The bytes of part_ that are still to be written, and their address.
  nvdla_sim_memory memory_ = NVDLA_SIM_DRAM;
  std::uint64_t address_ = 0;
  std::size_t pending_ = 0;
};

class SimulatedModel {
 public:
  struct Options {
    std::string configuration;  // the configuration that it reports; empty
    bool only_messages = false;
    model::Options model;
  };

  // Listens at `path`. Throws std::runtime_error if that fails.
  SimulatedModel(const std::string& path, const nvdla_hw& hw, const Options& options);
  ~SimulatedModel();
  SimulatedModel(const SimulatedModel&) = delete;
  SimulatedModel& operator=(const SimulatedModel&) = delete;

  // Serves one user. Returns what went wrong; empty if nothing did.
  std::string serve();

 private:
  static const nvdla_sim_callbacks kCallbacks;

  SimulatedBus bus_;
  model::Device device_;
  std::uint64_t cycle_ = 0;
  nvdla_sim* sim_;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_SIMULATED_MODEL_HPP
