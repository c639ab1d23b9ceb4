// SPDX-License-Identifier: MIT
#include "model/conv_layer.hpp"

#include <algorithm>

namespace nvdla::model {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
std::uint64_t round_up(std::uint64_t a, std::uint64_t b) { return ceil_div(a, b) * b; }

Precision precision(std::uint32_t field) { return static_cast<Precision>(field); }

// Collects the first disagreement between copies of one quantity.
class Agreement {
 public:
  void expect(const char* what, const char* unit_a, std::uint64_t a, const char* unit_b,
              std::uint64_t b) {
    if (a == b || !first_.empty()) return;
    first_ = std::string(unit_a) + " " + what + " " + number(a) + " but " + unit_b + " " + what +
             " " + number(b);
  }
  std::string take() { return std::move(first_); }

 private:
  std::string first_;
};

// Entries that a line of a feature cube takes in the convolution buffer.
std::uint64_t feature_entries(const nvdla_hw& hw, const ConvLayer& layer) {
  const std::uint64_t atoms_per_entry = hw.cbuf_entry_bytes / hw.atom;
  const std::uint64_t atoms =
      ceil_div(std::uint64_t{layer.channels} * precision_bytes(layer.proc), hw.atom);
  const std::uint64_t full = atoms / atoms_per_entry;
  const std::uint64_t rest = atoms % atoms_per_entry;
  return full * layer.width + (rest == 0 ? 0 : ceil_div(layer.width, atoms_per_entry / rest));
}

std::string geometry_fault(const ConvLayer& layer, Quirks quirks) {
  struct Axis {
    const char* name;
    std::uint32_t before, size, after, kernel, dilation, stride, out;
  };
  const Axis axes[2] = {{"width", layer.pad_left, layer.width, layer.pad_right, layer.kernel_width,
                         layer.dilation_x, layer.stride_x, layer.out_width},
                        {"height", layer.pad_top, layer.csc_height, layer.pad_bottom,
                         layer.kernel_height, layer.dilation_y, layer.stride_y, layer.out_height}};
  for (const Axis& axis : axes) {
    const std::uint64_t reach =
        std::uint64_t{axis.out - 1} * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
    const std::uint64_t padded = std::uint64_t{axis.before} + axis.size + axis.after;
    // Left-over positions that make no further output do no harm.
    if (reach > padded || padded - reach >= axis.stride)
      return std::string("output ") + axis.name + " " + number(axis.out) + " takes " +
             number(reach) + " padded input positions at stride " + number(axis.stride) +
             ", there are " + number(padded);
  }
  const std::uint64_t positions = std::uint64_t{layer.out_width} * layer.out_height;
  // The reference model does not look at it.
  if (layer.atomics != positions && quirks == Quirks::kRtl)
    return "CSC ATOMICS + 1 is " + number(layer.atomics) + ", output positions are " +
           number(positions);
  return {};
}

std::string data_side_fault(const nvdla_hw& hw, const ConvLayer& layer, const CbufState& cbuf) {
  const std::uint64_t needed = feature_entries(hw, layer);
  if (layer.entries != needed)
    return "ENTRY_PER_SLICE " + number(layer.entries) + ", a line takes " + number(needed);
  if (layer.data_banks + layer.weight_banks > hw.cbuf_banks)
    return number(layer.data_banks) + " data banks and " + number(layer.weight_banks) +
           " weight banks, there are " + number(hw.cbuf_banks);
  const std::uint64_t capacity = std::uint64_t{layer.data_banks} * hw.cbuf_entries;
  const std::uint64_t entries = needed * layer.csc_height * layer.batches;
  if (entries > capacity)
    return "all " + number(layer.csc_height) + " lines take " + number(entries) + " entries, " +
           number(layer.data_banks) + " data banks hold " + number(capacity);

  const ConvFetch fetch = plan_fetch(layer, cbuf);
  if (fetch.kept_lines != 0 && (cbuf.width != layer.width || cbuf.channels != layer.channels ||
                                cbuf.entries != layer.entries || cbuf.proc != layer.proc))
    return "DATA_REUSE of lines that were kept with another width, channel count or precision";
  // With everything kept, surplus lines stay in the buffer; else the counters of both sides drift.
  if (fetch.lines < layer.csc_height || (fetch.data && fetch.lines != layer.csc_height))
    return "CSC waits for " + number(layer.csc_height) + " lines, " + number(fetch.lines) +
           " come (" + number(fetch.kept_lines) + " kept, " +
           number(fetch.data ? layer.height : 0) + " fetched)";
  if (fetch.data && (fetch.kept_lines + layer.height) * needed > capacity)
    return "kept and fetched lines do not fit the data banks";
  if (fetch.data && layer.line_packed) {
    const std::uint64_t grain_entries =
        std::min<std::uint64_t>(layer.grain, layer.height) * needed * layer.batches;
    if (layer.grain > layer.height)
      return "FETCH_GRAIN + 1 is " + number(layer.grain) + ", there are " + number(layer.height) +
             " lines to fetch";
    if (grain_entries > 4095 && hw.regmap == NVDLA_REGMAP_NV_FULL)
      return "a grain takes " + number(grain_entries) + " entries, the counter holds 4095";
  }
  if (!layer.keep_data && layer.release > layer.csc_height)
    return "RELEASE + 1 is " + number(layer.release) + ", the layer has " +
           number(layer.csc_height) + " lines";
  return {};
}

std::string weight_side_fault(const nvdla_hw& hw, const ConvLayer& layer, const CbufState& cbuf) {
  const unsigned bytes = precision_bytes(layer.proc);
  const std::uint64_t kernel_bytes =
      std::uint64_t{layer.kernel_width} * layer.kernel_height * layer.channels * bytes;
  if (layer.kernel_bytes != kernel_bytes)
    return "BYTE_PER_KERNEL + 1 is " + number(layer.kernel_bytes) + ", a kernel has " +
           number(kernel_bytes) + " bytes";
  const std::uint64_t packed = kernel_bytes * layer.kernels;
  const std::uint64_t most = round_up(packed, 128);
  if (layer.weight_bytes < packed)
    return "WEIGHT_BYTES " + number(layer.weight_bytes) + ", the kernels have " + number(packed);
  if (layer.weight_bytes % hw.weight_align != 0)
    return "WEIGHT_BYTES " + number(layer.weight_bytes) + " is not a multiple of " +
           number(hw.weight_align);
  if (layer.weight_bytes > most)
    return "WEIGHT_BYTES " + number(layer.weight_bytes) + " leaks entries, at most " +
           number(most) + " are taken";
  const std::uint64_t capacity =
      std::uint64_t{layer.weight_banks} * hw.cbuf_entries * hw.cbuf_entry_bytes;
  if (layer.weight_bytes > capacity) {
    if (layer.keep_weights)
      return "SKIP_WEIGHT_RLS with " + number(layer.weight_bytes) + " weight bytes, " +
             number(layer.weight_banks) + " weight banks hold " + number(capacity);
    const std::uint64_t group = hw.atomic_k / bytes;
    const std::uint64_t group_bytes =
        round_up(kernel_bytes * std::min<std::uint64_t>(layer.kernels, group),
                 hw.cbuf_entry_bytes) +
        128;
    if (group_bytes > capacity)
      return "a kernel group takes " + number(group_bytes) + " bytes, " +
             number(layer.weight_banks) + " weight banks hold " + number(capacity);
  }
  if (!plan_fetch(layer, cbuf).weights &&
      (cbuf.kernels != layer.kernels || cbuf.kernel_bytes != layer.kernel_bytes ||
       cbuf.weight_bytes != layer.weight_bytes || cbuf.proc != layer.proc))
    return "WEIGHT_REUSE of weights that were kept with another size";
  return {};
}

std::string output_fault(const ConvLayer& layer, const SdpLayer& sdp) {
  if (sdp.width != layer.out_width || sdp.height != layer.out_height ||
      sdp.channels != layer.kernels)
    return "CACC delivers " + number(layer.out_width) + "x" + number(layer.out_height) + "x" +
           number(layer.kernels) + ", SDP takes " + number(sdp.width) + "x" + number(sdp.height) +
           "x" + number(sdp.channels);
  if (sdp.proc != layer.proc)
    return std::string("CACC PROC_PRECISION ") + precision_name(layer.proc) +
           " but SDP PROC_PRECISION " + precision_name(sdp.proc);
  return {};
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

#define BOTH(what, cdma_reg, csc_reg, name)                                 \
  agree.expect(what, "CDMA", NVDLA_VIEW_FIELD(cdma, cdma_reg, name), "CSC", \
               NVDLA_VIEW_FIELD(csc, csc_reg, name))
  BOTH("CONV_MODE", CDMA_D_MISC_CFG, CSC_D_MISC_CFG, CONV_MODE);
  BOTH("PROC_PRECISION", CDMA_D_MISC_CFG, CSC_D_MISC_CFG, PROC_PRECISION);
  BOTH("DATA_REUSE", CDMA_D_MISC_CFG, CSC_D_MISC_CFG, DATA_REUSE);
  BOTH("WEIGHT_REUSE", CDMA_D_MISC_CFG, CSC_D_MISC_CFG, WEIGHT_REUSE);
  BOTH("SKIP_DATA_RLS", CDMA_D_MISC_CFG, CSC_D_MISC_CFG, SKIP_DATA_RLS);
  BOTH("SKIP_WEIGHT_RLS", CDMA_D_MISC_CFG, CSC_D_MISC_CFG, SKIP_WEIGHT_RLS);
  BOTH("DATAIN_FORMAT", CDMA_D_DATAIN_FORMAT, CSC_D_DATAIN_FORMAT, DATAIN_FORMAT);
  BOTH("BATCHES", CDMA_D_BATCH_NUMBER, CSC_D_BATCH_NUMBER, BATCHES);
  BOTH("ENTRY_PER_SLICE", CDMA_D_ENTRY_PER_SLICE, CSC_D_ENTRY_PER_SLICE, ENTRIES);
  BOTH("WEIGHT_FORMAT", CDMA_D_WEIGHT_FORMAT, CSC_D_WEIGHT_FORMAT, WEIGHT_FORMAT);
  BOTH("WEIGHT_BYTES", CDMA_D_WEIGHT_BYTES, CSC_D_WEIGHT_BYTES, WEIGHT_BYTES);
  BOTH("DATA_BANK", CDMA_D_BANK, CSC_D_BANK, DATA_BANK);
  BOTH("WEIGHT_BANK", CDMA_D_BANK, CSC_D_BANK, WEIGHT_BANK);
  BOTH("WEIGHT_KERNEL", CDMA_D_WEIGHT_SIZE_1, CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL);
#undef BOTH
  const std::uint32_t mode = NVDLA_VIEW_FIELD(cdma, CDMA_D_MISC_CFG, CONV_MODE);
  const std::uint32_t proc = NVDLA_VIEW_FIELD(cdma, CDMA_D_MISC_CFG, PROC_PRECISION);
  agree.expect("CONV_MODE", "CDMA", mode, "CMAC_A",
               NVDLA_VIEW_FIELD(cmac_a, CMAC_D_MISC_CFG, CONV_MODE));
  agree.expect("CONV_MODE", "CDMA", mode, "CMAC_B",
               NVDLA_VIEW_FIELD(cmac_b, CMAC_D_MISC_CFG, CONV_MODE));
  agree.expect("CONV_MODE", "CDMA", mode, "CACC",
               NVDLA_VIEW_FIELD(cacc, CACC_D_MISC_CFG, CONV_MODE));
  agree.expect("PROC_PRECISION", "CDMA", proc, "CMAC_A",
               NVDLA_VIEW_FIELD(cmac_a, CMAC_D_MISC_CFG, PROC_PRECISION));
  agree.expect("PROC_PRECISION", "CDMA", proc, "CMAC_B",
               NVDLA_VIEW_FIELD(cmac_b, CMAC_D_MISC_CFG, PROC_PRECISION));
  agree.expect("PROC_PRECISION", "CDMA", proc, "CACC",
               NVDLA_VIEW_FIELD(cacc, CACC_D_MISC_CFG, PROC_PRECISION));
  agree.expect("PROC_PRECISION", "CDMA", proc, "CSC IN as CSC",
               NVDLA_VIEW_FIELD(csc, CSC_D_MISC_CFG, IN_PRECISION));
  agree.expect("DATAOUT_WIDTH", "CSC", NVDLA_VIEW_FIELD(csc, CSC_D_DATAOUT_SIZE_0, DATAOUT_WIDTH),
               "CACC", NVDLA_VIEW_FIELD(cacc, CACC_D_DATAOUT_SIZE_0, DATAOUT_WIDTH));
  agree.expect("DATAOUT_HEIGHT", "CSC", NVDLA_VIEW_FIELD(csc, CSC_D_DATAOUT_SIZE_0, DATAOUT_HEIGHT),
               "CACC", NVDLA_VIEW_FIELD(cacc, CACC_D_DATAOUT_SIZE_0, DATAOUT_HEIGHT));
  agree.expect("DATAOUT_CHANNEL", "CSC",
               NVDLA_VIEW_FIELD(csc, CSC_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL), "CACC",
               NVDLA_VIEW_FIELD(cacc, CACC_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL));
  agree.expect("kernels", "CSC", NVDLA_VIEW_FIELD(csc, CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL) + 1,
               "CACC", NVDLA_VIEW_FIELD(cacc, CACC_D_DATAOUT_SIZE_1, DATAOUT_CHANNEL) + 1);
  agree.expect("BATCHES", "CDMA", NVDLA_VIEW_FIELD(cdma, CDMA_D_BATCH_NUMBER, BATCHES), "CACC",
               NVDLA_VIEW_FIELD(cacc, CACC_D_BATCH_NUMBER, BATCHES));

  layer.winograd = mode != 0;
  layer.in = precision(NVDLA_VIEW_FIELD(cdma, CDMA_D_MISC_CFG, IN_PRECISION));
  layer.proc = precision(proc);
  layer.data_reuse = NVDLA_VIEW_FIELD(cdma, CDMA_D_MISC_CFG, DATA_REUSE) != 0;
  layer.weight_reuse = NVDLA_VIEW_FIELD(cdma, CDMA_D_MISC_CFG, WEIGHT_REUSE) != 0;
  layer.keep_data = NVDLA_VIEW_FIELD(cdma, CDMA_D_MISC_CFG, SKIP_DATA_RLS) != 0;
  layer.keep_weights = NVDLA_VIEW_FIELD(cdma, CDMA_D_MISC_CFG, SKIP_WEIGHT_RLS) != 0;
  layer.pixel = NVDLA_VIEW_FIELD(cdma, CDMA_D_DATAIN_FORMAT, DATAIN_FORMAT) != 0;
  layer.width = NVDLA_VIEW_FIELD(cdma, CDMA_D_DATAIN_SIZE_0, DATAIN_WIDTH) + 1;
  layer.height = NVDLA_VIEW_FIELD(cdma, CDMA_D_DATAIN_SIZE_0, DATAIN_HEIGHT) + 1;
  layer.channels = NVDLA_VIEW_FIELD(cdma, CDMA_D_DATAIN_SIZE_1, DATAIN_CHANNEL) + 1;
  layer.batches = NVDLA_VIEW_FIELD(cdma, CDMA_D_BATCH_NUMBER, BATCHES) + 1;
  layer.data = {NVDLA_VIEW_FIELD(cdma, CDMA_D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE) != 0
                    ? Ram::kPrimary
                    : Ram::kSecondary,
                std::uint64_t{cdma.word(NVDLA_CDMA_D_DAIN_ADDR_HIGH_0)} << 32 |
                    cdma.word(NVDLA_CDMA_D_DAIN_ADDR_LOW_0),
                cdma.word(NVDLA_CDMA_D_LINE_STRIDE), cdma.word(NVDLA_CDMA_D_SURF_STRIDE)};
  layer.line_packed = NVDLA_VIEW_FIELD(cdma, CDMA_D_DAIN_MAP, LINE_PACKED) != 0;
  layer.surface_packed = NVDLA_VIEW_FIELD(cdma, CDMA_D_DAIN_MAP, SURF_PACKED) != 0;
  layer.entries = NVDLA_VIEW_FIELD(cdma, CDMA_D_ENTRY_PER_SLICE, ENTRIES) + 1;
  layer.grain = NVDLA_VIEW_FIELD(cdma, CDMA_D_FETCH_GRAIN, GRAINS) + 1;
  layer.compressed = NVDLA_VIEW_FIELD(cdma, CDMA_D_WEIGHT_FORMAT, WEIGHT_FORMAT) != 0;
  layer.kernel_bytes = NVDLA_VIEW_FIELD(cdma, CDMA_D_WEIGHT_SIZE_0, BYTE_PER_KERNEL) + 1;
  layer.kernels = NVDLA_VIEW_FIELD(cdma, CDMA_D_WEIGHT_SIZE_1, WEIGHT_KERNEL) + 1;
  layer.weight_ram = NVDLA_VIEW_FIELD(cdma, CDMA_D_WEIGHT_RAM_TYPE, WEIGHT_RAM_TYPE) != 0
                         ? Ram::kPrimary
                         : Ram::kSecondary;
  layer.weight_address = std::uint64_t{cdma.word(NVDLA_CDMA_D_WEIGHT_ADDR_HIGH)} << 32 |
                         cdma.word(NVDLA_CDMA_D_WEIGHT_ADDR_LOW);
  layer.weight_bytes = cdma.word(NVDLA_CDMA_D_WEIGHT_BYTES);
  layer.convert = NVDLA_VIEW_FIELD(cdma, CDMA_D_CVT_CFG, CVT_EN) != 0;
  layer.pad_right = NVDLA_VIEW_FIELD(cdma, CDMA_D_ZERO_PADDING, PAD_RIGHT);
  layer.pad_bottom = NVDLA_VIEW_FIELD(cdma, CDMA_D_ZERO_PADDING, PAD_BOTTOM);
  layer.data_banks = NVDLA_VIEW_FIELD(cdma, CDMA_D_BANK, DATA_BANK) + 1;
  layer.weight_banks = NVDLA_VIEW_FIELD(cdma, CDMA_D_BANK, WEIGHT_BANK) + 1;

  layer.csc_height = NVDLA_VIEW_FIELD(csc, CSC_D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT) + 1;
  layer.kernel_width = NVDLA_VIEW_FIELD(csc, CSC_D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT) + 1;
  layer.kernel_height = NVDLA_VIEW_FIELD(csc, CSC_D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT) + 1;
  layer.out_width = NVDLA_VIEW_FIELD(csc, CSC_D_DATAOUT_SIZE_0, DATAOUT_WIDTH) + 1;
  layer.out_height = NVDLA_VIEW_FIELD(csc, CSC_D_DATAOUT_SIZE_0, DATAOUT_HEIGHT) + 1;
  layer.atomics = NVDLA_VIEW_FIELD(csc, CSC_D_ATOMICS, ATOMICS) + 1;
  layer.release = NVDLA_VIEW_FIELD(csc, CSC_D_RELEASE, RLS_SLICES) + 1;
  layer.stride_x = NVDLA_VIEW_FIELD(csc, CSC_D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT) + 1;
  layer.stride_y = NVDLA_VIEW_FIELD(csc, CSC_D_CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT) + 1;
  layer.dilation_x = NVDLA_VIEW_FIELD(csc, CSC_D_DILATION_EXT, X_DILATION_EXT) + 1;
  layer.dilation_y = NVDLA_VIEW_FIELD(csc, CSC_D_DILATION_EXT, Y_DILATION_EXT) + 1;
  layer.pad_left = NVDLA_VIEW_FIELD(csc, CSC_D_ZERO_PADDING, PAD_LEFT);
  layer.pad_top = NVDLA_VIEW_FIELD(csc, CSC_D_ZERO_PADDING, PAD_TOP);
  layer.pad_value = static_cast<std::int16_t>(csc.word(NVDLA_CSC_D_ZERO_PADDING_VALUE));
  layer.clip = NVDLA_VIEW_FIELD(cacc, CACC_D_CLIP_CFG, CLIP_TRUNCATE);

  if (!layer.pixel && !layer.winograd) {
    // Direct mode: both units see the same cube; image and Winograd extend CSC's.
    agree.expect("width", "CDMA", layer.width, "CSC",
                 NVDLA_VIEW_FIELD(csc, CSC_D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT) + 1);
    agree.expect("channels", "CDMA", layer.channels, "CSC",
                 NVDLA_VIEW_FIELD(csc, CSC_D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT) + 1);
    agree.expect("channels", "CDMA", layer.channels, "CSC WEIGHT_CHANNEL_EXT as",
                 NVDLA_VIEW_FIELD(csc, CSC_D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT) + 1);
  }
  layer.mismatch = agree.take();
  return layer;
}

ConvFetch plan_fetch(const ConvLayer& layer, const CbufState& cbuf) {
  ConvFetch fetch;
  fetch.lines = layer.height;
  // A change of the bank counts empties the buffer on both sides, whatever the reuse flags say.
  const bool same_banks =
      cbuf.data_banks == layer.data_banks && cbuf.weight_banks == layer.weight_banks;
  if (!same_banks) return fetch;
  const bool same_mode = cbuf.winograd == layer.winograd && cbuf.pixel == layer.pixel;
  if (layer.data_reuse && same_mode && cbuf.lines != 0) {
    fetch.kept_lines = cbuf.lines;
    fetch.data = !cbuf.all_lines_kept;
    fetch.lines = cbuf.lines + (fetch.data ? layer.height : 0);
  }
  fetch.weights = !(layer.weight_reuse && cbuf.weights_kept);
  return fetch;
}

std::string conv_fault(const nvdla_hw& hw, Quirks quirks, const ConvLayer& layer,
                       const CbufState& cbuf, const SdpLayer& sdp) {
  const bool first_generation = hw.regmap == NVDLA_REGMAP_NV_FULL;
  if (!layer.mismatch.empty()) return layer.mismatch;
  if (!first_generation && layer.proc != Precision::kInt8)
    return std::string("PROC_PRECISION ") + precision_name(layer.proc) + ": " + hw.name +
           " has int8 only";
  if (precision_bytes(layer.in) != precision_bytes(layer.proc) && !layer.pixel)
    return std::string("IN_PRECISION ") + precision_name(layer.in) + " and PROC_PRECISION " +
           precision_name(layer.proc) + " of a feature cube differ in size";
  if (layer.in > Precision::kFp16 || layer.proc > Precision::kFp16)
    return "precision 3 is reserved";
  if (layer.winograd) {
    if (!first_generation) return std::string("Winograd: ") + hw.name + " has none";
    return "Winograd convolution: not implemented yet";
  }
  if (layer.pixel) return "image input: not implemented yet";
  if (layer.in == Precision::kFp16 || layer.proc == Precision::kFp16)
    return "fp16 convolution: not implemented yet";
  if (layer.convert) return "the input converter of feature data: not implemented yet";
  if (layer.compressed) {
    if ((hw.features & NVDLA_HW_COMPRESSION) == 0)
      return std::string("compressed weights: ") + hw.name + " has no decompression";
    return "compressed weights: not implemented yet";
  }
  if (layer.batches > 1) {
    if ((hw.features & NVDLA_HW_BATCH) == 0)
      return std::string("batches: ") + hw.name + " has none";
    return "batches: not implemented yet";
  }
  if ((hw.features & NVDLA_HW_SRAM) == 0) {
    const std::string none = std::string(" in secondary memory but ") + hw.name + " has none";
    if (layer.data.ram == Ram::kSecondary) return "input data" + none;
    if (layer.weight_ram == Ram::kSecondary) return "weights" + none;
  }
  if (std::string fault = geometry_fault(layer, quirks); !fault.empty()) return fault;
  if (std::string fault = data_side_fault(hw, layer, cbuf); !fault.empty()) return fault;
  if (std::string fault = weight_side_fault(hw, layer, cbuf); !fault.empty()) return fault;
  return output_fault(layer, sdp);
}

}  // namespace nvdla::model
