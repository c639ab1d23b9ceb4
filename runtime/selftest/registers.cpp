// SPDX-License-Identifier: MIT
//
// A walk of every register by the description, without enabling anything.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "selftest/explain.hpp"
#include "selftest/steps.hpp"

namespace nvdla::selftest {
namespace {

using model::RegisterInfo;
using model::Scope;
using model::UnitInfo;

constexpr const char* kOther =
    "other units are right: another version of the logic, or a fault of this register";
constexpr const char* kSeveral =
    "several units: a register bus that loses or changes accesses, or other logic";

// Calls `visit` for each register of the configuration, once in each group that it is in.
template <typename Visit>
void walk(const Registers& registers, const Visit& visit) {
  for (const UnitInfo& unit : model::units()) {
    if (!unit.base[registers.map()]) continue;
    const unsigned groups = unit.groups == 0 || !registers.has(unit.unit) ? 1 : unit.groups;
    for (unsigned group = 0; group < groups; ++group) {
      if (groups > 1) registers.select(unit, group);
      for (const RegisterInfo& info : unit.registers) {
        if (!info.present[registers.map()]) continue;
        if (group > 0 && info.scope == Scope::kSingle) continue;
        visit(info, group);
      }
    }
    if (groups > 1) registers.select(unit, 0);
  }
}

std::string place(const Registers& registers, const RegisterInfo& info, unsigned group) {
  return fmt::format("{} ({:#x}{})", Registers::name(info),
                     *model::register_address(registers.map(), info),
                     info.scope == Scope::kGroup ? fmt::format(", group {}", group) : "");
}

// `Walk` compares registers one by one, and collects the findings and their causes.
class Walk {
 public:
  explicit Walk(const Registers& registers) : registers_(registers) {}

  void look(const RegisterInfo& info, unsigned group, std::uint32_t wanted,
            std::string_view after) {
    const std::uint32_t saw = registers_.read(info);
    words_.push_back({wanted, saw});
    alive_[info.unit] = alive_[info.unit] || saw != 0;
    if (saw == wanted) return;
    wrong_[info.unit] = true;
    result_.add({fmt::format("{} is {:#010x} {}", place(registers_, info, group), saw, after),
                 fmt::format("{:#010x}", wanted),
                 {}});
  }

  Result end(std::string_view passed) {
    if (result_.verdict == Verdict::kPassed)
      return Result::passed(fmt::format("{} readings, {}", words_.size(), passed));
    result_.findings.front().causes = causes();
    return std::move(result_);
  }

 private:
  std::vector<std::string> causes() const {
    if (auto text = explain(words_)) return {std::move(*text)};
    std::string dead;
    for (const UnitInfo& unit : model::units())
      if (wrong_[unit.unit] && !alive_[unit.unit])
        dead += fmt::format("{}{}", dead.empty() ? "" : ", ", unit.name);
    if (!dead.empty()) return {fmt::format("{}: {}", dead, cause::kUnitClock)};
    const auto units = std::count(wrong_.begin(), wrong_.end(), true);
    return {units == 1 ? kOther : kSeveral, cause::kConfiguration};
  }

  const Registers& registers_;
  std::vector<Word> words_;
  std::array<bool, NVDLA_UNIT_COUNT> wrong_{};  // units with a wrong register
  std::array<bool, NVDLA_UNIT_COUNT> alive_{};  // units with a register that does not read 0
  Result result_;
};

// Returns what a plain register reads after `value` was written.
std::uint32_t stored(const RegisterInfo& info, model::RegisterMap map, std::uint32_t value) {
  const std::uint32_t fixed = info.reset[map] & ~info.write[map];
  return ((value & info.write[map]) | fixed) & info.read[map];
}

// Writes a different value to each register, then reads all of them: a register that is also
// written through another one's address holds that one's value.
std::optional<Finding> find_alias(const Registers& registers) {
  struct Written {
    const RegisterInfo* info;
    std::uint32_t value;
  };
  const model::RegisterMap map = registers.map();
  std::vector<Written> all;
  for (const RegisterInfo& info : model::registers()) {
    if (!info.present[map] || !registers.has(info.unit) || !Registers::is_plain(info)) continue;
    if (std::popcount(info.write[map] & info.read[map]) < 8) continue;
    const auto value = static_cast<std::uint32_t>(all.size() + 1) * 0x9e3779b1u;
    registers.write(info, value);
    all.push_back({&info, stored(info, map, value)});
  }
  std::optional<Finding> found;
  for (const Written& one : all) {
    const std::uint32_t saw = registers.read(*one.info);
    if (saw == one.value || found) continue;
    std::vector<std::string> causes;
    const std::uint32_t address = *model::register_address(map, *one.info);
    for (const Written& other : all) {
      const std::uint32_t lines = address ^ *model::register_address(map, *other.info);
      const bool its = stored(*one.info, map, other.value) == saw;
      if (its && std::popcount(lines) == 1 && causes.empty())
        causes.push_back(fmt::format(
            "address lines of the register bus: {} is not connected, "
            "{} and {} are one register",
            bits_text(lines), Registers::name(*one.info), Registers::name(*other.info)));
    }
    causes.emplace_back("writes that are lost, or go to more than one register");
    found = Finding{fmt::format("{} is {:#010x} when all registers hold a number of their own",
                                place(registers, *one.info, 0), saw),
                    fmt::format("{:#010x}", one.value), std::move(causes)};
  }
  for (const Written& one : all) registers.write_reset_value(*one.info);
  return found;
}

// The convolution buffer is cleared after a reset, and the register that says so changes.
bool wait_for_flush(const Registers& registers) {
  const auto end = registers.device().now() + std::chrono::milliseconds(100);
  while (registers.read("CDMA.S_CBUF_FLUSH_STATUS") == 0) {
    if (registers.device().now() > end) return false;
    registers.device().relax();
  }
  return true;
}

}  // namespace

Result check_reset_values(Bench& bench) {
  const Registers registers(bench.bare->device(), bench.hw);
  if (!bench.can_reset())
    return Result::left_out("without a reset registers hold what was last written");
  bench.bare->forget();
  registers.device().reset();
  const bool flushed = wait_for_flush(registers);
  Walk walked(registers);
  walk(registers, [&](const RegisterInfo& info, unsigned group) {
    // A pointer has just been written; a port moves on when it is read.
    if (info.name == "S_POINTER" || info.name == "S_CBUF_FLUSH_STATUS" ||
        info.access == model::Access::kPort)
      return;
    const std::uint32_t wanted = info.reset[registers.map()] & info.read[registers.map()];
    walked.look(info, group, registers.has(info.unit) ? wanted : 0, "after a reset");
  });
  Result result = walked.end("all as after a reset");
  if (result.verdict == Verdict::kFailed) {
    // Some that are wrong may be others.
    if (auto alias = find_alias(registers); alias && alias->causes.size() > 1)
      result.findings.front().causes = std::move(alias->causes);
  }
  if (!flushed) {
    result.add({"CDMA.S_CBUF_FLUSH_STATUS stays 0 for 100 ms",
                "1 some 8,300 cycles after a reset",
                {"clock: the core's clock does not run, or is far slower than it should be"}});
  }
  return result;
}

Result check_write_masks(Bench& bench) {
  const Registers registers(bench.bare->device(), bench.hw);
  bench.bare->forget();
  Walk walked(registers);
  walk(registers, [&](const RegisterInfo& info, unsigned group) {
    if (!registers.has(info.unit) || !Registers::is_plain(info)) return;
    // Without a reset, a statistics register keeps the count of the last layer.
    const std::uint32_t counted = info.statistic ? registers.read(info) : 0;
    for (const std::uint32_t value : {0xffffffffu, 0u, 0xaaaaaaaau, 0x55555555u, 0x33cc0ff0u}) {
      if (info.write[registers.map()] == 0 && value != 0) continue;
      registers.write(info, value);
      walked.look(info, group, info.statistic ? counted : stored(info, registers.map(), value),
                  fmt::format("when {:#010x} was written", value));
    }
    registers.write_reset_value(info);
  });
  Result result = walked.end("each stores its bits and no others");
  if (auto found = find_alias(registers)) result.add(std::move(*found));
  return result;
}

Result check_groups(Bench& bench) {
  const Registers registers(bench.bare->device(), bench.hw);
  const model::RegisterMap map = registers.map();
  bench.bare->forget();
  registers.device().reset();
  Result result;
  unsigned units = 0;
  for (const UnitInfo& unit : model::units()) {
    if (unit.groups == 0 || !unit.base[map] || !registers.has(unit.unit)) continue;
    const RegisterInfo* info = widest(unit, map);
    if (info == nullptr) continue;
    ++units;
    const std::uint32_t pointer = *unit.base[map] + NVDLA_REG_S_POINTER;
    const auto expect = [&](std::uint32_t saw, std::uint32_t wanted, std::string text) {
      if (saw == wanted) return;
      result.add({fmt::format("{}: {} {:#x}", unit.name, text, saw),
                  fmt::format("{:#x}", wanted),
                  {"register groups: S_POINTER.PRODUCER does not select the group that is read "
                   "and written",
                   cause::kConfiguration}});
    };
    // Only PRODUCER can be written: nothing runs, so CONSUMER stays.
    const std::uint32_t consumer =
        registers.device().read(pointer) & NVDLA_REG_S_POINTER_CONSUMER_MASK;
    for (const std::uint32_t group : {1u, 0u}) {
      registers.device().write(pointer, 0xfffffffe | group);
      expect(registers.device().read(pointer), consumer | group,
             fmt::format("S_POINTER with {:#x} written is", 0xfffffffe | group));
    }
    registers.write(*info, 0x55555555);
    registers.select(unit, 1);
    registers.write(*info, 0xaaaaaaaa);
    expect(registers.read(*info), stored(*info, map, 0xaaaaaaaa),
           fmt::format("group 1 of {} is", info->name));
    registers.write_reset_value(*info);
    registers.write(*info, 0xaaaaaaaa);
    registers.select(unit, 0);
    expect(registers.read(*info), stored(*info, map, 0x55555555),
           fmt::format("group 0 of {}, after group 1 was written, is", info->name));
    registers.write_reset_value(*info);
    registers.select(unit, 1);
    registers.write_reset_value(*info);
    registers.select(unit, 0);
    expect(registers.device().read(*unit.base[map] + NVDLA_REG_S_STATUS), 0,
           "S_STATUS without a layer is");
  }
  if (result.verdict == Verdict::kPassed)
    return Result::passed(fmt::format("{} units, two groups each", units));
  return result;
}

Result check_that_it_resets(Bench& bench) {
  const Registers registers(bench.bare->device(), bench.hw);
  bench.bare->forget();
  if (!registers.device().reset()) {
    return Result::left_out(
        "there is no way to reset this device; a layer that hangs ends the test");
  }
  auto found = check_reset(registers);
  bench.resets = !found;
  if (found) return Result::failed(std::move(*found));
  return Result::passed("a register of each unit is as after power on again");
}

}  // namespace nvdla::selftest
