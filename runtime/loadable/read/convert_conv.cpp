// SPDX-License-Identifier: MIT
//
// Convolutions, and what one keeps in the convolution buffer for the next.
#include <algorithm>
#include <cstdint>

#include "loadable/read/task_converter.hpp"

namespace nvdla::loadable {
namespace {

// Bytes from plane to plane; no memory has as many.
constexpr std::int64_t kMostApart = std::int64_t{1} << 40;

// The hardware counts the atoms of a fetch in 14 bits.
constexpr std::uint32_t kMostGrainAtoms = 16383;

// Bytes that firmware/compile wants free behind several groups of weights that stay.
constexpr std::uint64_t kWeightMargin = 128;

// Plain weights take multiples of this in a file, whatever the device fetches of them.
constexpr std::uint64_t kFileAlign = 128;

bool is_image(const ConvOp& op) { return op.data_format != kFormatFeature; }

// Lines per fetch, of as many as the hardware takes: one by one where there are gaps between them,
// and of pixels and tiles.
std::uint32_t grain(std::uint32_t lines, const nvdla_conv& conv, std::uint32_t atom) {
  const bool run = conv.mode == NVDLA_CONV_DIRECT && conv.input.line_stride == conv.width * atom;
  const std::uint32_t most =
      run ? std::min(conv.height, kMostGrainAtoms / std::max(conv.width, 1U)) : 1;
  return std::min(lines, most);
}

// Bytes of a kernel. Of tiles only the file says how many there are.
std::uint64_t packed_kernel(const ConvOp& op, const nvdla_conv& conv) {
  if (conv.mode == NVDLA_CONV_WINOGRAD) return op.bytes_per_kernel;
  return std::uint64_t{conv.kernel_width} * conv.kernel_height * conv.channels *
         (conv.proc_precision == NVDLA_PRECISION_INT8 ? 1 : 2);
}

}  // namespace

void TaskConverter::convert(const ConvPart& part, nvdla_conv& conv) {
  const ConvOp& op = part.op;
  const ConvSurface& s = part.surface;
  if (op.conv_mode > 1)
    throw_error("conv_mode {} is neither 0 (direct) nor 1 (Winograd)", op.conv_mode);
  if (op.data_format > kFormatFeature) {
    throw_error("data_format {} is not in 0..{}", op.data_format, kFormatFeature);
  }
  const bool image = is_image(op);
  if (image && op.conv_mode == 1) throw_error("Winograd of pixels");
  conv.mode = image               ? NVDLA_CONV_IMAGE
              : op.conv_mode == 1 ? NVDLA_CONV_WINOGRAD
                                  : NVDLA_CONV_DIRECT;
  if (conv.mode == NVDLA_CONV_WINOGRAD) need(NVDLA_HW_WINOGRAD, "Winograd");
  if (op.batch > 1) need(NVDLA_HW_BATCH, "batch");
  if (op.pixel_mapping != 0) throw_error("pixel_mapping {} is not 0 (lines)", op.pixel_mapping);
  conv.in_precision = precision(op.in_precision, "in_precision");
  conv.proc_precision = precision(op.out_precision, "out_precision");
  conv.width = s.src_data.width;
  conv.height = s.src_data.height;
  conv.channels = s.src_data.channel;
  conv.batch = op.batch;
  conv.kernels = s.dst_data.channel;
  convert_kernel(part, conv);
  conv.stride_width = op.conv_stride_x;
  conv.stride_height = op.conv_stride_y;
  conv.dilation_width = op.dilation_x;
  conv.dilation_height = op.dilation_y;
  conv.pad_left = op.pad_x_left;
  conv.pad_right = op.pad_x_right;
  conv.pad_top = op.pad_y_top;
  conv.pad_bottom = op.pad_y_bottom;
  // The units take as many of its low bits as an element has.
  conv.pad_value =
      conv.proc_precision == NVDLA_PRECISION_FP16   ? static_cast<std::uint16_t>(op.pad_val)
      : conv.proc_precision == NVDLA_PRECISION_INT8 ? static_cast<std::int8_t>(op.pad_val)
                                                    : op.pad_val;
  conv.data_banks = op.data_bank;
  conv.weight_banks = weight_banks_[&op];
  if (op.post_extension > 2) throw_error("post_extension {} is not in 0..2", op.post_extension);
  conv.post_extension = 1U << op.post_extension;
  conv.pra_truncate = op.pra_truncate;
  // The accumulator only shifts.
  check_zero_or("out_cvt.scale", op.out_cvt.scale, std::int16_t{1});
  check_zero_or("out_cvt.offset", op.out_cvt.offset, 0);
  if (conv.proc_precision != NVDLA_PRECISION_FP16) conv.clip_truncate = op.out_cvt.truncate;
  // fp16 passes the converter as it is, whatever the file says of it.
  if (op.in_cvt.enable != 0 && conv.in_precision != NVDLA_PRECISION_FP16) {
    conv.flags |= NVDLA_CONV_CONVERT;
    conv.cvt_offset = op.in_cvt.offset;
    conv.cvt_scale = op.in_cvt.scale;
    conv.cvt_truncate = op.in_cvt.truncate;
  }

  conv.input = surface(s.src_data, NVDLA_SLOT_READ, "src_data");
  if (op.batch > 1) conv.input.batch_stride = op.batch_stride;
  conv.fetch_grain = grain(op.fetch_grain, conv, hw_.atom);
  if (image) convert_image(part, conv);

  conv.weights = span(s.weight_data, "weight_data");
  // The layer fetches what its kernels have. Of another size the compiler says what is wrong.
  const std::uint64_t packed = packed_kernel(op, conv) * conv.kernels;
  if (op.weight_format == 0 && conv.weights.bytes >= packed &&
      conv.weights.bytes <= arith::round_up(packed, kFileAlign)) {
    conv.weights.bytes = 0;
  }
  if (op.weight_format > 1) throw_error("weight_format {} is neither 0 nor 1", op.weight_format);
  if (op.weight_format == 1) {
    need(NVDLA_HW_COMPRESSION, "compressed weights");
    conv.flags |= NVDLA_CONV_COMPRESSED;
    for (const DataCube* cube : {&s.wgs_data, &s.wmb_data}) {
      if (cube->type != s.weight_data.type) {
        throw_error("tables of compressed weights in memory of type {}, the weights in type {}",
                    cube->type, s.weight_data.type);
      }
    }
    conv.wgs = table(s.wgs_data, "wgs_data");
    conv.wmb = table(s.wmb_data, "wmb_data");
  }
  convert_reuse(part, conv);
  expect_conv(part);
}

// Takes the sizes that the units get. They do not get that of the cube of the weights, which may be
// the one of weights that were folded or transformed.
void TaskConverter::convert_kernel(const ConvPart& part, nvdla_conv& conv) {
  const ConvOp& op = part.op;
  conv.kernel_width = op.kernel_width_csc;
  conv.kernel_height = op.kernel_height_csc;
  if (conv.mode == NVDLA_CONV_IMAGE && conv.channels != 0) {
    conv.kernel_width = op.kernel_channel_csc / conv.channels;
  }
  if (conv.mode != NVDLA_CONV_WINOGRAD) return;
  // A kernel that lacks some of three strides has zeros for them: it could as well have them.
  const auto tiled = [](std::uint32_t size, std::uint32_t stride) {
    return size > 2 * stride && size <= 3 * stride ? size : 3 * stride;
  };
  conv.kernel_width = tiled(part.surface.weight_data.width, op.conv_stride_x);
  conv.kernel_height = tiled(part.surface.weight_data.height, op.conv_stride_y);
}

void TaskConverter::convert_image(const ConvPart& part, nvdla_conv& conv) {
  const ConvOp& op = part.op;
  conv.pixel_format = op.data_format;
  conv.input.surface_stride = 0;
  if (op.data_format >= NVDLA_PIXEL_Y8_U8V8_N444) {
    const std::int64_t offset = part.surface.offset_u;
    if (offset > kMostApart || offset < -kMostApart ||
        (offset < 0 && conv.input.offset < static_cast<std::uint64_t>(-offset))) {
      throw_error("offset_u {} leaves the memory", offset);
    }
    conv.input_uv = conv.input;
    conv.input_uv.offset += static_cast<std::uint64_t>(offset);
    conv.input_uv.line_stride = part.surface.in_line_uv_stride;
  }
  // Signs and means are the converter's business.
  if ((conv.flags & NVDLA_CONV_CONVERT) == 0) return;
  if (op.pixel_override != 0) conv.flags |= NVDLA_CONV_SIGNED_PIXELS;
  if (op.mean_format != 0) {
    conv.flags |= NVDLA_CONV_MEAN;
    // In place of the offset, for the components that there are.
    conv.cvt_offset = 0;
    const std::int32_t mean[] = {op.mean_ry, op.mean_gu, op.mean_bv, op.mean_ax};
    std::copy_n(mean, std::min<std::size_t>(conv.channels, std::size(mean)), conv.mean);
  }
}

// Banks that hold all weights of a convolution of a file.
std::uint64_t TaskConverter::resident_banks(const ConvPart& part) const {
  const ConvOp& op = part.op;
  const std::uint64_t kernels = part.surface.dst_data.channel;
  const bool several = kernels > hw_.atomic_k / (op.out_precision == NVDLA_PRECISION_INT8 ? 1 : 2);
  const std::uint64_t bytes = op.weight_format == 0
                                  ? arith::round_up(op.bytes_per_kernel * kernels, hw_.weight_align)
                                  : part.surface.weight_data.size;
  return arith::ceil_div(bytes + (several || op.weight_format != 0 ? kWeightMargin : 0),
                         std::uint64_t{hw_.cbuf_entries} * hw_.cbuf_entry_bytes);
}

// Gives a convolution whose weights have to stay banks that are free, if those of the file are too
// few. One that reuses what another kept must have the same banks.
void TaskConverter::choose_banks(const std::vector<LayerGroup>& order) {
  std::vector<const ConvPart*> same;
  const auto end_of_reuse = [&] {
    std::uint64_t most = 0;
    for (const ConvPart* part : same) most = std::max(most, resident_banks(*part));
    for (const ConvPart* part : same) {
      const ConvOp& op = part->op;
      const bool grows = (hw_.features & NVDLA_HW_WEIGHT_GATING) != 0 && most > op.weight_bank &&
                         op.data_bank + most <= hw_.cbuf_banks;
      weight_banks_[&op] = grows ? static_cast<std::uint32_t>(most) : op.weight_bank;
    }
    same.clear();
  };
  for (const LayerGroup& group : order) {
    const auto* conv = std::get_if<ConvPart>(&operation(group, 0).part);
    if (conv == nullptr) continue;
    const bool reuses = conv->op.data_reuse != 0 || conv->op.weight_reuse != 0;
    if (!reuses || same.empty() || conv->op.data_bank != same.back()->op.data_bank ||
        conv->op.weight_bank != same.back()->op.weight_bank) {
      end_of_reuse();
    }
    same.push_back(conv);
  }
  end_of_reuse();
}

// The hardware takes what the convolution before left, if it left something and in the same banks;
// else it fetches, whatever a file asks for. What is kept matters only if it is taken.
void TaskConverter::find_reuse(const std::vector<LayerGroup>& order) {
  const ConvPart* last = nullptr;
  for (const LayerGroup& group : order) {
    const auto* conv = std::get_if<ConvPart>(&operation(group, 0).part);
    if (conv == nullptr) continue;
    if (last != nullptr && conv->op.data_bank == last->op.data_bank &&
        conv->op.weight_bank == last->op.weight_bank) {
      const ConvOp& then = last->op;
      Reuse& now = reuse_[&conv->op];
      now.data =
          conv->op.data_reuse != 0 && conv->op.conv_mode == then.conv_mode &&
          is_image(conv->op) == is_image(then) &&
          (then.skip_data_rls != 0 || (then.release != 0 && then.release < then.input_height_csc));
      // Weights are proven to stay only if they have all that room; to fetch them again is the
      // same.
      now.weights = conv->op.weight_reuse != 0 && then.skip_weight_rls != 0 &&
                    resident_banks(*last) <= weight_banks_[&then];
      reuse_[&then].keeps_data = now.data;
      reuse_[&then].keeps_weights = now.weights;
    }
    last = conv;
  }
}

void TaskConverter::convert_reuse(const ConvPart& part, nvdla_conv& conv) {
  const ConvOp& op = part.op;
  // Tiles are freed all or none.
  const bool tiles = conv.mode == NVDLA_CONV_WINOGRAD;
  const Reuse& reuse = reuse_[&op];
  if (op.skip_data_rls == 0) {
    if (tiles) {
      expect(NVDLA_REG_FIELD(CSC, D_RELEASE, RLS_SLICES), op.release, "release");
    } else {
      conv.release = op.release;
    }
  } else if (reuse.keeps_data) {
    conv.flags |= NVDLA_CONV_KEEP_DATA;
  }
  if (reuse.keeps_weights) conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
  if (reuse.weights) conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
  if (!reuse.data) return;
  conv.flags |= NVDLA_CONV_REUSE_DATA;
  // The loadable says what is fetched, a layer all that it works on.
  if (tiles || op.input_height_csc <= conv.height) return;
  const std::uint64_t kept = std::uint64_t{op.input_height_csc} - conv.height;
  const auto go_back = [&](nvdla_surface& surface, const char* field) {
    const std::uint64_t bytes = kept * surface.line_stride;
    if (bytes > surface.offset) {
      throw_error("input_height_csc {}: the {} lines before those of {} are not in its memory",
                  op.input_height_csc, kept, field);
    }
    surface.offset -= bytes;
  };
  go_back(conv.input, "src_data");
  go_back(conv.input_uv, "the second plane");
  conv.height = op.input_height_csc;
}

void TaskConverter::expect_conv(const ConvPart& part) {
  const ConvOp& op = part.op;
  expect(NVDLA_REG_FIELD(CDMA, D_ENTRY_PER_SLICE, ENTRIES), op.entry_per_slice, "entry_per_slice");
  expect(NVDLA_REG_FIELD(CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL), op.bytes_per_kernel,
         "bytes_per_kernel");
  expect(NVDLA_REG_FIELD(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT), op.input_width_csc,
         "input_width_csc");
  expect(NVDLA_REG_FIELD(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT), op.input_height_csc,
         "input_height_csc");
  expect(NVDLA_REG_FIELD(CSC, D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT), op.input_channel_csc,
         "input_channel_csc");
  expect(NVDLA_REG_FIELD(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT), op.kernel_width_csc,
         "kernel_width_csc");
  expect(NVDLA_REG_FIELD(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT), op.kernel_height_csc,
         "kernel_height_csc");
  expect(NVDLA_REG_FIELD(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT), op.kernel_channel_csc,
         "kernel_channel_csc");
  expect(NVDLA_REG_FIELD(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH), op.input_width_cmac,
         "input_width_cmac");
  expect(NVDLA_REG_FIELD(CSC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT), op.input_height_cmac,
         "input_height_cmac");
}

}  // namespace nvdla::loadable
