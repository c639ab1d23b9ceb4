// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>

#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/operators/requantization.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"
#include "packing/cbuf.hpp"
#include "packing/precision.hpp"
#include "support/check.hpp"
#include "support/integers.hpp"

namespace nvdla {
namespace {

using arith::ceil_div;
using detail::check_range;
using detail::throw_invalid_argument;

// One axis of a convolution.
struct ConvAxis {
  const char* size_name;
  std::uint32_t before, size, after, kernel, dilation, stride;
};

std::uint32_t conv_output_size(const ConvAxis& a) {
  check_range(a.size_name, a.size, 1U, detail::kMaxSide);
  check_range("kernel size", a.kernel, 1U, 32U);
  check_range("dilation", a.dilation, 1U, 32U);
  check_range("stride", a.stride, 1U, 8U);
  check_range("padding", a.before, 0U, 31U);
  check_range("padding", a.after, 0U, 63U);
  const std::uint32_t kernel = (a.kernel - 1) * a.dilation + 1;
  const std::uint32_t padded = a.before + a.size + a.after;
  if (padded < kernel) {
    throw_invalid_argument("padded {} {} is smaller than the dilated kernel, {}", a.size_name,
                           padded, kernel);
  }
  return (padded - kernel) / a.stride + 1;
}

std::uint32_t conv_bytes(const nvdla_conv& c) {
  return c.proc_precision == NVDLA_PRECISION_INT8 ? 1 : 2;
}

// In steps of the result: what requantize() lets a zero point be beside itself.
constexpr double kZeroPointError = 1.0 / 16;
// requantize_exactly() takes eleven significant bits of the factor at least.
constexpr std::int16_t kLeastScale = 1 << 11;

// scale * 2^-shift.
struct Factor {
  std::int16_t scale = 0;
  std::uint32_t shift = 0;
};

// The nearest with a shift of at most `most`; a scale of 16384..32767 unless the shift ends there.
Factor nearest_factor(double factor, int most) {
  if (!(factor > 0) || factor >= 32767.5) {
    throw_invalid_argument(
        "a requantisation factor must be greater than 0 and less than 32767.5, found {}", factor);
  }
  int exponent = 0;
  std::frexp(factor, &exponent);
  int shift = std::clamp(15 - exponent, 0, most);
  double scale = std::round(std::ldexp(factor, shift));
  if (scale > std::numeric_limits<std::int16_t>::max()) {
    // Rounded up to 2^15; not without a shift, where it would have been refused.
    scale = std::round(std::ldexp(factor, --shift));
  }
  return {static_cast<std::int16_t>(scale), static_cast<std::uint32_t>(shift)};
}

}  // namespace

Converter requantize(double factor, std::int32_t zero_point) {
  const Factor f = nearest_factor(factor, 63);
  if (f.scale < 1) throw_invalid_argument("a requantisation factor of {} rounds to 0", factor);
  Converter converter;
  converter.scale = f.scale;
  converter.shift = f.shift;
  const double reached = std::ldexp(f.scale, -static_cast<int>(f.shift));
  const double offset = std::round(-static_cast<double>(zero_point) / reached);
  if (std::abs(offset) > std::numeric_limits<std::int32_t>::max()) {
    throw_invalid_argument("zero point {} with factor {} needs an offset beyond 32 bits",
                           zero_point, factor);
  }
  if (const double z = 0.0 - offset * reached; std::abs(z - zero_point) > kZeroPointError) {
    throw_invalid_argument(
        "zero point {} with factor {} would come out as {}: the converter subtracts before it "
        "multiplies, so only multiples of the factor are there; requantize_exactly() multiplies "
        "in an operator before",
        zero_point, factor, z);
  }
  converter.offset = static_cast<std::int32_t>(offset);
  return converter;
}

Requantization requantize_exactly(double factor, std::int32_t zero_point, Precision result) {
  if (result == Precision::kFp16)
    throw_invalid_argument("fp16 has no zero point: nothing to be exact");
  detail::check_precision(result);
  const bool wide = result == Precision::kInt16;
  const std::int32_t low = wide ? -32768 : -128;
  check_range("zero point", zero_point, low, -low - 1);
  // A value that saturates at 32 bits in the operator must be beyond the result, whatever is added
  // to it: 2^(31 - shift) - |zero point| is.
  const Factor f = nearest_factor(factor, wide ? 15 : 22);
  if (f.scale < kLeastScale) {
    throw_invalid_argument(
        "a requantisation factor of {} is below {}: requantize() is as good there, with at most "
        "half a factor beside the zero point",
        factor, std::ldexp(kLeastScale, wide ? -15 : -22));
  }
  Requantization r;
  r.factor = f.scale;
  r.output.offset = -zero_point * (1 << f.shift);
  r.output.shift = f.shift;
  return r;
}

nvdla_slot make_slot(const DeviceInfo& info, std::uint64_t bytes, std::uint32_t access,
                     Memory memory) {
  nvdla_slot slot = {};
  slot.size = bytes;
  slot.alignment = info.atom;
  slot.memory = static_cast<std::uint32_t>(memory);
  slot.access = access;
  return slot;
}

nvdla_conv make_conv(const TensorDesc& input, const WeightsDesc& weights) {
  nvdla_conv c = {};
  c.mode = NVDLA_CONV_DIRECT;
  c.in_precision = static_cast<std::uint32_t>(input.precision);
  c.proc_precision = static_cast<std::uint32_t>(weights.precision);
  c.width = input.shape.width;
  c.height = input.shape.height;
  c.channels = input.shape.channels;
  c.batch = input.shape.batch;
  c.kernels = weights.kernels;
  c.kernel_width = weights.kernel_width;
  c.kernel_height = weights.kernel_height;
  c.stride_width = c.stride_height = 1;
  c.dilation_width = c.dilation_height = 1;
  c.post_extension = 1;
  return c;
}

Shape conv_output(const nvdla_conv& c) {
  Shape shape;
  shape.batch = c.batch;
  shape.channels = c.kernels;
  if (c.mode == NVDLA_CONV_WINOGRAD) {
    // Tiles of four give results of two, and two of them overlap by as many.
    shape.height = (c.pad_top + c.height + c.pad_bottom) / c.stride_height - 4;
    shape.width = (c.pad_left + c.width + c.pad_right) / c.stride_width - 4;
    return shape;
  }
  shape.height = conv_output_size({"height", c.pad_top, c.height, c.pad_bottom, c.kernel_height,
                                   c.dilation_height, c.stride_height});
  shape.width = conv_output_size({"width", c.pad_left, c.width, c.pad_right, c.kernel_width,
                                  c.dilation_width, c.stride_width});
  return shape;
}

std::uint64_t conv_entries_per_line(const DeviceInfo& info, const nvdla_conv& conv) {
  if (conv.mode == NVDLA_CONV_IMAGE) {
    // Padding lies in the buffer, too, and pixels without gaps.
    return ceil_div((std::uint64_t{conv.pad_left} + conv.width + conv.pad_right) * conv.channels *
                        conv_bytes(conv),
                    info.cbuf_entry_bytes);
  }
  if (conv.mode == NVDLA_CONV_WINOGRAD) {
    const std::uint64_t columns =
        (std::uint64_t{conv.pad_left} + conv.width + conv.pad_right) / conv.stride_width;
    return columns / 4 * ceil_div(std::uint64_t{conv.channels} * conv_bytes(conv), info.atom) *
           conv.stride_width * conv.stride_height;
  }
  // An entry takes q atoms; the last atoms of a pixel share entries where they divide one.
  const std::uint64_t q = info.cbuf_entry_bytes / info.atom;
  const std::uint64_t atoms = ceil_div(std::uint64_t{conv.channels} * conv_bytes(conv), info.atom);
  const std::uint64_t rest = atoms % q;
  return atoms / q * conv.width + (rest == 0 ? 0 : ceil_div(conv.width, q / rest));
}

void choose_banks(const DeviceInfo& info, nvdla_conv& conv) {
  const std::uint64_t group = detail::kernel_group(info, conv);
  const std::uint64_t total = detail::usable_banks(info, conv);
  const std::uint64_t data = detail::data_banks(info, conv);
  const bool all = info.has_weight_gating;
  const std::uint64_t least =
      detail::weight_banks(info, conv, all ? std::uint64_t{conv.kernels} : group);
  if (data + least > total) {
    detail::throw_error(
        ErrorCode::kNotAvailable,
        "the convolution buffer has {} banks; the input of {}x{}x{} (CHW) takes {}, {} "
        "{}: it must be split",
        total, conv.channels, conv.height, conv.width, data,
        all ? "all weights, which have to stay in it," : "a kernel group", least);
  }
  std::uint64_t weights = least;
  for (const std::uint64_t kernels : {2 * group, std::uint64_t{conv.kernels}}) {
    const std::uint64_t banks = detail::weight_banks(info, conv, kernels);
    if (data + banks <= total) weights = banks;
  }
  conv.data_banks = static_cast<std::uint32_t>(data);
  conv.weight_banks = static_cast<std::uint32_t>(weights);
}

nvdla_sdp make_sdp() {
  nvdla_sdp sdp = {};
  sdp.out_cvt.scale = 1;
  return sdp;
}

nvdla_layer make_layer(const nvdla_conv& conv, const nvdla_sdp& sdp) {
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_CONV_SDP;
  layer.conv = conv;
  layer.sdp = sdp;
  return layer;
}

nvdla_layer make_layer(const nvdla_sdp& sdp) {
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_SDP;
  layer.sdp = sdp;
  return layer;
}

void add_wait(nvdla_layer& layer, std::uint32_t earlier) {
  const auto* end = layer.waits + layer.num_waits;
  if (std::find(static_cast<const std::uint32_t*>(layer.waits), end, earlier) != end) return;
  if (layer.num_waits >= NVDLA_MAX_WAITS) {
    throw_invalid_argument("a layer waits for {} others at most", NVDLA_MAX_WAITS);
  }
  layer.waits[layer.num_waits++] = earlier;
}

}  // namespace nvdla
