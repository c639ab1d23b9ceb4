// SPDX-License-Identifier: MIT
#include "model/conv/conv_layer.hpp"

#include "model/core/machine.hpp"

namespace nvdla::model {
namespace {

Precision precision(std::uint32_t field) { return static_cast<Precision>(field); }

// Collects the first disagreement between copies of one quantity.
class Agreement {
 public:
  void expect(const char* first, std::uint64_t a, const char* second, std::uint64_t b) {
    if (a == b || !found_.empty()) return;
    found_ =
        std::string(first) + " " + std::to_string(a) + " but " + second + " " + std::to_string(b);
  }
  std::string take() { return std::move(found_); }

 private:
  std::string found_;
};

// The groups of all units, by the names of these.
struct Views {
  GroupView CDMA, CSC, CMAC_A, CMAC_B, CACC;
};

// Fields by the names that they have in nvdla_regs.h, of the views that are called as the units.
#define CDMA(reg, name) NVDLA_VIEW_FIELD(cdma, CDMA_D_##reg, name)
#define CSC(reg, name) NVDLA_VIEW_FIELD(csc, CSC_D_##reg, name)

InputConverter read_converter(const GroupView& cdma, bool image) {
  InputConverter converter;
  converter.enabled = CDMA(CVT_CFG, CVT_EN) != 0;
  converter.truncate = CDMA(CVT_CFG, CVT_TRUNCATE);
  converter.scale = static_cast<std::int16_t>(CDMA(CVT_SCALE, CVT_SCALE));
  // Elements of feature cubes are signed and have one offset.
  converter.sign_extend = !image || CDMA(DATAIN_FORMAT, PIXEL_SIGN_OVERRIDE) != 0;
  const std::uint32_t offset = CDMA(CVT_OFFSET, CVT_OFFSET);
  std::uint32_t offsets[4] = {offset, offset, offset, offset};
  if (image && CDMA(MEAN_FORMAT, MEAN_FORMAT) != 0) {
    offsets[0] = CDMA(MEAN_GLOBAL_0, MEAN_RY);
    offsets[1] = CDMA(MEAN_GLOBAL_0, MEAN_GU);
    offsets[2] = CDMA(MEAN_GLOBAL_1, MEAN_BV);
    offsets[3] = CDMA(MEAN_GLOBAL_1, MEAN_AX);
  }
  for (unsigned i = 0; i < 4; ++i)
    converter.offset[i] = static_cast<std::int16_t>(static_cast<std::uint16_t>(offsets[i]));
  return converter;
}

void read_cdma(const GroupView& cdma, ConvLayer& layer) {
  layer.winograd = CDMA(MISC_CFG, CONV_MODE) != 0;
  layer.in = precision(CDMA(MISC_CFG, IN_PRECISION));
  layer.proc = precision(CDMA(MISC_CFG, PROC_PRECISION));
  layer.data_reuse = CDMA(MISC_CFG, DATA_REUSE) != 0;
  layer.weight_reuse = CDMA(MISC_CFG, WEIGHT_REUSE) != 0;
  layer.keep_data = CDMA(MISC_CFG, SKIP_DATA_RLS) != 0;
  layer.keep_weights = CDMA(MISC_CFG, SKIP_WEIGHT_RLS) != 0;
  layer.image = CDMA(DATAIN_FORMAT, DATAIN_FORMAT) != 0;
  layer.width = CDMA(DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
  layer.height = CDMA(DATAIN_SIZE_0, DATAIN_HEIGHT) + 1;
  layer.channels = CDMA(DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
  layer.batches = CDMA(BATCH_NUMBER, BATCHES) + 1;
  layer.batch_stride = cdma.word(NVDLA_CDMA_D_BATCH_STRIDE);
  layer.data = {ram_type(CDMA(DAIN_RAM_TYPE, DATAIN_RAM_TYPE)),
                NVDLA_VIEW_ADDRESS(cdma, CDMA_D_DAIN, _0), cdma.word(NVDLA_CDMA_D_LINE_STRIDE),
                cdma.word(NVDLA_CDMA_D_SURF_STRIDE)};
  layer.second_plane = {layer.data.ram, NVDLA_VIEW_ADDRESS(cdma, CDMA_D_DAIN, _1),
                        cdma.word(NVDLA_CDMA_D_LINE_UV_STRIDE), 0};
  layer.line_packed = CDMA(DAIN_MAP, LINE_PACKED) != 0;
  layer.surface_packed = CDMA(DAIN_MAP, SURF_PACKED) != 0;
  layer.entries = CDMA(ENTRY_PER_SLICE, ENTRIES) + 1;
  layer.grain = CDMA(FETCH_GRAIN, GRAINS) + 1;
  layer.compressed = CDMA(WEIGHT_FORMAT, WEIGHT_FORMAT) != 0;
  layer.kernel_bytes = CDMA(WEIGHT_SIZE_0, BYTE_PER_KERNEL) + 1;
  layer.kernels = CDMA(WEIGHT_SIZE_1, WEIGHT_KERNEL) + 1;
  layer.weight_ram = ram_type(CDMA(WEIGHT_RAM_TYPE, WEIGHT_RAM_TYPE));
  layer.weight_address = NVDLA_VIEW_ADDRESS(cdma, CDMA_D_WEIGHT);
  layer.weight_bytes = cdma.word(NVDLA_CDMA_D_WEIGHT_BYTES);
  layer.mask_bytes = cdma.word(NVDLA_CDMA_D_WMB_BYTES);
  layer.mask_address = NVDLA_VIEW_ADDRESS(cdma, CDMA_D_WMB);
  layer.group_address = NVDLA_VIEW_ADDRESS(cdma, CDMA_D_WGS);
  layer.converter = read_converter(cdma, layer.image);
  layer.flush_nan = CDMA(NAN_FLUSH_TO_ZERO, NAN_TO_ZERO) != 0;
  layer.fetch_left = CDMA(ZERO_PADDING, PAD_LEFT);
  layer.fetch_top = CDMA(ZERO_PADDING, PAD_TOP);
  layer.fetch_pad_value = static_cast<std::int16_t>(cdma.word(NVDLA_CDMA_D_ZERO_PADDING_VALUE));
  layer.pixel_code = CDMA(DATAIN_FORMAT, PIXEL_FORMAT);
  layer.pixel_mapping = CDMA(DATAIN_FORMAT, PIXEL_MAPPING) != 0;
  layer.x_offset = CDMA(PIXEL_OFFSET, PIXEL_X_OFFSET);
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
}

void read_csc(const GroupView& csc, ConvLayer& layer) {
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
}

#undef CDMA
#undef CSC

// Returns the first disagreement of two units about a layer, empty if there is none.
std::string find_mismatch(const Views& views, const ConvLayer& layer) {
  Agreement agree;
#define NVDLA_COPY_ROW(unit, reg, name, of_unit, of_reg, of_name)                       \
  agree.expect(#of_unit " " #of_name, NVDLA_VIEW_FIELD(views.of_unit, of_reg, of_name), \
               #unit " " #name, NVDLA_VIEW_FIELD(views.unit, reg, name));
#include "firmware/registers/nvdla_reg_table.inc"
  agree.expect("CDMA ENTRY_PER_SLICE", layer.entries - 1, "CSC ENTRY_PER_SLICE",
               NVDLA_VIEW_FIELD(views.CSC, CSC_D_ENTRY_PER_SLICE, ENTRIES));
  if (layer.compressed)
    agree.expect("CDMA WMB_BYTES", layer.mask_bytes, "CSC WMB_BYTES",
                 views.CSC.word(NVDLA_CSC_D_WMB_BYTES));
  if (layer.winograd) {
    // CSC sees what folding and extension have made of the cube.
    agree.expect("CDMA DATAIN_WIDTH_EXT", layer.fetch_width_ext, "CSC DATAIN_WIDTH_EXT",
                 layer.csc_width);
    agree.expect("CSC channels", layer.csc_channels, "CSC WEIGHT_CHANNEL_EXT as channels",
                 layer.weight_channels);
    return agree.take();
  }
  agree.expect("CDMA width", layer.width, "CSC width", layer.csc_width);
  agree.expect("CDMA channels", layer.channels, "CSC channels", layer.csc_channels);
  if (!layer.image)
    agree.expect("CDMA channels", layer.channels, "CSC WEIGHT_CHANNEL_EXT as channels",
                 layer.weight_channels);
  return agree.take();
}

}  // namespace

ConvLayer read_conv(const RegisterFile& registers) {
  const Views views{registers.view(NVDLA_UNIT_CDMA), registers.view(NVDLA_UNIT_CSC),
                    registers.view(NVDLA_UNIT_CMAC_A), registers.view(NVDLA_UNIT_CMAC_B),
                    registers.view(NVDLA_UNIT_CACC)};
  ConvLayer layer;
  read_cdma(views.CDMA, layer);
  read_csc(views.CSC, layer);
  layer.clip = NVDLA_VIEW_FIELD(views.CACC, CACC_D_CLIP_CFG, CLIP_TRUNCATE);
  layer.mismatch = find_mismatch(views, layer);
  return layer;
}

ConvFetch plan_fetch(const ConvLayer& layer, const CbufState& cbuf) {
  ConvFetch fetch;
  // Another number of data banks empties the data banks, whatever the reuse flags say, and as the
  // weight banks lie behind them, another number of either empties those.
  const bool same_data_banks = cbuf.data_banks == layer.data_banks;
  const bool same_banks = same_data_banks && cbuf.weight_banks == layer.weight_banks;
  if (same_data_banks) {
    const bool same_mode = cbuf.winograd == layer.winograd && cbuf.pixel == layer.image;
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
  cost::ConvGeometry to{layer};
  const PixelFormat* format = layer.image ? pixel_format(layer.pixel_code) : nullptr;
  if (format != nullptr) {
    to.planes = format->planes;
    for (unsigned plane = 0; plane < format->planes; ++plane)
      to.plane_bytes[plane] = format->bytes[plane];
  }
  to.element_bytes = precision_bytes(layer.proc);
  to.grain = layer.line_packed ? std::max(layer.grain, 1U) : 1;
  to.data = interface_of(layer.data.ram);
  to.data_entries =
      std::uint64_t{layer.entries} * layer.fetched_lines() * std::max(layer.batches, 1U);
  to.weights = interface_of(layer.weight_ram);
  to.winograd_channels = layer.csc_channels;
  return to;
}

}  // namespace nvdla::model
