// SPDX-License-Identifier: MIT
//
// The rule table turns each enum nvdla_rule into text. The firmware only reports numbers; all text
// is here.
#ifndef NVDLA_SUPPORT_RULES_HPP
#define NVDLA_SUPPORT_RULES_HPP

#include <drm/nvdla_layer.h>

#include <span>
#include <string>
#include <string_view>

namespace nvdla::detail {

// Names for the numbers in an error. Where a name is empty, the text has the number.
struct RuleNames {
  std::string_view layer = {};          // the layer that broke the rule
  std::string_view configuration = {};  // the configuration that lacks a feature
  std::string_view object = {};         // the table, transfer or program that broke the rule
  // The field as the application knows it ("output.shift"), in place of the descriptor's name.
  std::string_view field = {};
  // The contents of each slot, such as "input 'image'"; the text then does not mention slots.
  std::span<const std::string> slots = {};
};

// Returns one line, without a full stop: where, what was found, what would be right.
std::string rule_text(const nvdla_error& error, const RuleNames& names);

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_RULES_HPP
