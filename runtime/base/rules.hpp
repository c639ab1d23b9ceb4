// SPDX-License-Identifier: MIT
//
// The rule table: what each enum nvdla_rule says to a person. Numbers come from firmware, all text
// comes from here.
#ifndef NVDLA_BASE_RULES_HPP
#define NVDLA_BASE_RULES_HPP

#include <drm/nvdla_layer.h>

#include <string>
#include <string_view>

namespace nvdla::detail {

// One line, without a full stop: where, what was found, what would be right.
// `layer_name` and `configuration` are named if they are not empty.
std::string rule_text(const nvdla_error& error, std::string_view layer_name,
                      std::string_view configuration);

}  // namespace nvdla::detail

#endif  // NVDLA_BASE_RULES_HPP
