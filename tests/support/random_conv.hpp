// SPDX-License-Identifier: MIT
//
// Random small convolutions of each mode.
#pragma once

#include <random>

#include "support/conv_case.hpp"

namespace nvdla::test {

ConvCase random_direct(const nvdla_hw& hw, std::mt19937_64& random, Number in, Number proc);
ConvCase random_image(const nvdla_hw& hw, std::mt19937_64& random, unsigned format, Number proc);
ConvCase random_winograd(const nvdla_hw& hw, std::mt19937_64& random, Number proc);

// Of a component in memory.
Number format_number(unsigned format);

}  // namespace nvdla::test
