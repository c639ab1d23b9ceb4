// SPDX-License-Identifier: MIT
#include "nvdla/lowlevel/deconvolution_phases.hpp"

#include <algorithm>

#include "nvdla/types/shape.hpp"
#include "packing/weight_stream.hpp"
#include "support/check.hpp"

namespace nvdla {
namespace {

using detail::check_range;
using detail::throw_invalid_argument;

// One axis of a deconvolution.
struct Axis {
  const char* name;
  std::int64_t size, kernel, stride, before, after, extra;
};

Axis rows(const DeconvolutionDesc& d) {
  return {"height",  d.input.height, d.weights.kernel_height, d.stride_height,
          d.pad_top, d.pad_bottom,   d.extra_bottom};
}

Axis columns(const DeconvolutionDesc& d) {
  return {"width",    d.input.width, d.weights.kernel_width, d.stride_width,
          d.pad_left, d.pad_right,   d.extra_right};
}

std::uint32_t output_size(const Axis& a) {
  check_range<std::int64_t>(a.name, a.size, 1, 8192);
  check_range<std::int64_t>("stride", a.stride, 1, 32);
  check_range<std::int64_t>("padding", a.before, 0, a.kernel - 1);
  check_range<std::int64_t>("padding", a.after, 0, a.kernel - 1);
  check_range<std::int64_t>("extra lines or columns", a.extra, 0, a.stride - 1);
  const std::int64_t size = (a.size - 1) * a.stride + a.kernel - a.before - a.after + a.extra;
  if (size < 1 || size > 8192) {
    throw_invalid_argument("the output's {} would be {}, which is not in 1..8192", a.name, size);
  }
  return static_cast<std::uint32_t>(size);
}

std::uint32_t phase_output(const Axis& a) {
  return static_cast<std::uint32_t>((output_size(a) + a.stride - 1) / a.stride);
}

// Position q of phase p is the sum over taps f, f + stride, ... of the input at q + d, q + d - 1,
// ... So the kernel reaches from `first` to `last` input positions after q; it is made longer with
// zero taps where the hardware's paddings, less than the kernel and never negative, want it so.
struct Reach {
  std::int64_t tap;  // f: of the input at q + d
  std::int64_t d;
  std::int64_t first, last;
};

Reach reach(const Axis& a, std::uint32_t phase) {
  if (phase >= a.stride) {
    throw_invalid_argument("phase {} of a stride of {}", phase, a.stride);
  }
  Reach r;
  r.tap = (phase + a.before) % a.stride;
  r.d = (phase + a.before) / a.stride;
  const std::int64_t taps = r.tap < a.kernel ? (a.kernel - r.tap + a.stride - 1) / a.stride : 0;
  const std::int64_t outputs = phase_output(a);
  // The first window begins in the padding or at the edge, the last one inside the input.
  r.first = std::min({r.d - taps + 1, std::int64_t{0}, a.size - outputs});
  r.last = std::max(r.d, std::int64_t{0});
  return r;
}

struct Placed {
  std::uint32_t kernel, before, size, after;
};

Placed place(const Axis& a, std::uint32_t phase) {
  const Reach r = reach(a, phase);
  const std::int64_t end = std::int64_t{phase_output(a)} + r.last;  // after the last window
  return {static_cast<std::uint32_t>(r.last - r.first + 1), static_cast<std::uint32_t>(-r.first),
          static_cast<std::uint32_t>(std::min(a.size, end)),
          static_cast<std::uint32_t>(std::max(end - a.size, std::int64_t{0}))};
}

// The tap of the deconvolution at each position of the phase's kernel; beyond it where there is
// none.
std::vector<std::int64_t> taps(const Axis& a, std::uint32_t phase) {
  const Reach r = reach(a, phase);
  std::vector<std::int64_t> source;
  for (std::int64_t at = r.first; at <= r.last; ++at) {
    source.push_back(at > r.d ? a.kernel : r.tap + (r.d - at) * a.stride);
  }
  return source;
}

template <typename T>
std::vector<T> subset(const DeconvolutionDesc& d, std::uint32_t y, std::uint32_t x,
                      std::span<const T> kcrs) {
  detail::check_weights(d.weights, kcrs);
  const std::vector<std::int64_t> down = taps(rows(d), y), across = taps(columns(d), x);
  const std::size_t kernels = std::size_t{d.weights.kernels} * d.weights.channels;
  const std::int64_t height = d.weights.kernel_height, width = d.weights.kernel_width;
  std::vector<T> out;
  out.reserve(kernels * down.size() * across.size());
  for (std::size_t k = 0; k < kernels; ++k) {
    const T* kernel = kcrs.data() + k * static_cast<std::size_t>(height * width);
    for (const std::int64_t r : down) {
      for (const std::int64_t s : across) {
        out.push_back(r < height && s < width ? kernel[r * width + s] : T{0});
      }
    }
  }
  return out;
}

}  // namespace

Shape deconvolution_output(const DeconvolutionDesc& desc) {
  detail::check_weights(desc.weights);
  if (desc.weights.channels != desc.input.channels) {
    throw_invalid_argument("kernels of {} channels for an input of {}", desc.weights.channels,
                           desc.input.channels);
  }
  Shape shape;
  shape.batch = desc.input.batch;
  shape.channels = desc.weights.kernels;
  shape.height = output_size(rows(desc));
  shape.width = output_size(columns(desc));
  return shape;
}

Shape deconvolution_phase_output(const DeconvolutionDesc& desc) {
  Shape shape = deconvolution_output(desc);
  shape.height = phase_output(rows(desc));
  shape.width = phase_output(columns(desc));
  return shape;
}

DeconvolutionPhase deconvolution_phase(const DeconvolutionDesc& desc, std::uint32_t y,
                                       std::uint32_t x) {
  deconvolution_output(desc);
  const Placed down = place(rows(desc), y), across = place(columns(desc), x);
  return {down.kernel,   across.kernel, down.before, down.after,
          across.before, across.after,  down.size,   across.size};
}

std::vector<std::int8_t> deconvolution_weights(const DeconvolutionDesc& desc, std::uint32_t y,
                                               std::uint32_t x, std::span<const std::int8_t> kcrs) {
  return subset(desc, y, x, kcrs);
}

std::vector<std::int16_t> deconvolution_weights(const DeconvolutionDesc& desc, std::uint32_t y,
                                                std::uint32_t x,
                                                std::span<const std::int16_t> kcrs) {
  return subset(desc, y, x, kcrs);
}

}  // namespace nvdla
