// SPDX-License-Identifier: MIT
#include "compiler/lower/pool_steps.hpp"

#include <algorithm>

#include "compiler/graph/pool_node.hpp"
#include "compiler/lower/pool_bands.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

struct Step {
  std::uint32_t size = 0, kernel = 1, stride = 1, before = 0, after = 0;

  std::uint32_t output() const { return pool_output(size, before, after, kernel, stride); }
};

// Windows of eight at every place, until what is left of the window is one; of all that there is
// side by side.
std::vector<Step> split(Step whole) {
  std::vector<Step> steps;
  while (whole.kernel > kMaxWindow) {
    Step step{whole.size, kMaxWindow, 1, 0, 0};
    if (whole.kernel == whole.size && whole.before + whole.after == 0) {
      step.stride = kMaxWindow;
      const auto full = static_cast<std::uint32_t>(arith::round_up(whole.size, kMaxWindow));
      step.after = full - whole.size;
      whole.kernel = full / kMaxWindow;
    } else {
      step.before = std::min(whole.before, kMaxWindow - 1);
      step.after = std::min(whole.after, kMaxWindow - 1);
      whole.before -= step.before;
      whole.after -= step.after;
      whole.kernel -= kMaxWindow - 1;
    }
    whole.size = step.output();
    steps.push_back(step);
  }
  steps.push_back(whole);
  return steps;
}

}  // namespace

std::vector<nvdla_pdp> split_window(const nvdla_pdp& pdp) {
  std::vector<Step> columns =
      split({pdp.width, pdp.kernel_width, pdp.stride_width, pdp.pad_left, pdp.pad_right});
  std::vector<Step> lines =
      split({pdp.height, pdp.kernel_height, pdp.stride_height, pdp.pad_top, pdp.pad_bottom});
  const std::size_t count = std::max(columns.size(), lines.size());
  // The direction that has fewer steps does nothing in the others.
  for (std::vector<Step>* steps : {&columns, &lines})
    while (steps->size() < count) steps->push_back({.size = steps->back().output()});
  std::vector<nvdla_pdp> list;
  for (std::size_t i = 0; i < count; ++i) {
    const Step &x = columns[i], &y = lines[i];
    nvdla_pdp step = pdp;
    step.width = x.size;
    step.height = y.size;
    step.kernel_width = x.kernel;
    step.kernel_height = y.kernel;
    step.stride_width = x.stride;
    step.stride_height = y.stride;
    step.pad_left = x.before;
    step.pad_right = x.after;
    step.pad_top = y.before;
    step.pad_bottom = y.after;
    list.push_back(step);
  }
  return list;
}

}  // namespace nvdla::detail
