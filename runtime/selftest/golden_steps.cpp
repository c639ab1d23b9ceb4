// SPDX-License-Identifier: MIT
//
// The golden layers of a unit, and what makes a convolution wrong.
#include <fmt/format.h>

#include <algorithm>

#include "selftest/explain.hpp"
#include "selftest/golden.hpp"
#include "selftest/steps.hpp"

namespace nvdla::selftest {
namespace {

std::optional<Finding> run_golden(Runner& runner, const Golden& golden, unsigned atom) {
  const Work work = work_of(golden);
  const auto load = runner.load(work);
  if (auto found = run(*load, work.what)) return found;
  auto found = compare(golden.output, load->bytes(golden.inputs.size()), kPoison, atom);
  if (found) found->saw = fmt::format("{} ({}): {}", work.what, golden.what, found->saw);
  return found;
}

Result run_unit(Bench& bench, std::string_view unit) {
  Result result;
  std::string names;
  for (const Golden& golden : goldens()) {
    if (golden.configuration != bench.hw.name || golden.unit != unit) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", golden.name);
    if (auto found = run_golden(bench.runner, golden, bench.hw.atom)) {
      if (found->causes.empty())
        found->causes = {fmt::format("{} computes something else: {}", unit, cause::kConfiguration),
                         "timing of the logic (clock too fast, voltage too low), or a fault in it"};
      result.add(std::move(*found));
    }
  }
  if (names.empty()) return Result::left_out(fmt::format("{} has no such unit", bench.hw.name));
  if (result.verdict == Verdict::kPassed) return Result::passed(names);
  return result;
}

// A convolution of one channel, of which the device is to take lane 0: each result is 1, or what
// was in the lane that it took instead, plus 1.
std::optional<std::uint8_t> lane_that_is_first(Bench& bench) {
  const nvdla_hw& hw = bench.hw;
  Work work;
  work.what = "a convolution of one channel";
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_CONV_SDP;
  nvdla_conv& conv = layer.conv;
  conv.width = conv.height = conv.channels = conv.batch = conv.kernel_width = 1;
  conv.kernel_height = conv.stride_width = conv.stride_height = conv.dilation_width =
      conv.dilation_height = 1;
  conv.kernels = 8;
  conv.data_banks = conv.weight_banks = conv.post_extension = 1;
  conv.input.line_stride = conv.input.surface_stride = hw.atom;
  conv.weights.slot = 1;
  layer.sdp.out_cvt.scale = 1;
  layer.sdp.output.slot = 2;
  layer.sdp.output.line_stride = layer.sdp.output.surface_stride = hw.atom;
  work.layers.push_back(layer);
  Bytes lanes(hw.atom);
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = static_cast<std::uint8_t>(i + 1);
  Bytes weights(hw.weight_align);
  std::fill_n(weights.begin(), conv.kernels, std::uint8_t{1});
  work.regions = {{std::move(lanes)}, {std::move(weights)}, {Bytes(hw.atom, kPoison), true}};
  const auto load = bench.runner.load(work);
  if (load->run().end != End::kDone) return std::nullopt;
  // Kernels, and with them results, come in another order if the bytes do: all have the same.
  return load->bytes(2)[0];
}

// Other configurations whose golden convolution this device computes.
std::string configurations_that_fit(Bench& bench) {
  std::string names;
  for (const Golden& golden : goldens()) {
    const nvdla_hw& hw = *nvdla_hw_find(std::string(golden.configuration).c_str());
    if (&hw == &bench.hw || golden.configuration == bench.hw.name || golden.unit != "conv" ||
        golden.name != "int8" || hw.regmap != bench.hw.regmap)
      continue;
    BareRunner runner(bench.bare->device(), hw, bench.limit);
    if (!run_golden(runner, golden, hw.atom))
      names += fmt::format("{}{}", names.empty() ? "" : " or ", hw.name);
  }
  bench.bare->forget();
  return names;
}

}  // namespace

Result check_conv(Bench& bench) {
  Result result = run_unit(bench, "conv");
  if (result.verdict != Verdict::kFailed) return result;
  std::vector<std::string>& causes = result.findings.front().causes;
  const auto lane = lane_that_is_first(bench);
  if (lane && *lane > 1 && *lane <= bench.hw.atom) {
    causes.insert(causes.begin(),
                  fmt::format("endianness: memory reverses the bytes of each {}", *lane));
  } else if (bench.bare) {
    if (const std::string fit = configurations_that_fit(bench); !fit.empty())
      causes.insert(causes.begin(),
                    fmt::format("wrong configuration: this convolves as {} does", fit));
  }
  return result;
}

Result check_sdp(Bench& bench) { return run_unit(bench, "sdp"); }
Result check_pdp(Bench& bench) { return run_unit(bench, "pdp"); }
Result check_cdp(Bench& bench) { return run_unit(bench, "cdp"); }
Result check_bdma(Bench& bench) { return run_unit(bench, "bdma"); }
Result check_rubik(Bench& bench) { return run_unit(bench, "rubik"); }

}  // namespace nvdla::selftest
