// SPDX-License-Identifier: MIT
//
// Resize and Upsample: nearest neighbours move elements, all else is a matrix.
#include <algorithm>
#include <cmath>

#include "import/operators/lowering.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/quantized.hpp"

namespace nvdla::import {
namespace {

// `ResizeAxis` has the sizes of an axis before and after, and their ratio.
struct ResizeAxis {
  std::int64_t input = 1;
  std::int64_t output = 1;
  double scale = 1;
};

std::string mode_of(const Operation& op) {
  const std::string mode = op.attribute("mode", "nearest");
  if (mode == "nearest" || mode == "linear" || mode == "cubic") return mode;
  if (mode == "bilinear" || mode == "trilinear") return "linear";
  refuse_node("its mode is none of nearest, linear and cubic");
}

std::vector<ResizeAxis> resize_axes(const Operation& op) {
  const Dims& dims = op.dims(0);
  std::vector<ResizeAxis> axes;
  for (const std::int64_t size : dims) axes.push_back({size, size, 1});
  std::vector<std::int64_t> named;
  for (std::size_t i = 0; i < dims.size(); ++i) named.push_back(static_cast<std::int64_t>(i));
  named = op.integers("axes", named);
  const std::size_t scales = op.op() == "Upsample" || op.opset() < 11 ? 1 : 2;
  std::vector<double> factors;
  if (op.has_attribute("scales")) {
    const auto& list = std::get<std::vector<float>>(op.node().attributes.find("scales")->second);
    factors.assign(list.begin(), list.end());
  } else if (op.has(scales) && op.dims(scales) != Dims{0}) {
    factors = op.need_constant(scales, "the list of scales").doubles();
  }
  const bool by_size = factors.empty();
  const auto sizes =
      by_size ? op.need_integers(3, "the list of sizes") : std::vector<std::int64_t>{};
  if ((by_size ? sizes.size() : factors.size()) != named.size())
    refuse_node("{} scales or sizes for {} axes", by_size ? sizes.size() : factors.size(),
                named.size());
  const std::string policy = op.attribute("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch") refuse_node("it keeps the ratio of its sizes");
  for (std::size_t i = 0; i < named.size(); ++i) {
    ResizeAxis& a = axes[Operation::axis(named[i], dims.size())];
    if (by_size) {
      a.output = sizes[i];
      a.scale = static_cast<double>(a.output) / static_cast<double>(a.input);
    } else {
      a.scale = factors[i];
      const double size = std::floor(static_cast<double>(a.input) * a.scale);
      if (!(a.scale > 0) || !(size <= static_cast<double>(kMaxFolded)))
        refuse_node("a scale of {}", a.scale);
      a.output = static_cast<std::int64_t>(size);
    }
    if (a.output < 1 || a.output > kMaxFolded) refuse_node("a size of {}", a.output);
  }
  return axes;
}

// Returns the place of an element of the result in the input.
double source_of(const Operation& op, const ResizeAxis& a, std::int64_t x) {
  const auto at = static_cast<double>(x);
  const auto input = static_cast<double>(a.input);
  // The size before it is rounded down, as in ONNX's own implementation.
  const double output = a.scale * input;
  const bool old = op.op() == "Upsample" || op.opset() < 11;
  const std::string mode =
      op.attribute("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  if (mode == "asymmetric") return at / a.scale;
  if (mode == "align_corners") return output == 1 ? 0 : at * (input - 1) / (output - 1);
  if (mode == "pytorch_half_pixel") return output > 1 ? (at + 0.5) / a.scale - 0.5 : 0;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(a.output) / output;
    const double centre = input / 2;
    return centre * (1 - adjustment) + (at + 0.5) / a.scale - 0.5;
  }
  if (mode == "half_pixel") return (at + 0.5) / a.scale - 0.5;
  refuse_node("its coordinates are transformed by '{}'", mode);
}

std::int64_t nearest(const Operation& op, double at) {
  const bool old = op.op() == "Upsample" || op.opset() < 11;
  const std::string mode = op.attribute("nearest_mode", old ? "floor" : "round_prefer_floor");
  // Sums of rounded numbers are not exactly halves.
  constexpr double kSlack = 1e-9;
  if (mode == "floor") return static_cast<std::int64_t>(std::floor(at + kSlack));
  if (mode == "ceil") return static_cast<std::int64_t>(std::ceil(at - kSlack));
  if (mode == "round_prefer_floor") return static_cast<std::int64_t>(std::ceil(at - 0.5 - kSlack));
  if (mode == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(at + 0.5 + kSlack));
  refuse_node("its nearest_mode is '{}'", mode);
}

AxisWeights interpolation(const Operation& op, const ResizeAxis& a, std::int64_t x, bool cubic) {
  const double at = source_of(op, a, x);
  const double floor = std::floor(at);
  const double t = at - floor;
  const auto base = static_cast<std::int64_t>(floor);
  AxisWeights out;
  if (!cubic) {
    out = {{base, 1 - t}, {base + 1, t}};
  } else {
    const double c = op.attribute("cubic_coeff_a", -0.75);
    const auto near = [&](double d) { return ((c + 2) * d - (c + 3)) * d * d + 1; };
    const auto far = [&](double d) { return ((c * d - 5 * c) * d + 8 * c) * d - 4 * c; };
    out = {
        {base - 1, far(1 + t)}, {base, near(t)}, {base + 1, near(1 - t)}, {base + 2, far(2 - t)}};
  }
  if (op.attribute("exclude_outside", std::int64_t{0}) != 0) {
    double sum = 0;
    for (auto& [from, w] : out) {
      if (from < 0 || from >= a.input) w = 0;
      sum += w;
    }
    for (auto& [from, w] : out) w /= sum;
  }
  for (auto& [from, w] : out) from = std::clamp<std::int64_t>(from, 0, a.input - 1);
  return out;
}

void check_antialias(const Operation& op) {
  if (op.attribute("antialias", std::int64_t{0}) != 0)
    refuse_node("it filters what it makes smaller (antialias)");
}

std::vector<Inferred> infer_resize(const Operation& op) {
  Dims dims;
  for (const ResizeAxis& a : resize_axes(op)) dims.push_back(a.output);
  return {{op.type(0), dims}};
}

void lower_resize(Lowering& l, const Operation& op) {
  check_antialias(op);
  const std::string mode = mode_of(op);
  if (mode == "nearest") return lower_coordinates(l, op, resize_move(op, 0), 0);
  const auto axes = resize_axes(op);
  const Dims& in = op.dims(0);
  // A batch stays as it is, and so does a single channel.
  if (axes.size() < 2 || axes[0].input != axes[0].output) refuse_node("it resizes the batch");
  const auto weights = resize_weights(op);
  Dims dims;
  for (const ResizeAxis& a : axes) dims.push_back(a.output);
  const std::int64_t from = elements(in) / in[0], to = elements(dims) / dims[0];
  if (from > 8192 || to > 8192 || from * to > (std::int64_t{1} << 21))
    refuse_node("interpolation of {} elements to {} is above what one matrix does", from, to);
  std::vector<MapEntry> map = {{0, 0, 1}};
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
    std::vector<MapEntry> next;
    const std::int64_t size_in = axes[i + 1].input, size_out = axes[i + 1].output;
    for (const MapEntry& e : map)
      for (std::int64_t x = 0; x < size_out; ++x)
        for (const auto& [source, w] : weights[i + 1][static_cast<std::size_t>(x)])
          if (w != 0)
            next.push_back({e.to * size_out + x, e.from * size_in + source, e.weight * w});
    map = std::move(next);
  }
  std::string roles = in.size() == 3 ? "BCW" : "BCHW";
  roles.resize(in.size(), 'W');
  const View view = make_view(in, roles), out = make_view(dims, roles);
  const bool int8 = l.is_quantized(op.input(0));
  const Tensor x = l.tensor(op.input(0), view);
  ValueId last = op.node().outputs[0];
  const auto output = int8 ? take_quantization(l, last) : std::nullopt;
  l.put(last, l.map_elements(x, view, out, map, output), out);
}

std::vector<Constant> fold_resize(const Operation& op) {
  if (mode_of(op) != "nearest") refuse_node("interpolation of constants");
  const Move move = resize_move(op, 0);
  return {op.need_constant(0, "its input").gather(move.dims, move.indices())};
}

constexpr OperatorRow kResizeRows[] = {
    {"Resize", infer_resize, fold_resize, lower_resize,
     "Nearest neighbours; linear by whole factors, small tensors and others as matrices."},
    {"Upsample", infer_resize, fold_resize, lower_resize, "As Resize."},
};

}  // namespace

Move resize_move(const Operation& op, std::size_t) {
  Move move = Move::identity(op.dims(0));
  const auto axes = resize_axes(op);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto& taken = move.coordinates[i];
    if (axes[i].output == axes[i].input && axes[i].scale == 1) continue;
    taken.clear();
    for (std::int64_t x = 0; x < axes[i].output; ++x)
      taken.push_back(
          std::clamp<std::int64_t>(nearest(op, source_of(op, axes[i], x)), 0, axes[i].input - 1));
  }
  move.set_dims();
  return move;
}

std::vector<std::vector<AxisWeights>> resize_weights(const Operation& op) {
  check_antialias(op);
  const std::string mode = mode_of(op);
  std::vector<std::vector<AxisWeights>> weights;
  for (const ResizeAxis& a : resize_axes(op)) {
    const bool same = a.input == a.output && a.scale == 1;
    std::vector<AxisWeights> of;
    for (std::int64_t x = 0; x < a.output; ++x) {
      if (same)
        of.push_back({{x, 1.0}});
      else if (mode == "nearest")
        of.push_back(
            {{std::clamp<std::int64_t>(nearest(op, source_of(op, a, x)), 0, a.input - 1), 1.0}});
      else
        of.push_back(interpolation(op, a, x, mode == "cubic"));
    }
    weights.push_back(std::move(of));
  }
  return weights;
}

std::span<const OperatorRow> resize_rows() noexcept { return kResizeRows; }

}  // namespace nvdla::import
