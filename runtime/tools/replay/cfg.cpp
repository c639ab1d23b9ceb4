// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>

#include "tools/replay/interrupts.hpp"
#include "tools/replay/parsers.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::replay {
namespace {

bool is_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct Argument {
  std::string_view text;
  bool quoted = false;
};

struct Statement {
  std::string_view name;
  std::vector<Argument> arguments;
};

// Takes one statement from the front of the line; false if only blanks or a comment are left.
bool take_statement(const Place& place, std::string_view& line, Statement& statement) {
  const auto fail = [&](std::string_view expected) {
    const std::string found = line.empty() ? "the line ends" : "unexpected " + quote(line);
    throw Error(place.file, place.line, fmt::format("{}; expected {}", found, expected));
  };
  const auto skip = [&](std::size_t count) {
    line.remove_prefix(count);
    line = trim(line);
  };

  line = trim(line);
  if (line.empty() || line.starts_with("//")) return false;

  std::size_t length = 0;
  while (length < line.size() && is_name(line[length])) ++length;
  if (length == 0) fail("a command such as reg_write(REGISTER, VALUE);");
  statement.name = line.substr(0, length);
  statement.arguments.clear();
  skip(length);

  if (!line.starts_with('(')) fail(fmt::format("'(' after {}", quote(statement.name)));
  skip(1);
  while (true) {
    Argument argument;
    if (line.starts_with('"')) {
      const std::size_t end = line.find('"', 1);
      if (end == line.npos)
        throw Error(
            place.file, place.line,
            fmt::format("the string {} does not end; expected '\"' on the same line", quote(line)));
      argument = {line.substr(1, end - 1), true};
      skip(end + 1);
    } else {
      const std::size_t end = std::min(line.find_first_of(",();\""), line.size());
      argument.text = trim(line.substr(0, end));
      if (argument.text.empty()) fail(fmt::format("an argument of {}", quote(statement.name)));
      skip(end);
    }
    statement.arguments.push_back(argument);
    if (line.starts_with(',')) {
      skip(1);
      continue;
    }
    if (!line.starts_with(')')) fail("',' or ')' after an argument");
    skip(1);
    break;
  }
  if (!line.starts_with(';')) fail("';' after ')'");
  skip(1);
  return true;
}

// The layers that a trace enabled: an intr_notify without a unit means the last unit of the
// layer that was enabled before it.
class Enabled {
 public:
  void write(const model::RegisterInfo& info, std::uint32_t value) {
    if (info.name == "S_POINTER")
      producer_[info.unit] = value & NVDLA_REG_S_POINTER_PRODUCER_MASK;
    else if (info.name == "D_OP_ENABLE" && (value & 1))
      add(info.unit, producer_[info.unit]);
    else if (info.unit == NVDLA_UNIT_BDMA && info.name == "CFG_LAUNCH0" && (value & 1))
      add(info.unit, 0);
    else if (info.unit == NVDLA_UNIT_BDMA && info.name == "CFG_LAUNCH1" && (value & 1))
      add(info.unit, 1);
  }

  void notified(std::uint32_t bit) noexcept { bits_ &= ~bit; }

  // The interrupt of the last unit, and nothing is enabled afterwards; 0 if nothing was.
  std::uint32_t take_last() noexcept {
    const std::uint32_t all = bits_;
    bits_ = 0;
    // The order of the pipelines, last first.
    for (const char* name : {"CDP", "PDP", "SDP", "CACC", "RUBIK", "BDMA"})
      for (unsigned group = 0; group < 2; ++group) {
        const std::uint32_t bit = *interrupt_bit(fmt::format("{}_{}", name, group));
        if (all & bit) return bit;
      }
    return 0;
  }

 private:
  void add(model::Unit unit, unsigned group) {
    // CSC, CMAC and the read DMA units have no interrupt, CDMA's two are never the last.
    const auto bit = interrupt_bit(fmt::format("{}_{}", model::unit_name(unit), group));
    if (bit) bits_ |= *bit;
  }

  std::array<unsigned, NVDLA_UNIT_COUNT> producer_{};
  std::uint32_t bits_ = 0;
};

// Ranges that a trace cleared, merged where they touch, so that looking up stays quick however
// many there are.
class Cleared {
 public:
  void add(std::uint64_t address, std::uint64_t size) {
    std::uint64_t last = address + (size - 1);
    auto next = ranges_.upper_bound(address);
    if (next != ranges_.begin() && std::prev(next)->second >= address) --next;
    while (next != ranges_.end() && next->first <= last) {
      address = std::min(address, next->first);
      last = std::max(last, next->second);
      next = ranges_.erase(next);
    }
    ranges_.emplace(address, last);
  }

  bool contains(std::uint64_t address) const {
    const auto next = ranges_.upper_bound(address);
    return next != ranges_.begin() && std::prev(next)->second >= address;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first and last byte
};

class CfgParser {
 public:
  CfgParser(std::string_view file, RegisterMap map) : place_{file, 0} {
    script_.kind = Kind::kCfg;
    script_.file = file;
    script_.map = map;
  }

  Script parse(std::string_view text) {
    std::string_view line;
    Statement statement;
    while (next_line(text, line)) {
      ++place_.line;
      while (take_statement(place_, line, statement)) command(statement);
    }
    if (script_.commands.empty() && !script_.dropped_writes)
      throw Error(place_.file, 0, "no command; expected at least one");

    // Every notified interrupt must arrive, whether or not a command waits for it.
    for (std::uint32_t sync = 0; sync < script_.syncs.size(); ++sync) add(AwaitSync{sync});
    add(Finish{});

    // A missing file may stand for zeros only if the trace has cleared the place first, and checks
    // memory at the end, which would reveal an error.
    for (std::size_t index : after_init_)
      std::get<LoadMemory>(script_.commands[index].action).file.optional = checks_memory_;
    return std::move(script_);
  }

 private:
  using Arguments = std::vector<Argument>;

  [[noreturn]] void fail(std::string_view message) const {
    throw Error(place_.file, place_.line, message);
  }

  void add(Action action) { script_.commands.push_back({place_.line, std::move(action)}); }

  void command(const Statement& statement) {
    const std::string_view name = statement.name;
    const Arguments& arguments = statement.arguments;
    const auto want = [&](std::size_t low, std::size_t high, std::string_view form) {
      if (arguments.size() < low || arguments.size() > high)
        fail(fmt::format("{} has {} arguments; expected {}", name, arguments.size(), form));
    };

    if (name == "reg_write") {
      want(2, 2, "reg_write(REGISTER, VALUE)");
      write_register(arguments);
    } else if (name == "mem_init") {
      want(4, 4, "mem_init(MEMORY, ADDRESS, SIZE, PATTERN)");
      init_memory(arguments);
    } else if (name == "mem_load") {
      want(3, 3, "mem_load(MEMORY, ADDRESS, \"FILE\")");
      load_memory(arguments);
    } else if (name.starts_with("poll_reg_") || name.starts_with("poll_field_")) {
      poll(statement);
    } else if (name == "intr_notify") {
      want(1, 2, "intr_notify(UNIT_GROUP, SYNC_ID)");
      interrupt_notify(arguments);
    } else if (name == "sync_notify") {
      want(2, 2, "sync_notify(RESOURCE, SYNC_ID)");
      known_syncs_.try_emplace(std::string(word(arguments[1], "sync id")));
    } else if (name == "sync_wait") {
      want(2, 2, "sync_wait(RESOURCE, SYNC_ID)");
      await(word(arguments[1], "sync id"));
    } else if (name == "check_nothing") {
      want(1, 1, "check_nothing(SYNC_ID)");
      await(word(arguments[0], "sync id"));
    } else if (name == "check_crc") {
      want(5, 5, "check_crc(SYNC_ID, MEMORY, ADDRESS, SIZE, CRC)");
      await(word(arguments[0], "sync id"));
      CheckCrc check;
      range(arguments, check);
      check.crc = parse_u32(place_, word(arguments[4], "CRC"), "CRC");
      checks_memory_ = true;
      add(check);
    } else if (name == "check_file") {
      want(5, 5, "check_file(SYNC_ID, MEMORY, ADDRESS, SIZE, \"FILE\")");
      await(word(arguments[0], "sync id"));
      CompareMemory check;
      range(arguments, check);
      check.file = file(arguments[4]);
      checks_memory_ = true;
      add(std::move(check));
    } else {
      fail(
          fmt::format("unknown command {}; expected reg_write, mem_init, mem_load, "
                      "poll_reg_* or poll_field_*, intr_notify, sync_notify, sync_wait, "
                      "check_crc, check_file or check_nothing",
                      quote(name)));
    }
  }

  // An argument that is no string.
  std::string_view word(const Argument& argument, std::string_view what) const {
    if (argument.quoted)
      fail(fmt::format("{} is the string {}; expected it without quotes", what,
                       quote(argument.text)));
    return argument.text;
  }

  BlobFile file(const Argument& argument) const {
    if (!argument.quoted)
      fail(fmt::format("file name {} has no quotes; expected \"FILE\"", quote(argument.text)));
    check_file_name(place_, argument.text);
    BlobFile result;
    result.name = argument.text;
    result.format = BlobFormat::kText;
    return result;
  }

  Ram memory(const Argument& argument) const {
    const std::string_view name = word(argument, "memory");
    if (name == "pri_mem" || name == "1") return Ram::kPrimary;
    if (name == "sec_mem" || name == "0") return Ram::kSecondary;
    fail(fmt::format("unknown memory {}; expected pri_mem, sec_mem, 1 or 0", quote(name)));
  }

  std::uint64_t address(const Argument& argument) const {
    return parse_number(place_, word(argument, "address"), "address", ~std::uint64_t{0});
  }

  std::uint64_t size(const Argument& argument) const {
    return parse_number(place_, word(argument, "size"), "size", ~std::uint64_t{0});
  }

  // (SYNC_ID, MEMORY, ADDRESS, SIZE, ...)
  template <typename Check>
  void range(const Arguments& arguments, Check& check) const {
    check.ram = memory(arguments[1]);
    check.address = address(arguments[2]);
    check.size = size(arguments[3]);
    check_range(place_, check.address, check.size);
  }

  // "NVDLA_SDP.D_CVT_SHIFT_0"
  const model::RegisterInfo& find_register(std::string_view name) const {
    std::string_view bare = name;
    if (bare.size() > 8 && bare.starts_with("NVDLA_") && bare.ends_with("_0")) {
      bare.remove_prefix(6);
      bare.remove_suffix(2);
      if (const auto* info = model::find_register(bare)) return *info;
    }
    fail(fmt::format("unknown register {}; expected NVDLA_<UNIT>.<REGISTER>_0", quote(name)));
  }

  void write_register(const Arguments& arguments) {
    const auto& info = find_register(word(arguments[0], "register"));
    const std::uint32_t value = parse_u32(place_, word(arguments[1], "value"), "value");
    if (const auto offset = model::register_address(script_.map, info)) {
      enabled_.write(info, value);
      add(WriteRegister{*offset, value});
    } else {
      // A unit that this map has no window for: hardware drops the write.
      ++script_.dropped_writes;
    }
  }

  void init_memory(const Arguments& arguments) {
    FillMemory fill;
    fill.ram = memory(arguments[0]);
    fill.address = address(arguments[1]);
    fill.size = size(arguments[2]);
    check_range(place_, fill.address, fill.size);
    const std::string_view pattern = word(arguments[3], "pattern");
    if (pattern != "ALL_ZERO")
      fail(fmt::format("unknown pattern {}; expected ALL_ZERO", quote(pattern)));
    cleared_[static_cast<std::size_t>(fill.ram)].add(fill.address, fill.size);
    add(fill);
  }

  void load_memory(const Arguments& arguments) {
    LoadMemory load;
    load.ram = memory(arguments[0]);
    load.address = address(arguments[1]);
    load.file = file(arguments[2]);
    if (cleared_[static_cast<std::size_t>(load.ram)].contains(load.address))
      after_init_.push_back(script_.commands.size());
    add(std::move(load));
  }

  // poll_reg_equal(REGISTER, VALUE), poll_field_less(REGISTER.FIELD, VALUE), ...
  void poll(const Statement& statement) {
    const bool field = statement.name.starts_with("poll_field_");
    const std::string_view comparison = statement.name.substr(field ? 11 : 9);
    static const std::map<std::string_view, Compare> kComparisons = {
        {"equal", Compare::kEqual},     {"not_equal", Compare::kNotEqual},
        {"greater", Compare::kGreater}, {"not_greater", Compare::kNotGreater},
        {"less", Compare::kLess},       {"not_less", Compare::kNotLess},
    };
    const auto known = kComparisons.find(comparison);
    if (known == kComparisons.end())
      fail(
          fmt::format("unknown command {}; expected equal, not_equal, greater, not_greater, less "
                      "or not_less after poll_reg_ or poll_field_",
                      quote(statement.name)));
    const Arguments& arguments = statement.arguments;
    // A field is written REGISTER.FIELD or as an argument of its own.
    const bool split = field && arguments.size() == 3;
    if (arguments.size() != 2 && !split)
      fail(fmt::format("{} has {} arguments; expected {}({}, VALUE)", statement.name,
                       arguments.size(), statement.name, field ? "REGISTER.FIELD" : "REGISTER"));

    std::string_view name = word(arguments[0], "register");
    std::string_view field_name;
    if (split) {
      field_name = word(arguments[1], "field");
    } else if (field) {
      const std::size_t dot = name.rfind('.');
      field_name = dot == name.npos ? "" : name.substr(dot + 1);
      name = name.substr(0, dot);
    }
    const auto& info = find_register(name);
    const auto offset = model::register_address(script_.map, info);
    if (!offset)
      fail(
          fmt::format("register {} is not in the register map of this configuration; expected "
                      "one that can be read",
                      quote(name)));

    CheckRegister check;
    check.offset = *offset;
    check.compare = known->second;
    check.retries = kUntilStuck;
    if (field) {
      const model::FieldInfo* info_of_field = info.find_field(field_name);
      if (!info_of_field)
        fail(fmt::format("register {} has no field {}; expected REGISTER.FIELD", quote(name),
                         quote(field_name)));
      check.mask = info_of_field->mask(script_.map);
      check.shift = info_of_field->lsb[script_.map];
    }
    check.value = parse_u32(place_, word(arguments.back(), "value"), "value");
    if (check.mask >> check.shift < check.value)
      fail(fmt::format("value {:#x} does not fit the field {}; expected at most {:#x}", check.value,
                       quote(field_name), check.mask >> check.shift));
    add(check);
  }

  void interrupt_notify(const Arguments& arguments) {
    const std::string_view id = word(arguments.back(), "sync id");
    std::uint32_t bit = 0;
    if (arguments.size() == 2) {
      const std::string_view name = word(arguments[0], "interrupt");
      bit = interrupt_bit(name).value_or(0);
      if (!bit)
        fail(fmt::format("unknown interrupt {}; expected one of {}", quote(name),
                         all_interrupt_names()));
      enabled_.notified(bit);
    } else {
      bit = enabled_.take_last();
      if (!bit)
        fail(
            fmt::format("intr_notify of {} names no unit and no layer was enabled before it; "
                        "expected intr_notify(UNIT_GROUP, SYNC_ID)",
                        quote(id)));
    }
    auto& sync = known_syncs_.try_emplace(std::string(id)).first->second;
    if (!sync) {
      sync = static_cast<std::uint32_t>(script_.syncs.size());
      script_.syncs.emplace_back(id);
    }
    add(ExpectInterrupt{bit, *sync});
  }

  // The streams of a trace are in one file, in an order that works: what is waited for was
  // notified before.
  void await(std::string_view id) {
    const auto known = known_syncs_.find(id);
    if (known == known_syncs_.end())
      fail(
          fmt::format("sync id {} is not known here; expected an intr_notify or sync_notify of "
                      "it before",
                      quote(id)));
    if (known->second) add(AwaitSync{*known->second});
  }

  Place place_;
  Script script_;
  Enabled enabled_;
  // Sync ids, with their number if an interrupt signals them.
  std::map<std::string, std::optional<std::uint32_t>, std::less<>> known_syncs_;
  std::array<Cleared, 2> cleared_;  // by memory
  std::vector<std::size_t> after_init_;
  bool checks_memory_ = false;
};

}  // namespace

Script parse_cfg(std::string_view text, std::string_view file, RegisterMap map) {
  return CfgParser(file, map).parse(text);
}

}  // namespace nvdla::replay
