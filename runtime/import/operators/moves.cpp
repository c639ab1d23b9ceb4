// SPDX-License-Identifier: MIT
//
// Layers for operators that move elements along axes.
#include <algorithm>
#include <optional>
#include <utility>

#include "import/operators/exact.hpp"
#include "import/operators/lowering.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"

namespace nvdla::import {
namespace {

using Coordinates = std::vector<std::int64_t>;

// More copies of parts than this are not worth a layer each.
constexpr std::size_t kMaxRuns = 64;
// More channels than this are not chosen among by a matrix of them.
constexpr std::int64_t kLargestChoice = 4096;

std::vector<Inferred> infer_move(const Operation& op) {
  const MoveOperator* const row = find_move(op);
  std::vector<Inferred> out;
  for (std::size_t i = 0; i < op.outputs(); ++i) out.push_back({op.type(0), row->move(op, i).dims});
  return out;
}

std::vector<Constant> fold_move(const Operation& op) {
  const MoveOperator* const row = find_move(op);
  const Constant& x = op.need_constant(0, "its input");
  std::vector<Constant> out;
  for (std::size_t i = 0; i < op.outputs(); ++i) {
    const Move move = row->move(op, i);
    const auto indices = move.indices();
    if (std::find(indices.begin(), indices.end(), kFill) == indices.end()) {
      out.push_back(x.gather(move.dims, indices));
      continue;
    }
    std::vector<double> values(indices.size());
    for (std::size_t at = 0; at < values.size(); ++at)
      values[at] = indices[at] == kFill ? move.fill : x.real(indices[at]);
    out.push_back(Constant::of_doubles(x.type(), move.dims, values));
  }
  return out;
}

// A part of the coordinates: neighbours that go up, fill values, or one coordinate several times.
struct Run {
  std::int64_t start = 0;
  std::int64_t size = 0;
  std::uint32_t times = 1;
};

std::vector<Run> runs_of(const Coordinates& taken) {
  std::vector<Run> runs;
  for (const std::int64_t c : taken) {
    if (!runs.empty()) {
      Run& last = runs.back();
      const std::int64_t next = last.start == kFill ? kFill : last.start + last.size;
      if (c == last.start && c != kFill && last.size == 1) {
        ++last.times;
        continue;
      }
      if (last.times == 1 && c == next && (c == kFill) == (last.start == kFill)) {
        ++last.size;
        continue;
      }
    }
    runs.push_back({c, 1});
  }
  return runs;
}

// Returns the factor by which each coordinate is repeated, or 0.
std::uint32_t repetition(const Coordinates& taken, std::uint32_t size) {
  if (size == 0 || taken.size() % size != 0) return 0;
  const std::size_t factor = taken.size() / size;
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (taken[i] != static_cast<std::int64_t>(i / factor)) return 0;
  return static_cast<std::uint32_t>(factor);
}

// Returns factors up to those of one layer whose product is `factor`; none if there are none.
std::vector<std::uint32_t> factors_of_layers(std::uint32_t factor) {
  constexpr std::uint32_t kMaxFactor = 32;
  std::vector<std::uint32_t> factors;
  while (factor > 1) {
    std::uint32_t next = std::min(factor, kMaxFactor);
    while (factor % next != 0) --next;
    if (next == 1) return {};
    factors.push_back(next);
    factor /= next;
  }
  return factors;
}

// Returns the distance of coordinates that go up evenly, or 0.
std::uint32_t distance(const Coordinates& taken) {
  if (taken.size() < 2 || taken[0] == kFill) return 0;
  const std::int64_t step = taken[1] - taken[0];
  for (std::size_t i = 1; i < taken.size(); ++i)
    if (taken[i] == kFill || taken[i] - taken[i - 1] != step) return 0;
  return step >= 1 && step <= 16 ? static_cast<std::uint32_t>(step) : 0;
}

Tensor slice_part(Lowering& l, Tensor x, Axis axis, std::int64_t start, std::int64_t size) {
  return l.network().slice(x, {.name = l.name("slice"),
                               .axis = axis,
                               .start = static_cast<std::uint32_t>(start),
                               .size = static_cast<std::uint32_t>(size)});
}

// Chooses channels by a convolution with a kernel of a single one for each.
Tensor choose_channels(Lowering& l, Tensor x, std::uint32_t channels, const Coordinates& taken,
                       double fill) {
  if (taken.size() * channels > static_cast<std::size_t>(kMaxFolded))
    refuse_node("a choice of {} of {} channels is above what one layer does", taken.size(),
                channels);
  std::vector<float> weights(taken.size() * channels);
  std::vector<float> bias(taken.size());
  bool filled = false;
  for (std::size_t k = 0; k < taken.size(); ++k) {
    if (taken[k] == kFill) {
      bias[k] = static_cast<float>(fill);
      filled = filled || fill != 0;
    } else {
      weights[k * channels + static_cast<std::size_t>(taken[k])] = 1;
    }
  }
  const std::string layer = l.name("channels");
  Convolution c;
  c.name = layer;
  c.kernels = static_cast<std::uint32_t>(taken.size());
  return add_exact(l, x, c, weights,
                   filled ? std::span<const float>(bias) : std::span<const float>());
}

Tensor move_positions(Lowering& l, Tensor x, Axis axis, std::uint32_t size,
                      const Coordinates& taken, double fill) {
  const bool lines = axis == Axis::kHeight;
  if (const auto factors = factors_of_layers(repetition(taken, size)); !factors.empty()) {
    for (const std::uint32_t factor : factors)
      x = l.network().upsample(x, {.name = l.name("repeat"),
                                   .scale_height = lines ? factor : 1,
                                   .scale_width = lines ? 1 : factor});
    return x;
  }
  const auto runs = runs_of(taken);
  const auto inner =
      std::count_if(runs.begin(), runs.end(), [](const Run& r) { return r.start != kFill; });
  if (inner == 1 &&
      std::all_of(runs.begin(), runs.end(), [](const Run& r) { return r.times == 1; })) {
    // A part of the input, with a border on either side.
    const bool before = runs.front().start == kFill, after = runs.back().start == kFill;
    const Run& middle = runs[before ? 1 : 0];
    if (middle.size != size) x = slice_part(l, x, axis, middle.start, middle.size);
    if (!before && !after) return x;
    Padding p;
    const std::string layer = l.name("pad");
    p.name = layer;
    const std::uint32_t first = before ? static_cast<std::uint32_t>(runs.front().size) : 0;
    const std::uint32_t last = after ? static_cast<std::uint32_t>(runs.back().size) : 0;
    (lines ? p.top : p.left) = first;
    (lines ? p.bottom : p.right) = last;
    p.value = l.network().precision(x) != Precision::kFp16
                  ? element_of(fill, known_quantization(l, x), l.integers())
                  : std::clamp(fill, -65504.0, 65504.0);
    return l.network().pad(x, p);
  }
  if (const std::uint32_t step = distance(taken); step > 1) {
    const std::int64_t start = taken.front();
    const std::int64_t length = taken.back() - start + 1;
    if (length != size) x = slice_part(l, x, axis, start, length);
    return l.network().pooling(x, {.name = l.name("steps"),
                                   .stride_height = lines ? step : 1,
                                   .stride_width = lines ? 1 : step});
  }
  if (runs.size() > kMaxRuns || inner != static_cast<std::ptrdiff_t>(runs.size()))
    refuse_node("it takes {} parts of an axis of {}, above {}", runs.size(), size, kMaxRuns);
  std::vector<Tensor> parts;
  for (const Run& run : runs) {
    parts.push_back(run.size == size ? x : slice_part(l, x, axis, run.start, run.size));
    if (run.times == 1) continue;
    Shape one = l.network().shape(x), several = one;
    size_of(one, axis) = 1;
    size_of(several, axis) = run.times;
    parts.back() = l.repeat(parts.back(), one, several);
  }
  if (parts.size() == 1) return parts[0];
  return l.network().concatenate(parts, {.name = l.name(), .axis = axis});
}

// Returns the only axis that changes, if no layers of lines or columns move its elements.
std::optional<std::size_t> axis_for_channels(const Move& move) {
  std::optional<std::size_t> changed;
  for (std::size_t i = 0; i < move.source.size(); ++i) {
    if (move.keeps(i)) continue;
    if (changed) return std::nullopt;
    changed = i;
  }
  if (!changed) return std::nullopt;
  const auto& taken = move.coordinates[*changed];
  const bool many = runs_of(taken).size() > kMaxRuns && distance(taken) == 0 &&
                    repetition(taken, static_cast<std::uint32_t>(move.source[*changed])) == 0;
  const std::int64_t size = move.source[*changed];
  return many && size <= kLargestChoice && static_cast<std::int64_t>(taken.size()) <= kLargestChoice
             ? changed
             : std::nullopt;
}

void lower_move(Lowering& l, const Operation& op) {
  for (std::size_t i = 0; i < op.outputs(); ++i)
    if (op.has_output(i)) lower_coordinates(l, op, find_move(op)->move(op, i), i);
}

constexpr OperatorRow kMoveRows[] = {
    {"Expand", infer_move, fold_move, lower_move, "Repeats along channels, lines and columns."},
    {"Gather", infer_move, fold_move, lower_move, "Indices are constants."},
    {"Pad", infer_move, fold_move, lower_move, "All modes; the paddings are constants."},
    {"Slice", infer_move, fold_move, lower_move, "Starts, ends and steps are constants."},
    {"Split", infer_move, fold_move, lower_move, "Sizes are constants."},
    {"Tile", infer_move, fold_move, lower_move, "Repetitions are constants."},
};

}  // namespace

// Returns roles in which each axis that changes has one of the device's for itself.
std::string isolate(const Move& move, bool has_batch) {
  const Dims& dims = move.source;
  std::string roles(dims.size(), 'C');
  // Neighbours that stay, and each axis that changes, in groups.
  std::vector<int> group(dims.size(), 0);
  int groups = -1;
  bool kept_before = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool keeps = move.keeps(i);
    if (groups < 0 || !keeps || !kept_before) ++groups;
    kept_before = keeps;
    group[i] = groups;
  }
  ++groups;
  // The first group of several that stays may be the batch.
  const bool batch =
      groups == 4 || (has_batch && dims.size() >= 3 && move.keeps(0) && dims[0] <= 32);
  if (groups > 4 || (groups == 4 && !move.keeps(0)))
    refuse_node("it changes {} with more axes apart than the device has", dims_text(dims));
  if (batch && groups < 4 && dims.size() >= 2 && group[1] == 0) {
    for (std::size_t i = 1; i < dims.size(); ++i) ++group[i];
    ++groups;
  }
  const std::string_view names = groups > 3 || (batch && group.size() > 1 && group[1] == 1) ? "BCHW"
                                 : groups == 2                                              ? "CW"
                                                                                            : "CHW";
  for (std::size_t i = 0; i < dims.size(); ++i)
    roles[i] = names[static_cast<std::size_t>(group[i])];
  return spread_roles(dims, std::move(roles));
}

// Returns true if each axis that changes is alone in its axis of the device.
bool is_isolated(const Move& move, const std::string& roles) {
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (move.keeps(i)) continue;
    if (roles[i] == 'B') return false;
    for (std::size_t j = 0; j < roles.size(); ++j)
      if (j != i && roles[j] == roles[i] && move.source[j] != 1) return false;
  }
  return true;
}

void lower_coordinates(Lowering& l, const Operation& op, const Move& move, std::size_t output) {
  const ValueId id = op.input(0);
  if (elements(move.dims) == 0) refuse_node("its result has no elements");
  bool all_stay = true;
  for (std::size_t i = 0; i < move.source.size(); ++i) all_stay = all_stay && move.keeps(i);
  if (all_stay) {
    const View view = l.view(id);
    return l.put(op.node().outputs[output], l.tensor(id), view);
  }
  const auto channels = axis_for_channels(move);
  if (l.is_free(id) && !channels) {
    const View wanted = default_view(move.source, l.has_batch());
    const auto first = roles_in(wanted, move.source);
    l.tensor(id, first && is_isolated(move, *first)
                     ? wanted
                     : make_view(move.source, isolate(move, l.has_batch())));
  }
  // Any choice among channels is one layer.
  View view = channels ? l.channel_view(id, move.source, *channels, *channels) : l.view(id);
  auto roles = roles_in(view, move.source);
  if (!roles || !is_isolated(move, *roles)) {
    const std::string wanted = isolate(move, l.has_batch() || view.shape.batch > 1);
    view = make_view(move.source, wanted);
    roles = wanted;
  }
  Tensor x = l.tensor(id, view);
  View out = view;
  for (std::size_t i = 0; i < move.source.size(); ++i) {
    if (move.keeps(i)) continue;
    const Axis axis = axis_of_role((*roles)[i]);
    const auto& taken = move.coordinates[i];
    const std::uint32_t size = size_of(view.shape, axis);
    const auto runs = runs_of(taken);
    if (axis != Axis::kChannels)
      x = move_positions(l, x, axis, size, taken, move.fill);
    else if (runs.size() == 1 && runs[0].start != kFill && runs[0].times == 1)
      x = slice_part(l, x, axis, runs[0].start, runs[0].size);
    else
      x = choose_channels(l, x, size, taken, move.fill);
    size_of(out.shape, axis) = static_cast<std::uint32_t>(taken.size());
  }
  l.put(op.node().outputs[output], x, out);
}

std::span<const OperatorRow> move_rows() noexcept { return kMoveRows; }

}  // namespace nvdla::import
