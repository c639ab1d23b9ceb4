// SPDX-License-Identifier: MIT
//
// Sums, averages and extremes along axes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "import/operators/operator.hpp"
#include "import/operators/pools.hpp"

namespace nvdla::import {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class ReduceKind { kSum, kMean, kMax, kMin, kProduct };

struct Reduction {
  std::string_view name;
  ReduceKind kind;
  double (*before)(double);  // of each element; nullptr: none
  double (*after)(double);   // of each result
};

double square_before(double x) { return x * x; }
double absolute_before(double x) { return std::fabs(x); }
double root_before(double x) { return std::sqrt(x); }
double log_before(double x) { return std::log(x); }
double exp_before(double x) { return std::exp(x); }

constexpr Reduction kReductions[] = {
    {"ReduceL1", ReduceKind::kSum, absolute_before, nullptr},
    {"ReduceL2", ReduceKind::kSum, square_before, root_before},
    {"ReduceLogSum", ReduceKind::kSum, nullptr, log_before},
    {"ReduceLogSumExp", ReduceKind::kSum, exp_before, log_before},
    {"ReduceMax", ReduceKind::kMax, nullptr, nullptr},
    {"ReduceMean", ReduceKind::kMean, nullptr, nullptr},
    {"ReduceMin", ReduceKind::kMin, nullptr, nullptr},
    {"ReduceProd", ReduceKind::kProduct, nullptr, nullptr},
    {"ReduceSum", ReduceKind::kSum, nullptr, nullptr},
    {"ReduceSumSquare", ReduceKind::kSum, square_before, nullptr},
};

const Reduction& reduction_of(const Operation& op) {
  for (const Reduction& r : kReductions)
    if (r.name == op.op()) return r;
  refuse_node("it is no reduction");
}

std::vector<Inferred> infer_reduce(const Operation& op) {
  const auto reduced = reduced_axes(op);
  const bool keeps = op.attribute("keepdims", std::int64_t{1}) != 0;
  Dims dims;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i])
      dims.push_back(op.dims(0)[i]);
    else if (keeps)
      dims.push_back(1);
  }
  return {{op.type(0), dims}};
}

std::vector<Constant> fold_reduce(const Operation& op) {
  const Reduction& r = reduction_of(op);
  const Inferred result = infer_reduce(op)[0];
  const Constant& x = op.need_constant(0, "its input");
  const auto reduced = reduced_axes(op);
  const Dims& dims = x.dims();
  const double start = r.kind == ReduceKind::kMax       ? -std::numeric_limits<double>::infinity()
                       : r.kind == ReduceKind::kMin     ? std::numeric_limits<double>::infinity()
                       : r.kind == ReduceKind::kProduct ? 1
                                                        : 0;
  std::vector<double> out(static_cast<std::size_t>(elements(result.dims)), start);
  std::int64_t each = 1;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (reduced[i]) each *= dims[i];
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = i, to = 0, step = 1;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      const std::int64_t at = rest % dims[axis];
      rest /= dims[axis];
      if (reduced[axis]) continue;
      to += at * step;
      step *= dims[axis];
    }
    double& sum = out[static_cast<std::size_t>(to)];
    const double v = r.before != nullptr ? r.before(x.real(i)) : x.real(i);
    sum = r.kind == ReduceKind::kMax       ? std::max(sum, v)
          : r.kind == ReduceKind::kMin     ? std::min(sum, v)
          : r.kind == ReduceKind::kProduct ? sum * v
                                           : sum + v;
  }
  for (double& v : out) {
    if (r.kind == ReduceKind::kMean) v /= static_cast<double>(each);
    if (r.after != nullptr) v = r.after(v);
  }
  return {Constant::of_doubles(result.type, result.dims, out)};
}

// Products of elements, slice by slice.
Tensor multiply_positions(Lowering& l, Tensor x, Shape& shape, Axis axis) {
  constexpr std::uint32_t kMaxFactors = 64;
  std::uint32_t& size = size_of(shape, axis);
  if (size > kMaxFactors) refuse_node("a product of {} elements, above {}", size, kMaxFactors);
  Tensor product;
  for (std::uint32_t i = 0; i < size; ++i) {
    const Tensor part =
        size == 1
            ? x
            : l.network().slice(x, {.name = l.name("slice"), .axis = axis, .start = i, .size = 1});
    product =
        i == 0 ? part
               : l.network().pointwise(product, {.name = l.name("product"), .x1 = multiply(part)});
  }
  size = 1;
  return product;
}

Tensor reduce_positions(Lowering& l, Tensor x, Shape& shape, ReduceKind kind, bool lines,
                        bool columns) {
  if (kind == ReduceKind::kMax || kind == ReduceKind::kMin)
    return extreme_positions(l, x, shape, lines, columns,
                             kind == ReduceKind::kMax ? NVDLA_POOL_MAX : NVDLA_POOL_MIN);
  if (kind == ReduceKind::kProduct) {
    if (lines) x = multiply_positions(l, x, shape, Axis::kHeight);
    if (columns) x = multiply_positions(l, x, shape, Axis::kWidth);
    return x;
  }
  const double count = (lines ? shape.height : 1.0) * (columns ? shape.width : 1.0);
  x = average_positions(l, x, shape, lines, columns);
  if (kind == ReduceKind::kMean || count == 1) return x;
  View view;
  view.shape = shape;
  return l.compute(x, view, {1}, {make_step(StepKind::kScale, count)});
}

// Axes that are neighbours and reduced together.
struct AxisGroup {
  std::size_t first = 0, last = 0;
};

// Returns roles by which the axes of the group are lines, or channels where all are reduced.
std::string group_roles(const Dims& dims, const AxisGroup& g, ReduceKind kind, bool has_batch) {
  std::string roles(dims.size(), 'W');
  std::int64_t outer = 1, inner = 1, reduced = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool in = i >= g.first && i <= g.last;
    roles[i] = i < g.first ? 'C' : in ? 'H' : 'W';
    (in ? reduced : i < g.first ? outer : inner) *= dims[i];
  }
  if (has_batch && g.first > 0 && dims[0] <= 32) roles[0] = 'B';
  const bool sums = kind == ReduceKind::kSum || kind == ReduceKind::kMean;
  if (sums && inner == 1 && reduced <= 8192) {
    // Reduced axes become channels, and those before them lines.
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (roles[i] != 'B') roles[i] = i < g.first ? 'H' : 'C';
  }
  return spread_roles(dims, std::move(roles));
}

Tensor reduce_group(Lowering& l, Tensor x, View& view, Dims& dims, const AxisGroup& g,
                    ReduceKind kind) {
  auto roles = roles_in(view, dims);
  const auto whole = [&](const std::string& r) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const bool in = i >= g.first && i <= g.last;
      if (dims[i] == 1 || in) continue;
      for (std::size_t j = g.first; j <= g.last; ++j)
        if (dims[j] != 1 && r[j] == r[i]) return false;
    }
    return true;
  };
  const auto has = [&](const std::string& r, char role) {
    for (std::size_t j = g.first; j <= g.last; ++j)
      if (dims[j] != 1 && r[j] == role) return true;
    return false;
  };
  const bool sums = kind == ReduceKind::kSum || kind == ReduceKind::kMean;
  const bool fits = roles && whole(*roles) && !has(*roles, 'B') && (sums || !has(*roles, 'C'));
  if (!fits) {
    const std::string wanted = group_roles(dims, g, kind, l.has_batch());
    const View to = make_view(dims, wanted);
    x = l.change_view(x, view, to);
    view = to;
    roles = wanted;
  }
  const bool lines = has(*roles, 'H'), columns = has(*roles, 'W'), channels = has(*roles, 'C');
  if (lines || columns) x = reduce_positions(l, x, view.shape, kind, lines, columns);
  if (channels) {
    const double factor = kind == ReduceKind::kMean ? 1.0 / view.shape.channels : 1;
    x = sum_channels(l, x, view.shape, factor);
  }
  for (std::size_t i = g.first; i <= g.last; ++i) dims[i] = 1;
  return x;
}

// log(sum(exp(x))) of one group as m + log(sum(exp(x - m))) with the greatest m, so that nothing
// overflows.
Tensor reduce_exponents(Lowering& l, Tensor x, View& view, Dims& dims, const AxisGroup& g) {
  const View to = make_view(dims, group_roles(dims, g, ReduceKind::kMax, l.has_batch()));
  x = l.change_view(x, view, to);
  view = to;
  Dims small = dims;
  const Tensor greatest = reduce_group(l, x, view, small, g, ReduceKind::kMax);
  const Tensor minus = l.compute(greatest, view, small, {make_step(StepKind::kScale, -1)});
  const Tensor repeated = l.repeat(minus, view.shape, to.shape);
  const std::string layer = l.name("difference");
  Tensor y = l.network().pointwise(x, {.name = layer, .x1 = elementwise(NVDLA_ALU_SUM, repeated)});
  // Differences are never positive.
  y = l.compute(y, to, dims, {make_table(exp_before, {-kInfinity, 0})});
  view = to;
  y = reduce_group(l, y, view, dims, g, ReduceKind::kSum);
  y = l.compute(y, view, dims, {make_table(log_before, {1, kInfinity})});
  const std::string last = l.name("sum");
  return l.network().pointwise(y, {.name = last, .x1 = elementwise(NVDLA_ALU_SUM, greatest)});
}

void lower_reduce(Lowering& l, const Operation& op) {
  const Reduction& r = reduction_of(op);
  const auto reduced = reduced_axes(op);
  Dims dims = op.dims(0);
  std::vector<AxisGroup> groups;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!reduced[i] || dims[i] == 1) continue;
    const bool joins =
        !groups.empty() &&
        std::all_of(dims.begin() + static_cast<std::ptrdiff_t>(groups.back().last) + 1,
                    dims.begin() + static_cast<std::ptrdiff_t>(i),
                    [](std::int64_t d) { return d == 1; });
    if (joins)
      groups.back().last = i;
    else
      groups.push_back({i, i});
  }
  const ValueId id = op.input(0);
  if (l.is_free(id)) {
    // The first group decides how an input lies.
    const View usual = default_view(dims, l.has_batch());
    const auto roles = roles_in(usual, dims);
    bool fine = roles.has_value();
    for (std::size_t i = 0; fine && i < dims.size(); ++i)
      fine = !reduced[i] || dims[i] == 1 || (*roles)[i] == 'H' || (*roles)[i] == 'W';
    l.tensor(id, fine || groups.empty()
                     ? usual
                     : make_view(dims, group_roles(dims, groups[0], r.kind, l.has_batch())));
  }
  View view = l.view(id);
  Tensor x = l.tensor(id);
  if (r.before == exp_before) {
    for (const AxisGroup& g : groups) x = reduce_exponents(l, x, view, dims, g);
    return l.put(op.node().outputs[0], x, view);
  }
  if (r.before == square_before) {
    const std::string layer = l.name("square");
    x = l.network().pointwise(x, {.name = layer, .x1 = multiply(x)});
  } else if (r.before != nullptr) {
    x = l.compute(
        x, view, dims,
        {r.before == absolute_before ? make_step(StepKind::kPrelu, -1) : make_table(r.before)});
  }
  for (const AxisGroup& g : groups) x = reduce_group(l, x, view, dims, g, r.kind);
  if (r.after != nullptr) x = l.compute(x, view, dims, {make_table(r.after, {0, kInfinity})});
  l.put(op.node().outputs[0], x, view);
}

std::vector<OperatorRow> make_reduce_rows() {
  std::vector<OperatorRow> rows;
  for (const Reduction& r : kReductions)
    rows.push_back({r.name, infer_reduce, fold_reduce, lower_reduce,
                    "Along any axes but the batch, as poolings, averages and convolutions."});
  return rows;
}

}  // namespace

std::vector<bool> reduced_axes(const Operation& op) {
  const std::size_t rank = op.dims(0).size();
  const bool by_input = op.opset() >= (op.op() == "ReduceSum" ? 13 : 18);
  std::vector<std::int64_t> axes;
  if (!by_input)
    axes = op.integers("axes");
  else if (op.has(1))
    axes = op.need_integers(1, "the list of axes");
  const bool none = by_input && op.attribute("noop_with_empty_axes", std::int64_t{0}) != 0;
  std::vector<bool> reduced(rank, axes.empty() && !none);
  for (const std::int64_t axis : axes) reduced[Operation::axis(axis, rank)] = true;
  return reduced;
}

void subtract_log_sum(Lowering& l, const Operation& op, std::size_t first, std::size_t last) {
  const Dims dims = op.dims(0);
  const AxisGroup group = {first, last};
  const View to = make_view(dims, group_roles(dims, group, ReduceKind::kMax, l.has_batch()));
  const Tensor x = l.tensor(op.input(0), to);
  View view = to;
  Dims small = dims;
  const Tensor sum = reduce_exponents(l, x, view, small, group);
  const Tensor minus = l.compute(sum, view, small, {make_step(StepKind::kScale, -1)});
  const Tensor repeated = l.repeat(minus, view.shape, to.shape);
  const std::string layer = l.name();
  l.put(op.node().outputs[0],
        l.network().pointwise(x, {.name = layer, .x1 = elementwise(NVDLA_ALU_SUM, repeated)}), to);
}

std::span<const OperatorRow> reduce_rows() noexcept {
  static const std::vector<OperatorRow> rows = make_reduce_rows();
  return rows;
}

}  // namespace nvdla::import
