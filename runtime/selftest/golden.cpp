// SPDX-License-Identifier: MIT
#include "selftest/golden.hpp"

#include <fmt/format.h>

namespace nvdla::selftest {
namespace {

// One initialiser of many numbers for each blob, and a function for each layer.
#include "golden_layers.inc"

}  // namespace

std::span<const Golden> goldens() noexcept { return kGoldens; }

Work work_of(const Golden& golden) {
  Work work;
  work.what = fmt::format("{} {}", golden.unit, golden.name);
  work.layers.resize(1);
  nvdla_lut lut = {};
  nvdla_transfer transfer = {};
  golden.describe(work.layers.front(), lut, transfer);
  if (golden.has_lut) work.luts.push_back(lut);
  if (golden.has_transfer) work.transfers.push_back(transfer);
  for (const auto input : golden.inputs) work.regions.push_back({{input.begin(), input.end()}});
  work.regions.push_back({Bytes(golden.output.size(), kPoison), true});
  return work;
}

}  // namespace nvdla::selftest
