// SPDX-License-Identifier: MIT
//
// Faults that are planted into the model, and what the self-test has to make of each. The table
// of docs/bring-up.md is held against this one.
#pragma once

#include <span>
#include <string_view>

#include "breakable_model.hpp"

namespace nvdla::test {

struct PlantedFault {
  std::string_view what;
  std::string_view device;  // configuration that it is
  std::string_view named;   // and is said to be
  Breakage breakage;
  std::string_view step;   // that finds it, before any other does
  std::string_view cause;  // in the text of a likely cause
  bool alone;              // no other step finds it
  model::Quirks quirks = model::Quirks::kRtl;
  bool gating = true;  // as the device is named
};

std::span<const PlantedFault> planted_faults();

}  // namespace nvdla::test
