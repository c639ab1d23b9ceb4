// SPDX-License-Identifier: MIT
//
// Tensors in another view: reshapes, transpositions, repetitions, and any move as a matrix.
#include <algorithm>
#include <limits>
#include <utility>

#include "import/operators/exact.hpp"
#include "import/operators/lowering.hpp"

namespace nvdla::import {
namespace {

// Weights of a matrix that takes the place of a move: up to the first number it is better than the
// CPU, up to the second one it is possible.
constexpr std::uint64_t kCheapMatrix = std::uint64_t{1} << 16;
constexpr std::uint64_t kLargestMatrix = std::uint64_t{1} << 21;
constexpr std::uint32_t kMaxKernel = 32;

std::uint64_t cube_elements(const Shape& shape) {
  return std::uint64_t{shape.channels} * shape.height * shape.width;
}

bool is_vector(const Shape& shape) { return shape.height == 1 && shape.width == 1; }

// Returns the places of elements in the order C, H, W of the tensor, in the order of the model.
std::vector<std::int64_t> element_places(const View& view) {
  const Shape& s = view.shape;
  const auto step = [&](Axis axis) -> std::int64_t {
    return axis == Axis::kChannels ? std::int64_t{s.height} * s.width
           : axis == Axis::kHeight ? s.width
                                   : 1;
  };
  std::vector<std::int64_t> all;
  all.reserve(cube_elements(s));
  const auto [a, b, c] = view.order;
  for (std::int64_t i = 0; i < size_of(s, a); ++i)
    for (std::int64_t j = 0; j < size_of(s, b); ++j)
      for (std::int64_t k = 0; k < size_of(s, c); ++k)
        all.push_back(i * step(a) + j * step(b) + k * step(c));
  return all;
}

// Returns how many weights a matrix has that maps one shape to another; the greatest number if
// that is not possible.
std::uint64_t matrix_weights(const Shape& from, const Shape& to) {
  const std::uint64_t in = cube_elements(from), out = cube_elements(to);
  const bool fits = from.height <= kMaxKernel && from.width <= kMaxKernel &&
                    to.height <= kMaxKernel && to.width <= kMaxKernel && in <= 8192 && out <= 8192;
  if (!fits) return std::numeric_limits<std::uint64_t>::max();
  return in * out * (is_vector(from) || is_vector(to) ? 1 : 2);
}

bool is_row_major_copy(const View& a, const View& b) { return is_row_major(a) && is_row_major(b); }

// Returns true if the device makes a reshape of fp16, or of int8, without the CPU.
bool device_reshapes(const Shape& from, const Shape& to, bool int8, const DeviceInfo& info) {
  if (from.channels == to.channels) return true;
  if (int8 && is_vector(to) && from.height <= kMaxKernel && from.width <= kMaxKernel) return true;
  if (!info.has_rubik) return false;
  constexpr std::uint32_t kLine = 64;
  const std::uint32_t bytes = int8 ? 1 : 2;
  const auto whole = [&](std::uint32_t elements) { return elements * bytes % kLine == 0; };
  return (whole(from.width) && whole(to.width)) ||
         (whole(from.height * from.width) && whole(to.height * to.width));
}

// Returns roles by which the axes from `first` to `last` are channels, and all others positions.
std::string channel_roles(const Dims& dims, std::size_t first, std::size_t last, bool has_batch) {
  std::string roles(dims.size(), 'H');
  for (std::size_t i = 0; i < dims.size(); ++i) roles[i] = i < first ? 'H' : i <= last ? 'C' : 'W';
  if (has_batch && first > 0 && dims[0] <= 32) roles[0] = 'B';
  return spread_roles(dims, std::move(roles));
}

}  // namespace

View Lowering::channel_view(ValueId id, const Dims& dims, std::size_t first, std::size_t last) {
  if (!is_free(id)) {
    if (const auto own = roles_in(view(id), dims)) {
      bool fits = true;
      for (std::size_t i = 0; i < dims.size(); ++i)
        fits = fits && (dims[i] == 1 || ((*own)[i] == 'C') == (i >= first && i <= last));
      if (fits) return view(id);
    }
  }
  return make_view(dims, channel_roles(dims, first, last, has_batch()));
}

Tensor Lowering::map_elements(Tensor x, const View& from, const View& to,
                              const std::vector<MapEntry>& map,
                              std::optional<Quantization> output) {
  const std::uint64_t in = cube_elements(from.shape), out = cube_elements(to.shape);
  const auto source = element_places(from), target = element_places(to);
  const std::size_t positions = std::size_t{to.shape.height} * to.shape.width;
  // The kernels are as large as the result and have one position of the input.
  const auto spread = [&](const std::vector<float>& kernels, std::optional<Quantization> scales) {
    Deconvolution d;
    const std::string layer = name("spread");
    d.name = layer;
    d.kernels = to.shape.channels;
    d.kernel_height = to.shape.height;
    d.kernel_width = to.shape.width;
    return add_exact(*this, x, d, kernels, scales);
  };
  if (is_vector(to.shape) || !is_vector(from.shape)) {
    std::vector<float> weights(in * out);
    for (const MapEntry& e : map)
      weights[static_cast<std::size_t>(
          target[static_cast<std::size_t>(e.to)] * static_cast<std::int64_t>(in) +
          source[static_cast<std::size_t>(e.from)])] += static_cast<float>(e.weight);
    const std::string matrix = name("matrix");
    FullyConnected f;
    f.name = matrix;
    f.outputs = static_cast<std::uint32_t>(out);
    x = add_exact(*this, x, f, weights, output);
    if (is_vector(to.shape)) return x;
    // Kernel k has the weights of channel c at [k][c][y][x].
    std::vector<float> kernels(out * out);
    for (std::size_t c = 0; c < out; ++c)
      kernels[(c / positions * out + c) * positions + c % positions] = 1;
    return spread(kernels, std::nullopt);
  }
  std::vector<float> kernels(in * out);
  for (const MapEntry& e : map) {
    const auto t = static_cast<std::size_t>(target[static_cast<std::size_t>(e.to)]);
    const auto s = static_cast<std::size_t>(source[static_cast<std::size_t>(e.from)]);
    kernels[(t / positions * in + s) * positions + t % positions] += static_cast<float>(e.weight);
  }
  return spread(kernels, output);
}

Tensor Lowering::reshape(Tensor x, const View& from, const View& to) {
  const bool int8 = network_.precision(x) == Precision::kInt8;
  if (!device_reshapes(from.shape, to.shape, int8, info()))
    use_cpu("another shape of these elements");
  return network_.reshape(x, {.name = name("reshape"),
                              .channels = to.shape.channels,
                              .height = to.shape.height,
                              .width = to.shape.width});
}

Tensor Lowering::transpose(Tensor x, const View& from, const View& to) {
  use_cpu("a transposition");
  // The axes of the result in the order C, H, W, each with the axis of the input that it was.
  std::array<Axis, 3> order{};
  for (std::size_t i = 0; i < 3; ++i) order[static_cast<std::size_t>(to.order[i])] = from.order[i];
  return network_.transpose(x, {.name = name("transpose"), .order = order});
}

Tensor Lowering::change_view(Tensor x, const View& from, const View& to) {
  if (same_places(from, to)) return x;
  if (from.shape.batch != to.shape.batch)
    refuse_node(
        "a batch of {} would become one of {}, and no layer moves elements between the "
        "cubes of a batch",
        from.shape.batch, to.shape.batch);
  const bool rows = is_row_major_copy(from, to);
  const std::uint64_t weights = matrix_weights(from.shape, to.shape);
  const bool int8 = network_.precision(x) == Precision::kInt8;
  const bool on_device = rows && device_reshapes(from.shape, to.shape, int8, info());
  if (!on_device && (weights <= kCheapMatrix || (weights <= kLargestMatrix && !may_use_cpu()))) {
    std::vector<MapEntry> map(cube_elements(from.shape));
    for (std::size_t i = 0; i < map.size(); ++i)
      map[i] = {static_cast<std::int64_t>(i), static_cast<std::int64_t>(i), 1};
    return map_elements(x, from, to, map);
  }
  if (rows) return reshape(x, from, to);
  // A view whose axes have the sizes of another one in the same order is a transposition away.
  const auto sizes = [](const View& v) {
    return Dims{size_of(v.shape, v.order[0]), size_of(v.shape, v.order[1]),
                size_of(v.shape, v.order[2])};
  };
  if (sizes(from) == sizes(to)) return transpose(x, from, to);
  const View plain = row_major(from), goal = row_major(to);
  if (!same_places(from, plain)) x = transpose(x, from, plain);
  if (!same_places(plain, goal)) x = reshape(x, plain, goal);
  return same_places(goal, to) ? x : transpose(x, goal, to);
}

Tensor Lowering::expand(ValueId id, const Dims& dims, const View& view) {
  const Dims& own = *graph_.value(id).dims;
  const auto roles = roles_in(view, dims);
  if (!roles) refuse_node("{} cannot be repeated to {}", dims_text(own), dims_text(dims));
  Dims padded(dims.size() - own.size(), 1);
  padded.insert(padded.end(), own.begin(), own.end());
  std::string own_roles = *roles;
  View lies = make_view(padded, own_roles);
  lies.order = view.order;
  Tensor x = tensor(id, lies);
  if (lies.shape.batch != view.shape.batch)
    refuse_node("{} would be repeated for each of {} cubes of a batch", dims_text(own),
                view.shape.batch);
  return repeat(x, lies.shape, view.shape);
}

Tensor Lowering::repeat(Tensor x, Shape now, const Shape& goal_shape) {
  for (const Axis axis : {Axis::kHeight, Axis::kWidth}) {
    std::uint32_t& size = size_of(now, axis);
    const std::uint32_t goal = size_of(goal_shape, axis);
    if (size == goal) continue;
    if (size != 1) refuse_node("{} lines or columns cannot be repeated to {}", size, goal);
    // Repeated by up to 32 at a time, then cut to what is wanted.
    while (size < goal) {
      const std::uint32_t factor = std::min<std::uint32_t>(32, (goal + size - 1) / size);
      x = network_.upsample(x, {.name = name("repeat"),
                                .scale_height = axis == Axis::kHeight ? factor : 1,
                                .scale_width = axis == Axis::kWidth ? factor : 1});
      size *= factor;
    }
    if (size > goal)
      x = network_.slice(x, {.name = name("cut"), .axis = axis, .start = 0, .size = goal});
    size = goal;
  }
  if (now.channels == goal_shape.channels) return x;
  if (now.channels != 1)
    refuse_node("{} channels cannot be repeated to {}", now.channels, goal_shape.channels);
  const std::vector<float> ones(goal_shape.channels, 1.0F);
  const std::string layer = name("repeat");
  Convolution c;
  c.name = layer;
  c.kernels = goal_shape.channels;
  return add_exact(*this, x, c, ones);
}

Tensor Lowering::operand(ValueId id, const Dims& dims, const View& view, bool one_position) {
  const Dims& own = *graph_.value(id).dims;
  if (own == dims) return tensor(id, view);
  if (one_position) {
    const auto roles = roles_in(view, dims);
    Dims padded(dims.size() - own.size(), 1);
    padded.insert(padded.end(), own.begin(), own.end());
    bool channels = roles.has_value();
    for (std::size_t i = 0; channels && i < dims.size(); ++i)
      channels = padded[i] == dims[i] || ((*roles)[i] != 'C' && (*roles)[i] != 'B');
    if (channels) {
      View lies = make_view(padded, *roles);
      if (is_vector(lies.shape) && lies.shape.channels == view.shape.channels) {
        lies.order = view.order;
        return tensor(id, lies);
      }
    }
  }
  return expand(id, dims, view);
}

}  // namespace nvdla::import
