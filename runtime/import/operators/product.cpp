// SPDX-License-Identifier: MIT
//
// Products of matrices.

#include "import/operators/elements.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/quantized.hpp"
#include "import/operators/sums.hpp"

namespace nvdla::import {
namespace {

// A product of a matrix of rows, which are positions or cubes, with a constant one.
struct Product {
  std::vector<float> weights;  // column by column: columns x depth
  std::int64_t depth = 1;
  std::int64_t columns = 1;
};

void lower_product(Lowering& l, const Operation& op, const Product& product,
                   const std::vector<double>& bias, bool has_bias, const Dims& dims) {
  const ValueId id = op.input(0);
  const Dims& in = op.dims(0);
  const std::string layer = l.name();
  Sums sums{product.weights, bias, has_bias};
  const bool rows_are_cubes = in.size() == 2 && l.has_batch() && in[0] <= 32;
  // All of a cube in its order, as after a flattening.
  if (in.size() <= 2 && !l.is_free(id)) {
    const View lies = l.view(id);
    const std::int64_t rows = in.size() == 2 ? in[0] : 1;
    const bool flat = lies.shape.batch == rows && is_row_major(lies) && lies.shape.height <= 32 &&
                      lies.shape.width <= 32;
    if (flat) {
      View view;
      view.shape = {u32(product.columns), 1, 1, lies.shape.batch};
      Epilogue epilogue(l, dims, view, true);
      const ValueId last = follow_sums(l, op.node().outputs[0], dims, view, sums, epilogue);
      FullyConnected f;
      f.name = layer;
      f.outputs = u32(product.columns);
      f.weights = std::span<const float>(sums.weights);
      epilogue.set(f);
      return l.put(last, l.network().fully_connected(l.tensor(id), f), view);
    }
  }
  std::string roles;
  if (!l.is_free(id)) {
    const auto own = roles_in(l.view(id), in);
    bool channels_last = own && own->back() == 'C';
    for (std::size_t i = 0; channels_last && i + 1 < in.size(); ++i)
      channels_last = in[i] == 1 || (*own)[i] != 'C';
    if (channels_last) roles = *own;
  }
  if (roles.empty()) {
    roles.assign(in.size(), 'H');
    roles.back() = 'C';
    if (rows_are_cubes || (in.size() >= 3 && l.has_batch())) roles[0] = 'B';
    if (in.size() >= 4) roles[in.size() - 2] = 'W';
  }
  const Tensor x = l.tensor(id, make_view(in, roles));
  View view = make_view(in, roles);
  view.shape.channels = u32(product.columns);
  if (product.columns > 8192) refuse_node("{} columns are above 8192", product.columns);
  Epilogue epilogue(l, dims, view, true);
  const ValueId last = follow_sums(l, op.node().outputs[0], dims, view, sums, epilogue);
  Convolution c;
  c.name = layer;
  c.kernels = u32(product.columns);
  c.weights = std::span<const float>(sums.weights);
  epilogue.set(c);
  l.put(last, l.network().convolution(x, c), view);
}

// Returns a matrix column by column; `transposed` if it is that already.
Product product_of(const Constant& b, bool transposed, double factor) {
  const Dims& dims = b.dims();
  if (dims.size() > 2 && elements(dims) != dims[dims.size() - 1] * dims[dims.size() - 2])
    refuse_node("its second input is {}, several matrices", dims_text(dims));
  Product p;
  const std::int64_t rows = dims.size() >= 2 ? dims[dims.size() - 2] : elements(dims);
  const std::int64_t columns = dims.size() >= 2 ? dims[dims.size() - 1] : 1;
  p.depth = transposed ? columns : rows;
  p.columns = transposed ? rows : columns;
  p.weights.resize(static_cast<std::size_t>(rows * columns));
  for (std::int64_t c = 0; c < p.columns; ++c)
    for (std::int64_t d = 0; d < p.depth; ++d)
      p.weights[static_cast<std::size_t>(c * p.depth + d)] =
          static_cast<float>(factor * b.real(transposed ? c * columns + d : d * columns + c));
  return p;
}

std::vector<Inferred> infer_gemm(const Operation& op) {
  const Dims& a = op.dims(0);
  const Dims& b = op.dims(1);
  if (a.size() != 2 || b.size() != 2)
    refuse_node("its inputs are {} and {}; expected matrices", dims_text(a), dims_text(b));
  const bool ta = op.attribute("transA", std::int64_t{0}) != 0;
  const bool tb = op.attribute("transB", std::int64_t{0}) != 0;
  if (a[ta ? 0 : 1] != b[tb ? 1 : 0])
    refuse_node("{} and {} have no product", dims_text(a), dims_text(b));
  return {{op.type(0), {a[ta ? 1 : 0], b[tb ? 0 : 1]}}};
}

void lower_gemm(Lowering& l, const Operation& op) {
  if (op.attribute("transA", std::int64_t{0}) != 0)
    refuse_node("its first input is transposed (transA)");
  const Dims dims = infer_gemm(op)[0].dims;
  const bool transposed = op.attribute("transB", std::int64_t{0}) != 0;
  const Product p =
      product_of(op.need_constant(1, "the second matrix"), transposed, op.attribute("alpha", 1.0));
  std::vector<double> bias(static_cast<std::size_t>(p.columns), 0);
  bool has_bias = false;
  if (op.has(2)) {
    const Constant& c = op.need_constant(2, "the matrix that is added");
    const Dims all = broadcast(c.dims(), dims);
    if (c.size() != 1 && (c.size() != dims[1] || c.dims().back() != dims[1]))
      refuse_node("it adds {}; expected one number for each column", dims_text(c.dims()));
    for (std::size_t i = 0; i < bias.size(); ++i)
      bias[i] =
          op.attribute("beta", 1.0) * c.real(c.size() == 1 ? 0 : static_cast<std::int64_t>(i));
    has_bias = true;
  }
  lower_product(l, op, p, bias, has_bias, dims);
}

std::vector<Inferred> infer_matmul(const Operation& op) {
  Dims a = op.dims(0), b = op.dims(1);
  if (a.empty() || b.empty()) refuse_node("a product with a single number");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2])
    refuse_node("{} and {} have no product", dims_text(a), dims_text(b));
  Dims dims = broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
  if (!row) dims.push_back(a[a.size() - 2]);
  if (!column) dims.push_back(b.back());
  return {{op.type(0), dims}};
}

std::vector<Constant> fold_matmul(const Operation& op) {
  const Inferred result = infer_matmul(op)[0];
  const Constant& a = op.need_constant(0, "its input");
  const Constant& b = op.need_constant(1, "its input");
  if (a.dims().size() < 2 || b.dims().size() != 2)
    refuse_node("a product of constants of {} and {}; expected a matrix as the second one",
                dims_text(a.dims()), dims_text(b.dims()));
  const std::int64_t depth = b.dims()[0], columns = b.dims()[1];
  const std::int64_t rows = depth == 0 ? 0 : a.size() / depth;
  if (rows * columns > kMaxFolded || rows * columns * depth > (std::int64_t{1} << 32))
    refuse_node("a product of constants that are too large");
  std::vector<double> out(static_cast<std::size_t>(rows * columns));
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::int64_t d = 0; d < depth; ++d)
        sum += a.real(r * depth + d) * b.real(d * columns + c);
      out[static_cast<std::size_t>(r * columns + c)] = sum;
    }
  return {Constant::of_doubles(result.type, result.dims, out)};
}

// Takes nodes that multiply `last` with one number each, as far as they follow it, which becomes
// their result; returns the number that they are together.
double take_factors(Lowering& l, ValueId& last) {
  double factor = 1;
  last = l.follow(last, [&](const Operation& next, ValueId now) {
    const auto steps = find_elements(next) ? steps_of(next, now) : std::nullopt;
    if (!steps || steps->input != now || steps->steps.size() != 1 ||
        infer_elements(next)[0].dims != next.graph().value(now).dims)
      return false;
    const Step& step = steps->steps[0];
    if (step.kind != StepKind::kScale || !step.is_scalar()) return false;
    factor *= step.operand.real(0);
    return true;
  });
  return factor;
}

// A product of two tensors, on the CPU; of several matrices one after the other.
void lower_tensor_product(Lowering& l, const Operation& op) {
  constexpr std::int64_t kMaxProducts = 64;
  const Dims dims = infer_matmul(op)[0].dims;
  const Dims& a = op.dims(0);
  const Dims& b = op.dims(1);
  const auto matrices = [](const Dims& d) { return elements(Dims(d.begin(), d.end() - 2)); };
  if (a.size() < 2 || b.size() < 2 || matrices(a) != matrices(b) || matrices(a) > kMaxProducts)
    refuse_node("a product of {} and {}, both computed", dims_text(a), dims_text(b));
  l.use_cpu("a product of two tensors");
  const auto roles = [](const Dims& d) {
    std::string r(d.size(), 'W');
    r[r.size() - 2] = 'H';
    r.back() = 'C';
    return r;
  };
  const bool int8 = l.is_quantized(op.input(0)) || l.is_quantized(op.input(1));
  // Inputs of int8 have scales, without which neither is computed.
  for (const std::size_t i : {0, 1})
    if (int8) (void)quantization_of(l, op, i);
  const Tensor x = l.tensor(op.input(0), make_view(a, roles(a)));
  const Tensor y = l.tensor(op.input(1), make_view(b, roles(b)));
  const View view = make_view(dims, roles(dims));
  QuantizedEnd end;
  end.last = op.node().outputs[0];
  if (int8) end = follow_kernels(l, end.last, {dims, view, 1});
  const double factor =
      !int8 ? take_factors(l, end.last) : (end.factors.empty() ? 1 : end.factors[0]);
  if (!end.addends.empty() && end.addends[0] != 0)
    refuse_node("{} is added to a product of two tensors before its QuantizeLinear",
                end.addends[0]);
  const auto count = u32(matrices(a));
  std::vector<Tensor> products;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto part = [&](Tensor whole) {
      return count == 1
                 ? whole
                 : l.network().slice(
                       whole,
                       {.name = l.name("slice"), .axis = Axis::kWidth, .start = i, .size = 1});
    };
    const std::string layer = l.name();
    products.push_back(l.network().product(
        part(x), part(y), {.name = layer, .output = end.output, .factor = factor}));
  }
  const std::string layer = l.name("all");
  const Tensor all = count == 1
                         ? products[0]
                         : l.network().concatenate(products, {.name = layer, .axis = Axis::kWidth});
  l.put(end.last, held_to(l, all, end), view);
}

void lower_matmul(Lowering& l, const Operation& op) {
  const Dims dims = infer_matmul(op)[0].dims;
  if (op.constant(1) == nullptr) {
    if (op.constant(0) != nullptr)
      throw Refusal("its first input is a constant and its second one is computed",
                    "exchange them, transposed");
    return lower_tensor_product(l, op);
  }
  const Product p = product_of(*op.constant(1), false, 1);
  // A pass may have made a sum behind it a third input.
  const auto bias = bias_of(op, 2, static_cast<std::size_t>(p.columns));
  lower_product(l, op, p, bias, op.has(2), dims);
}

std::vector<Inferred> infer_matmul_integer(const Operation& op) {
  return {{Type::kInt32, infer_matmul(op)[0].dims}};
}

constexpr OperatorRow kProductRows[] = {
    {"Gemm", infer_gemm, nullptr, lower_gemm, "The second matrix is a constant."},
    {"MatMul", infer_matmul, fold_matmul, lower_matmul,
     "With a constant second matrix; the CPU multiplies two tensors."},
    {"MatMulInteger", infer_matmul_integer, nullptr, refuse_int32,
     "With a Cast to float, factors and a QuantizeLinear behind it."},
};

}  // namespace

std::span<const OperatorRow> product_rows() noexcept { return kProductRows; }

}  // namespace nvdla::import
