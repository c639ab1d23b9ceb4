// SPDX-License-Identifier: MIT
//
// Operators that change sizes or the order of axes, and concatenations.
#include <algorithm>

#include "import/operators/exact.hpp"
#include "import/operators/lowering.hpp"
#include "import/operators/move.hpp"
#include "import/operators/operator.hpp"

namespace nvdla::import {
namespace {

std::vector<Inferred> infer_reshape(const Operation& op) {
  return {{op.type(0), *reshaped_dims(op)}};
}

std::vector<Constant> fold_reshape(const Operation& op) {
  return {op.need_constant(0, "its input").with_dims(*reshaped_dims(op))};
}

// Nothing moves: a view is of elements in their order, whatever their sizes.
void lower_reshape(Lowering& l, const Operation& op) {
  const ValueId id = op.input(0);
  if (l.is_free(id)) {
    // The sizes behind it say more about what reads the input.
    const Dims to = *reshaped_dims(op);
    const Dims& from = op.dims(0);
    l.tensor(id, default_view(to.size() > from.size() ? to : from, l.has_batch()));
  }
  const View view = l.view(id);
  l.put(op.node().outputs[0], l.tensor(id), view);
}

std::vector<Inferred> infer_transpose(const Operation& op) {
  Dims dims;
  for (const std::size_t axis : transposed_axes(op)) dims.push_back(op.dims(0)[axis]);
  return {{op.type(0), dims}};
}

std::vector<Constant> fold_transpose(const Operation& op) {
  const Constant& x = op.need_constant(0, "its input");
  const auto order = transposed_axes(op);
  const Dims from = strides(x.dims());
  Dims dims;
  for (const std::size_t axis : order) dims.push_back(x.dims()[axis]);
  std::vector<std::int64_t> indices = {0};
  if (elements(dims) > kMaxFolded) refuse_node("a constant of {} is too large", dims_text(dims));
  for (const std::size_t axis : order) {
    std::vector<std::int64_t> next;
    next.reserve(indices.size() * static_cast<std::size_t>(x.dims()[axis]));
    for (const std::int64_t base : indices)
      for (std::int64_t c = 0; c < x.dims()[axis]; ++c) next.push_back(base + c * from[axis]);
    indices = std::move(next);
  }
  return {x.gather(dims, indices)};
}

// Returns roles by which the order of axes is all that a transposition changes: axes that stay
// neighbours share one.
std::string roles_to_transpose(const Dims& dims, const std::vector<std::size_t>& order,
                               bool has_batch) {
  std::vector<std::size_t> to(dims.size());
  for (std::size_t i = 0; i < order.size(); ++i) to[order[i]] = i;
  std::vector<int> group(dims.size(), 0);
  int groups = 0;
  bool first = true;
  std::size_t last = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) {
      group[i] = groups == 0 ? 0 : groups - 1;
      continue;
    }
    bool neighbour = !first && to[i] > to[last];
    for (std::size_t j = 0; neighbour && j < dims.size(); ++j)
      neighbour = !(dims[j] != 1 && to[j] > to[last] && to[j] < to[i]);
    const bool splits_batch = has_batch && groups == 1 && group[last] == 0 && last == 0;
    if (!neighbour || splits_batch) ++groups;
    group[i] = groups - 1;
    first = false;
    last = i;
  }
  const bool batch_stays = has_batch && to[0] == 0 && dims[0] != 1 && dims[0] <= 32;
  if (groups > (batch_stays ? 4 : 3)) refuse_node("more axes change places than the device has");
  const std::string_view names = batch_stays ? "BCHW" : "CHW";
  std::string roles(dims.size(), 'B');
  for (std::size_t i = 0; i < dims.size(); ++i)
    roles[i] = dims[i] == 1 && groups == 0 ? 'C' : names[static_cast<std::size_t>(group[i])];
  return roles;
}

void lower_transpose(Lowering& l, const Operation& op) {
  const ValueId id = op.input(0);
  const auto order = transposed_axes(op);
  const Dims& dims = op.dims(0);
  // Roles in the order of the result; one role is one run of them, and the batch is the first.
  const auto changed = [&](const std::string& roles) -> std::optional<View> {
    Dims to;
    std::string moved;
    for (const std::size_t axis : order) {
      if (dims[axis] == 1) continue;
      to.push_back(dims[axis]);
      moved += roles[axis];
    }
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const bool starts = i == 0 || moved[i] != moved[i - 1];
      if (starts && moved.find(moved[i]) != i) return std::nullopt;
      if (starts && moved[i] == 'B' && i != 0) return std::nullopt;
    }
    // Axes of one role have to stay in their order.
    for (std::size_t i = 0; i + 1 < order.size(); ++i)
      for (std::size_t j = i + 1; j < order.size(); ++j)
        if (dims[order[i]] != 1 && dims[order[j]] != 1 && roles[order[i]] == roles[order[j]] &&
            order[i] > order[j])
          return std::nullopt;
    return make_view(to, moved);
  };
  if (!l.is_free(id)) {
    if (const auto roles = roles_in(l.view(id), dims)) {
      if (const auto view = changed(*roles)) {
        View out = *view;
        out.shape = l.view(id).shape;
        return l.put(op.node().outputs[0], l.tensor(id), out);
      }
    }
  } else {
    const View usual = l.input_view(id);
    const auto roles = roles_in(usual, dims);
    if (roles && changed(*roles)) {
      const Tensor x = l.tensor(id, usual);
      View out = *changed(*roles);
      out.shape = usual.shape;
      return l.put(op.node().outputs[0], x, out);
    }
  }
  const std::string roles = roles_to_transpose(dims, order, l.has_batch());
  const View view = make_view(dims, roles);
  const auto out = changed(roles);
  if (!out) refuse_node("the batch changes its place");
  const Tensor x = l.tensor(id, view);
  View result = *out;
  result.shape = view.shape;
  l.put(op.node().outputs[0], x, result);
}

std::vector<Inferred> infer_concat(const Operation& op) {
  Dims dims = op.dims(0);
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{1}), dims.size());
  for (std::size_t i = 1; i < op.inputs(); ++i) {
    const Dims& part = op.dims(i);
    bool same = part.size() == dims.size();
    for (std::size_t j = 0; same && j < dims.size(); ++j) same = j == axis || part[j] == dims[j];
    if (!same)
      refuse_node("input {} is {}, which does not go beside {}", i, dims_text(part),
                  dims_text(dims));
    dims[axis] += part[axis];
  }
  return {{op.type(0), dims}};
}

std::vector<Constant> fold_concat(const Operation& op) {
  const Inferred result = infer_concat(op)[0];
  if (elements(result.dims) > kMaxFolded)
    refuse_node("a constant of {} is too large", dims_text(result.dims));
  const std::size_t axis =
      Operation::axis(op.attribute("axis", std::int64_t{1}), result.dims.size());
  std::int64_t outer = 1, inner = static_cast<std::int64_t>(type_bytes(result.type));
  for (std::size_t i = 0; i < result.dims.size(); ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : result.dims[i];
  std::vector<std::byte> bytes;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < op.inputs(); ++i) {
      const Constant& part = op.need_constant(i, "its input");
      if (part.type() != result.type) refuse_node("its inputs have different types");
      const auto size = static_cast<std::size_t>(inner * part.dims()[axis]);
      const auto from = part.bytes().subspan(static_cast<std::size_t>(o) * size, size);
      bytes.insert(bytes.end(), from.begin(), from.end());
    }
  }
  return {Constant(result.type, result.dims, std::move(bytes))};
}

void lower_concat(Lowering& l, const Operation& op) {
  const Dims dims = infer_concat(op)[0].dims;
  const std::size_t axis = Operation::axis(op.attribute("axis", std::int64_t{1}), dims.size());
  bool are_single = true;
  for (std::size_t i = 0; i < op.inputs(); ++i) are_single = are_single && op.dims(i)[axis] == 1;
  // The roles of the first input that lies somewhere, if the axis begins one of the device's.
  const auto fits = [&](const std::string& roles) {
    if (roles[axis] == 'B') return false;
    for (std::size_t i = 0; i < axis; ++i)
      if (roles[i] == roles[axis] && dims[i] != 1) return false;
    return true;
  };
  // Parts of one element each stand along an axis that the device has left.
  const auto with_axis_left = [&](std::string own) {
    const std::size_t left = std::string_view("HW").find_first_not_of(own);
    if (left != std::string_view::npos) own[axis] = "HW"[left];
    return own;
  };
  std::string roles;
  for (std::size_t i = 0; i < op.inputs() && roles.empty(); ++i) {
    if (op.constant(i) != nullptr || l.is_free(op.input(i))) continue;
    const auto own = roles_in(l.view(op.input(i)), op.dims(i));
    if (own && fits(*own))
      roles = *own;
    else if (own && are_single && fits(with_axis_left(*own)))
      roles = with_axis_left(*own);
  }
  if (roles.empty()) {
    const auto usual = roles_in(default_view(dims, l.has_batch()), dims);
    if (usual && fits(*usual)) roles = *usual;
  }
  if (roles.empty()) {
    for (std::size_t i = 0; i < dims.size(); ++i)
      roles += i < axis ? (i == 0 && l.has_batch() && axis > 1 ? 'B' : 'C') : i == axis ? 'H' : 'W';
  }
  std::vector<Tensor> parts;
  std::optional<Tensor> computed;
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    if (op.dims(i)[axis] == 0) continue;
    const View own = make_view(op.dims(i), roles);
    parts.push_back(op.constant(i) == nullptr ? l.tensor(op.input(i), own) : Tensor{});
    if (op.constant(i) == nullptr) computed = parts.back();
  }
  if (!computed) refuse_node("none of its inputs that are computed has elements");
  std::size_t next = 0;
  for (std::size_t i = 0; i < op.inputs(); ++i) {
    if (op.dims(i)[axis] == 0) continue;
    if (op.constant(i) != nullptr)
      parts[next] = constant_tensor(l, *op.constant(i), make_view(op.dims(i), roles), *computed,
                                    axis_of_role(roles[axis]));
    ++next;
  }
  const View view = make_view(dims, roles);
  if (parts.size() == 1) return l.put(op.node().outputs[0], parts[0], view);
  // A tensor has one place: the second time it is a copy.
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (parts[i] == parts[j]) parts[i] = l.copy(parts[i]);
  const std::string layer = l.name();
  l.put(op.node().outputs[0],
        l.network().concatenate(parts, {.name = layer, .axis = axis_of_role(roles[axis])}), view);
}

constexpr OperatorRow kShapeRows[] = {
    {"Concat", infer_concat, fold_concat, lower_concat,
     "Along any axis but the batch, with constants, too."},
    {"Flatten", infer_reshape, fold_reshape, lower_reshape, "Nothing moves."},
    {"Reshape", infer_reshape, fold_reshape, lower_reshape,
     "Nothing moves until a layer needs another shape."},
    {"Squeeze", infer_reshape, fold_reshape, lower_reshape, "Nothing moves."},
    {"Transpose", infer_transpose, fold_transpose, lower_transpose,
     "Nothing moves until a layer needs another order, which the CPU makes, or a matrix where it "
     "is small; blocks of positions become a DepthToSpace or a SpaceToDepth."},
    {"Unsqueeze", infer_reshape, fold_reshape, lower_reshape, "Nothing moves."},
};

}  // namespace

std::span<const OperatorRow> shape_rows() noexcept { return kShapeRows; }

}  // namespace nvdla::import
