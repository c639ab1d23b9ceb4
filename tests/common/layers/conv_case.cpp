// SPDX-License-Identifier: MIT
#include "common/layers/conv_case.hpp"

#include <algorithm>

#include "common/integers.hpp"
#include "common/property.hpp"

namespace nvdla::test {
namespace {

using model::Ram;

constexpr std::uint64_t kInput = 0x8000'0000, kSecond = 0x8100'0000, kOutput = 0x8200'0000,
                        kWeights = 0x8300'0000, kMask = 0x8400'0000, kGroups = 0x8500'0000;

// Random numbers that say something in every format.
std::vector<std::byte> random_bytes(Random& random, std::uint64_t size, bool half) {
  std::vector<std::byte> bytes(size);
  const std::int64_t kind = pick(random, 0, 3);
  Random data = random.fork();
  for (std::uint64_t i = 0; i + 1 < size; i += 2) {
    auto value = static_cast<std::uint16_t>(data());
    if (half) {
      if (kind < 3) value = static_cast<std::uint16_t>((value & 0x8fff) | (8 + data() % 12) << 10);
      if ((value & 0x7c00) == 0x7c00) value &= 0xbfff;
      if (kind == 1 && data() % 2000 == 0) value |= 0x7c01;
      if (kind == 1 && data() % 200 == 0) value = 0x7c00;
      if (data() % 16 == 0) value &= 0x8000;
    }
    bytes[i] = static_cast<std::byte>(value);
    bytes[i + 1] = static_cast<std::byte>(value >> 8);
  }
  return bytes;
}

struct Packed {
  std::vector<std::byte> stream, mask, groups;
};

Packed pack(const ConvCase& layer) {
  Packed packed;
  const unsigned bytes = layer.bytes();
  std::size_t index = 0, group_end = 0;
  std::uint32_t size = 0;
  const std::size_t per_group = layer.kernel_elements() * layer.group();
  const auto close = [&] {
    for (unsigned i = 0; i < 4; ++i) packed.groups.push_back(std::byte(size >> (8 * i)));
    size = 0;
  };
  for (const std::uint16_t weight : layer.weights) {
    if (index == group_end) {
      if (index != 0) close();
      group_end += per_group;
    }
    if (index % 8 == 0) packed.mask.push_back(std::byte{0});
    if (weight != 0 || !layer.compressed) {
      packed.mask.back() |= static_cast<std::byte>(1u << (index % 8));
      for (unsigned i = 0; i < bytes; ++i) packed.stream.push_back(std::byte(weight >> (8 * i)));
      size += bytes;
    }
    ++index;
  }
  close();
  packed.stream.resize(round_up(packed.stream.size(), 128));
  packed.mask.resize(round_up(packed.mask.size(), 128));
  packed.groups.resize(round_up(packed.groups.size(), layer.hw->atom));
  return packed;
}

}  // namespace

std::string describe(const ConvCase& c) {
  return std::string(c.hw->name) + (c.image ? " " + c.format_name : "") +
         (c.winograd ? " winograd" : "") + (c.compressed ? " compressed" : "") +
         numbers({static_cast<int>(c.in),
                  static_cast<int>(c.proc),
                  c.width,
                  c.height,
                  c.channels,
                  c.batches,
                  c.kernels,
                  c.kernel_width,
                  c.kernel_height,
                  c.stride_width,
                  c.stride_height,
                  c.dilation_width,
                  c.dilation_height,
                  c.left,
                  c.right,
                  c.top,
                  c.bottom,
                  c.clip,
                  c.pra,
                  c.post,
                  c.x_offset});
}

void each_weight(const ConvCase& layer,
                 const std::function<void(unsigned, unsigned, unsigned, unsigned)>& place) {
  const unsigned channels = layer.weight_channels();
  const unsigned rows = layer.kernel_height;
  for (unsigned g = 0; g < layer.kernels; g += layer.group()) {
    const unsigned end = std::min(layer.kernels, g + layer.group());
    if (layer.winograd) {
      for (unsigned c = 0; c < channels; c += 4)
        for (unsigned k = g; k < end; ++k)
          for (unsigned position = 0; position < 16; ++position)
            for (unsigned i = 0; i < 4; ++i) place(k, 0, position, c + i);
      continue;
    }
    if (layer.post != 0) {
      const unsigned lines = 1u << layer.post;
      for (unsigned block = 0; block < rows; block += lines)
        for (unsigned k = g; k < end; ++k)
          for (unsigned r = block; r < std::min(rows, block + lines); ++r)
            for (unsigned c = 0; c < channels; ++c) place(k, r, 0, c);
      continue;
    }
    for (unsigned cube = 0; cube < channels; cube += layer.hw->atomic_c)
      for (unsigned r = 0; r < rows; ++r)
        for (unsigned s = 0; s < (layer.image ? 1 : layer.kernel_width); ++s)
          for (unsigned k = g; k < end; ++k)
            for (unsigned c = cube; c < std::min(channels, cube + layer.hw->atomic_c); ++c)
              place(k, r, s, c);
  }
}

unsigned ConvCase::aligned_channels() const {
  return static_cast<unsigned>(round_up(std::uint64_t{channels} * bytes(), hw->atom)) / bytes();
}

unsigned ConvCase::weight_channels() const {
  if (image) return kernel_width * channels;
  return winograd ? aligned_channels() * folds() : channels;
}

std::size_t ConvCase::kernel_elements() const {
  if (winograd) return std::size_t{16} * weight_channels();
  return std::size_t{kernel_height} * (image ? 1 : kernel_width) * weight_channels();
}

unsigned ConvCase::out_width() const {
  if (winograd) return ext_width() - 4;
  return (left + width + right - ((kernel_width - 1) * dilation_width + 1)) / stride_width + 1;
}

unsigned ConvCase::out_height() const {
  if (winograd) return ext_height() - 4;
  return (top + height + bottom - ((kernel_height - 1) * dilation_height + 1)) / stride_height + 1;
}

unsigned ConvCase::entries() const {
  if (image)
    return static_cast<unsigned>(
        ceil_div(std::uint64_t{left + width + right} * channels * bytes(), hw->cbuf_entry_bytes));
  if (winograd) return ext_width() / 4 * (aligned_channels() * bytes() / 32) * folds();
  const unsigned q = hw->cbuf_entry_bytes / hw->atom;
  const auto atoms = static_cast<unsigned>(ceil_div(std::uint64_t{channels} * bytes(), hw->atom));
  const unsigned last = atoms % q;
  return atoms / q * width + (last == 0 ? 0 : static_cast<unsigned>(ceil_div(width, q / last)));
}

void finish(ConvCase& layer, Random& random, model::Memory& memory) {
  const std::uint64_t atom = layer.hw->atom;
  const std::uint64_t step = std::max<std::uint64_t>(atom, 64);
  const auto gap = [&] { return step * static_cast<std::uint64_t>(pick(random, 0, 2)); };
  const bool half_in = layer.in == Number::kFp16, half = layer.proc == Number::kFp16;
  layer.input.base = kInput;
  layer.second.base = kSecond;
  if (layer.image) {
    const auto format = planes(layer.format_name);
    const auto line = [&](unsigned plane) {
      return round_up(std::uint64_t{layer.x_offset + layer.width} * format[plane].bytes, atom) +
             gap();
    };
    layer.input.line = line(0);
    memory.load(Ram::kPrimary, kInput,
                random_bytes(random, layer.input.line * layer.height, half_in));
    if (format.size() == 2) {
      layer.second.line = line(1);
      memory.load(Ram::kPrimary, kSecond,
                  random_bytes(random, layer.second.line * layer.height, half_in));
    }
  } else {
    const std::uint64_t surfaces = layer.aligned_channels() * layer.bytes() / atom;
    layer.input.line = layer.width * atom + gap();
    layer.input.surface = layer.height * layer.input.line + gap();
    layer.batch_stride = surfaces * layer.input.surface + gap();
    memory.load(Ram::kPrimary, kInput,
                random_bytes(random, layer.batches * layer.batch_stride, half_in));
  }
  layer.output.base = kOutput;
  layer.output.line = round_up(layer.out_width() * atom, step) + gap();
  layer.output.surface = layer.out_height() * layer.output.line + gap();
  const unsigned out_bytes = layer.out == Number::kInt8 ? 1 : 2;
  layer.out_batch_stride =
      2 * ceil_div(std::uint64_t{layer.kernels} * out_bytes, atom) * layer.output.surface + gap();

  layer.weights.resize(layer.kernel_elements() * layer.kernels);
  const auto raw = random_bytes(random, layer.weights.size() * 2, half);
  const unsigned density = static_cast<unsigned>(pick(random, 1, 4));
  Random holes = random.fork();
  for (std::size_t i = 0; i < layer.weights.size(); ++i) {
    layer.weights[i] = static_cast<std::uint16_t>(load_word(raw, i * 2, layer.bytes()));
    if (layer.compressed && holes() % 4 >= density) layer.weights[i] = 0;
  }
  layer.weights.front() = layer.weights.back() = 1;  // no empty group at either end
  for (std::size_t i = 0; i < layer.weights.size(); i += layer.kernel_elements() * layer.group())
    layer.weights[i] = 3;
  const Packed packed = pack(layer);
  memory.load(Ram::kPrimary, kWeights, packed.stream);
  if (layer.compressed) {
    memory.load(Ram::kPrimary, kMask, packed.mask);
    memory.load(Ram::kPrimary, kGroups, packed.groups);
  }
}

void program(const ConvCase& layer, Registers& regs) {
  const auto proc = static_cast<std::uint32_t>(layer.proc);
  const unsigned ow = layer.out_width(), oh = layer.out_height();
  const unsigned csc_height = layer.winograd ? layer.ext_height() : layer.height;
  const bool single = ow == 1 && oh == 1;
  regs.write("SDP.S_POINTER", 0);
  regs.set("SDP.D_DATA_CUBE_WIDTH", {{"WIDTH", ow - 1}});
  regs.set("SDP.D_DATA_CUBE_HEIGHT", {{"HEIGHT", oh - 1}});
  regs.set("SDP.D_DATA_CUBE_CHANNEL", {{"CHANNEL", layer.kernels - 1}});
  regs.write("SDP.D_DST_BASE_ADDR_LOW", static_cast<std::uint32_t>(layer.output.base));
  regs.write("SDP.D_DST_LINE_STRIDE", static_cast<std::uint32_t>(layer.output.line));
  regs.write("SDP.D_DST_SURFACE_STRIDE", static_cast<std::uint32_t>(layer.output.surface));
  regs.write("SDP.D_DST_BATCH_STRIDE", static_cast<std::uint32_t>(layer.out_batch_stride));
  for (const std::string n : {"BS", "BN"}) regs.set("SDP.D_DP_" + n + "_CFG", {{n + "_BYPASS", 1}});
  regs.set("SDP.D_DP_EW_CFG",
           {{"EW_BYPASS", 1}, {"EW_ALU_BYPASS", 1}, {"EW_MUL_BYPASS", 1}, {"EW_LUT_BYPASS", 1}});
  regs.set("SDP.D_FEATURE_MODE_CFG",
           {{"FLYING_MODE", 1}, {"WINOGRAD", layer.winograd}, {"BATCH_NUMBER", layer.batches - 1}});
  regs.set("SDP.D_DST_DMA_CFG", {{"DST_RAM_TYPE", 1}});
  regs.set("SDP.D_DATA_FORMAT",
           {{"PROC_PRECISION", proc}, {"OUT_PRECISION", static_cast<std::uint32_t>(layer.out)}});
  regs.write("SDP.D_CVT_SCALE", 1);
  for (const char* unit : {"CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"})
    regs.write(std::string(unit) + ".S_POINTER", 0);
  for (const std::string unit : {"CACC", "CMAC_A", "CMAC_B"})
    regs.set(unit + ".D_MISC_CFG", {{"PROC_PRECISION", proc}, {"CONV_MODE", layer.winograd}});
  regs.set("CACC.D_DATAOUT_SIZE_0", {{"DATAOUT_WIDTH", ow - 1}, {"DATAOUT_HEIGHT", oh - 1}});
  regs.set("CACC.D_DATAOUT_SIZE_1", {{"DATAOUT_CHANNEL", layer.kernels - 1}});
  regs.set("CACC.D_DATAOUT_MAP", {{"LINE_PACKED", single}, {"SURF_PACKED", single}});
  regs.set("CACC.D_BATCH_NUMBER", {{"BATCHES", layer.batches - 1}});
  regs.set("CACC.D_CLIP_CFG", {{"CLIP_TRUNCATE", layer.clip}});

  const Packed packed = pack(layer);
  const auto data_banks = static_cast<std::uint32_t>(ceil_div(
      std::uint64_t{layer.entries()} * csc_height * layer.batches, layer.hw->cbuf_entries));
  const auto weight_banks = static_cast<std::uint32_t>(
      ceil_div(packed.stream.size() + 128,
               std::uint64_t{layer.hw->cbuf_entries} * layer.hw->cbuf_entry_bytes));
  for (const std::string unit : {"CSC", "CDMA"}) {
    regs.set(unit + ".D_MISC_CFG",
             {{"CONV_MODE", layer.winograd},
              {"IN_PRECISION", unit == "CSC" ? proc : static_cast<std::uint32_t>(layer.in)},
              {"PROC_PRECISION", proc}});
    regs.set(unit + ".D_BATCH_NUMBER", {{"BATCHES", layer.batches - 1}});
    regs.set(unit + ".D_ENTRY_PER_SLICE", {{"ENTRIES", layer.entries() - 1}});
    regs.set(unit + ".D_WEIGHT_FORMAT", {{"WEIGHT_FORMAT", layer.compressed}});
    regs.set(unit + ".D_WEIGHT_BYTES",
             {{"WEIGHT_BYTES", static_cast<std::uint32_t>(packed.stream.size())}});
    if (layer.compressed)
      regs.set(unit + ".D_WMB_BYTES",
               {{"WMB_BYTES", static_cast<std::uint32_t>(packed.mask.size())}});
    regs.set(unit + ".D_BANK", {{"DATA_BANK", data_banks - 1}, {"WEIGHT_BANK", weight_banks - 1}});
    regs.set(unit + ".D_ZERO_PADDING_VALUE", {{"PAD_VALUE", layer.pad_value}});
  }
  const unsigned ext_width = layer.winograd ? layer.ext_width() : layer.width;
  regs.set("CSC.D_DATAIN_FORMAT", {{"DATAIN_FORMAT", layer.image}});
  regs.set("CSC.D_DATAIN_SIZE_EXT_0",
           {{"DATAIN_WIDTH_EXT", ext_width - 1}, {"DATAIN_HEIGHT_EXT", csc_height - 1}});
  regs.set(
      "CSC.D_DATAIN_SIZE_EXT_1",
      {{"DATAIN_CHANNEL_EXT", (layer.winograd ? layer.weight_channels() : layer.channels) - 1}});
  regs.set("CSC.D_WEIGHT_SIZE_EXT_0",
           {{"WEIGHT_WIDTH_EXT", layer.winograd ? 3
                                 : layer.image  ? 0
                                                : layer.kernel_width - 1},
            {"WEIGHT_HEIGHT_EXT", layer.winograd ? 3 : layer.kernel_height - 1}});
  regs.set("CSC.D_WEIGHT_SIZE_EXT_1", {{"WEIGHT_CHANNEL_EXT", layer.weight_channels() - 1},
                                       {"WEIGHT_KERNEL", layer.kernels - 1}});
  regs.set("CSC.D_DATAOUT_SIZE_0", {{"DATAOUT_WIDTH", ow - 1}, {"DATAOUT_HEIGHT", oh - 1}});
  regs.set("CSC.D_DATAOUT_SIZE_1", {{"DATAOUT_CHANNEL", layer.kernels - 1}});
  regs.set("CSC.D_ATOMICS", {{"ATOMICS", ow * oh - 1}});
  regs.set("CSC.D_RELEASE", {{"RLS_SLICES", csc_height - 1}});
  const unsigned csc_x = layer.winograd ? 1 : layer.stride_width;
  const unsigned csc_y = layer.winograd ? 1 : layer.stride_height;
  regs.set("CSC.D_CONV_STRIDE_EXT",
           {{"CONV_X_STRIDE_EXT", csc_x - 1}, {"CONV_Y_STRIDE_EXT", csc_y - 1}});
  regs.set("CSC.D_DILATION_EXT", {{"X_DILATION_EXT", layer.dilation_width - 1},
                                  {"Y_DILATION_EXT", layer.dilation_height - 1}});
  if (!layer.winograd)
    regs.set("CSC.D_ZERO_PADDING", {{"PAD_LEFT", layer.left}, {"PAD_TOP", layer.top}});
  regs.set("CSC.D_POST_Y_EXTENSION", {{"Y_EXTENSION", layer.post}});
  regs.set("CSC.D_PRA_CFG", {{"PRA_TRUNCATE", layer.pra}});

  regs.set("CDMA.D_DATAIN_FORMAT", {{"DATAIN_FORMAT", layer.image},
                                    {"PIXEL_FORMAT", layer.format},
                                    {"PIXEL_SIGN_OVERRIDE", layer.sign}});
  regs.set("CDMA.D_DATAIN_SIZE_0",
           {{"DATAIN_WIDTH", layer.width - 1}, {"DATAIN_HEIGHT", layer.height - 1}});
  regs.set("CDMA.D_DATAIN_SIZE_1", {{"DATAIN_CHANNEL", layer.channels - 1}});
  regs.set("CDMA.D_DATAIN_SIZE_EXT_0",
           {{"DATAIN_WIDTH_EXT", ext_width - 1}, {"DATAIN_HEIGHT_EXT", csc_height - 1}});
  regs.set("CDMA.D_PIXEL_OFFSET", {{"PIXEL_X_OFFSET", layer.x_offset}});
  regs.set("CDMA.D_DAIN_RAM_TYPE", {{"DATAIN_RAM_TYPE", 1}});
  regs.write("CDMA.D_DAIN_ADDR_LOW_0", static_cast<std::uint32_t>(layer.input.base));
  regs.write("CDMA.D_DAIN_ADDR_LOW_1", static_cast<std::uint32_t>(layer.second.base));
  regs.write("CDMA.D_LINE_STRIDE", static_cast<std::uint32_t>(layer.input.line));
  regs.write("CDMA.D_LINE_UV_STRIDE", static_cast<std::uint32_t>(layer.second.line));
  regs.write("CDMA.D_SURF_STRIDE", static_cast<std::uint32_t>(layer.input.surface));
  const bool line_packed = !layer.image && layer.input.line == layer.width * layer.hw->atom;
  regs.set("CDMA.D_DAIN_MAP",
           {{"LINE_PACKED", line_packed},
            {"SURF_PACKED",
             !layer.image && layer.input.surface == layer.width * layer.height * layer.hw->atom}});
  regs.write("CDMA.D_BATCH_STRIDE", static_cast<std::uint32_t>(layer.batch_stride));
  regs.set("CDMA.D_FETCH_GRAIN", {{"GRAINS", 0}});
  regs.set("CDMA.D_WEIGHT_SIZE_0",
           {{"BYTE_PER_KERNEL",
             static_cast<std::uint32_t>(layer.kernel_elements() * layer.bytes() - 1)}});
  regs.set("CDMA.D_WEIGHT_SIZE_1", {{"WEIGHT_KERNEL", layer.kernels - 1}});
  regs.set("CDMA.D_WEIGHT_RAM_TYPE", {{"WEIGHT_RAM_TYPE", 1}});
  regs.write("CDMA.D_WEIGHT_ADDR_LOW", kWeights);
  regs.write("CDMA.D_WMB_ADDR_LOW", kMask);
  regs.write("CDMA.D_WGS_ADDR_LOW", kGroups);
  regs.set("CDMA.D_CONV_STRIDE",
           {{"CONV_X_STRIDE", layer.stride_width - 1}, {"CONV_Y_STRIDE", layer.stride_height - 1}});
  regs.set("CDMA.D_ZERO_PADDING", {{"PAD_LEFT", layer.left},
                                   {"PAD_RIGHT", layer.right},
                                   {"PAD_TOP", layer.top},
                                   {"PAD_BOTTOM", layer.bottom}});
  regs.set("CDMA.D_MEAN_FORMAT", {{"MEAN_FORMAT", layer.mean}});
  const auto word = [](std::int16_t value) {
    return static_cast<std::uint32_t>(static_cast<std::uint16_t>(value));
  };
  regs.set("CDMA.D_MEAN_GLOBAL_0",
           {{"MEAN_RY", word(layer.means[0])}, {"MEAN_GU", word(layer.means[1])}});
  regs.set("CDMA.D_MEAN_GLOBAL_1",
           {{"MEAN_BV", word(layer.means[2])}, {"MEAN_AX", word(layer.means[3])}});
  regs.set("CDMA.D_CVT_CFG", {{"CVT_EN", layer.convert}, {"CVT_TRUNCATE", layer.truncate}});
  regs.set("CDMA.D_CVT_OFFSET", {{"CVT_OFFSET", word(layer.offset)}});
  regs.set("CDMA.D_CVT_SCALE", {{"CVT_SCALE", word(layer.scale)}});
  regs.set("CDMA.D_NAN_FLUSH_TO_ZERO", {{"NAN_TO_ZERO", layer.flush}});
}

void enable(Registers& regs) {
  for (const char* unit : {"SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"})
    regs.write(std::string(unit) + ".D_OP_ENABLE", 1);
}

}  // namespace nvdla::test
