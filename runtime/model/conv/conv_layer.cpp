// SPDX-License-Identifier: MIT
#include "model/conv/conv_layer.hpp"

#include "model/core/machine.hpp"

namespace nvdla::model {
namespace {

Precision precision(std::uint32_t field) { return static_cast<Precision>(field); }

// Collects the first disagreement between copies of one quantity.
class Agreement {
 public:
  void expect(const char* what, const char* unit_a, std::uint64_t a, const char* unit_b,
              std::uint64_t b) {
    if (a == b || !first_.empty()) return;
    first_ = std::string(unit_a) + " " + what + " " + std::to_string(a) + " but " + unit_b + " " +
             what + " " + std::to_string(b);
  }
  std::string take() { return std::move(first_); }

 private:
  std::string first_;
};

// Fields by the names that they have in nvdla_regs.h, of the views that are called as the units.
#define CDMA(reg, name) NVDLA_VIEW_FIELD(cdma, CDMA_D_##reg, name)
#define CSC(reg, name) NVDLA_VIEW_FIELD(csc, CSC_D_##reg, name)
#define CMAC_A(reg, name) NVDLA_VIEW_FIELD(cmac_a, CMAC_D_##reg, name)
#define CMAC_B(reg, name) NVDLA_VIEW_FIELD(cmac_b, CMAC_D_##reg, name)
#define CACC(reg, name) NVDLA_VIEW_FIELD(cacc, CACC_D_##reg, name)
// Expects that registers of two units agree in a field.
#define SAME(name, a, reg_a, b, reg_b) agree.expect(#name, #a, a(reg_a, name), #b, b(reg_b, name))

InputConverter read_converter(const GroupView& cdma, bool pixel) {
  InputConverter converter;
  converter.enabled = CDMA(CVT_CFG, CVT_EN) != 0;
  converter.truncate = CDMA(CVT_CFG, CVT_TRUNCATE);
  converter.scale = static_cast<std::int16_t>(CDMA(CVT_SCALE, CVT_SCALE));
  // Elements of feature cubes are signed and have one offset.
  converter.sign_extend = !pixel || CDMA(DATAIN_FORMAT, PIXEL_SIGN_OVERRIDE) != 0;
  const std::uint32_t offset = CDMA(CVT_OFFSET, CVT_OFFSET);
  std::uint32_t offsets[4] = {offset, offset, offset, offset};
  if (pixel && CDMA(MEAN_FORMAT, MEAN_FORMAT) != 0) {
    offsets[0] = CDMA(MEAN_GLOBAL_0, MEAN_RY);
    offsets[1] = CDMA(MEAN_GLOBAL_0, MEAN_GU);
    offsets[2] = CDMA(MEAN_GLOBAL_1, MEAN_BV);
    offsets[3] = CDMA(MEAN_GLOBAL_1, MEAN_AX);
  }
  for (unsigned i = 0; i < 4; ++i)
    converter.offset[i] = static_cast<std::int16_t>(static_cast<std::uint16_t>(offsets[i]));
  return converter;
}

}  // namespace

ConvLayer read_conv(const RegisterFile& registers) {
  const GroupView cdma = registers.view(NVDLA_UNIT_CDMA);
  const GroupView csc = registers.view(NVDLA_UNIT_CSC);
  const GroupView cmac_a = registers.view(NVDLA_UNIT_CMAC_A);
  const GroupView cmac_b = registers.view(NVDLA_UNIT_CMAC_B);
  const GroupView cacc = registers.view(NVDLA_UNIT_CACC);
  Agreement agree;
  ConvLayer layer;

  SAME(CONV_MODE, CDMA, MISC_CFG, CSC, MISC_CFG);
  SAME(PROC_PRECISION, CDMA, MISC_CFG, CSC, MISC_CFG);
  SAME(DATA_REUSE, CDMA, MISC_CFG, CSC, MISC_CFG);
  SAME(WEIGHT_REUSE, CDMA, MISC_CFG, CSC, MISC_CFG);
  SAME(SKIP_DATA_RLS, CDMA, MISC_CFG, CSC, MISC_CFG);
  SAME(SKIP_WEIGHT_RLS, CDMA, MISC_CFG, CSC, MISC_CFG);
  SAME(DATAIN_FORMAT, CDMA, DATAIN_FORMAT, CSC, DATAIN_FORMAT);
  SAME(BATCHES, CDMA, BATCH_NUMBER, CSC, BATCH_NUMBER);
  agree.expect("ENTRY_PER_SLICE", "CDMA", CDMA(ENTRY_PER_SLICE, ENTRIES), "CSC",
               CSC(ENTRY_PER_SLICE, ENTRIES));
  SAME(WEIGHT_FORMAT, CDMA, WEIGHT_FORMAT, CSC, WEIGHT_FORMAT);
  SAME(WEIGHT_BYTES, CDMA, WEIGHT_BYTES, CSC, WEIGHT_BYTES);
  if (CDMA(WEIGHT_FORMAT, WEIGHT_FORMAT) != 0) SAME(WMB_BYTES, CDMA, WMB_BYTES, CSC, WMB_BYTES);
  SAME(DATA_BANK, CDMA, BANK, CSC, BANK);
  SAME(WEIGHT_BANK, CDMA, BANK, CSC, BANK);
  SAME(WEIGHT_KERNEL, CDMA, WEIGHT_SIZE_1, CSC, WEIGHT_SIZE_EXT_1);
  SAME(CONV_MODE, CDMA, MISC_CFG, CMAC_A, MISC_CFG);
  SAME(CONV_MODE, CDMA, MISC_CFG, CMAC_B, MISC_CFG);
  SAME(CONV_MODE, CDMA, MISC_CFG, CACC, MISC_CFG);
  SAME(PROC_PRECISION, CDMA, MISC_CFG, CMAC_A, MISC_CFG);
  SAME(PROC_PRECISION, CDMA, MISC_CFG, CMAC_B, MISC_CFG);
  SAME(PROC_PRECISION, CDMA, MISC_CFG, CACC, MISC_CFG);
  agree.expect("PROC_PRECISION", "CDMA", CDMA(MISC_CFG, PROC_PRECISION), "CSC IN as CSC",
               CSC(MISC_CFG, IN_PRECISION));
  SAME(DATAOUT_WIDTH, CSC, DATAOUT_SIZE_0, CACC, DATAOUT_SIZE_0);
  SAME(DATAOUT_HEIGHT, CSC, DATAOUT_SIZE_0, CACC, DATAOUT_SIZE_0);
  SAME(DATAOUT_CHANNEL, CSC, DATAOUT_SIZE_1, CACC, DATAOUT_SIZE_1);
  agree.expect("kernels", "CSC", CSC(WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL) + 1, "CACC",
               CACC(DATAOUT_SIZE_1, DATAOUT_CHANNEL) + 1);
  SAME(BATCHES, CDMA, BATCH_NUMBER, CACC, BATCH_NUMBER);

  layer.winograd = CDMA(MISC_CFG, CONV_MODE) != 0;
  layer.in = precision(CDMA(MISC_CFG, IN_PRECISION));
  layer.proc = precision(CDMA(MISC_CFG, PROC_PRECISION));
  layer.data_reuse = CDMA(MISC_CFG, DATA_REUSE) != 0;
  layer.weight_reuse = CDMA(MISC_CFG, WEIGHT_REUSE) != 0;
  layer.keep_data = CDMA(MISC_CFG, SKIP_DATA_RLS) != 0;
  layer.keep_weights = CDMA(MISC_CFG, SKIP_WEIGHT_RLS) != 0;
  layer.pixel = CDMA(DATAIN_FORMAT, DATAIN_FORMAT) != 0;
  layer.width = CDMA(DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
  layer.height = CDMA(DATAIN_SIZE_0, DATAIN_HEIGHT) + 1;
  layer.channels = CDMA(DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
  layer.batches = CDMA(BATCH_NUMBER, BATCHES) + 1;
  layer.batch_stride = cdma.word(NVDLA_CDMA_D_BATCH_STRIDE);
  layer.data = {ram_type(CDMA(DAIN_RAM_TYPE, DATAIN_RAM_TYPE)),
                join_address(cdma.word(NVDLA_CDMA_D_DAIN_ADDR_HIGH_0),
                             cdma.word(NVDLA_CDMA_D_DAIN_ADDR_LOW_0)),
                cdma.word(NVDLA_CDMA_D_LINE_STRIDE), cdma.word(NVDLA_CDMA_D_SURF_STRIDE)};
  layer.line_packed = CDMA(DAIN_MAP, LINE_PACKED) != 0;
  layer.surface_packed = CDMA(DAIN_MAP, SURF_PACKED) != 0;
  layer.entries = CDMA(ENTRY_PER_SLICE, ENTRIES) + 1;
  layer.grain = CDMA(FETCH_GRAIN, GRAINS) + 1;
  layer.compressed = CDMA(WEIGHT_FORMAT, WEIGHT_FORMAT) != 0;
  layer.kernel_bytes = CDMA(WEIGHT_SIZE_0, BYTE_PER_KERNEL) + 1;
  layer.kernels = CDMA(WEIGHT_SIZE_1, WEIGHT_KERNEL) + 1;
  layer.weight_ram = ram_type(CDMA(WEIGHT_RAM_TYPE, WEIGHT_RAM_TYPE));
  layer.weight_address = join_address(cdma.word(NVDLA_CDMA_D_WEIGHT_ADDR_HIGH),
                                      cdma.word(NVDLA_CDMA_D_WEIGHT_ADDR_LOW));
  layer.weight_bytes = cdma.word(NVDLA_CDMA_D_WEIGHT_BYTES);
  layer.wmb_bytes = cdma.word(NVDLA_CDMA_D_WMB_BYTES);
  layer.wmb_address =
      join_address(cdma.word(NVDLA_CDMA_D_WMB_ADDR_HIGH), cdma.word(NVDLA_CDMA_D_WMB_ADDR_LOW));
  layer.wgs_address =
      join_address(cdma.word(NVDLA_CDMA_D_WGS_ADDR_HIGH), cdma.word(NVDLA_CDMA_D_WGS_ADDR_LOW));
  layer.converter = read_converter(cdma, layer.pixel);
  layer.flush_nan = CDMA(NAN_FLUSH_TO_ZERO, NAN_TO_ZERO) != 0;
  layer.fetch_left = CDMA(ZERO_PADDING, PAD_LEFT);
  layer.fetch_top = CDMA(ZERO_PADDING, PAD_TOP);
  layer.fetch_pad_value = static_cast<std::int16_t>(cdma.word(NVDLA_CDMA_D_ZERO_PADDING_VALUE));
  layer.pixel_code = CDMA(DATAIN_FORMAT, PIXEL_FORMAT);
  layer.pixel_mapping = CDMA(DATAIN_FORMAT, PIXEL_MAPPING) != 0;
  layer.x_offset = CDMA(PIXEL_OFFSET, PIXEL_X_OFFSET);
  layer.second_plane = {layer.data.ram,
                        join_address(cdma.word(NVDLA_CDMA_D_DAIN_ADDR_HIGH_1),
                                     cdma.word(NVDLA_CDMA_D_DAIN_ADDR_LOW_1)),
                        cdma.word(NVDLA_CDMA_D_LINE_UV_STRIDE), 0};
  if (layer.winograd) {
    layer.fold_x = CDMA(CONV_STRIDE, CONV_X_STRIDE) + 1;
    layer.fold_y = CDMA(CONV_STRIDE, CONV_Y_STRIDE) + 1;
  }
  layer.fetch_width_ext = CDMA(DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT) + 1;
  layer.fetch_height_ext = CDMA(DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT) + 1;
  layer.pad_right = CDMA(ZERO_PADDING, PAD_RIGHT);
  layer.pad_bottom = CDMA(ZERO_PADDING, PAD_BOTTOM);
  layer.data_banks = CDMA(BANK, DATA_BANK) + 1;
  layer.weight_banks = CDMA(BANK, WEIGHT_BANK) + 1;

  layer.csc_height = CSC(DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT) + 1;
  layer.csc_width = CSC(DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT) + 1;
  layer.csc_channels = CSC(DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT) + 1;
  layer.weight_channels = CSC(WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT) + 1;
  layer.post_lines = 1u << CSC(POST_Y_EXTENSION, Y_EXTENSION);
  layer.pra_truncate = CSC(PRA_CFG, PRA_TRUNCATE);
  layer.kernel_width = CSC(WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT) + 1;
  layer.kernel_height = CSC(WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT) + 1;
  layer.out_width = CSC(DATAOUT_SIZE_0, DATAOUT_WIDTH) + 1;
  layer.out_height = CSC(DATAOUT_SIZE_0, DATAOUT_HEIGHT) + 1;
  layer.atomics = CSC(ATOMICS, ATOMICS) + 1;
  layer.release = CSC(RELEASE, RLS_SLICES) + 1;
  layer.stride_width = CSC(CONV_STRIDE_EXT, CONV_X_STRIDE_EXT) + 1;
  layer.stride_height = CSC(CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT) + 1;
  layer.dilation_width = CSC(DILATION_EXT, X_DILATION_EXT) + 1;
  layer.dilation_height = CSC(DILATION_EXT, Y_DILATION_EXT) + 1;
  layer.pad_left = CSC(ZERO_PADDING, PAD_LEFT);
  layer.pad_top = CSC(ZERO_PADDING, PAD_TOP);
  layer.pad_value = static_cast<std::int16_t>(csc.word(NVDLA_CSC_D_ZERO_PADDING_VALUE));
  layer.clip = CACC(CLIP_CFG, CLIP_TRUNCATE);

  if (layer.winograd) {
    // CSC sees what folding and extension have made of the cube.
    agree.expect("DATAIN_WIDTH_EXT", "CDMA", layer.fetch_width_ext, "CSC", layer.csc_width);
    agree.expect("channels", "CSC", layer.csc_channels, "CSC WEIGHT_CHANNEL_EXT as",
                 layer.weight_channels);
  } else {
    agree.expect("width", "CDMA", layer.width, "CSC", layer.csc_width);
    agree.expect("channels", "CDMA", layer.channels, "CSC", layer.csc_channels);
    if (!layer.pixel)
      agree.expect("channels", "CDMA", layer.channels, "CSC WEIGHT_CHANNEL_EXT as",
                   layer.weight_channels);
  }
  layer.mismatch = agree.take();
  return layer;
}

#undef CDMA
#undef CSC
#undef CMAC_A
#undef CMAC_B
#undef CACC
#undef SAME

ConvFetch plan_fetch(const ConvLayer& layer, const CbufState& cbuf) {
  ConvFetch fetch;
  // Another number of data banks empties the data banks, whatever the reuse flags say, and as the
  // weight banks lie behind them, another number of either empties those.
  const bool same_data_banks = cbuf.data_banks == layer.data_banks;
  const bool same_banks = same_data_banks && cbuf.weight_banks == layer.weight_banks;
  if (same_data_banks) {
    const bool same_mode = cbuf.winograd == layer.winograd && cbuf.pixel == layer.pixel;
    if (layer.data_reuse && same_mode) {
      fetch.data = !cbuf.all_lines_kept;
      fetch.kept_lines = cbuf.kept_lines;
    } else {
      fetch.freed_lines = cbuf.kept_lines;
    }
    fetch.held_lines = cbuf.lines - fetch.freed_lines;
  }
  fetch.lines = fetch.held_lines + (fetch.data ? layer.fetched_lines() : 0);
  fetch.weights = !(same_banks && layer.weight_reuse && cbuf.weights.kept());
  return fetch;
}

cost::ConvGeometry geometry(const ConvLayer& layer) {
  cost::ConvGeometry to;
  to.width = layer.width;
  to.height = layer.height;
  to.channels = layer.channels;
  to.batches = layer.batches;
  const PixelFormat* format = layer.pixel ? pixel_format(layer.pixel_code) : nullptr;
  if (format != nullptr) {
    to.planes = format->planes;
    for (unsigned plane = 0; plane < format->planes; ++plane)
      to.plane_bytes[plane] = format->bytes[plane];
  }
  to.x_offset = layer.x_offset;
  to.element_bytes = precision_bytes(layer.proc);
  to.surface_packed = layer.surface_packed;
  to.grain = layer.line_packed ? std::max(layer.grain, 1U) : 1;
  to.data = interface_of(layer.data.ram);
  to.kernels = layer.kernels;
  to.kernel_width = layer.kernel_width;
  to.kernel_height = layer.kernel_height;
  to.weight_bytes = layer.weight_bytes;
  to.compressed = layer.compressed;
  to.mask_bytes = layer.wmb_bytes;
  to.data_banks = layer.data_banks;
  to.data_entries =
      std::uint64_t{layer.entries} * layer.fetched_lines() * std::max(layer.batches, 1U);
  to.weight_banks = layer.weight_banks;
  to.weights = interface_of(layer.weight_ram);
  to.weight_channels = layer.weight_channels;
  to.winograd_channels = layer.csc_channels;
  to.image = layer.pixel;
  to.winograd = layer.winograd;
  to.post_lines = layer.post_lines;
  to.out_width = layer.out_width;
  to.out_height = layer.out_height;
  return to;
}

}  // namespace nvdla::model
