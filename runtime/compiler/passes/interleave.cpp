// SPDX-License-Identifier: MIT
//
// This pass cuts convolutions into bands of lines that take turns: CDMA fetches a band while the
// array computes the one before. A layer that is whole never hides its own fetch, as the array
// begins only when all of the input is in the convolution buffer. Layers one behind the other take
// turns, too, since a band needs only a few bands of the layer before; so do poolings and
// normalisations, which have units of their own, and so do the images of a batch. CDMA goes ahead
// only where two convolutions have the same banks, so all bands here get the same.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/passes/layer_geometry.hpp"
#include "compiler/passes/layer_mover.hpp"
#include "compiler/passes/layer_parts.hpp"
#include "compiler/passes/memory_plan.hpp"
#include "compiler/passes/passes.hpp"
#include "cost/sequence_cycles.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/bands.hpp"
#include "packing/cbuf.hpp"
#include "packing/lines.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// The choices that are predicted: so many layers take turns, in so many bands of each image, and at
// least so many turns lie between a band and what it reads, or all of its layer.
constexpr std::uint32_t kMostLayers = 6;
constexpr std::uint32_t kBands[] = {1, 2, 3, 4, 5, 7, 8};
constexpr std::uint32_t kWhole = 0;
constexpr std::uint32_t kLags[] = {1, 2, kWhole};
// Longer ones are not predicted.
constexpr std::uint32_t kMostTurns = 64;

// Predictions are off by about as much; a smaller gain is not worth further layers.
constexpr double kLeastGain = 0.01;

constexpr auto kNever = std::numeric_limits<std::uint64_t>::max();

// `Turn` is when a part of a layer of the schedule runs, and which turns have to end before.
struct Turn {
  std::uint32_t layer = 0, part = 0;
  std::vector<std::uint32_t> waits = {};
};

// `Turns` is a way to run the layers `first`..`end` of the schedule. Without turns they run whole,
// as other passes cut them.
struct Turns {
  std::uint32_t first = 0, end = 0;
  std::uint32_t bands = 1;                    // of an image
  std::vector<std::vector<Part>> parts = {};  // of each layer
  std::vector<Turn> turns = {};
  std::uint64_t cycles = kNever;

  const Part& part_of(const Turn& turn) const { return parts[turn.layer - first][turn.part]; }
};

// `Life` is from the first layer to the last that touches a tensor.
struct Life {
  std::uint32_t first = 0, last = 0;
  std::uint64_t bytes = 0;
};

// Returns why a layer of the schedule takes no turns, or nullptr if it may.
const char* why_not(const DeviceInfo& info, const nvdla_layer& layer) {
  if (layer.kind == NVDLA_LAYER_CONV_SDP_PDP) return "a pooling follows on the fly";
  if (layer.conv.batch > 1) return "it takes several cubes at once";
  if (layer.kind == NVDLA_LAYER_CDP) return nullptr;
  if (layer.kind == NVDLA_LAYER_PDP)
    return layer.pdp.bands <= 1 ? nullptr : "it is cut into columns";
  if (!is_conv(layer)) return "it is no convolution, pooling or normalisation";
  if (layer.sdp.y.alu == NVDLA_ALU_EQUAL) return "it compares";
  if (!find_bands(info, layer.conv, true)) return "it does not fit the convolution buffer";
  return nullptr;
}

// Returns what the layer of the graph that an operation works for asks for.
Rewrite wish_of(const Graph& graph, const Operation& operation) {
  const auto* conv = std::get_if<ConvNode>(&graph.layers[operation.origin].part);
  return conv == nullptr ? Rewrite::kAuto : conv->tuning.interleaving;
}

[[noreturn]] void refuse_turns(const Graph& graph, const Operation& operation, const char* why) {
  throw Error(ErrorCode::kNotAvailable,
              fmt::format("{}: its bands cannot take turns: {}",
                          layer_text(operation.origin, graph.layers[operation.origin].name), why));
}

// `Turntable` predicts what turns cost.
class Turntable {
 public:
  Turntable(const Schedule& schedule, const Graph& graph, PassContext& context)
      : schedule_(schedule),
        graph_(graph),
        context_(context),
        machine_(machine_of(context.info)),
        memory_(memory_of(context.info)),
        // The way around the fault of the clock gate enables no convolution ahead.
        engine_{.convolutions_ahead = !context.info.has_weight_gating, .goes_on = true} {
    const auto users = users_of(schedule);
    for (std::size_t i = 0; i < users.size(); ++i) {
      const Allocation& allocation = schedule.allocations[i];
      if (users[i].empty() || allocation.dedicated || !allocation.contents.empty()) continue;
      lives_.push_back({users[i].front(), users[i].back(), allocation.slot.size});
    }
  }

  // Returns how the layers `first`..`end`, all of which may take turns, run fastest.
  std::vector<Turns> choose(std::uint32_t first, std::uint32_t end);
  // Adds to `context` what there was to choose from in place of `turns`.
  void report(const Turns& turns) const;

 private:
  Turns one_by_one(std::uint32_t first, std::uint32_t end) const;
  // Returns the fastest of the ways that are predicted, and remembers them for report().
  Turns in_turns(std::uint32_t first, std::uint32_t end);
  std::vector<Part> one_by_one(const nvdla_layer& whole, std::uint32_t images) const;
  std::set<std::uint32_t> weight_banks_of(const Turns& turns) const;
  bool set_banks(std::uint32_t weights, Turns& turns) const;
  void set_order(std::uint32_t lag, Turns& turns) const;
  // Returns the last part of `writer` that a part of `reader` reads.
  std::uint32_t last_needed(const Turns& turns, const Turn& reader, std::uint32_t writer) const;
  // Lets weights stay in the buffer where parts of one layer follow each other.
  void keep_weights(Turns& turns) const;
  std::uint64_t predict(const Turns& turns) const;
  // `before` is the convolution that ran before, or nullptr.
  cost::LayerGeometry geometry_of(const nvdla_layer& layer, const nvdla_conv* before) const;

  const nvdla_layer& layer(std::uint32_t index) const { return schedule_.layers[index]; }
  // Calls use(writer) for the layers in `turns` that a layer waits for.
  template <typename Use>
  void for_each_writer(const Turns& turns, std::uint32_t reader, const Use& use) const {
    for (const std::uint32_t writer : schedule_.operations[reader].after)
      if (writer >= turns.first) use(writer);
  }
  // Returns the bytes of tensors that are alive at some time of these layers.
  std::uint64_t alive(std::uint32_t first, std::uint32_t end) const;
  // Returns true if one of the layers has this wish.
  bool any_wish(Rewrite wish, std::uint32_t first, std::uint32_t end) const;

  const Schedule& schedule_;
  const Graph& graph_;
  PassContext& context_;
  std::vector<Life> lives_;
  // The fastest way in so many bands, by the layers that take turns.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::uint64_t>> tried_;
  const cost::Machine machine_;
  const cost::MemoryTiming memory_;
  const cost::EngineTiming engine_;
};

bool Turntable::any_wish(Rewrite wish, std::uint32_t first, std::uint32_t end) const {
  for (std::uint32_t i = first; i < end; ++i)
    if (wish_of(graph_, schedule_.operations[i]) == wish) return true;
  return false;
}

std::uint64_t Turntable::alive(std::uint32_t first, std::uint32_t end) const {
  std::uint64_t bytes = 0;
  for (const Life& life : lives_)
    if (life.first < end && life.last >= first) bytes += life.bytes;
  return bytes;
}

// The parts that cut_bands() and cut_images() make of a layer.
std::vector<Part> Turntable::one_by_one(const nvdla_layer& whole, std::uint32_t images) const {
  if (!is_conv(whole)) return repeat({{.layer = whole}}, images);
  const bool alone = images == 1;
  std::vector<Part> parts =
      parts_of(context_.info, whole, find_bands(context_.info, whole.conv, alone).value());
  if (alone) return parts;
  std::vector<Part> all;
  for (const Part& band : parts) {
    const bool keep = holds_all_weights(context_.info, band.layer.conv);
    for (Part part : repeat({band}, images)) {
      if (keep && part.image != 0) part.layer.conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
      all.push_back(part);
    }
  }
  return all;
}

Turns Turntable::one_by_one(std::uint32_t first, std::uint32_t end) const {
  Turns turns{.first = first, .end = end};
  if (any_wish(Rewrite::kAlways, first, end)) return turns;
  std::vector<std::uint32_t> last;
  for (std::uint32_t i = first; i < end; ++i) {
    turns.parts.push_back(one_by_one(layer(i), schedule_.operations[i].images));
    for (std::uint32_t part = 0; part < turns.parts.back().size(); ++part) {
      Turn turn{.layer = i, .part = part};
      for_each_writer(turns, i, [&](std::uint32_t w) { turn.waits.push_back(last[w - first]); });
      turns.turns.push_back(std::move(turn));
    }
    last.push_back(static_cast<std::uint32_t>(turns.turns.size() - 1));
  }
  turns.cycles = predict(turns);
  turns.turns.clear();
  return turns;
}

// Weights of a kernel group, of two, so that fetching and computing overlap, or all of them, which
// there have to be with the fault of the clock gate.
std::set<std::uint32_t> Turntable::weight_banks_of(const Turns& turns) const {
  std::uint64_t one = 0, two = 0, all = 0;
  for (std::uint32_t i = turns.first; i < turns.end; ++i) {
    if (!is_conv(layer(i))) continue;
    const nvdla_conv& conv = layer(i).conv;
    const std::uint64_t group = kernel_group(context_.info, conv);
    one = std::max(one, weight_banks(context_.info, conv, group));
    two = std::max(two, weight_banks(context_.info, conv, 2 * group));
    all = std::max(all, weight_banks(context_.info, conv, conv.kernels));
  }
  if (context_.info.has_weight_gating) one = two = all;
  return {static_cast<std::uint32_t>(one), static_cast<std::uint32_t>(two),
          static_cast<std::uint32_t>(all)};
}

// Gives all parts so many banks for weights, and the rest for data. Returns false if one does not
// fit.
bool Turntable::set_banks(std::uint32_t weights, Turns& turns) const {
  std::uint64_t banks = context_.info.cbuf_banks;
  for (std::uint32_t i = turns.first; i < turns.end; ++i)
    if (is_conv(layer(i))) banks = std::min(banks, usable_banks(context_.info, layer(i).conv));
  if (weights >= banks) return false;
  for (auto& parts : turns.parts) {
    for (Part& part : parts) {
      if (!is_conv(part.layer)) continue;
      nvdla_conv& conv = part.layer.conv;
      if (data_banks(context_.info, conv) > banks - weights) return false;
      conv.weight_banks = weights;
      conv.data_banks = static_cast<std::uint32_t>(banks - weights);
    }
  }
  return true;
}

std::uint32_t Turntable::last_needed(const Turns& turns, const Turn& reader,
                                     std::uint32_t writer) const {
  const nvdla_layer& to = layer(reader.layer);
  const nvdla_surface& written = output_of(layer(writer));
  const Part& part = turns.part_of(reader);
  const auto& parts = turns.parts[writer - turns.first];
  // The line behind the last that is read; behind all lines where it is not known which they are.
  std::uint32_t end = 0;
  const auto read = [&](const nvdla_surface& surface, std::uint32_t until) {
    if (surface.slot != written.slot) return;
    end = std::max(
        end, has_same_lines(written, surface) ? until : std::numeric_limits<std::uint32_t>::max());
  };
  read(input_of(to), part.read_end);
  if (is_conv(to)) {
    for (const nvdla_surface* operand :
         {&to.sdp.x1.operand, &to.sdp.x2.operand, &to.sdp.y.operand}) {
      if (operand->line_stride != 0) read(*operand, part.first_line + part.lines);
    }
  }
  constexpr auto kUnknown = std::numeric_limits<std::uint32_t>::max();
  if (end == 0 || end == kUnknown) return static_cast<std::uint32_t>(parts.size() - 1);
  const auto before = [&](const Part& one) {
    return one.image < part.image || (one.image == part.image && one.first_line + one.lines < end);
  };
  std::uint32_t last = 0;
  while (last + 1 < parts.size() && before(parts[last])) ++last;
  return last;
}

// Puts part p of each layer at place p and an offset, which leaves `lag` places between the part
// and the last that it reads, or all of its layer.
void Turntable::set_order(std::uint32_t lag, Turns& turns) const {
  struct Place {
    std::uint32_t at;
    Turn turn;
  };
  std::vector<Place> places;
  std::vector<std::uint32_t> offsets;
  for (std::uint32_t i = turns.first; i < turns.end; ++i) {
    const auto count = static_cast<std::uint32_t>(turns.parts[i - turns.first].size());
    std::uint32_t offset = 0;
    if (lag == kWhole && i != turns.first) offset = offsets.back() + count;
    for_each_writer(turns, i, [&](std::uint32_t writer) {
      for (std::uint32_t part = 0; part < count && lag != kWhole; ++part) {
        const std::uint32_t last = last_needed(turns, {.layer = i, .part = part}, writer);
        const std::uint32_t place = offsets[writer - turns.first] + last + lag;
        offset = std::max(offset, place > part ? place - part : 0);
      }
    });
    offsets.push_back(offset);
    for (std::uint32_t part = 0; part < count; ++part) places.push_back({part + offset, {i, part}});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.at < b.at; });
  turns.turns.clear();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> at;
  for (Place& place : places) {
    Turn& turn = place.turn;
    for_each_writer(turns, turn.layer, [&](std::uint32_t writer) {
      turn.waits.push_back(at.at({writer, last_needed(turns, turn, writer)}));
    });
    at.emplace(std::pair(turn.layer, turn.part), static_cast<std::uint32_t>(turns.turns.size()));
    turns.turns.push_back(std::move(turn));
  }
}

void Turntable::keep_weights(Turns& turns) const {
  const auto conv_of = [&](const Turn& turn) -> nvdla_conv& {
    return turns.parts[turn.layer - turns.first][turn.part].layer.conv;
  };
  for (const Turn& turn : turns.turns)
    conv_of(turn).flags &= ~std::uint32_t{NVDLA_CONV_KEEP_WEIGHTS | NVDLA_CONV_REUSE_WEIGHTS};
  for (std::size_t i = 1; i < turns.turns.size(); ++i) {
    const Turn &before = turns.turns[i - 1], &turn = turns.turns[i];
    if (before.layer != turn.layer || !is_conv(layer(turn.layer)) ||
        !holds_all_weights(context_.info, conv_of(turn)))
      continue;
    conv_of(before).flags |= NVDLA_CONV_KEEP_WEIGHTS;
    conv_of(turn).flags |= NVDLA_CONV_REUSE_WEIGHTS;
  }
}

cost::LayerGeometry Turntable::geometry_of(const nvdla_layer& layer,
                                           const nvdla_conv* before) const {
  cost::LayerGeometry to = geometry(context_.info, layer, schedule_.transfers);
  if (is_conv(layer) && before != nullptr) leave_kept_lines(*before, layer.conv, to.conv);
  set_interfaces(schedule_, context_.options, layer, to);
  return to;
}

std::uint64_t Turntable::predict(const Turns& turns) const {
  std::vector<cost::SequenceLayer> sequence;
  const nvdla_conv* before = nullptr;
  for (const Turn& turn : turns.turns) {
    const nvdla_layer& next = turns.part_of(turn).layer;
    sequence.push_back({geometry_of(next, before), turn.waits});
    if (is_conv(next)) before = &next.conv;
  }
  return cost::sequence_cycles(machine_, memory_, sequence, engine_).total;
}

Turns Turntable::in_turns(std::uint32_t first, std::uint32_t end) {
  Turns best{.first = first, .end = end};
  if (any_wish(Rewrite::kNever, first, end)) return best;
  const bool always = any_wish(Rewrite::kAlways, first, end);
  if (context_.alive_in_turns != kAnyBytes && !always &&
      alive(first, end) > context_.alive_in_turns)
    return best;
  std::set<std::uint32_t> luts;  // of SDP
  bool any_conv = false;
  const std::uint32_t images = schedule_.operations[first].images;
  for (std::uint32_t i = first; i < end; ++i) {
    if (is_conv(layer(i)) && layer(i).lut != 0) luts.insert(layer(i).lut);
    any_conv |= is_conv(layer(i));
    if (schedule_.operations[i].images != images) return best;
  }
  // A table is loaded again whenever another one was. Without a convolution nothing is gained.
  if (luts.size() > 1 || !any_conv) return best;
  for (const std::uint32_t count : kBands) {
    if (count * images == 1) continue;
    if (count * images * (end - first) > kMostTurns) break;
    Turns turns{.first = first, .end = end, .bands = count};
    for (std::uint32_t i = first; i < end; ++i) {
      turns.parts.push_back(repeat(cut_layer(context_.info, layer(i), count), images));
      if (turns.parts.back().empty()) return best;
    }
    for (const std::uint32_t weights : weight_banks_of(turns)) {
      if (!set_banks(weights, turns)) continue;
      for (const std::uint32_t lag : kLags) {
        if (!always && !context_.may_predict()) return best;
        set_order(lag, turns);
        keep_weights(turns);
        turns.cycles = predict(turns);
        auto& fastest = tried_[{first, end}];
        const auto [at, added] = fastest.emplace(count, turns.cycles);
        at->second = std::min(at->second, turns.cycles);
        if (turns.cycles < best.cycles) best = turns;
      }
    }
  }
  return best;
}

void Turntable::report(const Turns& turns) const {
  const auto name = [&](std::uint32_t index) { return full_name(schedule_.operations[index]); };
  const std::string layers = turns.end - turns.first == 1
                                 ? name(turns.first)
                                 : name(turns.first) + ".." + name(turns.end - 1);
  const Turns whole = one_by_one(turns.first, turns.end);
  if (whole.cycles != kNever)
    context_.consider(layers, "one after another", whole.cycles, turns.turns.empty());
  const auto tried = tried_.find({turns.first, turns.end});
  if (tried == tried_.end()) return;
  for (const auto& [bands, cycles] : tried->second) {
    context_.consider(layers,
                      bands == 1 ? "images in turns" : fmt::format("{} bands in turns", bands),
                      cycles, !turns.turns.empty() && bands == turns.bands);
  }
}

// The best way up to each layer is the best way up to an earlier one, and turns behind it. One
// after another is what layers do without a search, so no budget limits how that is predicted: it
// would seem slower than it is where only one layer at a time was.
std::vector<Turns> Turntable::choose(std::uint32_t first, std::uint32_t end) {
  struct Way {
    double cycles = std::numeric_limits<double>::infinity();
    Turns last;
  };
  std::vector<Way> ways(end - first + 1);
  ways[0].cycles = 0;
  for (std::uint32_t to = first + 1; to <= end; ++to) {
    Way& way = ways[to - first];
    for (std::uint32_t count = 1; count <= std::min(kMostLayers, to - first); ++count) {
      const std::uint32_t from = to - count;
      const double before = ways[from - first].cycles + engine_.interrupt;
      for (Turns turns : {one_by_one(from, to), in_turns(from, to)}) {
        const double margin = turns.turns.empty() ? 1 : 1 + kLeastGain;
        const double cycles = before + static_cast<double>(turns.cycles) * margin;
        if (turns.cycles != kNever && cycles < way.cycles) way = {cycles, std::move(turns)};
      }
    }
    if (way.last.end == 0) refuse_turns(graph_, schedule_.operations[to - 1], "no bands of it fit");
  }
  std::vector<Turns> chosen;
  for (std::uint32_t to = end; to > first; to = chosen.back().first)
    chosen.push_back(std::move(ways[to - first].last));
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

// Puts the parts of layers that take turns into a schedule.
void move_turns(LayerMover& mover, const Turns& turns) {
  mover.come_to(turns.first);
  const std::uint32_t first = mover.next();
  for (const Turn& turn : turns.turns) {
    const Part& part = turns.part_of(turn);
    Operation own = mover.operation(turn.layer);
    own.after = mover.waits(turn.layer, turns.first);
    for (const std::uint32_t wait : turn.waits) own.after.push_back(first + wait);
    if (turns.bands > 1) own.name += fmt::format(" {}/{}", part.band + 1, turns.bands);
    if (own.images > 1) own.suffix += fmt::format(" cube {}/{}", part.image + 1, own.images);
    own.macs = own.macs / own.images / output_lines(mover.layer(turn.layer)) * part.lines;
    own.images = 1;
    own.whole = false;
    own.cut = true;
    mover.add(turn.layer, part.layer, std::move(own));
  }
}

}  // namespace

Schedule interleave_bands(Schedule schedule, const Graph& graph, PassContext& context) {
  const auto size = static_cast<std::uint32_t>(schedule.layers.size());
  Turntable table(schedule, graph, context);
  std::vector<Turns> chosen;
  const auto why_not_at = [&](std::uint32_t i) {
    const char* const why = why_not(context.info, schedule.layers[i]);
    if (why != nullptr && schedule.layers[i].conv.kernels != 0 &&
        wish_of(graph, schedule.operations[i]) == Rewrite::kAlways)
      refuse_turns(graph, schedule.operations[i], why);
    return why;
  };
  for (std::uint32_t first = 0; first < size;) {
    std::uint32_t end = first;
    while (end < size && (end == first || !schedule.segment_starts.contains(end)) &&
           why_not_at(end) == nullptr)
      ++end;
    for (Turns& turns : table.choose(first, end)) {
      table.report(turns);
      if (!turns.turns.empty()) chosen.push_back(std::move(turns));
    }
    first = std::max(end, first + 1);
  }
  if (chosen.empty()) return schedule;
  LayerMover mover(schedule);
  std::uint32_t at = 0;
  for (const Turns& turns : chosen) {
    while (at < turns.first) mover.move(at++);
    move_turns(mover, turns);
    context.applied += turns.end - turns.first;
    at = turns.end;
  }
  while (at < size) mover.move(at++);
  mover.come_to(size);
  return schedule;
}

}  // namespace nvdla::detail
