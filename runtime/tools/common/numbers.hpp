// SPDX-License-Identifier: MIT
//
// Numbers, times and rates as arguments of options. Each check reads the whole text and prints the
// range that would be right; CLI11 itself cuts numbers that are too large.
#ifndef NVDLA_TOOLS_COMMON_NUMBERS_HPP
#define NVDLA_TOOLS_COMMON_NUMBERS_HPP

#include <CLI/CLI.hpp>
#include <cstdint>

namespace nvdla::program {

// Accepts whole numbers from `min` to `max`.
CLI::Validator whole_number(std::uint64_t min, std::uint64_t max);
// Accepts finite numbers above 0.
CLI::Validator positive_number();
// Accepts times such as "500ms" or "5min" that are from `min` to `max` times `unit` ("s"), and
// replaces them by their number. A number without a unit counts `unit`.
CLI::Validator time_in(const char* unit, std::uint64_t min, std::uint64_t max);
// Accepts rates such as "600MHz" that are from `min` to `max` times `unit` ("kHz"), in the same
// way.
CLI::Validator rate_in(const char* unit, std::uint64_t min, std::uint64_t max);
// Accepts sizes such as "24MiB" of at least `min` bytes, and replaces them by their bytes.
CLI::Validator size_from(std::uint64_t min);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_NUMBERS_HPP
