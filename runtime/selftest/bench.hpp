// SPDX-License-Identifier: MIT
//
// What a step works on, and what several of them do.
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
  BareRunner* bare = nullptr;  // none where registers cannot be reached
  std::chrono::nanoseconds limit{};
  std::uint32_t clock_khz = 0;  // of the core; 0: not known
  std::optional<bool> resets = {};

  // Whether a reset takes back what was written, which is tried once. Only with registers.
  bool can_reset();
};

// Registers of a device, by the description.
class Registers {
 public:
  Registers(detail::BareDevice& device, const nvdla_hw& hw)
      : device_(device), hw_(hw), map_(static_cast<model::RegisterMap>(hw.regmap)) {}

  model::RegisterMap map() const noexcept { return map_; }
  detail::BareDevice& device() const noexcept { return device_; }
  // Whether the configuration has the unit; the windows of others read 0.
  bool has(model::Unit unit) const noexcept;
  // Stores what is written and does nothing else.
  static bool is_plain(const model::RegisterInfo& info) noexcept;
  static std::string name(const model::RegisterInfo& info);

  std::uint32_t read(const model::RegisterInfo& info) const;
  void write(const model::RegisterInfo& info, std::uint32_t value) const;
  std::uint32_t read(std::string_view name) const;
  void write(std::string_view name, std::uint32_t value) const;
  // The group of a unit that reads and writes go to.
  void select(const model::UnitInfo& unit, unsigned group) const;
  void write_reset_value(const model::RegisterInfo& info) const;

 private:
  detail::BareDevice& device_;
  const nvdla_hw& hw_;
  model::RegisterMap map_;
};

// The plain register of the unit that stores most bits; nullptr if it has none.
const model::RegisterInfo* widest(const model::UnitInfo& unit, model::RegisterMap map) noexcept;

// Resets the device and says which register still holds what was written to it; nothing if none
// does. There has to be a way to reset it.
std::optional<Finding> check_reset(const Registers& registers);

// Runs the work, looks at the guards. What is wrong, if anything.
std::optional<Finding> run(Load& load, const std::string& what);

using detail::copy_layer;

// Bytes without a pattern, others for each seed.
Bytes noise(std::size_t size, std::uint32_t seed);

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_BENCH_HPP
