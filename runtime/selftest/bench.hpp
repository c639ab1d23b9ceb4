// SPDX-License-Identifier: MIT
//
// The state that a step of the self-test works on, and functions that several steps use.
#ifndef NVDLA_SELFTEST_BENCH_HPP
#define NVDLA_SELFTEST_BENCH_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "backend/registers/copy_layer.hpp"
#include "firmware/nvdla_hw.h"
#include "model/core/register_info.hpp"
#include "selftest/bare_runner.hpp"
#include "selftest/result.hpp"
#include "selftest/work.hpp"

namespace nvdla::selftest {

struct Bench {
  Runner& runner;
  const nvdla_hw& hw;
  BareRunner* bare = nullptr;  // nullptr where registers cannot be reached
  std::chrono::nanoseconds limit{};
  std::uint32_t clock_khz = 0;  // of the core; 0: not known
  std::optional<bool> resets = {};

  // Returns true if a reset restores the registers, which the first call tries. Requires `bare`.
  bool can_reset();
};

// `Registers` accesses the registers of a device by their descriptions.
class Registers {
 public:
  Registers(detail::BareDevice& device, const nvdla_hw& hw)
      : device_(device), hw_(hw), map_(static_cast<model::RegisterMap>(hw.regmap)) {}

  model::RegisterMap map() const noexcept { return map_; }
  detail::BareDevice& device() const noexcept { return device_; }
  // Returns true if the configuration has the unit; the windows of other units read 0.
  bool has(model::Unit unit) const noexcept;
  // Returns true for a register that stores the written value and has no other effect.
  static bool is_plain(const model::RegisterInfo& info) noexcept;
  static std::string name(const model::RegisterInfo& info);

  std::uint32_t read(const model::RegisterInfo& info) const;
  void write(const model::RegisterInfo& info, std::uint32_t value) const;
  std::uint32_t read(std::string_view name) const;
  void write(std::string_view name, std::uint32_t value) const;
  // Selects the group of a unit that reads and writes access.
  void select(const model::UnitInfo& unit, unsigned group) const;
  void write_reset_value(const model::RegisterInfo& info) const;

 private:
  detail::BareDevice& device_;
  const nvdla_hw& hw_;
  model::RegisterMap map_;
};

// Returns the plain register of the unit that stores most bits; nullptr if the unit has none.
const model::RegisterInfo* widest(const model::UnitInfo& unit, model::RegisterMap map) noexcept;

// Resets the device and reports a register that kept a written value; nothing if none did. Requires
// a device that can be reset.
std::optional<Finding> check_reset(const Registers& registers);

// Runs the work and checks the guards. Returns what is wrong, if anything.
std::optional<Finding> run(Load& load, const std::string& what);

using detail::copy_layer;

// Returns pseudo-random bytes that depend on the seed.
Bytes noise(std::size_t size, std::uint32_t seed);

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_BENCH_HPP
