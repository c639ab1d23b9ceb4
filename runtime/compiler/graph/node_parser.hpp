// SPDX-License-Identifier: MIT
//
// Visitors of the fields of a node (compiler/graph/node_fields.hpp) that read them from a text.
//
// A node is read in two steps, since its text names in front what depends on what stands behind:
// `FieldParser` stores the fields that the text has. When the whole line is known, `FieldResolver`
// sets all others to those of a base, and makes the constants.
#ifndef NVDLA_COMPILER_GRAPH_NODE_PARSER_HPP
#define NVDLA_COMPILER_GRAPH_NODE_PARSER_HPP

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/node_fields.hpp"
#include "compiler/graph/node_printer.hpp"
#include "compiler/text/cursor.hpp"
#include "compiler/text/list_text.hpp"
#include "compiler/text/operation_text.hpp"
#include "compiler/text/value_text.hpp"
#include "host_ops/operation_fields.hpp"

namespace nvdla::detail {

// `GivenField` is what a text has of one field: constants are made later.
struct GivenField {
  std::size_t position = 0;
  bool wide = false;  // kernels of 16 bits
  text::List<std::int64_t> integers;
  text::List<float> floats;
};

// The fields that the text has, by their path: "x1.alu_values".
using GivenFields = std::map<std::string, GivenField>;

// `FieldParser` reads the fields of a node in any order.
class FieldParser {
 public:
  // Reads the name of a tensor and returns its index.
  using TensorReader = std::function<std::uint32_t()>;

  FieldParser(text::Cursor& cursor, const text::ParseOptions& options, TensorReader tensor)
      : cursor_(cursor), options_(options), read_tensor_(std::move(tensor)) {}

  const GivenFields& given() const { return given_; }

  // Reads fields as long as words follow.
  template <typename Node>
  void parse(Node& node) {
    while (cursor_.at_word()) parse_one(node);
  }

  template <typename T>
  void value(const char* name, T& field, const T&) {
    if (!begin(name)) return;
    if constexpr (std::is_same_v<T, bool>) {
      // The name alone means true.
      field = true;
      if (!cursor_.accept('=')) return;
    } else {
      cursor_.expect('=');
    }
    text::parse_value(cursor_, name, field);
  }
  template <typename T>
  void block(const char* name, T& field, const T&) {
    if (!begin(name)) return;
    cursor_.expect('=');
    braces(name, field);
  }
  template <typename T>
  void block(const char* name, std::optional<T>& field, const std::optional<T>&) {
    if (!begin(name)) return;
    cursor_.expect('=');
    field.reset();
    if (!cursor_.accept_word("none")) braces(name, field.emplace());
  }
  template <typename T, typename Count>
  void blocks(const char* name, std::vector<T>& list, const std::vector<T>&, const Count&) {
    if (!begin(name)) return;
    cursor_.expect('=');
    cursor_.expect('[');
    list.clear();
    while (!cursor_.accept(']')) {
      if (!list.empty()) cursor_.expect(',');
      const std::string one = fmt::format("{}[{}]", name, list.size());
      braces(one, list.emplace_back());
    }
  }
  void tensor(const char* name, std::optional<std::uint32_t>& field,
              const std::optional<std::uint32_t>&) {
    if (!begin(name)) return;
    cursor_.expect('=');
    field.reset();
    if (!cursor_.accept_word("none")) field = read_tensor_();
  }
  void tensors(const char* name, std::vector<std::uint32_t>& list,
               const std::vector<std::uint32_t>&) {
    if (!begin(name)) return;
    cursor_.expect('=');
    cursor_.expect('[');
    list.clear();
    while (!cursor_.accept(']')) {
      if (!list.empty()) cursor_.expect(',');
      list.push_back(read_tensor_());
    }
  }
  template <typename Count>
  void values(const char* name, std::vector<std::int32_t>&, const std::vector<std::int32_t>&,
              const Count&) {
    if (integers(name))
      given_here().integers = text::parse_list_of<std::int32_t>(cursor_, options_);
  }
  template <typename Count>
  void values(const char* name, SharedKernels&, const SharedKernels&, const Count&) {
    if (!integers(name)) return;
    GivenField& given = given_here();
    given.wide = cursor_.accept_word("int16");
    given.integers = given.wide ? text::parse_list_of<std::int16_t>(cursor_, options_)
                                : text::parse_list_of<std::int8_t>(cursor_, options_);
  }
  template <typename T>
  void descriptor(const text::DescriptorText& fields, T& field, const T&) {
    for (std::size_t item = 0; item < fields.size(); ++item) {
      if (!begin(fields.name(item))) continue;
      cursor_.expect('=');
      fields.parse(item, cursor_, &field, options_);
    }
  }
  void operation(cpu::Operation& field, const cpu::Operation&) {
    times_.clear();
    std::visit([&](auto& kind) { cpu::walk_fields(*this, kind); }, field.kind);
  }

  // The fields of an operation, some of which have the same name: their order tells them apart.
  void number(const char* name, std::uint32_t& value, std::uint32_t min, std::uint32_t max) {
    if (!begin_repeated(name)) return;
    cursor_.expect('=');
    value = static_cast<std::uint32_t>(cursor_.integer(name, min, max));
  }
  void zero_point(const char* name, std::int32_t& value) { repeated(name, value); }
  void flag(const char* name, bool& value) { repeated(name, value); }
  void single(const char* name, float& value) { repeated(name, value); }
  void real(const char* name, double& value) { repeated(name, value); }
  void rounding(const char* name, cpu::Elements::Rounding& value) {
    if (!begin_repeated(name)) return;
    cursor_.expect('=');
    const bool nearest = cursor_.accept_word("nearest");
    if (!nearest && !cursor_.accept_word("loadable"))
      cursor_.fail_expected(fmt::format("{} (nearest, loadable)", name));
    value = nearest ? cpu::Elements::Rounding::kNearest : cpu::Elements::Rounding::kLoadable;
  }
  void quantization(const char* name, Quantization& value) {
    if (!begin_repeated(name)) return;
    cursor_.expect('=');
    value = {};
    braces(name, value);
  }
  void singles(const char* name, std::vector<float>&) {
    if (!begin_repeated(name)) return;
    cursor_.expect('=');
    given_here().floats = text::parse_float_list(cursor_, options_);
  }
  void table(const char* name, std::shared_ptr<const std::vector<std::byte>>&) {
    if (!begin_repeated(name)) return;
    cursor_.expect('=');
    given_here().integers = text::parse_list_of<std::uint8_t>(cursor_, options_);
  }

 private:
  template <typename Node>
  void parse_one(Node& node) {
    position_ = cursor_.position();
    name_ = cursor_.word("a field");
    found_ = twice_ = false;
    names_.clear();
    const Node base{};
    visit_fields(*this, node, base);
    if (found_) return;
    if (twice_) cursor_.fail_at(position_, fmt::format("the field '{}' is there twice", name_));
    cursor_.fail_at(position_, fmt::format("unknown field '{}': {}", name_,
                                           names_.empty() ? "there are none here"
                                                          : "the fields here are " + names_));
  }
  // Reads the fields of a structure between braces.
  template <typename Node>
  void braces(std::string_view name, Node& node) {
    const std::size_t length = path_.size();
    path_ += std::string(name) + ".";
    cursor_.expect('{');
    while (!cursor_.accept('}')) {
      if (!cursor_.at_word()) cursor_.fail_expected("a field or '}'");
      parse_one(node);
    }
    path_.resize(length);
    found_ = true;
  }
  // Returns true if the field `name` is the one that the text names, and not there already.
  bool begin(std::string_view name) { return begin_at(name, name); }
  bool begin_at(std::string_view name, std::string_view key) {
    if (found_) return false;
    if (name != name_) {
      names_ += (names_.empty() ? "" : ", ") + std::string(name);
      return false;
    }
    here_ = path_ + std::string(key);
    if (!given_.try_emplace(here_, GivenField{position_, false, {}, {}}).second) {
      twice_ = true;
      return false;
    }
    found_ = true;
    return true;
  }
  bool begin_repeated(const std::string& name) {
    const int time = times_[name]++;
    return begin_at(name, time == 0 ? name : fmt::format("{}#{}", name, time));
  }
  bool integers(const char* name) {
    if (!begin(name)) return false;
    cursor_.expect('=');
    return true;
  }
  template <typename T>
  void repeated(const char* name, T& field) {
    if (!begin_repeated(name)) return;
    if constexpr (std::is_same_v<T, bool>) {
      field = true;
      if (!cursor_.accept('=')) return;
    } else {
      cursor_.expect('=');
    }
    text::parse_value(cursor_, name, field);
  }
  GivenField& given_here() { return given_[here_]; }

  text::Cursor& cursor_;
  const text::ParseOptions& options_;
  TensorReader read_tensor_;
  GivenFields given_;
  std::string path_;  // of the structures around, each with a dot behind
  // The field that is looked for.
  std::string_view name_;
  std::size_t position_ = 0;
  bool found_ = false, twice_ = false;
  std::string here_;                  // its path, once it is found
  std::string names_;                 // of all fields that it is not
  std::map<std::string, int> times_;  // how often each name has come in an operation
};

// `FieldResolver` completes a node whose fields FieldParser has read.
class FieldResolver {
 public:
  FieldResolver(const GivenFields& given, const NodeContext& context, const text::Cursor& cursor,
                text::Budget& budget)
      : given_(given), context_(context), cursor_(cursor), budget_(budget) {}

  template <typename T>
  void value(const char* name, T& field, const T& base) {
    if (find(name) == nullptr) field = base;
  }
  template <typename T>
  void block(const char* name, T& field, const T& base) {
    inside(name, [&] { visit_fields(*this, field, base); });
  }
  template <typename T>
  void block(const char* name, std::optional<T>& field, const std::optional<T>& base) {
    if (find(name) == nullptr) {
      field = base;
    } else if (field) {
      block(name, *field, base ? *base : T{});
    }
  }
  template <typename T, typename Count>
  void blocks(const char* name, std::vector<T>& list, const std::vector<T>& base,
              const Count& count) {
    const T like = base.empty() ? T{} : base[0];
    if (find(name) == nullptr) {
      budget_.spend(count(), sizeof(T), cursor_, line_);
      list.assign(static_cast<std::size_t>(count()), like);
      return;
    }
    for (std::size_t i = 0; i < list.size(); ++i)
      block(fmt::format("{}[{}]", name, i).c_str(), list[i], like);
  }
  template <typename T>
  void tensor(const char* name, T& field, const T& base) {
    value(name, field, base);
  }
  template <typename T>
  void tensors(const char* name, T& field, const T& base) {
    value(name, field, base);
  }
  template <typename Count>
  void values(const char* name, std::vector<std::int32_t>& list,
              const std::vector<std::int32_t>& base, const Count& count) {
    const GivenField* given = find(name);
    if (given == nullptr) {
      list = base;
    } else {
      list = text::make_values<std::int32_t>(given->integers, count(context_), cursor_, budget_);
    }
  }
  template <typename Count>
  void values(const char* name, SharedKernels& kernels, const SharedKernels&, const Count& count) {
    const GivenField* given = find(name);
    if (given == nullptr) fail_missing(name);
    const std::uint64_t expected = count(context_);
    const auto make = [&]<typename T>(T) {
      auto values = text::make_values<T>(given->integers, expected, cursor_, budget_);
      check_count(given->position, name, values.size(), expected);
      kernels = std::make_shared<const Kernels>(std::move(values));
    };
    given->wide ? make(std::int16_t{}) : make(std::int8_t{});
  }
  template <typename T>
  void descriptor(const text::DescriptorText& fields, T& field, const T& base) {
    for (std::size_t item = 0; item < fields.size(); ++item)
      if (find(fields.name(item)) == nullptr) fields.copy(item, &base, &field);
  }
  void operation(cpu::Operation& field, const cpu::Operation&) {
    std::visit([&](auto& kind) { cpu::walk_fields(*this, kind); }, field.kind);
  }

  // The fields of an operation are those of one as it is constructed, unless they were read.
  void number(const char*, std::uint32_t&, std::uint32_t, std::uint32_t) {}
  void zero_point(const char*, std::int32_t&) {}
  void flag(const char*, bool&) {}
  void single(const char*, float&) {}
  void real(const char*, double&) {}
  void rounding(const char*, cpu::Elements::Rounding&) {}
  void quantization(const char*, Quantization&) {}
  void singles(const char* name, std::vector<float>& values) {
    const GivenField* given = find(name);
    if (given == nullptr) return;
    const std::uint32_t channels = operation_input(context_).channels;
    values = text::make_values<float>(given->floats, channels, cursor_, budget_);
    if (!values.empty()) check_count(given->position, name, values.size(), channels);
  }
  void table(const char* name, std::shared_ptr<const std::vector<std::byte>>& results) {
    const GivenField* given = find(name);
    const std::uint64_t expected = text::table_bytes(operation_input(context_).precision);
    if (given == nullptr) fail_missing(name);
    results = std::make_shared<const std::vector<std::byte>>(
        text::make_values<std::byte>(given->integers, expected, cursor_, budget_));
    check_count(given->position, name, results->size(), expected);
  }

  // The place of the node in the text, for what no field of it is to blame for.
  void set_line(std::size_t position) { line_ = position; }

 private:
  const GivenField* find(std::string_view name) const {
    const auto at = given_.find(path_ + std::string(name));
    return at == given_.end() ? nullptr : &at->second;
  }
  template <typename Call>
  void inside(const char* name, const Call& call) {
    const std::size_t length = path_.size();
    path_ += std::string(name) + ".";
    call();
    path_.resize(length);
  }
  [[noreturn]] void fail_missing(const char* name) const {
    cursor_.fail_at(line_, fmt::format("the field '{}' is missing", name));
  }
  void check_count(std::size_t position, const char* name, std::uint64_t count,
                   std::uint64_t expected) const {
    if (count != expected)
      cursor_.fail_at(position,
                      fmt::format("{} has {} values, expected {}", name, count, expected));
  }

  const GivenFields& given_;
  const NodeContext& context_;
  const text::Cursor& cursor_;
  text::Budget& budget_;
  std::string path_;
  std::size_t line_ = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_NODE_PARSER_HPP
