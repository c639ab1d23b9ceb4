// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "tools/replay/json_lines.hpp"
#include "tools/replay/parsers.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::replay {
namespace {

class CaseParser {
 public:
  CaseParser(std::string_view file, RegisterMap map) : file_(file) {
    script_.kind = Kind::kCase;
    script_.file = file;
    script_.map = map;
  }

  Script parse(const Json& root) {
    want(root, Json::Type::kObject, "the case");
    // A kind of expectation that is not understood must not be passed over; other unknown
    // members are for people.
    for (const auto& [name, value] : root.members)
      if (name.starts_with("expect") && name != "expect_intr_status" && name != "expect_mem" &&
          name != "expect_regs")
        fail(value,
             fmt::format("unknown expectation {}; expected expect_intr_status, expect_mem or "
                         "expect_regs",
                         quote(name)));

    for (const Json& item : array(root, "fill", false)) fill(item);
    for (const Json& item : array(root, "mem", false)) load(item);
    for (const Json& item : array(root, "regs", true)) {
      const auto [offset, value] = register_pair(item);
      add(item, WriteRegister{offset, value});
    }
    const Json* const status = root.find("expect_intr_status");
    const std::uint32_t interrupts =
        status ? static_cast<std::uint32_t>(number(*status, "expect_intr_status", ~0u)) : 0;
    add(root, Finish{interrupts});

    const std::size_t runs = script_.commands.size();
    if (status) {
      const auto* info = model::find_register("GLB.S_INTR_STATUS");
      CheckRegister check;
      check.offset = *model::register_address(script_.map, *info);
      check.value = interrupts;
      add(*status, check);
    }
    for (const Json& item : array(root, "expect_mem", false)) compare(item);
    for (const Json& item : array(root, "expect_regs", false)) {
      const auto [offset, value] = register_pair(item);
      CheckRegister check;
      check.offset = offset;
      check.value = value;
      add(item, check);
    }
    if (script_.commands.size() == runs)
      fail(root,
           "nothing is expected; expected at least one of expect_intr_status, expect_mem, "
           "expect_regs");
    return std::move(script_);
  }

 private:
  [[noreturn]] void fail(const Json& at, std::string_view message) const {
    throw Error(file_, at.line, message);
  }

  void want(const Json& json, Json::Type type, std::string_view what) const {
    if (json.type != type)
      fail(json, fmt::format("{} is {}; expected {}", what, describe(json.type), describe(type)));
  }

  const std::vector<Json>& array(const Json& root, std::string_view name, bool required) const {
    static const std::vector<Json> kNone;
    const Json* json = root.find(name);
    if (!json) {
      if (required) fail(root, fmt::format("'{}' is missing; expected an array", name));
      return kNone;
    }
    want(*json, Json::Type::kArray, fmt::format("'{}'", name));
    return json->items;
  }

  const Json& member(const Json& object, std::string_view name) const {
    const Json* json = object.find(name);
    if (!json) fail(object, fmt::format("'{}' is missing", name));
    return *json;
  }

  // Addresses and values are hexadecimal strings, sizes are plain numbers; both are taken.
  std::uint64_t number(const Json& json, std::string_view what, std::uint64_t max) const {
    if (json.type == Json::Type::kString)
      return parse_number({file_, json.line}, json.text, what, max);
    if (json.type != Json::Type::kUnsigned)
      fail(json, fmt::format("{} is {}; expected a number or a hexadecimal string", what,
                             describe(json.type)));
    if (json.number > max)
      fail(json, fmt::format("{} {} is too large; expected at most {:#x}", what, json.number, max));
    return json.number;
  }

  std::pair<std::uint32_t, std::uint32_t> register_pair(const Json& json) const {
    want(json, Json::Type::kArray, "a register");
    if (json.items.size() != 3 && json.items.size() != 2)
      fail(json, fmt::format("a register has {} items; expected [byte offset, value, name]",
                             json.items.size()));
    const std::uint64_t offset = number(json.items[0], "byte offset", ~std::uint64_t{0});
    check_register_offset({file_, json.items[0].line}, offset);
    const std::uint64_t value = number(json.items[1], "value", ~0u);
    return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(value)};
  }

  // Sets address and size of a command.
  template <typename Action>
  void range(const Json& json, Action& action) const {
    want(json, Json::Type::kObject, "a memory range");
    action.address = number(member(json, "addr"), "addr", ~std::uint64_t{0});
    action.size = number(member(json, "size"), "size", ~std::uint64_t{0});
    check_range({file_, member(json, "size").line}, action.address, action.size);
  }

  BlobFile file(const Json& json) const {
    const Json& name = member(json, "file");
    want(name, Json::Type::kString, "'file'");
    check_file_name({file_, name.line}, name.text);
    BlobFile result;
    result.name = name.text;
    return result;
  }

  void fill(const Json& json) {
    FillMemory action;
    range(json, action);
    action.byte = static_cast<std::uint8_t>(number(member(json, "byte"), "byte", 0xff));
    add(json, action);
  }

  void load(const Json& json) {
    LoadMemory action;
    range(json, action);
    action.file = file(json);
    add(json, std::move(action));
  }

  void compare(const Json& json) {
    CompareMemory action;
    range(json, action);
    action.file = file(json);
    add(json, std::move(action));
  }

  void add(const Json& at, Action action) {
    script_.commands.push_back({at.line, std::move(action)});
  }

  std::string_view file_;
  Script script_;
};

}  // namespace

Script parse_case(std::string_view text, std::string_view file, RegisterMap map) {
  return CaseParser(file, map).parse(parse_json(text, file));
}

}  // namespace nvdla::replay
