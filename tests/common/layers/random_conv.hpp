// SPDX-License-Identifier: MIT
//
// Random small convolutions of each mode.
#pragma once

#include "common/layers/conv_case.hpp"

namespace nvdla::test {

ConvCase random_direct(const nvdla_hw& hw, Random& random, Number in, Number proc);
ConvCase random_image(const nvdla_hw& hw, Random& random, unsigned format, Number proc);
ConvCase random_winograd(const nvdla_hw& hw, Random& random, Number proc);

// Of a component in memory.
Number format_number(unsigned format);

}  // namespace nvdla::test
