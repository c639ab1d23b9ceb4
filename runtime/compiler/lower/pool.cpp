// SPDX-License-Identifier: MIT
//
// Lowering poolings, as far as they take their input from memory.
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/lowering.hpp"
#include "compiler/lower/pool_cuts.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// Emits a pooling from memory, in as many pieces as it takes; it may follow the layer before.
void add_pooling(Lowering& lowering, const LayerNode& node, const nvdla_pdp& pdp,
                 const std::string& name, bool follows) {
  const std::vector<PoolPiece> pieces = split_pooling(pdp);
  std::vector<std::uint32_t> after;
  if (follows) after.push_back(*lowering.last());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    nvdla_layer layer = {};
    layer.kind = NVDLA_LAYER_PDP;
    layer.pdp = pieces[i].pdp;
    layer.pdp.input.offset += std::uint64_t{pieces[i].input_column} * lowering.info().atom;
    layer.pdp.output.offset += std::uint64_t{pieces[i].output_column} * lowering.info().atom;
    std::string own = name;
    if (pieces.size() > 1) own += fmt::format(" {}/{}", i + 1, pieces.size());
    lowering.emit(node, layer,
                  {.name = std::move(own), .whole = pieces.size() == 1, .after = after});
  }
}

}  // namespace

void lower(Lowering& lowering, const LayerNode& node, const PoolNode& part) {
  const TensorDesc& in = lowering.desc(node.input);
  nvdla_pdp whole = part.pdp;
  whole.precision = static_cast<std::uint32_t>(in.precision);
  whole.width = in.shape.width;
  whole.height = in.shape.height;
  whole.channels = in.shape.channels;
  const std::vector<nvdla_pdp> steps = split_window(whole);
  nvdla_surface from = lowering.surface(node.input);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    nvdla_pdp step = steps[i];
    step.input = from;
    step.output = lowering.surface(node.output);
    std::string name = node.name;
    if (steps.size() > 1) name += fmt::format(" step {}/{}", i + 1, steps.size());
    if (i + 1 < steps.size()) {
      Shape shape = in.shape;
      shape.width = steps[i + 1].width;
      shape.height = steps[i + 1].height;
      step.output = from = lowering.add_scratch(shape, in.precision).surface;
    }
    add_pooling(lowering, node, step, name, i > 0);
  }
}

}  // namespace nvdla::detail
