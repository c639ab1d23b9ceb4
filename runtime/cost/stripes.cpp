// SPDX-License-Identifier: MIT
#include "cost/stripes.hpp"

#include <algorithm>

#include "cost/machine.hpp"

namespace nvdla::cost {
namespace {

// The first generation cuts a line of an image after so many outputs.
constexpr std::uint64_t kImageStripe = 64;

void set_steps(const Machine& machine, const ConvGeometry& layer, std::uint64_t group,
               Stripes& stripes) {
  // The buffer gives an entry of kernels a cycle.
  stripes.least =
      ceil_div(group * machine.atomic_c * layer.element_bytes, machine.cbuf_entry_bytes);
  if (layer.winograd) {
    // A step takes four channels of a tile of 4 x 4 and gives four results.
    stripes.steps = ceil_div(layer.winograd_channels, machine.atomic_c / 16);
    stripes.results = 4;
  } else if (layer.image) {
    // Rows of the kernel are channels, some of them side by side.
    stripes.steps = ceil_div(layer.kernel_height, layer.post_lines) *
                    ceil_div(layer.weight_channels * layer.post_lines, machine.atomic_c);
  } else {
    stripes.steps = ceil_div(layer.channels, machine.atomic_c) *
                    (std::uint64_t{layer.kernel_width} * layer.kernel_height);
  }
}

// Cycles of one step for outputs in a row that are cut after `longest` of them.
std::uint64_t step_cycles(std::uint64_t outputs, std::uint64_t longest, std::uint64_t least) {
  const std::uint64_t rest = outputs % longest;
  return outputs / longest * std::max(longest, least) + (rest == 0 ? 0 : std::max(rest, least));
}

// Stripes are of 16 outputs, the last of up to twice as many.
void cut_first_generation(const ConvGeometry& layer, std::uint64_t outputs, Stripes& stripes) {
  if (layer.image) {
    stripes.cycles = stripes.steps * layer.out_height *
                     step_cycles(layer.out_width, kImageStripe, stripes.least);
    const std::uint64_t rest = layer.out_width % kImageStripe;
    stripes.first = std::min<std::uint64_t>(layer.out_width, kImageStripe);
    stripes.last = rest == 0 ? stripes.first : rest;
    return;
  }
  stripes.cycles = stripes.steps * std::max(outputs, stripes.least);
  stripes.last = outputs <= 2 * kStripe ? outputs : kStripe + (outputs - 1) % kStripe + 1;
  stripes.first = outputs <= 2 * kStripe ? outputs : kStripe;
}

// Stripes are of twice as many outputs as a group has kernels; where less than two of these are
// left, halves follow until the rest fits one. Lines of an image are cut into whole ones.
void cut_second_generation(const Machine& machine, const ConvGeometry& layer, std::uint64_t outputs,
                           Stripes& stripes) {
  const std::uint64_t lines = layer.image ? layer.out_height : 1;
  const std::uint64_t in_line = layer.image ? layer.out_width : outputs;
  const std::uint64_t half = machine.atomic_k;
  const bool wide = layer.image && machine.atomic_c == 4 * machine.atomic_k;
  const std::uint64_t full = wide ? 4 * half : 2 * half;
  const std::uint64_t rest = in_line % full;
  stripes.room = machine.atomic_c == 4 * machine.atomic_k ? 4 * half : 2 * half;
  std::uint64_t whole = in_line / full, halves = 0;
  stripes.last = rest == 0 ? full : rest;
  if (!layer.image && rest != 0 && whole != 0) {
    whole -= 1;
    halves = rest <= half ? 1 : 2;
    if (rest <= half) stripes.last = half + rest;
  }
  stripes.kinds[0] = {full, lines * (rest == 0 ? whole - 1 : whole)};
  stripes.kinds[1] = {half, lines * halves};
  stripes.kinds[2] = {stripes.last, lines};
  stripes.first = std::min(in_line, full);
  for (const Stripes::Kind& kind : stripes.kinds)
    stripes.cycles += stripes.steps * kind.count * std::max(kind.outputs, half);
}

}  // namespace

Stripes cut_stripes(const Machine& machine, const ConvGeometry& layer, std::uint64_t group) {
  Stripes stripes;
  set_steps(machine, layer, group, stripes);
  std::uint64_t outputs =
      std::uint64_t{layer.out_width} * layer.out_height * std::max(layer.batches, 1U);
  if (layer.winograd) outputs = ceil_div(outputs, 4);
  if (machine.first_generation)
    cut_first_generation(layer, outputs, stripes);
  else
    cut_second_generation(machine, layer, outputs, stripes);
  return stripes;
}

std::uint64_t array_steps(const ArrayWork& work) noexcept {
  return ceil_div(work.kernels, work.group) * work.blocks *
         std::max(ceil_div(work.outputs, kStripe) * kStripe, work.group);
}

}  // namespace nvdla::cost
