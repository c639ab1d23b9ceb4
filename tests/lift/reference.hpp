// SPDX-License-Identifier: MIT
//
// Cases come from a reference model that is known to differ from the logic here
// and there. Devices follow the logic.
#pragma once

#include "firmware/nvdla_hw.h"
#include "tools/replay/script.hpp"

namespace nvdla::test {

// Whether the registers of a case themselves, played on the device model, give
// what the case expects only where the model follows the reference model.
bool only_the_reference_agrees(const nvdla_hw& hw, const replay::Script& script);

}  // namespace nvdla::test
