// SPDX-License-Identifier: MIT
//
// The rule table: what each enum nvdla_rule says to a person. Numbers come from firmware, all text
// comes from here.
#ifndef NVDLA_SUPPORT_RULES_HPP
#define NVDLA_SUPPORT_RULES_HPP

#include <drm/nvdla_layer.h>

#include <span>
#include <string>
#include <string_view>

namespace nvdla::detail {

// What people call the things that an error has numbers of; what is empty goes by its number.
struct RuleNames {
  std::string_view layer = {};          // the one that it is about
  std::string_view configuration = {};  // that lacks a feature
  std::string_view object = {};         // the table, transfer or whole program that it is about
  // The field as the application knows it ("output.shift"), in place of the descriptor's name.
  std::string_view field = {};
  // Of each slot what lies in it, such as "input 'image'": there is no word of slots then.
  std::span<const std::string> slots = {};
};

// One line, without a full stop: where, what was found, what would be right.
std::string rule_text(const nvdla_error& error, const RuleNames& names);

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_RULES_HPP
