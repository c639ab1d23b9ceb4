// SPDX-License-Identifier: MIT
#include "tools/replay/player.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "tools/replay/interrupts.hpp"

namespace nvdla::replay {
namespace {

constexpr std::string_view kNotImplemented = "not implemented yet";
constexpr std::size_t kChunk = 64 * 1024;

// Ends the run of a script.
struct Stop {};

bool holds(Compare compare, std::uint32_t left, std::uint32_t right) noexcept {
  switch (compare) {
    case Compare::kEqual:
      return left == right;
    case Compare::kNotEqual:
      return left != right;
    case Compare::kGreater:
      return left > right;
    case Compare::kNotGreater:
      return left <= right;
    case Compare::kLess:
      return left < right;
    case Compare::kNotLess:
      return left >= right;
  }
  return false;
}

std::string_view describe(Compare compare) noexcept {
  switch (compare) {
    case Compare::kEqual:
      return "";
    case Compare::kNotEqual:
      return "other than ";
    case Compare::kGreater:
      return "more than ";
    case Compare::kNotGreater:
      return "at most ";
    case Compare::kLess:
      return "less than ";
    case Compare::kNotLess:
      return "at least ";
  }
  return "";
}

class Player {
 public:
  Player(const Script& script, Target& target, const PlayerOptions& options)
      : script_(script), target_(target), options_(options) {
    status_offset_ = glb_register("GLB.S_INTR_STATUS");
    mask_offset_ = glb_register("GLB.S_INTR_MASK");
    ew_config_offset_ = model::register_address(script.map, ew_info_).value();
    ew_config_ = ew_info_.reset[script.map];
  }

  Outcome run() {
    outcome_.warnings = script_.warnings;
    outcome_.failures = script_.failures;
    outcome_.register_checks = script_.registers_compared;
    try {
      for (const Command& command : script_.commands) {
        line_ = command.line;
        std::visit([this](const auto& action) { execute(action); }, command.action);
      }
      outcome_.note = script_.end_note;
    } catch (const Stop&) {
    } catch (const std::exception& error) {
      // A target that cannot do what was asked says so in the same words as one that blocks.
      if (std::string_view(error.what()).find(kNotImplemented) != std::string_view::npos)
        gap_ = error.what();
      else
        fail(fmt::format("the device stopped: {}", error.what()));
    }
    judge();
    return std::move(outcome_);
  }

 private:
  struct Pending {
    std::uint32_t bit;
    std::uint32_t sync;
  };

  std::uint32_t glb_register(std::string_view name) const {
    return model::register_address(script_.map, *model::find_register(name)).value();
  }

  void fail(std::string_view message) {
    const char* const unit = script_.kind == Kind::kRecord ? "job" : "line";
    outcome_.failures.push_back(line_ && script_.kind != Kind::kCase
                                    ? fmt::format("{} {}: {}", unit, line_, message)
                                    : std::string(message));
  }

  [[noreturn]] void stop(std::string_view message) {
    fail(message);
    throw Stop{};
  }

  bool step() { return counted(&Target::step); }
  bool step_until_due() { return counted(&Target::step_until_due); }
  bool counted(bool (Target::*taken)()) {
    if (outcome_.steps >= options_.max_steps)
      stop(fmt::format("time-out: the device is not done after {} steps", outcome_.steps));
    if (!(target_.*taken)()) return false;
    ++outcome_.steps;
    return true;
  }

  std::string blocked_reasons() {
    std::string text;
    for (const std::string& reason : target_.blocked()) text += (text.empty() ? "" : "; ") + reason;
    return text;
  }

  // Why nothing moves.
  std::string state() {
    const std::string reasons = blocked_reasons();
    if (!reasons.empty()) return fmt::format("blocked: {}", reasons);
    return target_.idle() ? "the device is idle" : "an enabled unit waits for something";
  }

  void execute(const WriteRegister& action) {
    wait_for_group(action.offset);
    ++outcome_.writes;
    if (action.offset == status_offset_) seen_ &= ~action.value;
    if (action.offset == ew_config_offset_) ew_config_ = action.value;
    target_.write(action.offset, action.value);
  }

  // Returns whether the last layer of SDP compared elements; else nobody drives the verdict.
  bool compares() const {
    const auto field = [&](const char* name) {
      return ew_info_.find_field(name)->extract(script_.map, ew_config_);
    };
    return field("EW_BYPASS") == 0 && field("EW_ALU_BYPASS") == 0 &&
           field("EW_ALU_ALGO") == NVDLA_SDP_D_DP_EW_CFG_EW_ALU_ALGO_EQL;
  }

  bool is_comparable(std::uint32_t offset) const {
    if (options_.memory_only) return false;
    if (options_.real == nullptr) return true;
    const model::RegisterInfo* const info = model::register_at(script_.map, offset);
    if (info == nullptr || !info->statistic) return true;
    if (info->counts[script_.map] != NVDLA_COUNTS_EXACT) return false;
    for (u32 i = 0; i < NVDLA_COUNTER_COUNT; ++i) {
      u32 unit = 0, reg = 0;
      nvdla_hw_counter(i, &unit, &reg);
      if (unit != static_cast<u32>(info->unit) || reg != info->offset) continue;
      return nvdla_hw_counts(options_.real, i) == NVDLA_COUNTS_EXACT &&
             (i != NVDLA_COUNTER_SDP_UNEQUAL || compares());
    }
    return true;
  }

  void execute(const CheckRegister& action) {
    if (action.retries == 0 && !is_comparable(action.offset)) {
      ++outcome_.registers_left_out;
      return;
    }
    ++outcome_.register_checks;
    std::uint32_t value = target_.read(action.offset);
    const auto good = [&] {
      return holds(action.compare, (value & action.mask) >> action.shift, action.value);
    };
    for (std::uint64_t retry = 0; !good() && retry < action.retries; ++retry) {
      const bool moved = step();
      value = target_.read(action.offset);
      if (!moved) break;
    }
    if (good()) return;

    std::string message = fmt::format("expected {}{:#x}", describe(action.compare), action.value);
    if (action.mask != ~0u) message += fmt::format(" under mask {:#010x}", action.mask);
    message += fmt::format(", got {} = {:#010x} at {:#07x}",
                           model::register_name(script_.map, action.offset), value, action.offset);
    if (action.compare == Compare::kEqual)
      message += differing_fields(action.offset, value & action.mask, action.value << action.shift,
                                  action.mask);
    if (action.retries) message += fmt::format(" ({})", state());
    // A poll is a condition for what follows; a case wants all its registers compared.
    if (action.retries == kUntilStuck || (script_.kind == Kind::kTxn && !script_.continue_on_fail))
      stop(message);
    fail(message);
  }

  // ", FIELD 3 not 4" for each field that differs under the mask.
  std::string differing_fields(std::uint32_t offset, std::uint32_t got, std::uint32_t expected,
                               std::uint32_t mask) const {
    std::string text;
    const model::RegisterInfo* info = model::register_at(script_.map, offset);
    if (!info || info->fields.size() < 2) return text;
    for (const model::FieldInfo& field : info->fields)
      if (field.width[script_.map] && ((got ^ expected) & mask & field.mask(script_.map)))
        text += fmt::format(", {} {:#x} not {:#x}", field.name, field.extract(script_.map, got),
                            field.extract(script_.map, expected));
    return text;
  }

  void execute(const FillMemory& action) {
    let_pending_run();
    target_.fill(action.ram, action.address, action.size, action.byte);
  }

  void execute(const LoadMemory& action) {
    let_pending_run();
    if (!action.file.data) return;  // left out; a warning says so
    for (const Segment& segment : *action.file.data) {
      std::span<const std::byte> bytes(segment.bytes);
      if (action.size) {
        if (segment.offset >= action.size) continue;
        bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), action.size - segment.offset));
      }
      if (!bytes.empty()) target_.load(action.ram, action.address + segment.offset, bytes);
    }
  }

  void execute(const CompareMemory& action) {
    if (!action.file.data) return;
    std::vector<std::byte> chunk(std::min<std::uint64_t>(kChunk, action.size));
    std::uint64_t wrong = 0, compared = 0, first = 0;
    unsigned expected_byte = 0, got_byte = 0;
    for (const Segment& segment : *action.file.data) {
      if (segment.offset >= action.size) continue;
      const std::uint64_t length =
          std::min<std::uint64_t>(segment.bytes.size(), action.size - segment.offset);
      for (std::uint64_t done = 0; done < length; done += chunk.size()) {
        const std::span<std::byte> got =
            std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), length - done));
        target_.fetch(action.ram, action.address + segment.offset + done, got);
        compared += got.size();
        const std::byte* expected = segment.bytes.data() + done;
        if (std::memcmp(got.data(), expected, got.size()) == 0) continue;
        for (std::size_t i = 0; i < got.size(); ++i) {
          if (got[i] == expected[i]) continue;
          const std::uint64_t address = action.address + segment.offset + done + i;
          if (wrong == 0 || address < first) {
            first = address;
            expected_byte = std::to_integer<unsigned>(expected[i]);
            got_byte = std::to_integer<unsigned>(got[i]);
          }
          ++wrong;
        }
      }
    }
    outcome_.bytes_compared += compared;
    if (wrong)
      fail(
          fmt::format("memory {:#x}: expected {:#04x}, got {:#04x} (first of {} wrong bytes of {} "
                      "in {})",
                      first, expected_byte, got_byte, wrong, compared, action.file.name));
  }

  void execute(const CheckCrc& action) {
    std::vector<std::byte> chunk(std::min<std::uint64_t>(kChunk, action.size));
    uLong crc = crc32(0, nullptr, 0);
    for (std::uint64_t done = 0; done < action.size; done += chunk.size()) {
      const std::span<std::byte> got =
          std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), action.size - done));
      target_.fetch(action.ram, action.address + done, got);
      crc = crc32(crc, reinterpret_cast<const Bytef*>(got.data()), static_cast<uInt>(got.size()));
    }
    outcome_.bytes_compared += action.size;
    if (crc != action.crc)
      fail(fmt::format("CRC of memory {:#x} with {:#x} bytes: expected {:#010x}, got {:#010x}",
                       action.address, action.size, action.crc, crc));
  }

  void execute(const ExpectInterrupt& action) {
    // Both would wait for the same sticky bit.
    for (std::size_t i = 0; i < pending_.size(); ++i)
      if (pending_[i].bit == action.bit) {
        resolve_first(i + 1);
        break;
      }
    pending_.push_back({action.bit, action.sync});
  }

  void execute(const AwaitSync& action) {
    for (std::size_t i = 0; i < pending_.size();) {
      if (pending_[i].sync != action.sync) {
        ++i;
        continue;
      }
      resolve(i);
    }
  }

  void execute(const WaitInterrupt&) {
    while (true) {
      const std::uint32_t status = target_.read(status_offset_);
      seen_ &= status;
      // A level that was waited for before is no new interrupt.
      const std::uint32_t fresh = status & ~target_.read(mask_offset_) & ~seen_;
      if (fresh) {
        seen_ |= status;
        return;
      }
      if (!step()) break;
    }
    if (!target_.idle()) stop(fmt::format("no interrupt comes ({})", state()));
  }

  void execute(const Finish& action) {
    while (step()) {
    }
    const auto due = [&] { return action.interrupts & ~target_.read(status_offset_); };
    while (due() != 0 && step_until_due()) {
    }
    if (!target_.idle() || !target_.blocked().empty())
      fail(fmt::format("the device does not finish ({})", state()));
  }

  void execute(const EndLayer& action) {
    while (step()) {
    }
    if (target_.idle() && target_.blocked().empty()) {
      target_.write(status_offset_, target_.read(status_offset_));
      return;
    }
    outcome_.stuck = action.layer;
    if (!action.guilty) stop(fmt::format("layer {} does not end here ({})", action.layer, state()));
    outcome_.note =
        fmt::format("layer {} does not end, as on the device ({})", action.layer, state());
    throw Stop{};
  }

  // Waits for the interrupt of pending_[index], clears it and forgets it.
  void resolve(std::size_t index) {
    const std::uint32_t bit = pending_[index].bit;
    while (!(target_.read(status_offset_) & bit))
      if (!step_until_due())
        stop(fmt::format("the interrupt {} does not come ({})", interrupt_names(bit), state()));
    target_.write(status_offset_, bit);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void resolve_first(std::size_t count) {
    for (; count > 0; --count) resolve(0);
  }

  // Hardware drops writes to the registers of a group that is enabled, so a write to one needs
  // the layers that were notified before to end.
  void wait_for_group(std::uint32_t offset) {
    if (pending_.empty()) return;
    static constexpr std::array<std::uint32_t, NVDLA_UNIT_COUNT> kOpEnable = NVDLA_UNIT_OP_ENABLES;
    const model::RegisterInfo* info = model::register_at(script_.map, offset);
    if (!info || info->scope != model::Scope::kGroup) return;
    const std::uint32_t enable = kOpEnable[info->unit];
    if (enable == NVDLA_NO_REG) return;
    const std::uint32_t base = *model::unit_base(script_.map, info->unit);
    while (!pending_.empty() && (target_.read(base + enable) & 1)) resolve(0);
  }

  // A layer that was started before memory changes works on what was there.
  void let_pending_run() {
    if (pending_.empty()) return;
    while (step()) {
    }
  }

  void judge() {
    for (const std::string& reason : target_.blocked())
      if (gap_.empty() && reason.find(kNotImplemented) != std::string::npos) gap_ = reason;
    const std::string refusals = target_.refusals();
    if (!refusals.empty()) outcome_.warnings.push_back(refusals);

    if (gap_.empty()) gap_ = script_.nothing;
    if (gap_.empty() && options_.memory_only && outcome_.bytes_compared == 0 &&
        outcome_.failures.empty())
      gap_ = "it compares no memory";
    if (!gap_.empty()) {
      outcome_.verdict = Verdict::kSkip;
      outcome_.reason = gap_;
    } else if (!outcome_.failures.empty()) {
      outcome_.verdict = Verdict::kFail;
      outcome_.reason = outcome_.failures.front();
    }
  }

  const Script& script_;
  Target& target_;
  const PlayerOptions options_;
  Outcome outcome_;
  unsigned line_ = 0;
  std::uint32_t status_offset_ = 0;
  std::uint32_t mask_offset_ = 0;
  const model::RegisterInfo& ew_info_ = *model::find_register("SDP.D_DP_EW_CFG");
  std::uint32_t ew_config_offset_ = 0;
  std::uint32_t ew_config_ = 0;  // as last written
  std::uint32_t seen_ = 0;       // interrupts that a WaitInterrupt returned for
  std::deque<Pending> pending_;
  std::string gap_;
};

}  // namespace

Outcome play(const Script& script, Target& target, const PlayerOptions& options) {
  return Player(script, target, options).run();
}

}  // namespace nvdla::replay
