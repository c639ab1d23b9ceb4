// SPDX-License-Identifier: MIT
#include "common/layers/random_conv.hpp"

#include <algorithm>

namespace nvdla::test {
namespace {

unsigned small(Random& random, std::int64_t high) {
  return static_cast<unsigned>(pick(random, 1, pick(random, 1, high)));
}

void random_geometry(ConvCase& layer, Random& random, unsigned widest) {
  layer.width = small(random, one_in(random, 6) ? widest : 9);
  layer.height = small(random, 9);
  layer.kernel_width = small(random, 4);
  layer.kernel_height = small(random, 5);
  layer.stride_width = small(random, 3);
  layer.stride_height = small(random, 3);
  const auto axis = [&](unsigned& before, unsigned& size, unsigned& after, unsigned kernel,
                        unsigned dilation, unsigned stride) {
    const unsigned reach = (kernel - 1) * dilation + 1;
    before = static_cast<unsigned>(pick(random, 0, reach - 1));
    after = static_cast<unsigned>(pick(random, 0, reach - 1));
    while (before + size + after < reach || (before + size + after - reach) % stride != 0) ++size;
  };
  axis(layer.left, layer.width, layer.right, layer.kernel_width, layer.dilation_width,
       layer.stride_width);
  axis(layer.top, layer.height, layer.bottom, layer.kernel_height, layer.dilation_height,
       layer.stride_height);
}

void random_rest(ConvCase& layer, Random& random) {
  layer.kernels = small(random, 40);
  layer.pad_value = static_cast<std::uint16_t>(random());
  if (layer.proc == Number::kFp16) layer.pad_value &= 0xbfff;
  layer.clip = static_cast<unsigned>(pick(random, 0, 16));
  layer.flush = one_in(random, 2);
  layer.compressed = (layer.hw->features & NVDLA_HW_COMPRESSION) != 0 && one_in(random, 3);
  layer.out = layer.proc;
  if (layer.proc == Number::kInt8 && layer.batches == 1 && !layer.winograd &&
      (layer.hw->features & NVDLA_HW_INT16) != 0)
    layer.out = Number::kInt16;
}

void random_converter(ConvCase& layer, Random& random) {
  layer.convert = true;
  layer.offset = static_cast<std::int16_t>(random());
  if (one_in(random, 2)) layer.offset = static_cast<std::int16_t>(pick(random, -200, 200));
  layer.scale = static_cast<std::int16_t>(random());
  layer.truncate = static_cast<unsigned>(pick(random, 0, one_in(random, 4) ? 34 : 16));
}

}  // namespace

Number format_number(unsigned format) {
  const std::string name = pixel_format_name(format);
  if (name.ends_with("_F")) return Number::kFp16;
  return name.find("8") != std::string::npos ? Number::kInt8 : Number::kInt16;
}

ConvCase random_direct(const nvdla_hw& hw, Random& random, Number in, Number proc) {
  ConvCase layer;
  layer.hw = &hw;
  layer.in = in;
  layer.proc = proc;
  layer.channels = small(random, one_in(random, 4) ? 150 : 40);
  layer.dilation_width = one_in(random, 3) ? small(random, 3) : 1;
  layer.dilation_height = one_in(random, 3) ? small(random, 3) : 1;
  if ((hw.features & NVDLA_HW_BATCH) != 0 && one_in(random, 3)) layer.batches = small(random, 5);
  random_geometry(layer, random, 12);
  if (in != Number::kFp16 && (in != proc || one_in(random, 2))) random_converter(layer, random);
  random_rest(layer, random);
  return layer;
}

ConvCase random_image(const nvdla_hw& hw, Random& random, unsigned format, Number proc) {
  ConvCase layer;
  layer.hw = &hw;
  layer.image = true;
  layer.format = format;
  layer.format_name = pixel_format_name(format);
  layer.in = format_number(format);
  layer.proc = proc;
  const bool two_planes = layer.format_name.find("___") != std::string::npos;
  layer.channels = two_planes                                                             ? 3
                   : layer.format_name.starts_with("T_R1") || layer.format_name == "T_R8" ? 1
                                                                                          : 4;
  if (layer.format_name == "T_R10G10B10A2") layer.channels = 4;
  random_geometry(layer, random, 90);
  // Bytes of a pixel of the first plane.
  unsigned bytes = layer.in == Number::kInt8 ? 1 : 2;
  if (layer.channels == 4) bytes = layer.format >= 20 && layer.format <= 25 ? 4 : 4 * bytes;
  layer.x_offset = static_cast<unsigned>(pick(random, 0, hw.atom / bytes - 1));
  if (layer.in != Number::kFp16 && (layer.in != proc || !one_in(random, 4))) {
    random_converter(layer, random);
    layer.mean = one_in(random, 2);
    for (auto& mean : layer.means) mean = static_cast<std::int16_t>(random());
    layer.sign = one_in(random, 2);
  }
  const unsigned channels = layer.kernel_width * layer.channels;
  const unsigned step = layer.stride_width * layer.channels;
  for (const unsigned post : {1u, 2u})
    if (std::max(channels, step) <= hw.atomic_c >> post && one_in(random, 2)) layer.post = post;
  random_rest(layer, random);
  return layer;
}

ConvCase random_winograd(const nvdla_hw& hw, Random& random, Number proc) {
  ConvCase layer;
  layer.hw = &hw;
  layer.winograd = true;
  layer.in = layer.proc = proc;
  layer.channels = small(random, 40);
  layer.stride_width = small(random, 3);
  layer.stride_height = small(random, 3);
  const auto axis = [&](unsigned& before, unsigned& size, unsigned& after, unsigned fold) {
    const unsigned extended = 4 * static_cast<unsigned>(pick(random, 2, 4)) * fold;
    before = static_cast<unsigned>(pick(random, 0, 2));
    after = static_cast<unsigned>(pick(random, 0, 5));
    size = extended - before - after;
  };
  axis(layer.left, layer.width, layer.right, layer.stride_width);
  axis(layer.top, layer.height, layer.bottom, layer.stride_height);
  layer.pra = static_cast<unsigned>(pick(random, 0, 2));
  random_rest(layer, random);
  return layer;
}

}  // namespace nvdla::test
