// SPDX-License-Identifier: MIT
#include "compiler/operators/average_steps.hpp"

#include <algorithm>
#include <utility>

#include "compiler/operators/conv_parts.hpp"

namespace nvdla::detail {
namespace {

constexpr std::uint32_t kMostStride = 8;  // of a convolution
// Elements of 8 bits whose sum 16 bits hold.
constexpr std::uint64_t kMostElements = 256;

// The whole axis, without padding: zeros add nothing.
bool is_whole(const AxisWindow& w) { return w.outputs() == 1 && w.count(0) == w.size; }

AxisWindow without_padding(const AxisWindow& w) {
  return is_whole(w) ? AxisWindow{.size = w.size, .kernel = w.size} : w;
}

// Blocks of `block` elements, with zeros to fill the last one.
AxisWindow blocks_of(const AxisWindow& w, std::uint32_t block) {
  AxisWindow step = {.size = w.size, .kernel = block, .stride = block};
  step.after = (block - w.size % block) % block;
  return step;
}

// Returns the same window over blocks, or nothing if it does not begin and end between two of them.
std::optional<AxisWindow> over_blocks(const AxisWindow& w, std::uint32_t block) {
  const std::uint32_t size = (w.size + block - 1) / block;
  if (is_whole(w)) return AxisWindow{.size = size, .kernel = size};
  if (w.kernel % block != 0 || w.stride % block != 0 || w.before % block != 0) return std::nullopt;
  AxisWindow rest = {size, w.kernel / block, w.stride / block, w.before / block, 0};
  // The windows end where those of elements do.
  const std::uint32_t end = (w.outputs() - 1) * rest.stride + rest.kernel;
  if (end < rest.before + size) return std::nullopt;
  rest.after = end - rest.before - size;
  return rest;
}

struct Block {
  std::uint32_t size = 1;
  AxisWindow rest;
};

// The smallest block with which a convolution has the rest, or the largest.
std::optional<Block> choose_block(const AxisWindow& w) {
  std::optional<Block> best;
  for (std::uint32_t size = 2; size <= kMostStride; ++size) {
    const auto rest = over_blocks(w, size);
    if (!rest) continue;
    best = Block{size, *rest};
    if (rest->of_device()) break;
  }
  return best;
}

}  // namespace

std::uint32_t AxisWindow::count(std::uint32_t output) const {
  const std::uint32_t begin = output * stride, end = begin + kernel;
  return std::min(end, before + size) - std::max(begin, before);
}

bool AxisWindow::of_device() const { return kernel <= kMostPositions && stride <= kMostStride; }

std::optional<std::vector<SumStep>> sum_steps(const AxisWindow& y, const AxisWindow& x) {
  std::vector<SumStep> steps;
  SumStep rest = {without_padding(y), without_padding(x)};
  std::uint64_t elements = 1;
  while (!rest.y.of_device() || !rest.x.of_device()) {
    SumStep step = {{.size = rest.y.size}, {.size = rest.x.size}};
    for (auto [axis, blocks] : {std::pair{&rest.y, &step.y}, std::pair{&rest.x, &step.x}}) {
      if (axis->of_device()) continue;
      const auto block = choose_block(*axis);
      if (!block) return std::nullopt;
      *blocks = blocks_of(*axis, block->size);
      *axis = block->rest;
      elements *= block->size;
    }
    if (elements > kMostElements) return std::nullopt;
    steps.push_back(step);
  }
  // A convolution refuses columns behind its last window.
  for (const AxisWindow* axis : {&rest.y, &rest.x})
    if ((axis->before + axis->size + axis->after - axis->kernel) % axis->stride != 0 ||
        axis->after >= axis->kernel)
      return std::nullopt;
  steps.push_back(rest);
  return steps;
}

}  // namespace nvdla::detail
