// SPDX-License-Identifier: MIT
//
// The units beside convolution and SDP.
#include <algorithm>

#include "layer_makers.hpp"

namespace nvdla::fuzz {
namespace {

// Divisors of the hardware's own float, 1 / kernel.
constexpr std::uint32_t kReciprocals17[] = {0x7c00, 0x7800, 0x7555, 0x7400,
                                            0x7266, 0x7155, 0x7092, 0x7000};

void make_average(Input& input, nvdla_pdp& pdp, std::uint32_t precision) {
  const bool real = precision == NVDLA_PRECISION_FP16;
  pdp.recip_width = real ? kReciprocals17[pdp.kernel_width - 1] : 0x10000 / pdp.kernel_width;
  pdp.recip_height = real ? kReciprocals17[pdp.kernel_height - 1] : 0x10000 / pdp.kernel_height;
  if (pdp.pad_left + pdp.pad_right + pdp.pad_top + pdp.pad_bottom == 0 || input.flag()) return;
  for (std::int32_t& value : pdp.pad_value)
    value = real ? input.take<std::uint16_t>() : input.take<std::int16_t>();
}

// Inner bands are the widest; what is left over is the last one.
void make_bands(Input& input, nvdla_pdp& pdp, std::uint32_t width) {
  pdp.bands = input.within(2, std::min(6u, width));
  const std::uint32_t most = (width + pdp.bands - 1) / pdp.bands;
  if (pdp.bands == 2 || most * (pdp.bands - 1) >= width) {
    pdp.bands = 2;
    pdp.first_out = input.within(1, width - 1);
  } else {
    pdp.first_out = pdp.mid_out = most;
  }
}

std::int32_t wide(Input& input, std::uint32_t bits) {
  const auto value = static_cast<std::uint32_t>(input.take<std::uint32_t>());
  return static_cast<std::int32_t>(value) >> (32 - bits);
}

}  // namespace

void make_pdp(Workshop& shop, nvdla_layer& layer, const Shape* in) {
  Input& input = shop.input;
  nvdla_pdp& pdp = layer.pdp;
  Shape from;
  if (in != nullptr) {
    from = *in;
  } else {
    from.width = pdp.width = input.within(1, input.once_in(4) ? 200 : 20);
    from.height = pdp.height = input.within(1, 12);
    from.channels = pdp.channels = input.within(1, 80);
    from.precision = pdp.precision = shop.precision();
    pdp.input = shop.cube(kInput, from.width, from.height, shop.hw().atom);
  }
  pdp.method = input.below(NVDLA_POOL_MIN + 1);
  pdp.kernel_width = input.within(1, 8);
  pdp.kernel_height = input.within(1, 8);
  pdp.stride_width = input.within(1, input.once_in(8) ? 16 : 4);
  pdp.stride_height = input.within(1, input.once_in(8) ? 16 : 4);
  const std::uint32_t width =
      fit(input, from.width, pdp.kernel_width, pdp.stride_width, 1, pdp.pad_left, pdp.pad_right);
  const std::uint32_t height =
      fit(input, from.height, pdp.kernel_height, pdp.stride_height, 1, pdp.pad_top, pdp.pad_bottom);
  if (pdp.method == NVDLA_POOL_AVERAGE) make_average(input, pdp, from.precision);
  const bool flushes = from.precision == NVDLA_PRECISION_FP16 && input.flag();
  if (flushes && in == nullptr) pdp.flags = NVDLA_PDP_NAN_TO_ZERO;
  pdp.bands = 1;
  if (in == nullptr && width > 1 && input.once_in(3)) make_bands(input, pdp, width);
  pdp.output = shop.cube(kOutput, width, height, shop.hw().atom);
}

void make_cdp(Workshop& shop, nvdla_layer& layer) {
  Input& input = shop.input;
  nvdla_cdp& cdp = layer.cdp;
  cdp.precision = shop.precision();
  cdp.width = input.within(1, 12);
  cdp.height = input.within(1, 6);
  cdp.channels = input.within(1, 80);
  cdp.flags = input.below(4);  // both bypasses
  if ((cdp.flags & NVDLA_CDP_BYPASS_SQUARE_SUM) == 0) cdp.window = 3 + 2 * input.below(4);
  if (cdp.precision != NVDLA_PRECISION_FP16) {
    const bool narrow = cdp.precision == NVDLA_PRECISION_INT8;
    cdp.in_cvt.offset = wide(input, narrow ? 8 : 16);
    cdp.in_cvt.scale = input.take<std::int16_t>();
    cdp.in_cvt.truncate = input.below(32);
    cdp.out_cvt.offset = wide(input, narrow ? 25 : 32);
    cdp.out_cvt.scale = input.take<std::int16_t>();
    cdp.out_cvt.truncate = input.below(64);
  } else if (input.flag()) {
    cdp.flags |= NVDLA_CDP_NAN_TO_ZERO;
  }
  make_lut(shop, layer, NVDLA_LUT_CDP, cdp.precision);
  cdp.input = shop.cube(kInput, cdp.width, cdp.height, shop.hw().atom);
  cdp.output = shop.cube(kOutput, cdp.width, cdp.height, shop.hw().atom);
  if (shop.in_place() && input.flag()) cdp.output = cdp.input;
}

void make_rubik(Workshop& shop, nvdla_layer& layer) {
  Input& input = shop.input;
  nvdla_rubik& rubik = layer.rubik;
  const std::uint32_t atom = shop.hw().atom;
  rubik.mode = input.below(NVDLA_RUBIK_MERGE + 1);
  rubik.precision = shop.precision();
  rubik.width = input.within(1, 12);
  rubik.height = input.within(1, 12);
  rubik.channels = input.within(1, 80);
  const bool contract = rubik.mode == NVDLA_RUBIK_CONTRACT;
  if (contract) {
    rubik.stride_width = input.within(1, 4);
    rubik.stride_height = input.within(1, 4);
    rubik.channels = rubik.stride_width * rubik.stride_height * atom /
                     element_bytes(rubik.precision) * input.within(1, 3);
  }
  rubik.input = shop.cube(kInput, rubik.width, rubik.height, atom);
  rubik.output = shop.cube(kOutput, rubik.width * (contract ? rubik.stride_width : 1),
                           rubik.height * (contract ? rubik.stride_height : 1), atom);
  if (contract) return;
  nvdla_surface& planes = rubik.mode == NVDLA_RUBIK_SPLIT ? rubik.output : rubik.input;
  planes.offset = round_up(static_cast<std::uint32_t>(planes.offset), 64);
  planes.line_stride = 64 * input.within(1, 2);
  planes.surface_stride = planes.line_stride * (rubik.height + input.below(3));
}

void make_bdma(Workshop& shop, nvdla_layer& layer) {
  Input& input = shop.input;
  layer.bdma.first_transfer = static_cast<std::uint32_t>(shop.made.transfers.size());
  layer.bdma.num_transfers = input.within(1, input.once_in(8) ? NVDLA_MAX_LAYER_TRANSFERS : 3);
  for (std::uint32_t i = 0; i < layer.bdma.num_transfers; ++i) {
    nvdla_transfer transfer{};
    transfer.line_bytes = 32 * input.within(1, 20);
    transfer.lines = input.within(1, 8);
    transfer.surfaces = input.within(1, 4);
    for (nvdla_surface* side : {&transfer.source, &transfer.destination}) {
      side->slot = side == &transfer.source ? kInput : kOutput;
      side->offset = 32 * std::uint64_t{input.below(64)};
      side->line_stride = transfer.line_bytes + 32 * input.below(5);
      side->surface_stride = transfer.lines * side->line_stride + 32 * input.below(9);
    }
    // Out of the way of what is read.
    if (shop.in_place() && input.once_in(4)) {
      transfer.destination.slot = kInput;
      transfer.destination.offset += 1 << 20;
    }
    shop.made.transfers.push_back(transfer);
  }
}

}  // namespace nvdla::fuzz
