// SPDX-License-Identifier: MIT
//
// JSON that remembers the line of each value, so that a wrong value can be pointed at.
#ifndef NVDLA_TOOLS_REPLAY_JSON_LINES_HPP
#define NVDLA_TOOLS_REPLAY_JSON_LINES_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvdla::replay {

struct JsonMember;

struct Json {
  enum class Type : std::uint8_t { kNull, kBoolean, kUnsigned, kNumber, kString, kArray, kObject };

  Type type = Type::kNull;
  unsigned line = 0;
  std::uint64_t number = 0;  // kUnsigned; kNumber is any other number, without its value
  std::string text;
  std::vector<JsonMember> members;  // kObject; names are unique
  std::vector<Json> items;          // kArray

  const Json* find(std::string_view name) const noexcept;
};

struct JsonMember {
  std::string name;
  Json value;
};

// "an array", "a string", ...
std::string_view describe(Json::Type type) noexcept;

// Throws Error for what is no JSON, nests deeper than 64, or has more than four million values or
// 256 members in an object.
Json parse_json(std::string_view text, std::string_view file);

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_JSON_LINES_HPP
