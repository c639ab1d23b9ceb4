// SPDX-License-Identifier: MIT
//
// The device model where a simulation of the logic would be: behind libnvdla-sim. It knows of that
// library what a harness around Verilated logic would use.
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

// The core's memory interfaces. The model wants bytes to work on, so it gets a part of memory that
// was read before, or is written as soon as it turns elsewhere.
class SimulatedBus final : public model::Bus {
 public:
  void connect(nvdla_sim* sim) noexcept { sim_ = sim; }
  // Writes what is pending.
  void settle() noexcept;

  model::Mapping map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override;
  // The other side writes whenever it likes.
  std::uint64_t generation(model::Ram, std::uint64_t, std::uint64_t) const noexcept override {
    return 0;
  }
  void written(model::Ram, std::uint64_t, std::uint64_t) noexcept override {}

 private:
  static constexpr std::size_t kPart = 4096;

  nvdla_sim* sim_ = nullptr;
  std::array<std::byte, kPart> part_{};
  // Of part_, what is to be written.
  nvdla_sim_memory memory_ = NVDLA_SIM_DRAM;
  std::uint64_t address_ = 0;
  std::size_t pending_ = 0;
};

class SimulatedModel {
 public:
  struct Options {
    std::string configuration;  // what it says that it is; empty: nothing
    bool only_messages = false;
    model::Options model;
  };

  // Listens at `path`. Throws std::runtime_error with what is wrong.
  SimulatedModel(const std::string& path, const nvdla_hw& hw, const Options& options);
  ~SimulatedModel();
  SimulatedModel(const SimulatedModel&) = delete;
  SimulatedModel& operator=(const SimulatedModel&) = delete;

  // Serves one user; empty, or what went wrong.
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
