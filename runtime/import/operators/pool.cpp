// SPDX-License-Identifier: MIT
//
// Poolings.
#include <algorithm>

#include "import/nodes/window.hpp"
#include "import/operators/operator.hpp"
#include "import/operators/pools.hpp"

namespace nvdla::import {
namespace {

constexpr std::uint32_t kDeviceWindow = 32;  // of an average
constexpr std::uint32_t kDeviceStride = 8;   // the same

std::vector<Inferred> infer_pool(const Operation& op) {
  Dims dims(op.dims(0).begin(),
            op.dims(0).begin() +
                std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(op.dims(0).size())));
  for (const WindowAxis& a : read_window(op, op.integers("kernel_shape"))) dims.push_back(a.output);
  std::vector<Inferred> out = {{op.type(0), dims}};
  if (op.outputs() > 1) out.push_back({Type::kInt64, dims});
  return out;
}

// Sets the padding behind the input to what the windows of all results need.
void fit_padding(WindowAxis& a) {
  a.after = std::max<std::int64_t>((a.output - 1) * a.stride + a.kernel - a.input - a.before, 0);
}

void lower_max(Lowering& l, const Operation& op) {
  if (op.has_output(1)) refuse_node("no unit computes the indices of largest elements");
  const Dims dims = infer_pool(op)[0].dims;
  Window w = two_axes(read_window(op, op.integers("kernel_shape")));
  check_no_dilation(w);
  fit_padding(w.y);
  fit_padding(w.x);
  const char* const roles = window_roles(dims.size() - 2);
  const Tensor x = l.tensor(op.input(0), make_view(op.dims(0), roles));
  const std::string layer = l.name();
  Pooling p{.name = layer};
  set_window(p, w);
  l.put(op.node().outputs[0], l.network().pooling(x, p), make_view(dims, roles));
}

// Returns how many elements of the input, or of its padding up to `after`, each window has.
std::vector<double> window_counts(const WindowAxis& a, bool with_padding, std::int64_t after) {
  std::vector<double> all;
  for (std::int64_t o = 0; o < a.output; ++o) {
    const std::int64_t from = o * a.stride - a.before, to = from + a.kernel;
    const std::int64_t first = with_padding ? -a.before : 0;
    const std::int64_t last = with_padding ? a.input + after : a.input;
    all.push_back(
        static_cast<double>(std::max<std::int64_t>(std::min(to, last) - std::max(from, first), 0)));
  }
  return all;
}

void lower_average(Lowering& l, const Operation& op) {
  const Dims dims = infer_pool(op)[0].dims;
  Window w = two_axes(read_window(op, op.integers("kernel_shape")));
  check_no_dilation(w);
  const bool with_padding = op.attribute("count_include_pad", std::int64_t{0}) != 0;
  const auto lines = window_counts(w.y, with_padding, w.y.after);
  const auto columns = window_counts(w.x, with_padding, w.x.after);
  fit_padding(w.y);
  fit_padding(w.x);
  if (w.y.kernel > kDeviceWindow || w.x.kernel > kDeviceWindow || w.y.stride > kDeviceStride ||
      w.x.stride > kDeviceStride)
    l.use_cpu("an average with a window above 32 or a stride above 8");
  const char* const roles = window_roles(dims.size() - 2);
  const Tensor x = l.tensor(op.input(0), make_view(op.dims(0), roles));
  const std::string layer = l.name();
  Average a{.name = layer, .pad_value = 0};
  set_window(a, w);
  if (w.y.before + w.y.after + w.x.before + w.x.after == 0) a.pad_value.reset();
  Tensor out = l.network().average(x, a);
  // Windows of fewer elements are divided by their own numbers.
  std::vector<double> factors;
  bool whole = true;
  for (const double y : lines)
    for (const double c : columns) {
      if (y * c == 0) refuse_node("a window of it lies in the padding alone");
      factors.push_back(static_cast<double>(w.y.kernel * w.x.kernel) / (y * c));
      whole = whole && factors.back() == 1;
    }
  const View view = make_view(dims, roles);
  if (!whole) {
    Dims of(dims.begin() + 2, dims.end());
    out =
        l.compute(out, view, dims,
                  {make_step(StepKind::kScale, Constant::of_doubles(Type::kDouble, of, factors))});
  }
  l.put(op.node().outputs[0], out, view);
}

std::vector<Inferred> infer_global(const Operation& op) {
  Dims dims = op.dims(0);
  if (dims.size() < 3) refuse_node("a tensor of {} has no positions", dims_text(dims));
  std::fill(dims.begin() + 2, dims.end(), 1);
  return {{op.type(0), dims}};
}

void lower_global(Lowering& l, const Operation& op) {
  const Dims& dims = op.dims(0);
  std::string roles = "BCHW";
  if (dims.size() == 3) roles = "BCW";
  roles.resize(dims.size(), 'W');
  View view = make_view(dims, roles);
  Tensor x = l.tensor(op.input(0), view);
  x = op.op() == "GlobalAveragePool"
          ? average_positions(l, x, view.shape, true, true)
          : extreme_positions(l, x, view.shape, true, true, NVDLA_POOL_MAX);
  l.put(op.node().outputs[0], x, view);
}

constexpr OperatorRow kPoolRows[] = {
    {"AveragePool", infer_pool, nullptr, lower_average,
     "One or two axes up to 32, strides up to 8; the CPU computes others."},
    {"GlobalAveragePool", infer_global, nullptr, lower_global,
     "In steps above 32 lines or columns."},
    {"GlobalMaxPool", infer_global, nullptr, lower_global, "Of any size."},
    {"MaxPool", infer_pool, nullptr, lower_max,
     "One or two axes, strides up to 16, without indices and dilations."},
};

}  // namespace

Tensor average_positions(Lowering& l, Tensor x, Shape& shape, bool lines, bool columns) {
  for (const bool vertical : {true, false}) {
    std::uint32_t& size = vertical ? shape.height : shape.width;
    while ((vertical ? lines : columns) && size > kDeviceWindow) {
      std::uint32_t step = kDeviceStride;
      while (step > 1 && size % step != 0) --step;
      if (step == 1) break;
      x = l.network().average(x, {.name = l.name("step"),
                                  .kernel_height = vertical ? step : 1,
                                  .kernel_width = vertical ? 1 : step,
                                  .stride_height = vertical ? step : 1,
                                  .stride_width = vertical ? 1 : step});
      size /= step;
    }
  }
  const std::uint32_t height = lines ? shape.height : 1, width = columns ? shape.width : 1;
  if (height == 1 && width == 1) return x;
  if (height > kDeviceWindow || width > kDeviceWindow)
    l.use_cpu("an average with a window above 32");
  const std::string layer = l.name("average");
  x = l.network().average(x, {.name = layer, .kernel_height = height, .kernel_width = width});
  if (lines) shape.height = 1;
  if (columns) shape.width = 1;
  return x;
}

Tensor extreme_positions(Lowering& l, Tensor x, Shape& shape, bool lines, bool columns,
                         nvdla_pool method) {
  const std::string layer = l.name("extreme");
  x = l.network().pooling(x, {.name = layer,
                              .method = method,
                              .kernel_height = lines ? shape.height : 1,
                              .kernel_width = columns ? shape.width : 1});
  if (lines) shape.height = 1;
  if (columns) shape.width = 1;
  return x;
}

Tensor sum_channels(Lowering& l, Tensor x, Shape& shape, double factor) {
  const std::vector<float> ones(shape.channels, 1.0F);
  const std::string layer = l.name("sum");
  Convolution c;
  c.name = layer;
  c.weights = std::span<const float>(ones);
  const auto real = static_cast<float>(factor);
  if (factor != 1) {
    c.x1.mul = NVDLA_MUL_MUL;
    c.x1.mul_reals = {&real, 1};
  }
  x = l.network().convolution(x, c);
  shape.channels = 1;
  return x;
}

std::span<const OperatorRow> pool_rows() noexcept { return kPoolRows; }

}  // namespace nvdla::import
