// SPDX-License-Identifier: MIT
//
// Finds convolutions that stop hardware for ever: rules about the registers, the convolution buffer
// and the units' expectations of each other.
#include <algorithm>

#include "model/conv/conv_layer.hpp"
#include "support/integers.hpp"

namespace nvdla::model {
namespace {

// Returns the channels of a folded cube: whole atoms of every position that becomes a channel.
std::uint64_t winograd_channels(const nvdla_hw& hw, const ConvLayer& layer) {
  const unsigned bytes = precision_bytes(layer.proc);
  return arith::round_up(std::uint64_t{layer.channels} * bytes, hw.atom) / bytes * layer.fold_x *
         layer.fold_y;
}

// Returns the entries that a line takes in the convolution buffer.
std::uint64_t line_entries(const nvdla_hw& hw, const ConvLayer& layer);

// Returns the entries that a line of a feature cube takes in the convolution buffer.
std::uint64_t feature_entries(const nvdla_hw& hw, const ConvLayer& layer) {
  const std::uint64_t atoms_per_entry = hw.cbuf_entry_bytes / hw.atom;
  const std::uint64_t atoms =
      arith::ceil_div(std::uint64_t{layer.channels} * precision_bytes(layer.proc), hw.atom);
  const std::uint64_t full = atoms / atoms_per_entry;
  const std::uint64_t rest = atoms % atoms_per_entry;
  return full * layer.width +
         (rest == 0 ? 0 : arith::ceil_div(layer.width, atoms_per_entry / rest));
}

std::uint64_t line_entries(const nvdla_hw& hw, const ConvLayer& layer) {
  const unsigned bytes = precision_bytes(layer.proc);
  if (layer.image)
    return arith::ceil_div(
        (std::uint64_t{layer.fetch_left} + layer.width + layer.pad_right) * layer.channels * bytes,
        hw.cbuf_entry_bytes);
  if (layer.winograd) return layer.csc_width / 4 * (winograd_channels(hw, layer) * bytes / hw.atom);
  return feature_entries(hw, layer);
}

// Image input: what CDMA's pixel logic and CSC's extension of channels take.
std::string image_fault(const nvdla_hw& hw, const ConvLayer& layer) {
  const bool first_generation = hw.regmap == NVDLA_REGMAP_NV_FULL;
  if (layer.winograd) return "image input with Winograd";
  const PixelFormat* format = pixel_format(layer.pixel_code);
  if (format == nullptr)
    return "PIXEL_FORMAT " + std::to_string(layer.pixel_code) + " does not exist";
  const std::string name = "PIXEL_FORMAT " + std::string(format->name());
  if (!first_generation && !format->second_generation)
    return name + ": " + hw.name + " has no logic for it";
  if (layer.pixel_mapping) return "PIXEL_MAPPING 1: images are pitch linear";
  if (layer.in != format->precision)
    return name + " has " + precision_name(format->precision) + " components, IN_PRECISION is " +
           precision_name(layer.in);
  if (layer.channels != format->components)
    return name + " has " + std::to_string(format->components) + " components, CDMA has " +
           std::to_string(layer.channels) + " channels";
  if (layer.in == Precision::kFp16 && layer.proc != Precision::kFp16)
    return name + " is only for fp16, PROC_PRECISION is " + precision_name(layer.proc);
  if (!layer.converter.enabled && precision_bytes(layer.in) != precision_bytes(layer.proc))
    return name + " without converter, PROC_PRECISION " + precision_name(layer.proc) +
           " has another size";
  const std::uint32_t pixels = hw.atom / format->bytes[0];
  if (layer.x_offset >= pixels)
    return "PIXEL_X_OFFSET " + std::to_string(layer.x_offset) + ", an atom has " +
           std::to_string(pixels) + " pixels";
  if (layer.batches != 1) return "image input with batches";
  if (layer.dilation_width != 1 || layer.dilation_height != 1) return "image input with dilation";
  if (layer.kernel_width != 1)
    return "WEIGHT_WIDTH_EXT + 1 is " + std::to_string(layer.kernel_width) +
           ", kernels for images have width 1";
  if (layer.weight_channels % layer.channels != 0)
    return "WEIGHT_CHANNEL_EXT + 1 is " + std::to_string(layer.weight_channels) + ", pixels have " +
           std::to_string(layer.channels) + " components";
  return {};
}

// One step takes all extended lines: their channels share its lanes.
std::string extension_fault(const nvdla_hw& hw, const ConvLayer& layer) {
  if (layer.post_lines == 1) return {};
  if (layer.post_lines > 4) return "Y_EXTENSION 3 is reserved";
  if (!layer.image) return "Y_EXTENSION without image input";
  const std::uint32_t lanes = hw.atomic_c / layer.post_lines;
  if (layer.weight_channels > lanes || layer.stride_width * layer.channels > lanes)
    return "Y_EXTENSION of " + std::to_string(layer.post_lines) + " lines leaves " +
           std::to_string(lanes) + " lanes to a line, kernel rows have " +
           std::to_string(layer.weight_channels) + " channels at a stride of " +
           std::to_string(layer.stride_width * layer.channels);
  return {};
}

std::string winograd_fault(const nvdla_hw& hw, const ConvLayer& layer) {
  if (layer.batches != 1) return "Winograd with batches";
  if (layer.stride_width != 1 || layer.stride_height != 1 || layer.dilation_width != 1 ||
      layer.dilation_height != 1)
    return "Winograd with stride or dilation in CSC";
  if (layer.kernel_width != 4 || layer.kernel_height != 4)
    return "Winograd with kernels of " + std::to_string(layer.kernel_width) + "x" +
           std::to_string(layer.kernel_height) + " transformed weights, these are 4x4";
  if (layer.csc_channels != winograd_channels(hw, layer))
    return "DATAIN_CHANNEL_EXT + 1 is " + std::to_string(layer.csc_channels) + ", folding makes " +
           std::to_string(winograd_channels(hw, layer)) + " channels";
  struct Axis {
    const char* name;
    std::uint32_t before, size, after, fold, extended, sequenced, out;
  };
  const Axis axes[2] = {{"width", layer.fetch_left, layer.width, layer.pad_right, layer.fold_x,
                         layer.fetch_width_ext, layer.csc_width, layer.out_width},
                        {"height", layer.fetch_top, layer.height, layer.pad_bottom, layer.fold_y,
                         layer.fetch_height_ext, layer.csc_height, layer.out_height}};
  for (const Axis& axis : axes) {
    const std::string name = axis.name;
    if (axis.extended % 4 != 0 || axis.sequenced % 4 != 0 || axis.sequenced <= 4)
      return "Winograd with extended " + name + " " + std::to_string(axis.sequenced) +
             ": a multiple of 4 above 4 is right";
    const std::uint64_t padded = std::uint64_t{axis.before} + axis.size + axis.after;
    if (padded != std::uint64_t{axis.extended} * axis.fold)
      return "padded " + name + " " + std::to_string(padded) + ", " +
             std::to_string(axis.extended) + " extended positions of " + std::to_string(axis.fold) +
             " take another";
    if (axis.out + 4 != axis.sequenced)
      return "output " + name + " " + std::to_string(axis.out) + ", extended " + name + " " +
             std::to_string(axis.sequenced) + " makes " + std::to_string(axis.sequenced - 4);
  }
  if (!layer.keep_data && layer.release % 4 != 0)
    return "RELEASE + 1 is " + std::to_string(layer.release) + ", Winograd frees tiles of 4 lines";
  return {};
}

// Padding behind the input that is modelled. Hardware takes any, but no use is known for more than
// the registers of other modes can say.
constexpr std::uint64_t kMostBehind = 63;

// CSC counts outputs and takes what input there is for them: where some of it is left over, or is
// missing, the layer ends. Only the lines of an image end with the padding that CDMA made.
std::string geometry_fault(const ConvLayer& layer, Quirks quirks) {
  const std::uint64_t line = layer.buffer_width();
  if (layer.image && layer.reach_x() > line)
    return "output width " + std::to_string(layer.out_width) + " takes " +
           std::to_string(layer.reach_x()) + " pixels at stride " +
           std::to_string(layer.stride_width) + ", a padded line has " + std::to_string(line);
  const std::uint64_t behind_x = layer.image || layer.winograd ? 0 : layer.behind_x();
  const std::uint64_t behind_y = layer.winograd ? 0 : layer.behind_y();
  if (behind_x > kMostBehind || behind_y > kMostBehind)
    return "outputs reach " + std::to_string(behind_x) + " columns and " +
           std::to_string(behind_y) + " lines behind the input: not modelled beyond " +
           std::to_string(kMostBehind);
  const std::uint64_t positions = std::uint64_t{layer.out_width} * layer.out_height;
  // For images the sequencer counts lines and columns itself. The reference model always does.
  if (layer.atomics != positions && !layer.image && quirks != Quirks::kCmodel)
    return "CSC ATOMICS + 1 is " + std::to_string(layer.atomics) + ", output positions are " +
           std::to_string(positions);
  return {};
}

std::string data_side_fault(const nvdla_hw& hw, const ConvLayer& layer, const CbufState& cbuf) {
  const std::uint64_t needed = line_entries(hw, layer);
  if (layer.entries != needed)
    return "ENTRY_PER_SLICE " + std::to_string(layer.entries) + ", a line takes " +
           std::to_string(needed);
  // The last bank holds the mask of compressed weights.
  const std::uint32_t banks = hw.cbuf_banks - (layer.compressed ? 1 : 0);
  if (layer.data_banks + layer.weight_banks > banks)
    return std::to_string(layer.data_banks) + " data banks and " +
           std::to_string(layer.weight_banks) + " weight banks, there are " + std::to_string(banks);
  const std::uint64_t capacity = std::uint64_t{layer.data_banks} * hw.cbuf_entries;
  const std::uint64_t entries = needed * layer.csc_height * layer.batches;
  if (entries > capacity)
    return "all " + std::to_string(layer.csc_height) + " lines take " + std::to_string(entries) +
           " entries, " + std::to_string(layer.data_banks) + " data banks hold " +
           std::to_string(capacity);

  const ConvFetch fetch = plan_fetch(layer, cbuf);
  const bool like_those_held =
      cbuf.winograd == layer.winograd && cbuf.pixel == layer.image &&
      cbuf.width == layer.buffer_width() && cbuf.channels == layer.buffer_channels() &&
      cbuf.batches == layer.batches && cbuf.entries == layer.entries && cbuf.proc == layer.proc;
  if (fetch.held_lines != 0 && !like_those_held)
    return fetch.kept_lines != 0
               ? "DATA_REUSE of lines that were kept with another width, channel count, batch "
                 "count or precision"
               : "CSC takes " + std::to_string(fetch.held_lines) +
                     " lines first that were kept and not freed, of another mode, width, channel "
                     "count, batch count or precision: not modelled";
  // With everything kept, surplus lines stay in the buffer; else the counters of both sides drift.
  const std::uint32_t own = fetch.data ? layer.fetched_lines() : 0;
  if (fetch.lines < layer.csc_height || (fetch.data && fetch.kept_lines + own != layer.csc_height))
    return "CSC waits for " + std::to_string(layer.csc_height) + " lines, " +
           std::to_string(fetch.lines) + " come (" + std::to_string(fetch.held_lines) + " kept, " +
           std::to_string(own) + " fetched)";
  if (fetch.data && fetch.lines * needed * layer.batches > capacity)
    return "kept and fetched lines do not fit the data banks";
  // FETCH_GRAIN needs no look: a grain waits for room for its lines, and all lines have that. The
  // last one, which may be the first, has as many as are left.
  if (!layer.keep_data && layer.release > layer.csc_height)
    return "RELEASE + 1 is " + std::to_string(layer.release) + ", the layer has " +
           std::to_string(layer.csc_height) + " lines";
  return {};
}

// The bytes of a kernel before compression.
std::uint64_t kernel_size(const ConvLayer& layer) {
  return std::uint64_t{layer.kernel_width} * layer.kernel_height * layer.weight_channels *
         precision_bytes(layer.proc);
}

std::string plain_weights_fault(const nvdla_hw& hw, const ConvLayer& layer) {
  const unsigned bytes = precision_bytes(layer.proc);
  const std::uint64_t kernel_bytes = kernel_size(layer);
  const std::uint64_t packed = kernel_bytes * layer.kernels;
  if (layer.weight_bytes < packed)
    return "WEIGHT_BYTES " + std::to_string(layer.weight_bytes) + ", the kernels have " +
           std::to_string(packed);
  const std::uint64_t capacity =
      std::uint64_t{layer.weight_banks} * hw.cbuf_entries * hw.cbuf_entry_bytes;
  if (layer.weight_bytes <= capacity) return {};
  const std::uint64_t group = hw.atomic_k / bytes;
  const std::uint64_t group_bytes =
      arith::round_up(kernel_bytes * std::min<std::uint64_t>(layer.kernels, group),
                      hw.cbuf_entry_bytes) +
      128;
  if (group_bytes > capacity)
    return "a kernel group takes " + std::to_string(group_bytes) + " bytes, " +
           std::to_string(layer.weight_banks) + " weight banks hold " + std::to_string(capacity);
  return {};
}

// Only what the registers say: the tables themselves are looked at when they are read.
std::string compressed_weights_fault(const nvdla_hw& hw, const ConvLayer& layer) {
  const unsigned bytes = precision_bytes(layer.proc);
  const std::uint64_t elements = kernel_size(layer) / bytes * layer.kernels;
  const std::uint64_t mask = arith::round_up(arith::ceil_div(elements, 8), 128);
  if (layer.mask_bytes != mask)
    return "WMB_BYTES " + std::to_string(layer.mask_bytes) + ", the mask of " +
           std::to_string(elements) + " weights has " + std::to_string(mask);
  const std::uint64_t most = arith::round_up(elements * bytes, 128);
  if (layer.weight_bytes > most)
    return "WEIGHT_BYTES " + std::to_string(layer.weight_bytes) +
           " of compressed weights, uncompressed " + "they have " + std::to_string(most);
  const std::uint64_t bank = std::uint64_t{hw.cbuf_entries} * hw.cbuf_entry_bytes;
  const std::uint64_t group = std::min<std::uint64_t>(layer.kernels, hw.atomic_k / bytes);
  const std::uint64_t group_mask = arith::ceil_div(kernel_size(layer) / bytes * group, 8);
  if (layer.mask_bytes > bank && layer.keep_weights)
    return "SKIP_WEIGHT_RLS with " + std::to_string(layer.mask_bytes) +
           " mask bytes, a bank holds " + std::to_string(bank);
  if (layer.mask_bytes > bank && group_mask + 128 > bank)
    return "the mask of a kernel group takes " + std::to_string(group_mask + 128) +
           " bytes, a bank holds " + std::to_string(bank);
  return {};
}

std::string weight_side_fault(const nvdla_hw& hw, const ConvLayer& layer, const CbufState& cbuf) {
  if (layer.kernel_bytes != kernel_size(layer))
    return "BYTE_PER_KERNEL + 1 is " + std::to_string(layer.kernel_bytes) + ", a kernel has " +
           std::to_string(kernel_size(layer)) + " bytes";
  if (layer.weight_bytes == 0) return "WEIGHT_BYTES 0";
  if (layer.weight_bytes % hw.weight_align != 0)
    return "WEIGHT_BYTES " + std::to_string(layer.weight_bytes) + " is not a multiple of " +
           std::to_string(hw.weight_align);
  const std::uint64_t capacity =
      std::uint64_t{layer.weight_banks} * hw.cbuf_entries * hw.cbuf_entry_bytes;
  if (layer.weight_bytes > capacity && layer.keep_weights)
    return "SKIP_WEIGHT_RLS with " + std::to_string(layer.weight_bytes) + " weight bytes, " +
           std::to_string(layer.weight_banks) + " weight banks hold " + std::to_string(capacity);
  std::string fault =
      layer.compressed ? compressed_weights_fault(hw, layer) : plain_weights_fault(hw, layer);
  if (!fault.empty()) return fault;
  if (!plan_fetch(layer, cbuf).weights &&
      (cbuf.kernels != layer.kernels || cbuf.kernel_bytes != layer.kernel_bytes ||
       cbuf.weight_bytes != layer.weight_bytes || cbuf.proc != layer.proc ||
       cbuf.compressed != layer.compressed ||
       (layer.compressed && cbuf.wmb_bytes != layer.mask_bytes)))
    return "WEIGHT_REUSE of weights that were kept with another size";
  return {};
}

std::string output_fault(const nvdla_hw& hw, const ConvLayer& layer, const SdpLayer& sdp) {
  if (sdp.width != layer.out_width || sdp.height != layer.out_height ||
      sdp.channels != layer.kernels)
    return "CACC delivers " + std::to_string(layer.out_width) + "x" +
           std::to_string(layer.out_height) + "x" + std::to_string(layer.kernels) + ", SDP takes " +
           std::to_string(sdp.width) + "x" + std::to_string(sdp.height) + "x" +
           std::to_string(sdp.channels);
  if (sdp.proc != layer.proc)
    return std::string("CACC PROC_PRECISION ") + precision_name(layer.proc) +
           " but SDP PROC_PRECISION " + precision_name(sdp.proc);
  if (hw.regmap == NVDLA_REGMAP_NV_FULL) {
    if (sdp.batches != layer.batches)
      return "CACC delivers " + std::to_string(layer.batches) + " batches, SDP takes " +
             std::to_string(sdp.batches);
    if (sdp.winograd != layer.winograd)
      return std::string("CONV_MODE is ") + (layer.winograd ? "Winograd" : "direct") +
             " but SDP WINOGRAD is " + (sdp.winograd ? "1" : "0");
  }
  return {};
}

}  // namespace

std::string conv_fault(const nvdla_hw& hw, Quirks quirks, const ConvLayer& layer,
                       const CbufState& cbuf, const SdpLayer& sdp) {
  const bool first_generation = hw.regmap == NVDLA_REGMAP_NV_FULL;
  if (!layer.mismatch.empty()) return layer.mismatch;
  if (!first_generation && layer.proc != Precision::kInt8)
    return std::string("PROC_PRECISION ") + precision_name(layer.proc) + ": " + hw.name +
           " has int8 only";
  if (precision_bytes(layer.in) != precision_bytes(layer.proc) && !layer.image)
    return std::string("IN_PRECISION ") + precision_name(layer.in) + " and PROC_PRECISION " +
           precision_name(layer.proc) + " of a feature cube differ in size";
  if (layer.in > Precision::kFp16 || layer.proc > Precision::kFp16)
    return "precision 3 is reserved";
  if (layer.winograd && (hw.features & NVDLA_HW_WINOGRAD) == 0)
    return std::string("Winograd: ") + hw.name + " has none";
  if (layer.converter.enabled && !layer.image && layer.in == Precision::kFp16)
    return "CVT_EN with fp16 feature data: not modelled, nobody knows what comes out";
  if (layer.compressed && (hw.features & NVDLA_HW_COMPRESSION) == 0)
    return std::string("compressed weights: ") + hw.name + " has no decompression";
  if (layer.batches > 1 && (hw.features & NVDLA_HW_BATCH) == 0)
    return std::string("batches: ") + hw.name + " has none";
  if ((hw.features & NVDLA_HW_SRAM) == 0) {
    const std::string none = std::string(" in secondary memory but ") + hw.name + " has none";
    if (layer.data.ram == Ram::kSecondary) return "input data" + none;
    if (layer.weight_ram == Ram::kSecondary) return "weights" + none;
  }
  if (layer.image)
    if (std::string fault = image_fault(hw, layer); !fault.empty()) return fault;
  if (std::string fault = extension_fault(hw, layer); !fault.empty()) return fault;
  if (layer.winograd)
    if (std::string fault = winograd_fault(hw, layer); !fault.empty()) return fault;
  if (std::string fault = geometry_fault(layer, quirks); !fault.empty()) return fault;
  if (std::string fault = data_side_fault(hw, layer, cbuf); !fault.empty()) return fault;
  if (std::string fault = weight_side_fault(hw, layer, cbuf); !fault.empty()) return fault;
  return output_fault(hw, layer, sdp);
}

}  // namespace nvdla::model
