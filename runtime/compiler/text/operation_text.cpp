// SPDX-License-Identifier: MIT
#include "compiler/text/operation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "host_ops/operation_fields.hpp"

namespace nvdla::detail::text {
namespace {

// `FieldList` collects the fields of an operation in their order.
struct FieldList {
  const OperationInput& input;
  const PrintOptions& options;
  std::vector<std::pair<std::string, std::string>> fields = {};

  void number(const char* name, std::uint32_t value, std::uint32_t, std::uint32_t) {
    add(name, fmt::format("{}", value));
  }
  void zero_point(const char* name, std::int32_t value) { add(name, fmt::format("{}", value)); }
  void flag(const char* name, bool value) { add(name, value ? "true" : "false"); }
  void rounding(const char* name, cpu::Elements::Rounding value) {
    add(name, value == cpu::Elements::Rounding::kLoadable ? "loadable" : "nearest");
  }
  void single(const char* name, float value) { add(name, fmt::format("{}", value)); }
  void real(const char* name, double value) { add(name, fmt::format("{}", value)); }
  void quantization(const char* name, const Quantization& value) {
    add(name, fmt::format("{{scale={} zero_point={}}}", value.scale, value.zero_point));
  }
  void singles(const char* name, const std::vector<float>& values) {
    add(name, list_text(values, input.channels, options));
  }
  void table(const char* name, const std::shared_ptr<const std::vector<std::byte>>& results) {
    const std::size_t count = results == nullptr ? 0 : results->size();
    const Elements bytes = {count, 1, false, [&results](std::size_t i) {
                              return static_cast<std::int64_t>((*results)[i]);
                            }};
    add(name, list_text(bytes, table_bytes(input.precision), options));
  }
  std::ptrdiff_t count(const std::string& name) const {
    return std::count_if(fields.begin(), fields.end(),
                         [&](const auto& field) { return field.first == name; });
  }

 private:
  void add(const char* name, std::string text) { fields.emplace_back(name, std::move(text)); }
};

template <std::size_t kIndex = 0, typename Call>
void for_each_kind(const Call& call) {
  if constexpr (kIndex < std::variant_size_v<decltype(cpu::Operation::kind)>) {
    cpu::Operation operation;
    operation.kind.emplace<kIndex>();
    call(operation);
    for_each_kind<kIndex + 1>(call);
  }
}

}  // namespace

std::string operation_fields_text(const cpu::Operation& operation, const OperationInput& input,
                                  const PrintOptions& options) {
  FieldList own{input, options}, constructed{input, options};
  cpu::Operation copy = operation;
  std::visit(
      [&](auto& kind) {
        std::remove_reference_t<decltype(kind)> fresh;
        cpu::walk_fields(own, kind);
        cpu::walk_fields(constructed, fresh);
      },
      copy.kind);
  std::string text;
  for (const auto& field : own.fields) {
    const auto& all = constructed.fields;
    const bool known = std::find(all.begin(), all.end(), field) != all.end();
    // Fields that repeat are all printed: their order tells them apart.
    if (known && own.count(field.first) == 1) continue;
    text += fmt::format(" {}={}", field.first, field.second);
  }
  return text;
}

bool make_operation(std::string_view name, cpu::Operation& operation) {
  bool found = false;
  for_each_kind([&](const cpu::Operation& one) {
    if (cpu::operation_name(one) != name) return;
    operation = one;
    found = true;
  });
  return found;
}

std::string operation_names() {
  std::string names;
  for_each_kind([&](const cpu::Operation& one) {
    names += (names.empty() ? "" : ", ") + std::string(cpu::operation_name(one));
  });
  return names;
}

}  // namespace nvdla::detail::text
