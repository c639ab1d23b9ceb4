// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "layer_makers.hpp"

namespace nvdla::fuzz {
namespace {

// Compressed weights of more elements take too long to make.
constexpr std::uint32_t kMaxMaskBits = 1 << 16;

// Of a pixel format: type and number of its components, bytes of a pixel in each plane.
struct Format {
  std::uint32_t precision, components, bytes, uv_bytes;
};

Format format_of(std::uint32_t code) {
  constexpr std::uint32_t k8 = NVDLA_PRECISION_INT8, k16 = NVDLA_PRECISION_INT16;
  constexpr std::uint32_t kReal = NVDLA_PRECISION_FP16;
  if (code == NVDLA_PIXEL_R8) return {k8, 1, 1, 0};
  if (code <= NVDLA_PIXEL_R16_I) return {k16, 1, 2, 0};
  if (code == NVDLA_PIXEL_R16_F) return {kReal, 1, 2, 0};
  if (code == NVDLA_PIXEL_A16B16G16R16_F || code == NVDLA_PIXEL_A16Y16U16V16_F)
    return {kReal, 4, 8, 0};
  if (code <= NVDLA_PIXEL_A16Y16U16V16_F) return {k16, 4, 8, 0};
  if (code <= NVDLA_PIXEL_R8G8B8X8) return {k8, 4, 4, 0};
  if (code <= NVDLA_PIXEL_V10U10Y10A2) return {k16, 4, 4, 0};
  if (code <= NVDLA_PIXEL_V8U8Y8A8) return {k8, 4, 4, 0};
  if (code <= NVDLA_PIXEL_Y8_V8U8_N444) return {k8, 3, 1, 2};
  return {k16, 3, 2, 4};
}

void make_converter(Input& input, nvdla_conv& conv) {
  conv.flags |= NVDLA_CONV_CONVERT;
  conv.cvt_scale = input.take<std::int16_t>();
  conv.cvt_truncate = input.below(35);
  if (conv.mode == NVDLA_CONV_IMAGE) {
    if (input.flag()) conv.flags |= NVDLA_CONV_SIGNED_PIXELS;
    if (input.flag()) {
      conv.flags |= NVDLA_CONV_MEAN;
      for (std::uint32_t i = 0; i < conv.channels; ++i) conv.mean[i] = input.take<std::int16_t>();
      return;
    }
  }
  conv.cvt_offset = input.take<std::int16_t>();
}

nvdla_surface plane(Workshop& shop, const nvdla_conv& conv, std::uint32_t slot,
                    std::uint32_t bytes) {
  const std::uint32_t atom = shop.hw().atom;
  const std::uint32_t skip = conv.pixel_offset % (atom / bytes);
  nvdla_surface s =
      shop.cube(slot, round_up((skip + conv.width) * bytes, atom) / atom, conv.height, atom);
  s.surface_stride = 0;
  return s;
}

void make_image(Workshop& shop, nvdla_conv& conv) {
  Input& input = shop.input;
  conv.mode = NVDLA_CONV_IMAGE;
  constexpr std::uint32_t kFormats8[] = {0, 12, 13, 14, 15, 16, 17, 18, 19, 26, 27, 28, 29};
  conv.pixel_format = shop.has(NVDLA_HW_PIXEL_16) ? input.below(NVDLA_PIXEL_Y16_V16U16_N444 + 1)
                                                  : kFormats8[input.below(std::size(kFormats8))];
  const Format format = format_of(conv.pixel_format);
  conv.in_precision = format.precision;
  conv.proc_precision =
      format.precision == NVDLA_PRECISION_FP16 ? format.precision : shop.precision();
  conv.channels = format.components;
  conv.pixel_offset = input.below(shop.hw().atom / format.bytes);
  if (format.precision != NVDLA_PRECISION_FP16 &&
      (conv.pixel_format != NVDLA_PIXEL_R16_I || conv.proc_precision != NVDLA_PRECISION_INT16 ||
       input.flag()))
    make_converter(input, conv);
  const std::uint32_t lanes = std::max(conv.kernel_width, conv.stride_width) * conv.channels;
  while (conv.post_extension < 4 && lanes * 2 * conv.post_extension <= shop.hw().atomic_c &&
         input.flag())
    conv.post_extension *= 2;
  conv.input = plane(shop, conv, kInput, format.bytes);
  if (format.uv_bytes != 0) conv.input_uv = plane(shop, conv, kInputUv, format.uv_bytes);
}

void make_direct(Workshop& shop, nvdla_conv& conv, bool pooled, std::uint32_t max_channels) {
  Input& input = shop.input;
  conv.channels = input.within(1, max_channels);
  conv.dilation_width = input.within(1, 2);
  conv.dilation_height = input.within(1, 2);
  conv.in_precision = conv.proc_precision = shop.precision();
  if (conv.in_precision == NVDLA_PRECISION_INT16 && input.flag())
    conv.proc_precision = NVDLA_PRECISION_FP16;
  if (conv.in_precision != conv.proc_precision ||
      (conv.in_precision != NVDLA_PRECISION_FP16 && input.once_in(3)))
    make_converter(input, conv);
  const std::uint32_t atom = shop.hw().atom;
  conv.input = shop.cube(kInput, conv.width, conv.height, atom);
  if (pooled || !shop.has(NVDLA_HW_BATCH) || !input.once_in(6)) return;
  conv.batch = input.within(2, 5);
  const std::uint32_t surfaces =
      round_up(conv.channels * element_bytes(conv.proc_precision), atom) / atom;
  conv.input.batch_stride = conv.input.surface_stride * surfaces + atom * input.below(3);
}

// One direction of whole tiles; how many positions come out.
std::uint32_t make_tiles(Input& input, std::uint32_t& size, std::uint32_t& kernel,
                         std::uint32_t stride, std::uint32_t& before, std::uint32_t& after) {
  const std::uint32_t padded = 4 * input.within(2, 4) * stride;
  kernel = input.within(2 * stride + 1, 3 * stride);
  before = input.below(stride == 1 ? 2 : 3 * stride);
  after = input.below(6);
  size = padded - before - after;
  return padded / stride - 4;
}

// What a tile is made of lies in the buffer in another order.
void make_winograd(Workshop& shop, nvdla_conv& conv, Shape& out) {
  Input& input = shop.input;
  conv.mode = NVDLA_CONV_WINOGRAD;
  conv.channels = input.within(1, 40);
  conv.in_precision = conv.proc_precision = shop.precision();
  out.width = make_tiles(input, conv.width, conv.kernel_width, conv.stride_width, conv.pad_left,
                         conv.pad_right);
  out.height = make_tiles(input, conv.height, conv.kernel_height, conv.stride_height, conv.pad_top,
                          conv.pad_bottom);
  out.tiles = true;
  if (conv.proc_precision != NVDLA_PRECISION_FP16) conv.pra_truncate = input.below(3);
  conv.input = shop.cube(kInput, conv.width, conv.height, shop.hw().atom);
}

// What the next convolution may reuse: all, nothing, or the last lines.
void make_keeping(Input& input, nvdla_conv& conv) {
  if (input.once_in(3)) conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
  if (input.once_in(3)) {
    conv.flags |= NVDLA_CONV_KEEP_DATA;
  } else if (conv.mode != NVDLA_CONV_WINOGRAD && input.once_in(3)) {
    conv.release = input.within(1, conv.height);
  }
}

// A mask bit for each weight, and how many bytes are left of each kernel group.
void make_compressed(Workshop& shop, nvdla_conv& conv) {
  Input& input = shop.input;
  const std::uint32_t bytes = element_bytes(conv.proc_precision);
  const std::uint32_t lanes = shop.hw().atom / bytes;
  const std::uint32_t elements =
      conv.mode == NVDLA_CONV_WINOGRAD
          ? 16 * round_up(conv.channels, lanes) * conv.stride_width * conv.stride_height
          : conv.kernel_width * conv.kernel_height * conv.channels;
  const std::uint32_t group = shop.hw().atomic_k / bytes;
  if (elements * conv.kernels > kMaxMaskBits || conv.weight_banks == 1) return;
  conv.flags |= NVDLA_CONV_COMPRESSED;
  // The last bank holds mask bits.
  conv.weight_banks -= 1;
  std::vector<std::uint8_t>& control = shop.made.control;
  const std::uint32_t groups = (conv.kernels + group - 1) / group;
  const std::size_t table = control.size();
  const std::size_t mask = table + round_up(4 * groups, 128);
  control.resize(mask + round_up((elements * conv.kernels + 7) / 8, 128));
  conv.wgs.slot = conv.wmb.slot = kControl;
  conv.wgs.offset = table;
  conv.wmb.offset = mask;
  std::uint32_t sum = 0;
  std::uint32_t state = input.take<std::uint32_t>();
  for (std::uint32_t g = 0; g < groups; ++g) {
    std::uint32_t size = 0;
    const std::uint32_t end = std::min((g + 1) * group, conv.kernels) * elements;
    for (std::uint32_t bit = g * group * elements; bit < end; ++bit) {
      state = state * 1664525 + 1013904223;
      // Some are left of every group.
      if ((state >> 30) != 0 && bit + 1 != end) continue;
      control[mask + bit / 8] |= static_cast<std::uint8_t>(1u << bit % 8);
      size += bytes;
    }
    for (unsigned i = 0; i < 4; ++i)
      control[table + 4 * g + i] = static_cast<std::uint8_t>(size >> 8 * i);
    sum += size;
  }
  conv.weights.bytes = round_up(sum, 128);
}

}  // namespace

Shape make_conv(Workshop& shop, nvdla_layer& layer, bool pooled) {
  Input& input = shop.input;
  const nvdla_hw& hw = shop.hw();
  nvdla_conv& conv = layer.conv;
  // Few positions of many channels, up to where a kernel is too large; or the reverse.
  const bool deep = input.once_in(32);
  conv.width = input.within(1, deep ? 2 : 12);
  conv.height = input.within(1, deep ? 2 : 12);
  conv.batch = 1;
  conv.kernels = input.within(1, deep ? 2 : 3 * hw.atomic_k / 2);
  conv.kernel_width = input.within(1, deep ? 8 : 4);
  conv.kernel_height = input.within(1, deep ? 8 : 4);
  conv.stride_width = input.within(1, 3);
  conv.stride_height = input.within(1, 3);
  conv.dilation_width = conv.dilation_height = conv.post_extension = 1;
  Shape out;
  if (!deep && !pooled && shop.has(NVDLA_HW_WINOGRAD) && input.once_in(4)) {
    make_winograd(shop, conv, out);
  } else {
    if (!deep && input.once_in(3)) {
      make_image(shop, conv);
    } else {
      make_direct(shop, conv, pooled, deep ? 8192 : 3 * hw.atomic_c / 2);
    }
    out.width = fit(input, conv.width, conv.kernel_width, conv.stride_width, conv.dilation_width,
                    conv.pad_left, conv.pad_right);
    out.height = fit(input, conv.height, conv.kernel_height, conv.stride_height,
                     conv.dilation_height, conv.pad_top, conv.pad_bottom);
  }
  const bool real = conv.proc_precision == NVDLA_PRECISION_FP16;
  out.channels = conv.kernels;
  out.precision = conv.proc_precision;
  out.batch = conv.batch;
  if (conv.proc_precision == NVDLA_PRECISION_INT8) conv.pad_value = input.take<std::int8_t>();
  if (conv.proc_precision == NVDLA_PRECISION_INT16) conv.pad_value = input.take<std::int16_t>();
  if (real) conv.pad_value = input.take<std::uint16_t>();
  if (!real) conv.clip_truncate = input.below(17);
  if (real && input.flag()) conv.flags |= NVDLA_CONV_NAN_TO_ZERO;
  conv.data_banks = input.within(hw.cbuf_banks / 4, hw.cbuf_banks - 2);
  conv.weight_banks = hw.cbuf_banks - conv.data_banks - input.below(2);
  // As few as may do.
  if (input.once_in(4)) conv.data_banks = input.within(1, 4);
  if (input.once_in(4)) conv.weight_banks = input.within(1, 4);
  // Lines with gaps between them, and pixels, are fetched one by one.
  const bool packed =
      conv.mode == NVDLA_CONV_DIRECT && conv.input.line_stride == conv.width * hw.atom;
  if (input.once_in(4)) conv.fetch_grain = packed ? input.within(1, conv.height) : 1;
  make_keeping(input, conv);
  conv.weights.slot = kWeights;
  conv.weights.offset = std::uint64_t{input.below(4)} * round_up(128, hw.atom);
  if (shop.has(NVDLA_HW_COMPRESSION) && input.once_in(4)) make_compressed(shop, conv);
  return out;
}

}  // namespace nvdla::fuzz
