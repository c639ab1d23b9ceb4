// SPDX-License-Identifier: MIT
#include "tools/replay/json_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/replay/text.hpp"

namespace nvdla::replay {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxValues = 4'000'000;
// Each name of an object is compared with all others.
constexpr std::size_t kMaxMembers = 256;

// The position of the parser. The end of a line counts only with the next character, because the
// parser reads one character past a number, which may be the end of its line.
struct Position {
  unsigned line = 1;
  bool pending = false;

  void consume(char c) noexcept {
    line += pending;
    pending = c == '\n';
  }
};

// Feeds the parser and counts lines, since the parser does not report the positions of values.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Position* position) : at_(at), position_(position) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    position_->consume(*at_++);
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Position* position_;
};

// Builds the tree. The path from the root to the open container is a stack of values, so depth
// is bounded here and nowhere else.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view file, const Position& position) : file_(file), position_(position) {}

  bool null() override { return add({}); }
  bool boolean(bool) override { return add(make(Json::Type::kBoolean)); }
  bool number_integer(number_integer_t) override { return add(make(Json::Type::kNumber)); }
  bool number_unsigned(number_unsigned_t value) override {
    Json json = make(Json::Type::kUnsigned);
    json.number = value;
    return add(std::move(json));
  }
  bool number_float(number_float_t, const string_t&) override {
    return add(make(Json::Type::kNumber));
  }
  bool string(string_t& value) override {
    Json json = make(Json::Type::kString);
    json.text = std::move(value);
    return add(std::move(json));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::Type::kObject); }
  bool key(string_t& value) override {
    if (open_.back().members.size() == kMaxMembers)
      fail(fmt::format("an object with more than {} members", kMaxMembers));
    if (open_.back().find(value)) fail(fmt::format("{} occurs twice; expected once", quote(value)));
    // Filled when its value comes; a null of its own line until then.
    open_.back().members.push_back({std::move(value), make(Json::Type::kNull)});
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::Type::kArray); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    std::string message = e.what();
    // Ours says file and line; the rest after "column N: " says what.
    const std::size_t column = message.find("column ");
    const std::size_t colon = column == std::string::npos ? column : message.find(": ", column);
    if (colon != std::string::npos) message.erase(0, colon + 2);
    // It quotes the file, whatever is there and however long.
    message.resize(std::min<std::size_t>(message.size(), 200));
    for (char& c : message)
      if (c < 0x20 || c > 0x7e) c = '?';
    fail("not JSON: " + message);
  }

  Json take() { return std::move(root_); }

 private:
  Json make(Json::Type type) const {
    Json json;
    json.type = type;
    json.line = position_.line;
    return json;
  }

  [[noreturn]] void fail(std::string_view message) const {
    throw Error(file_, position_.line, message);
  }

  bool open(Json::Type type) {
    if (open_.size() == kMaxDepth) fail(fmt::format("more than {} levels deep", kMaxDepth));
    open_.push_back(make(type));
    return true;
  }

  bool close() {
    Json json = std::move(open_.back());
    open_.pop_back();
    return add(std::move(json));
  }

  bool add(Json json) {
    if (json.line == 0) json.line = position_.line;
    if (++values_ > kMaxValues) fail(fmt::format("more than {} values", kMaxValues));
    if (open_.empty())
      root_ = std::move(json);
    else if (open_.back().type == Json::Type::kObject)
      open_.back().members.back().value = std::move(json);
    else
      open_.back().items.push_back(std::move(json));
    return true;
  }

  std::string_view file_;
  const Position& position_;
  std::vector<Json> open_;
  Json root_;
  std::size_t values_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view name) const noexcept {
  for (const JsonMember& member : members)
    if (member.name == name) return &member.value;
  return nullptr;
}

std::string_view describe(Json::Type type) noexcept {
  switch (type) {
    case Json::Type::kNull:
      return "null";
    case Json::Type::kBoolean:
      return "a boolean";
    case Json::Type::kUnsigned:
      return "a number";
    case Json::Type::kNumber:
      return "a negative or fractional number";
    case Json::Type::kString:
      return "a string";
    case Json::Type::kArray:
      return "an array";
    case Json::Type::kObject:
      return "an object";
  }
  return "invalid";
}

Json parse_json(std::string_view text, std::string_view file) {
  Position position;
  Builder builder(file, position);
  const char* begin = text.data();
  nlohmann::json::sax_parse(CountingIterator(begin, &position),
                            CountingIterator(begin + text.size(), &position), &builder);
  return builder.take();
}

}  // namespace nvdla::replay
