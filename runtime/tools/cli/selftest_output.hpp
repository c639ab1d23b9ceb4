// SPDX-License-Identifier: MIT
//
// Formats a step for `nvdla selftest`.
#ifndef NVDLA_TOOLS_CLI_SELFTEST_OUTPUT_HPP
#define NVDLA_TOOLS_CLI_SELFTEST_OUTPUT_HPP

#include <nlohmann/json.hpp>
#include <string>

#include "selftest/selftest.hpp"

namespace nvdla::cli {

// Returns one or several lines; a block for a failure.
std::string text_of(const selftest::Report::Entry& entry);
std::string text_of(const selftest::StepInfo& step);

nlohmann::ordered_json json_of(const selftest::Report& report, const std::string& device);
nlohmann::ordered_json json_of(const selftest::StepInfo& step);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_SELFTEST_OUTPUT_HPP
