// SPDX-License-Identifier: MIT
#include "lift/reference.hpp"

#include "tools/replay/player.hpp"
#include "tools/replay/targets/model_target.hpp"

namespace nvdla::test {
namespace {

bool passes(const nvdla_hw& hw, const replay::Script& script, model::Quirks quirks) {
  model::Options options;
  options.quirks = quirks;
  replay::ModelTarget target(hw, options);
  return replay::play(script, target).verdict == replay::Verdict::kPass;
}

}  // namespace

bool only_the_reference_agrees(const nvdla_hw& hw, const replay::Script& script) {
  return passes(hw, script, model::Quirks::kCmodel) && !passes(hw, script, model::Quirks::kRtl);
}

}  // namespace nvdla::test
