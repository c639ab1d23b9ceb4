// SPDX-License-Identifier: MIT
//
// Convolutions that work on several images of a batch at once fetch their weights once for all of
// them. The buffer must hold as many bands of lines as images, and what a pooling would have taken
// on the fly goes through memory.
#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/lower/conv.hpp"
#include "compiler/passes/layer_geometry.hpp"
#include "compiler/passes/passes.hpp"
#include "cost/sequence_cycles.hpp"
#include "cost/unit_cycles.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "packing/bands.hpp"
#include "packing/cbuf.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

// `Plan` is a way to compute all images, and its predicted cycles.
struct Plan {
  std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
  std::size_t bands = 0;
  std::uint64_t layers = 0;

  bool better_than(const Plan& other) const {
    return cost < other.cost || (cost == other.cost && layers < other.layers);
  }
  // Returns true if it is so much better than one image at a time, which may gain by turns that
  // nobody has predicted yet.
  bool surely_better_than(const Plan& single) const {
    constexpr double kMargin = 1.03;
    return static_cast<double>(cost) * kMargin < static_cast<double>(single.cost);
  }
};

// Returns the cycles of a layer that takes turns with others: what it fetches and what it computes
// overlap, while the engine writes the registers of the next one.
std::uint64_t in_turns(const DeviceInfo& info, const cost::LayerCycles& alone) {
  const double bandwidth =
      info.memory.bandwidth > 0 ? info.memory.bandwidth : machine_of(info).bus_bytes;
  const double bytes = static_cast<double>(alone.read + alone.written);
  const cost::EngineTiming engine;
  const double registers = engine.registers + engine.interrupt;
  const auto computes = static_cast<double>(alone.mac.end - alone.mac.begin);
  const auto fetches = static_cast<double>(std::max(alone.data.end, alone.weights.end));
  return static_cast<std::uint64_t>(std::max({computes, fetches, bytes / bandwidth, registers}));
}

// Returns true if a convolution of one image may take turns.
bool takes_turns(const PassContext& context, const ConvNode& node) {
  return !context.info.has_weight_gating && node.tuning.interleaving != Rewrite::kNever &&
         !is_disabled(context.options, "interleave");
}

// Returns the plan of `conv`, which is the form of `node`, on all images of its batch, `cubes` of
// them in a layer; nothing if these do not fit.
std::optional<Plan> make_plan(const PassContext& context, const nvdla_conv& conv,
                              const ConvNode& node, std::uint32_t cubes) {
  const DeviceInfo& info = context.info;
  const std::uint32_t batch = node.conv.batch;
  const bool turns = cubes == 1 && takes_turns(context, node);
  nvdla_conv some = conv;
  some.batch = cubes;
  const auto found = find_bands(info, some, cubes == batch);
  if (!found) return std::nullopt;
  const std::vector<Band>& bands = *found;
  const cost::Machine machine = machine_of(info);
  const cost::MemoryTiming memory = memory_of(info);
  const nvdla_conv* before = nullptr;
  const auto cycles = [&](nvdla_conv part, std::uint32_t images, bool again) {
    part.batch = images;
    cost::ConvGeometry layer = geometry(info, part);
    if (before != nullptr) leave_kept_lines(*before, part, layer);
    if (again && holds_all_weights(info, part)) layer.fetches_weights = false;
    const cost::LayerCycles alone =
        cost::conv_cycles(machine, memory, layer, geometry(part, node.sdp), nullptr);
    return turns ? in_turns(info, alone)
                 : alone.total + static_cast<std::uint64_t>(cost::EngineTiming{}.interrupt);
  };
  Plan plan;
  plan.bands = bands.size();
  plan.layers = arith::ceil_div(batch, cubes) * bands.size();
  plan.cost = 0;
  for (const Band& band : bands) {
    const std::uint32_t rounds = batch / cubes, rest = batch % cubes;
    plan.cost += cycles(band.conv, cubes, false);
    if (rounds > 1) plan.cost += (rounds - 1) * cycles(band.conv, cubes, true);
    if (rest != 0) plan.cost += cycles(band.conv, rest, true);
    before = &band.conv;
  }
  return plan;
}

// Returns the cycles of the poolings that take a tensor on the fly if it is whole, where they read
// it from memory.
std::uint64_t poolings_from_memory(const Graph& graph, const DeviceInfo& info,
                                   std::uint32_t tensor) {
  std::uint64_t cycles = 0;
  for (const LayerNode& layer : graph.live_layers()) {
    const auto* pool = std::get_if<PoolNode>(&layer.part);
    if (pool == nullptr || !pool->flies || layer.input != tensor) continue;
    nvdla_pdp pdp = pool->pdp;
    const Shape& in = graph.tensors[tensor].shape;
    pdp.width = in.width;
    pdp.height = in.height;
    pdp.channels = in.channels;
    pdp.precision = static_cast<std::uint32_t>(graph.tensors[tensor].precision);
    cycles += in.batch * cost::pdp_cycles(machine_of(info), memory_of(info), geometry(pdp)).total;
  }
  return cycles;
}

bool has_elements(const SdpNode& sdp) {
  const auto element = [](const OperatorNode& op) {
    return op.has_memory() && op.mode == NVDLA_OPERAND_ELEMENT;
  };
  return element(sdp.operators.x1) || element(sdp.operators.x2) || element(sdp.y);
}

// SDP reads a cube of one position as a run of atoms, so there is no room between its surfaces for
// the 64 bytes that a batch is written by. It reads surfaces of int16 in pairs where it works in
// int8.
bool is_read_as_run(const Graph& graph, const DeviceInfo& info, std::uint32_t tensor) {
  const Shape& shape = graph.tensors[tensor].shape;
  if (shape.width * shape.height > 1) return false;
  const Precision precision = graph.tensors[tensor].precision;
  if (precision != Precision::kInt16 && packed_tensor(info, shape, precision).surfaces() == 1)
    return false;
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
std::uint32_t images_at_once(const Graph& graph, PassContext& context, const LayerNode& node,
                             const ConvNode& part) {
  const DeviceInfo& info = context.info;
  const std::uint32_t batch = part.conv.batch;
  const bool always = part.tuning.batch == Rewrite::kAlways;
  if (part.tuning.batch == Rewrite::kNever) return 1;
  if (!info.has_batch) {
    if (!always) return 1;
    throw_error(ErrorCode::kNotAvailable, "{} has no convolutions of several cubes",
                info.configuration);
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
    const bool turns = takes_turns(context, part);
    Plan least, single;
    std::optional<std::size_t> chosen;
    std::uint64_t pooled = 0;  // a pooling would have followed on the fly
    for (std::uint32_t cubes = 1; cubes <= batch; ++cubes) {
      if (!always && cubes > 1 && !context.may_predict()) break;
      auto plan = make_plan(context, conv, part, cubes);
      if (!plan) break;  // nor do more of them fit
      if (cubes == 1) {
        if (plan->bands == 1) pooled = poolings_from_memory(graph, info, node.output);
        if (always) continue;
      } else if (plan->bands > 1 && output.shape.width % 2 != 0 && has_elements(part.sdp)) {
        reason = "operands of elements would be cut inside the 64 bytes that they come by";
        break;
      } else {
        plan->cost += pooled;
      }
      context.consider(node.name,
                       cubes == 1 ? "cube by cube" : fmt::format("{} cubes at once", cubes),
                       plan->cost, false);
      if (cubes == 1) single = *plan;
      if (!plan->better_than(least)) continue;
      if (cubes > 1 && turns && !always && !plan->surely_better_than(single)) continue;
      chosen = context.candidates.size() - 1;
      least = *plan;
      best = cubes;
    }
    if (chosen) context.candidates[*chosen].chosen = true;
  }
  if (best == 1 && always) throw_invalid_argument("not several cubes at once: {}", reason);
  return best;
}

}  // namespace

Graph choose_images(Graph graph, PassContext& context) {
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    LayerNode& layer = graph.layers[i];
    auto* conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr) continue;
    conv->form.images = with_error_context(
        layer_text(i, layer.name), i, [&] { return images_at_once(graph, context, layer, *conv); });
    if (conv->form.images > 1) ++context.applied;
  }
  return graph;
}

}  // namespace nvdla::detail
