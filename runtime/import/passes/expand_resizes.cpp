// SPDX-License-Identifier: MIT
//
// Interpolation between neighbours by a whole factor is a triangle of weights over elements that
// were repeated: repeat, pad with the edge, convolve each channel. Any other is a product with a
// matrix along each axis.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "import/graph/node_maker.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"
#include "import/passes/passes.hpp"

namespace nvdla::import {
namespace {

constexpr std::int64_t kMostRepetitions = 31;  // the kernel has one tap more

// The weights along one axis, in multiples of 1 / `sum`, and the padding that they need.
struct Blur {
  std::vector<std::int64_t> taps = {1};
  std::int64_t sum = 1;
  std::int64_t before = 0, after = 0;
};

// Returns the weights behind a repetition by `factor`. Where places count from the middle of an
// element, an even number of repetitions has the middle between two of them.
Blur blur_of(std::int64_t factor, bool from_middle) {
  Blur blur;
  const auto count = static_cast<std::size_t>(factor);
  if (from_middle && factor % 2 == 0) {
    blur.taps.assign(count + 1, 2);
    blur.taps.front() = blur.taps.back() = 1;
    blur.sum = 2 * factor;
    blur.before = blur.after = factor / 2;
    return blur;
  }
  blur.taps.assign(count, 1);
  blur.sum = factor;
  blur.before = from_middle ? (factor - 1) / 2 : 0;
  blur.after = factor - 1 - blur.before;
  return blur;
}

bool is_linear(const Operation& op) {
  const std::string mode = op.attribute("mode", "nearest");
  return mode == "linear" || mode == "bilinear" || mode == "trilinear";
}

// Returns the weights of lines and of columns; nothing if the factors are none.
std::vector<Blur> blurs_of(const Operation& op) {
  const Dims& in = op.dims(0);
  const Dims out = find_operator(op)->infer(op)[0].dims;
  if (in.size() != 4 || out.size() != 4 || in[0] != out[0] || in[1] != out[1] ||
      op.attribute("antialias", std::int64_t{0}) != 0)
    return {};
  const bool old = op.op() == "Upsample" || op.opset() < 11;
  const std::string places =
      op.attribute("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  const bool from_middle =
      places == "half_pixel" || places == "pytorch_half_pixel" || places == "half_pixel_symmetric";
  std::vector<Blur> blurs;
  for (std::size_t i = 2; i < 4; ++i) {
    if (in[i] == out[i] || in[i] == 1) {
      blurs.emplace_back();
      continue;
    }
    const std::int64_t factor = out[i] / in[i];
    if (out[i] % in[i] != 0 || factor > kMostRepetitions ||
        (!from_middle && places != "asymmetric"))
      return {};
    blurs.push_back(blur_of(factor, from_middle));
  }
  return blurs;
}

// Makes the nodes of one interpolation by whole factors.
class Expansion {
 public:
  Expansion(NodeMaker& make, const Node& of)
      : make_(make),
        of_(of),
        type_(make.graph().value(of.outputs[0]).type),
        dims_(*make.graph().value(of.outputs[0]).dims) {}

  // Repeats elements; this is the result of the whole if it `ends` here.
  ValueId repeat(bool ends) {
    const ValueId result = ends ? of_.outputs[0] : make_.value(type_, dims_);
    Node& node =
        make_.node("Resize", {of_.inputs[0], kNoValue, kNoValue, make_.integers(dims_)}, result);
    node.attributes["mode"] = std::string("nearest");
    node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
    node.attributes["nearest_mode"] = std::string("floor");
    return result;
  }

  ValueId pad(ValueId id, const Blur& y, const Blur& x) {
    Dims padded = dims_;
    padded[2] += y.before + y.after;
    padded[3] += x.before + x.after;
    const ValueId pads = make_.integers({0, 0, y.before, x.before, 0, 0, y.after, x.after});
    const ValueId out = make_.compute("Pad", {id, pads}, type_, padded);
    make_.last().attributes["mode"] = std::string("edge");
    return out;
  }

  void blur(ValueId id, const Blur& y, const Blur& x) {
    const Dims dims = {dims_[1], 1, static_cast<std::int64_t>(y.taps.size()),
                       static_cast<std::int64_t>(x.taps.size())};
    std::vector<std::int64_t> integers;
    for (std::int64_t c = 0; c < dims_[1]; ++c)
      for (const std::int64_t a : y.taps)
        for (const std::int64_t b : x.taps) integers.push_back(a * b);
    QuantizedConstant q;
    q.elements = Constant::of_integers(Type::kInt8, dims, integers);
    q.scales.assign(1, 1.0F / static_cast<float>(y.sum * x.sum));
    q.zero_points.assign(1, 0);
    std::vector<double> weights(integers.begin(), integers.end());
    for (double& w : weights) w /= static_cast<double>(y.sum * x.sum);
    const ValueId kernels =
        make_.add({.name = of_.name + " kernels",
                   .type = Type::kFloat,
                   .dims = dims,
                   .constant = Constant::of_doubles(Type::kFloat, dims, weights),
                   .quantized = std::move(q)});
    make_.node("Conv", {id, kernels}, of_.outputs[0]).attributes["group"] = dims_[1];
  }

 private:
  NodeMaker& make_;
  const Node& of_;
  Type type_;
  Dims dims_;
};

// Returns true for an interpolation that one layer does not do, as a matrix over a whole cube.
bool is_beyond_a_matrix(const Dims& in, const Dims& out) {
  const std::int64_t from = elements(in) / in[0], to = elements(out) / out[0];
  constexpr std::int64_t kMaxElementsOfLayer = 8192, kMaxWeights = std::int64_t{1} << 21;
  return from > kMaxElementsOfLayer || to > kMaxElementsOfLayer || from * to > kMaxWeights;
}

// Returns the weights of an axis as a matrix: one of its places for each column.
ValueId matrix_of(NodeMaker& make, const std::vector<AxisWeights>& weights, std::int64_t size) {
  const auto places = static_cast<std::int64_t>(weights.size());
  if (size * places > kMaxFolded) refuse_node("an axis of {} becomes one of {}", size, places);
  std::vector<double> values(static_cast<std::size_t>(size * places), 0);
  for (std::int64_t x = 0; x < places; ++x)
    for (const auto& [from, weight] : weights[static_cast<std::size_t>(x)])
      values[static_cast<std::size_t>(from * places + x)] += weight;
  return make.floats({size, places}, values);
}

}  // namespace

std::optional<std::vector<Node>> expand_interpolation(Graph& graph, const Node& node) {
  const Operation op(graph, node);
  if (op.attribute("mode", "nearest") == "nearest" || op.constant(0) != nullptr)
    return std::nullopt;
  const Dims in = op.dims(0);
  const Dims out = find_operator(op)->infer(op)[0].dims;
  if (in.size() < 3 || elements(in) == 0 || elements(out) == 0 || in[0] != out[0] ||
      in[1] != out[1] || !is_beyond_a_matrix(in, out) || (is_linear(op) && !blurs_of(op).empty()))
    return std::nullopt;
  const auto weights = resize_weights(op);
  NodeMaker make(graph, node.name);
  ValueId x = op.input(0);
  for (std::size_t axis = in.size(); axis-- > 2;) {
    if (in[axis] == out[axis]) continue;
    // The axis is the last one for a product.
    std::vector<std::int64_t> order(in.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[axis], order.back());
    const auto exchange = [&] {
      if (axis + 1 == in.size()) return;
      x = make.compute("Transpose", {x});
      make.last().attributes["perm"] = order;
    };
    exchange();
    x = make.compute("MatMul", {x, matrix_of(make, weights[axis], in[axis])});
    exchange();
  }
  make.node("Identity", {x}, node.outputs[0]);
  return make.take();
}

void expand_resizes(Graph& graph) {
  NodeMaker make(graph);
  for (Node& node : std::exchange(graph.nodes, {})) {
    const Operation op(graph, node);
    const bool resizes = op.op() == "Resize" || op.op() == "Upsample";
    const auto blurs = unless_refused(std::vector<Blur>(), [&] {
      return resizes && is_linear(op) ? blurs_of(op) : std::vector<Blur>();
    });
    if (blurs.empty()) {
      make.append(std::move(node));
      continue;
    }
    make.set_name(node.name);
    const Blur &y = blurs[0], &x = blurs[1];
    Expansion expansion(make, node);
    const bool repeats_only = y.taps.size() == 1 && x.taps.size() == 1;
    const ValueId repeated = expansion.repeat(repeats_only);
    if (!repeats_only) expansion.blur(expansion.pad(repeated, y, x), y, x);
  }
  graph.nodes = make.take();
}

}  // namespace nvdla::import
