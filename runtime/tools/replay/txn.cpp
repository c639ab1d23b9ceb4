// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "tools/replay/parsers.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::replay {
namespace {

// Addresses are those of the words of a larger system; the low 16 bits are the device's.
std::uint32_t register_offset(const Place& place, std::string_view word) {
  const std::uint32_t offset = (parse_u32(place, word, "register address") & 0xffff) * 4;
  check_register_offset(place, offset);
  return offset;
}

}  // namespace

PlusArgs parse_plusargs(std::string_view text, std::string_view file) {
  PlusArgs result;
  Place place{file, 0};
  std::string_view line;
  while (next_line(text, line)) {
    ++place.line;
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      if (!word.starts_with('+'))
        throw Error(file, place.line,
                    fmt::format("{} is no option; expected +name or +name=value", quote(word)));
      const std::size_t equals = word.find('=');
      const std::string_view name = word.substr(1, equals == word.npos ? equals : equals - 1);
      const std::string_view value = equals == word.npos ? "" : word.substr(equals + 1);
      if (name == "read_reg_poll_retries")
        result.read_retries = parse_u32(place, value, "read_reg_poll_retries");
      else if (name == "continue_on_fail")
        result.continue_on_fail = true;
    }
  }
  return result;
}

Script parse_txn(std::string_view text, std::string_view file, RegisterMap map,
                 const PlusArgs& plusargs, Ram ram) {
  Script script;
  script.kind = Kind::kTxn;
  script.file = file;
  script.map = map;
  script.continue_on_fail = plusargs.continue_on_fail;

  Place place{file, 0};
  std::string_view line;
  while (next_line(text, line)) {
    ++place.line;
    line = line.substr(0, line.find('#'));
    const std::string_view command = next_word(line);
    if (command.empty()) continue;

    std::string_view arguments[3];
    std::size_t count = 0;
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      if (count < 3) arguments[count] = word;
      ++count;
    }
    const auto want = [&](std::size_t expected, std::string_view form) {
      if (count != expected)
        throw Error(file, place.line,
                    fmt::format("{} has {} arguments; expected {}", command, count, form));
    };
    const auto range = [&](auto& action) {
      action.address = parse_number(place, arguments[0], "address", ~std::uint64_t{0});
      action.size = parse_number(place, arguments[1], "size", ~std::uint64_t{0});
      check_range(place, action.address, action.size);
      action.ram = ram;
      check_file_name(place, arguments[2]);
      action.file.name = arguments[2];
      action.file.format = BlobFormat::kText;
    };

    if (command == "write_reg") {
      want(2, "write_reg ADDRESS VALUE");
      script.commands.push_back(
          {place.line, WriteRegister{register_offset(place, arguments[0]),
                                     parse_u32(place, arguments[1], "value")}});
    } else if (command == "read_reg") {
      want(3, "read_reg ADDRESS MASK EXPECTED");
      CheckRegister check;
      check.offset = register_offset(place, arguments[0]);
      check.mask = parse_u32(place, arguments[1], "mask");
      check.value = parse_u32(place, arguments[2], "expected value") & check.mask;
      check.retries = plusargs.read_retries;
      script.commands.push_back({place.line, check});
    } else if (command == "load_mem") {
      want(3, "load_mem ADDRESS SIZE FILE");
      LoadMemory load;
      range(load);
      script.commands.push_back({place.line, std::move(load)});
    } else if (command == "dump_mem") {
      want(3, "dump_mem ADDRESS SIZE FILE");
      CompareMemory compare;
      range(compare);
      // Without a golden file a dump is for people only.
      compare.file.optional = true;
      script.commands.push_back({place.line, std::move(compare)});
    } else if (command == "wait") {
      want(0, "wait");
      script.commands.push_back({place.line, WaitInterrupt{}});
    } else {
      throw Error(file, place.line,
                  fmt::format("unknown command {}; expected write_reg, read_reg, load_mem, "
                              "dump_mem or wait",
                              quote(command)));
    }
  }
  if (script.commands.empty()) throw Error(file, 0, "no command; expected at least one");
  script.commands.push_back({place.line, Finish{}});
  return script;
}

}  // namespace nvdla::replay
