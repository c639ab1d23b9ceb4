// SPDX-License-Identifier: MIT
//
// Convolutions that work on several images of a batch at once fetch their weights once for all of
// them. The buffer must hold as many bands of lines as images, and what a pooling would have taken
// on the fly goes through memory.
#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/lower/conv.hpp"
#include "compiler/passes/passes.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "packing/bands.hpp"
#include "packing/cbuf.hpp"
#include "packing/conv_steps.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

// `Plan` is what layers take, in cycles of a multiplier that waits for its data: a step or an atom
// in each.
struct Plan {
  std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
  std::size_t bands = 0;
  std::uint64_t layers = 0;

  bool better_than(const Plan& other) const {
    return cost < other.cost || (cost == other.cost && layers < other.layers);
  }
};

std::uint64_t atoms(const DeviceInfo& info, const Shape& cube, Precision precision) {
  return packed_tensor(info, {cube.channels, cube.height, cube.width}, precision).surfaces() *
         std::uint64_t{cube.height} * cube.width;
}

// Returns the plan of `conv` on all images of `batch`, `cubes` of them in a layer; nothing if these
// do not fit.
std::optional<Plan> make_plan(const DeviceInfo& info, const nvdla_conv& conv, std::uint32_t batch,
                              std::uint32_t cubes) {
  nvdla_conv some = conv;
  some.batch = cubes;
  const auto found = find_bands(info, some, cubes == batch);
  if (!found) return std::nullopt;
  const std::vector<Band>& bands = *found;
  const std::uint64_t rounds = arith::ceil_div(batch, cubes);
  Plan plan;
  plan.bands = bands.size();
  plan.layers = rounds * bands.size();
  plan.cost = weights_bytes(weights_desc(conv)) / info.atom *
              (holds_all_weights(info, bands[0].conv) ? 1 : plan.layers);
  std::uint32_t kept = 0;
  for (const Band& band : bands) {
    nvdla_conv part = band.conv;
    plan.cost += batch / cubes * conv_steps(info, part);
    part.batch = batch % cubes;
    if (part.batch != 0) plan.cost += conv_steps(info, part);
    Shape fetched{part.channels, part.height, part.width};
    if ((part.flags & NVDLA_CONV_REUSE_DATA) != 0) fetched.height -= kept;
    kept = part.release == 0 ? 0 : part.height - part.release;
    plan.cost += batch * atoms(info, fetched, static_cast<Precision>(part.proc_precision));
  }
  return plan;
}

bool has_elements(const SdpNode& sdp) {
  const auto element = [](const OperatorNode& op) {
    return op.has_memory() && op.mode == NVDLA_OPERAND_ELEMENT;
  };
  return element(sdp.operators.x1) || element(sdp.operators.x2) || element(sdp.y);
}

// Returns true if a pooling may take the tensor on the fly.
bool feeds_a_pooling(const Graph& graph, std::uint32_t tensor) {
  return std::ranges::any_of(graph.live_layers(), [&](const LayerNode& layer) {
    const auto* pool = std::get_if<PoolNode>(&layer.part);
    return pool != nullptr && pool->flies && layer.input == tensor;
  });
}

// SDP reads a cube of one position as a run of atoms, so there is no room between its surfaces for
// the 64 bytes that a batch is written by.
bool is_read_as_run(const Graph& graph, const DeviceInfo& info, std::uint32_t tensor) {
  const Shape& shape = graph.tensors[tensor].shape;
  if (shape.width * shape.height > 1) return false;
  if (packed_tensor(info, shape, graph.tensors[tensor].precision).surfaces() == 1) return false;
  return std::ranges::any_of(graph.live_layers(), [&](const LayerNode& layer) {
    const auto& operands = layer.operands;
    // A slice may be read where it is.
    const bool reads = std::holds_alternative<SdpNode>(layer.part) ||
                       std::holds_alternative<SliceNode>(layer.part);
    return (layer.input == tensor && reads) ||
           std::find(operands.begin(), operands.end(), tensor) != operands.end();
  });
}

// Returns how many images of its batch a convolution takes at once. Throws if the layer insists on
// several and cannot have them, saying what is in the way.
std::uint32_t images_at_once(const Graph& graph, const DeviceInfo& info, const LayerNode& node,
                             const ConvNode& part) {
  const std::uint32_t batch = part.conv.batch;
  const bool always = part.tuning.batch == Rewrite::kAlways;
  if (part.tuning.batch == Rewrite::kNever) return 1;
  if (!info.has_batch) {
    if (!always) return 1;
    refuse(ErrorCode::kNotAvailable, "{} has no convolutions of several cubes", info.configuration);
  }
  const TensorNode& output = graph.tensors[node.output];
  const char* reason = nullptr;
  if (batch == 1) reason = "there is one cube";
  if (output.precision != part.sdp.processing) {
    reason = "the result has another precision than the layer works in";
  }
  if (!part.sdp.tensors().empty()) {
    reason = "cubes share their operands, and those of a tensor are a cube's own";
  }
  if (is_read_as_run(graph, info, node.output)) {
    reason = "its output of one position is read by SDP, which takes surfaces without gaps";
  }
  if (reason == nullptr && (part.form.winograd || part.conv.mode == NVDLA_CONV_IMAGE)) return 1;

  std::uint32_t best = 1;
  if (reason == nullptr) {
    const nvdla_conv conv = formed_conv(part);
    reason = "the convolution buffer does not hold two of them beside a kernel group";
    Plan least;
    bool flies = false;
    for (std::uint32_t cubes = 1; cubes <= batch; ++cubes) {
      auto plan = make_plan(info, conv, batch, cubes);
      if (!plan) break;  // nor do more of them fit
      if (cubes == 1) {
        flies = plan->bands == 1 && feeds_a_pooling(graph, node.output);
        if (always) continue;
      } else if (plan->bands > 1 && output.shape.width % 2 != 0 && has_elements(part.sdp)) {
        reason = "operands of elements would be cut inside the 64 bytes that they come by";
        break;
      } else if (flies) {
        // The pooling reads what is written for it.
        plan->cost += 2 * batch * atoms(info, output.shape, output.precision);
      }
      if (!plan->better_than(least)) continue;
      least = *plan;
      best = cubes;
    }
  }
  if (best == 1 && always) refuse_argument("not several cubes at once: {}", reason);
  return best;
}

}  // namespace

Graph choose_images(Graph graph, PassContext& context) {
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    LayerNode& layer = graph.layers[i];
    auto* conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr) continue;
    conv->form.images = at_place(layer_text(i, layer.name), i,
                                 [&] { return images_at_once(graph, context.info, layer, *conv); });
    if (conv->form.images > 1) ++context.applied;
  }
  return graph;
}

}  // namespace nvdla::detail
