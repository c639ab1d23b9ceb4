// SPDX-License-Identifier: MIT
//
// Compiles a converted program for a configuration, and compares what the loadable says of derived
// numbers with what the compiler makes of the layers.
#include <fmt/format.h>

#include "backend/compiled_program.hpp"
#include "loadable/read/convert.hpp"
#include "support/check.hpp"
#include "support/rules.hpp"

namespace nvdla::loadable {
namespace {

void compare(const nvdla_program& compiled, const Derived& d, const nvdla_hw& hw) {
  const auto value = compiled_value(compiled, d.layer, d.where, hw);
  if (!value) {
    throw Error(ErrorCode::kInvalidProgram,
                fmt::format("loadable: {}: the compiler sets no such register for the layer on {}",
                            d.field, hw.name));
  }
  if (*value == d.value) return;
  throw Error(ErrorCode::kInvalidProgram,
              fmt::format("loadable: {} is {}, but {} follows from the layer on {}", d.field,
                          static_cast<std::int64_t>(d.value + 1), *value + 1, hw.name));
}

}  // namespace

void check_program(const ConvertedProgram& program, const nvdla_hw& hw) {
  try {
    const detail::CompiledProgram compiled(0, hw, program.desc());
    for (const Derived& derived : program.derived) compare(compiled.program(), derived, hw);
  } catch (const Error& error) {
    if (error.rule() == NVDLA_RULE_NONE) throw;
    // The compiler knows layers and slots by number, loadables have operations and memories.
    detail::RuleNames names;
    names.slots = program.slot_names;
    const std::int64_t layer = error.layer();
    if (layer >= 0 && layer < static_cast<std::int64_t>(program.names.size())) {
      names.layer = program.names.at(static_cast<std::size_t>(layer));
    }
    throw Error(static_cast<ErrorCode>(error.code().value()),
                detail::rule_text(error.detail(), names), error.detail());
  }
}

}  // namespace nvdla::loadable
