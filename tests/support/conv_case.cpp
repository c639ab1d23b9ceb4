// SPDX-License-Identifier: MIT
#include "support/conv_case.hpp"

#include <algorithm>
#include <cctype>
#include <functional>

#include "model/float.hpp"
#include "support/half_reference.hpp"
#include "support/integers.hpp"

namespace nvdla::test {
namespace {

using model::Ram;

constexpr std::uint64_t kInput = 0x8000'0000, kSecond = 0x8100'0000, kOutput = 0x8200'0000,
                        kWeights = 0x8300'0000, kMask = 0x8400'0000, kGroups = 0x8500'0000;

std::int64_t as_integer(std::uint16_t pattern, Number number) {
  return number == Number::kInt8 ? static_cast<std::int64_t>(static_cast<std::int8_t>(pattern))
                                 : static_cast<std::int16_t>(pattern);
}

bool is_infinite(std::uint16_t value) { return (value & 0x7fff) == 0x7c00; }

// To nearest even, from an integer of 17 bits.
std::uint16_t half_of(std::int64_t value) {
  if (value == 0) return 0;
  const std::uint16_t sign = value < 0 ? 0x8000 : 0;
  std::int64_t magnitude = value < 0 ? -value : value;
  int exponent = 25;
  std::int64_t unit = 1;
  while (magnitude / unit >= 2048) {
    unit *= 2;
    ++exponent;
  }
  std::int64_t mantissa = magnitude / unit;
  const std::int64_t rest = magnitude % unit;
  if (rest * 2 > unit || (rest * 2 == unit && mantissa % 2 != 0)) ++mantissa;
  while (mantissa < 1024) {
    mantissa *= 2;
    --exponent;
  }
  if (mantissa == 2048) {
    mantissa = 1024;
    ++exponent;
  }
  if (exponent > 30) return static_cast<std::uint16_t>(sign | 0x7bff);
  return static_cast<std::uint16_t>(sign | exponent << 10 | (mantissa & 0x3ff));
}

struct Component {
  unsigned channel, bits;
};

// Lowest address or bit first.
std::vector<Component> components(const std::string& word) {
  std::vector<Component> result;
  for (std::size_t i = 0; i < word.size();) {
    const char letter = word[i++];
    unsigned bits = 0;
    while (i < word.size() && std::isdigit(static_cast<unsigned char>(word[i])) != 0)
      bits = bits * 10 + static_cast<unsigned>(word[i++] - '0');
    const std::string order = "RGBAYUVX";
    result.push_back({static_cast<unsigned>(order.find(letter)) % 4, bits});
  }
  std::reverse(result.begin(), result.end());
  return result;
}

struct Plane {
  std::vector<Component> parts;
  unsigned bytes = 0;  // of a pixel
  bool packed = false;
};

std::vector<Plane> planes(const std::string& format) {
  std::string name = format.substr(2);
  for (const char* suffix : {"_N444", "_I", "_F"}) {
    const auto at = name.rfind(suffix);
    if (at != std::string::npos) name.resize(at);
  }
  std::vector<Plane> result;
  const auto split = name.find("___");
  for (const std::string& word :
       split == std::string::npos
           ? std::vector<std::string>{name}
           : std::vector<std::string>{name.substr(0, split), name.substr(split + 3)}) {
    Plane plane{components(word), 0, false};
    for (const Component& part : plane.parts) plane.packed |= part.bits == 2;
    for (const Component& part : plane.parts) plane.bytes += part.bits == 8 ? 1 : 2;
    if (plane.packed) plane.bytes = 4;
    result.push_back(plane);
  }
  return result;
}

std::uint64_t load_word(const std::vector<std::byte>& memory, std::uint64_t at, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i)
    value |= std::to_integer<std::uint64_t>(memory.at(at + i)) << (8 * i);
  return value;
}

// Channel of a pixel as a 16-bit container.
std::uint16_t pixel_channel(const std::vector<Plane>& format,
                            const std::vector<std::byte> memory[2], const std::uint64_t line[2],
                            const std::uint64_t at[2], unsigned channel) {
  for (std::size_t p = 0; p < format.size(); ++p) {
    unsigned bit = 0;
    const std::uint64_t word = load_word(memory[p], line[p] + at[p], format[p].bytes);
    for (const Component& part : format[p].parts) {
      const unsigned size = format[p].packed ? part.bits : part.bits == 8 ? 8 : 16;
      if (part.channel == channel) {
        const auto value = static_cast<std::uint16_t>(word >> bit & ((1u << size) - 1));
        return format[p].packed ? static_cast<std::uint16_t>(value << (16 - size)) : value;
      }
      bit += size;
    }
  }
  return 0;
}

std::uint16_t converted(const ConvCase& layer, std::uint16_t raw, unsigned channel) {
  if (!layer.convert || layer.in == Number::kFp16) return raw;
  Wide x = raw;
  if (!layer.image || layer.sign) x = as_integer(raw, layer.in);
  const Wide off = layer.image && layer.mean ? layer.means[channel] : layer.offset;
  const Wide value = saturate(round_shift((x - off) * layer.scale, layer.truncate), 17);
  if (layer.proc == Number::kFp16) return half_of(static_cast<std::int64_t>(value));
  return static_cast<std::uint16_t>(saturate(value, layer.proc == Number::kInt8 ? 8 : 16));
}

// Random numbers that say something in every format.
std::vector<std::byte> random_bytes(std::mt19937_64& random, std::uint64_t size, bool half) {
  std::vector<std::byte> bytes(size);
  const unsigned kind = static_cast<unsigned>(random() % 4);
  for (std::uint64_t i = 0; i + 1 < size; i += 2) {
    auto value = static_cast<std::uint16_t>(random());
    if (half) {
      if (kind < 3)
        value = static_cast<std::uint16_t>((value & 0x8fff) | (8 + random() % 12) << 10);
      if ((value & 0x7c00) == 0x7c00) value &= 0xbfff;
      if (kind == 1 && random() % 2000 == 0) value |= 0x7c01;
      if (kind == 1 && random() % 200 == 0) value = 0x7c00;
      if (random() % 16 == 0) value &= 0x8000;
    }
    bytes[i] = static_cast<std::byte>(value);
    bytes[i + 1] = static_cast<std::byte>(value >> 8);
  }
  return bytes;
}

// Calls place(kernel, row, column or Winograd position, channel) in the order of the stream.
void emit(const ConvCase& layer,
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

// B^T d B in fp17, columns first, and back to fp16. The primitives have tests of their own.
std::vector<std::int64_t> half_tile(
    const std::function<std::uint16_t(unsigned, unsigned)>& element) {
  using model::fp::Fp17;
  std::uint32_t d[4][4];
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = 0; j < 4; ++j) d[i][j] = model::fp::widen<Fp17>(element(i, j));
  const auto pass = [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t e,
                       std::uint32_t* out[4]) {
    *out[0] = model::fp::sub<Fp17>(a, c);
    *out[1] = model::fp::add<Fp17>(b, c);
    *out[2] = model::fp::sub<Fp17>(c, b);
    *out[3] = model::fp::sub<Fp17>(b, e);
  };
  for (unsigned j = 0; j < 4; ++j) {
    std::uint32_t* out[4] = {&d[0][j], &d[1][j], &d[2][j], &d[3][j]};
    pass(d[0][j], d[1][j], d[2][j], d[3][j], out);
  }
  for (auto& row : d) {
    std::uint32_t* out[4] = {&row[0], &row[1], &row[2], &row[3]};
    pass(row[0], row[1], row[2], row[3], out);
  }
  std::vector<std::int64_t> tile;
  for (const auto& row : d)
    for (const std::uint32_t one : row) tile.push_back(model::fp::narrow<Fp17>(one));
  return tile;
}

}  // namespace

std::string pixel_format_name(unsigned code) {
  static const char* const kNames[] = {"T_R8",
                                       "T_R10",
                                       "T_R12",
                                       "T_R16",
                                       "T_R16_I",
                                       "T_R16_F",
                                       "T_A16B16G16R16",
                                       "T_X16B16G16R16",
                                       "T_A16B16G16R16_F",
                                       "T_A16Y16U16V16",
                                       "T_V16U16Y16A16",
                                       "T_A16Y16U16V16_F",
                                       "T_A8B8G8R8",
                                       "T_A8R8G8B8",
                                       "T_B8G8R8A8",
                                       "T_R8G8B8A8",
                                       "T_X8B8G8R8",
                                       "T_X8R8G8B8",
                                       "T_B8G8R8X8",
                                       "T_R8G8B8X8",
                                       "T_A2B10G10R10",
                                       "T_A2R10G10B10",
                                       "T_B10G10R10A2",
                                       "T_R10G10B10A2",
                                       "T_A2Y10U10V10",
                                       "T_V10U10Y10A2",
                                       "T_A8Y8U8V8",
                                       "T_V8U8Y8A8",
                                       "T_Y8___U8V8_N444",
                                       "T_Y8___V8U8_N444",
                                       "T_Y10___U10V10_N444",
                                       "T_Y10___V10U10_N444",
                                       "T_Y12___U12V12_N444",
                                       "T_Y12___V12U12_N444",
                                       "T_Y16___U16V16_N444",
                                       "T_Y16___V16U16_N444"};
  return kNames[code];
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
  return (left + width + right - ((kernel_width - 1) * dilation_x + 1)) / stride_x + 1;
}

unsigned ConvCase::out_height() const {
  if (winograd) return ext_height() - 4;
  return (top + height + bottom - ((kernel_height - 1) * dilation_y + 1)) / stride_y + 1;
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

void finish(ConvCase& layer, std::mt19937_64& random, model::Memory& memory) {
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
  for (std::size_t i = 0; i < layer.weights.size(); ++i) {
    layer.weights[i] = static_cast<std::uint16_t>(load_word(raw, i * 2, layer.bytes()));
    if (layer.compressed && random() % 4 >= density) layer.weights[i] = 0;
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
  const unsigned csc_x = layer.winograd ? 1 : layer.stride_x;
  const unsigned csc_y = layer.winograd ? 1 : layer.stride_y;
  regs.set("CSC.D_CONV_STRIDE_EXT",
           {{"CONV_X_STRIDE_EXT", csc_x - 1}, {"CONV_Y_STRIDE_EXT", csc_y - 1}});
  regs.set("CSC.D_DILATION_EXT",
           {{"X_DILATION_EXT", layer.dilation_x - 1}, {"Y_DILATION_EXT", layer.dilation_y - 1}});
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
           {{"CONV_X_STRIDE", layer.stride_x - 1}, {"CONV_Y_STRIDE", layer.stride_y - 1}});
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

ConvResult reference(const ConvCase& layer, const model::Memory& memory, bool flush_weights) {
  ConvResult result;
  const auto count = [](std::uint16_t value, std::uint32_t& nans, std::uint32_t& infinities) {
    nans += is_nan(value);
    infinities += is_infinite(value);
  };
  const auto flushed = [&](std::uint16_t value) {
    return layer.flush && layer.in == Number::kFp16 && is_nan(value) ? std::uint16_t{0} : value;
  };
  const bool half = layer.proc == Number::kFp16;
  // The padded input, lanes of whole atoms for Winograd.
  const unsigned pw = layer.left + layer.width + layer.right;
  const unsigned ph = layer.top + layer.height + layer.bottom;
  const unsigned lanes = layer.winograd ? layer.aligned_channels() : layer.channels;
  std::vector<std::uint16_t> input(std::size_t{layer.batches} * pw * ph * lanes, layer.pad_value);
  const auto at = [&](unsigned b, unsigned y, unsigned x, unsigned c) -> std::uint16_t& {
    return input[((std::size_t{b} * ph + y) * pw + x) * lanes + c];
  };
  if (layer.image) {
    const auto format = planes(layer.format_name);
    const std::uint64_t strides[2] = {layer.input.line, layer.second.line};
    const std::vector<std::byte> bytes[2] = {
        memory.read(Ram::kPrimary, kInput, strides[0] * layer.height),
        memory.read(Ram::kPrimary, kSecond, strides[1] * layer.height)};
    for (unsigned y = 0; y < layer.height; ++y)
      for (unsigned x = 0; x < layer.width; ++x) {
        std::uint64_t lines[2], offsets[2];
        for (std::size_t p = 0; p < format.size(); ++p) {
          lines[p] = y * strides[p];
          const unsigned pixels = layer.hw->atom / format[p].bytes;
          offsets[p] = std::uint64_t{layer.x_offset % pixels + x} * format[p].bytes;
        }
        for (unsigned c = 0; c < layer.channels; ++c) {
          const std::uint16_t raw = pixel_channel(format, bytes, lines, offsets, c);
          if (layer.in == Number::kFp16) count(raw, result.nan_data, result.inf_data);
          at(0, layer.top + y, layer.left + x, c) = converted(layer, flushed(raw), c);
        }
      }
  } else {
    const unsigned bytes = layer.bytes();
    const unsigned column = layer.hw->atom / bytes;
    const auto cube = memory.read(Ram::kPrimary, kInput, layer.batches * layer.batch_stride);
    for (unsigned b = 0; b < layer.batches; ++b)
      for (unsigned y = 0; y < layer.height; ++y)
        for (unsigned x = 0; x < layer.width; ++x)
          for (unsigned c = 0; c < layer.aligned_channels(); ++c) {
            const auto raw = static_cast<std::uint16_t>(load_word(
                cube,
                b * layer.batch_stride + c / column * layer.input.surface + y * layer.input.line +
                    std::uint64_t{x} * layer.hw->atom + std::uint64_t{c % column} * bytes,
                bytes));
            if (layer.in == Number::kFp16) count(raw, result.nan_data, result.inf_data);
            if (c < lanes)
              at(b, layer.top + y, layer.left + x, c) = converted(layer, flushed(raw), 0);
          }
    if (layer.winograd && layer.in == Number::kFp16)
      for (unsigned i = 0; i < (pw * ph - layer.width * layer.height) * lanes; ++i)
        count(layer.pad_value, result.nan_data, result.inf_data);
  }

  // [kernel][row][column or position][channel].
  const unsigned channels = layer.weight_channels();
  const unsigned columns = layer.winograd ? 16 : layer.image ? 1 : layer.kernel_width;
  const unsigned rows = layer.winograd ? 1 : layer.kernel_height;
  std::vector<std::uint16_t> weights(layer.weights.size());
  std::size_t next = 0;
  const auto index = [&](unsigned k, unsigned r, unsigned s, unsigned c) {
    return ((std::size_t{k} * rows + r) * columns + s) * channels + c;
  };
  emit(layer, [&](unsigned k, unsigned r, unsigned s, unsigned c) {
    std::uint16_t value = layer.weights.at(next++);
    if (half) count(value, result.nan_weights, result.inf_weights);
    if (flush_weights && half && layer.flush && is_nan(value)) value = 0;
    weights.at(index(k, r, s, c)) = value;
  });

  const auto deliver = [&](Wide sum) {
    const Wide rounded = round_shift(sum, layer.clip);
    const Wide value = saturate(rounded, 32);
    result.saturated += value != rounded;
    return static_cast<std::int32_t>(value);
  };
  const unsigned ow = layer.out_width(), oh = layer.out_height();
  result.values.resize(std::size_t{layer.batches} * oh * ow * layer.kernels);
  const auto value = [&](unsigned b, unsigned y, unsigned x, unsigned k) -> std::int32_t& {
    return result.values[((std::size_t{b} * oh + y) * ow + x) * layer.kernels + k];
  };

  if (layer.winograd) {
    static constexpr int kB[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
    static constexpr int kA[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
    for (unsigned y = 0; y < oh; y += 2)
      for (unsigned x = 0; x < ow; x += 2) {
        // B^T d B of every channel.
        std::vector<std::vector<std::int64_t>> tile(channels, std::vector<std::int64_t>(16));
        for (unsigned c = 0; c < channels; ++c) {
          const unsigned fold = c / lanes;
          const auto d = [&](unsigned i, unsigned j) {
            return as_integer(at(0, (y + i) * layer.stride_y + fold / layer.stride_x,
                                 (x + j) * layer.stride_x + fold % layer.stride_x, c % lanes),
                              layer.proc);
          };
          if (half) {
            tile[c] = half_tile([&](unsigned i, unsigned j) {
              return at(0, (y + i) * layer.stride_y + fold / layer.stride_x,
                        (x + j) * layer.stride_x + fold % layer.stride_x, c % lanes);
            });
            continue;
          }
          for (unsigned i = 0; i < 4; ++i)
            for (unsigned j = 0; j < 4; ++j) {
              std::int64_t sum = 0;
              for (unsigned a = 0; a < 4; ++a)
                for (unsigned b = 0; b < 4; ++b) sum += kB[i][a] * d(a, b) * kB[j][b];
              tile[c][i * 4 + j] = static_cast<std::int64_t>(
                  saturate(round_shift(sum, layer.pra), layer.proc == Number::kInt8 ? 8 : 16));
            }
        }
        for (unsigned k = 0; k < layer.kernels; ++k)
          for (unsigned i = 0; i < 2; ++i)
            for (unsigned j = 0; j < 2; ++j) {
              if (half) {
                // Steps of four channels at sixteen positions, one exponent for all.
                RefAccumulator accumulator;
                for (unsigned c0 = 0; c0 < channels; c0 += 4) {
                  std::vector<std::uint16_t> data, factors;
                  for (unsigned p = 0; p < 16; ++p)
                    for (unsigned c = c0; c < c0 + 4; ++c) {
                      data.push_back(static_cast<std::uint16_t>(tile[c][p]));
                      factors.push_back(weights[index(k, 0, p, c)]);
                    }
                  const RefStep step = multiply_step(data, factors);
                  std::int64_t sum = 0;
                  for (std::size_t lane = 0; lane < step.products.size(); ++lane)
                    sum += kA[i][lane / 16] * kA[j][lane / 4 % 4] * step.products[lane];
                  accumulator.add(step, sum);
                }
                value(0, y + i, x + j, k) = static_cast<std::int32_t>(accumulator.fp32());
                continue;
              }
              Wide sum = 0;
              for (unsigned c = 0; c < channels; ++c)
                for (unsigned a = 0; a < 4; ++a)
                  for (unsigned b = 0; b < 4; ++b)
                    sum += static_cast<Wide>(kA[i][a] * kA[j][b]) * tile[c][a * 4 + b] *
                           as_integer(weights[index(k, 0, a * 4 + b, c)], layer.proc);
              value(0, y + i, x + j, k) = deliver(sum);
            }
      }
    return result;
  }

  // Where the lanes of each step lie: row, column, channels.
  struct Lane {
    unsigned r, s, c;
  };
  std::vector<std::vector<Lane>> steps;
  if (layer.post != 0) {
    for (unsigned r = 0; r < rows; ++r) {
      if (r % (1u << layer.post) == 0) steps.emplace_back();
      for (unsigned c = 0; c < channels; ++c) steps.back().push_back({r, 0, c});
    }
  } else {
    for (unsigned block = 0; block < channels; block += layer.hw->atomic_c)
      for (unsigned r = 0; r < rows; ++r)
        for (unsigned s = 0; s < columns; ++s) {
          steps.emplace_back();
          for (unsigned c = block; c < std::min(channels, block + layer.hw->atomic_c); ++c)
            steps.back().push_back({r, s, c});
        }
  }
  for (unsigned b = 0; b < layer.batches; ++b)
    for (unsigned y = 0; y < oh; ++y)
      for (unsigned x = 0; x < ow; ++x)
        for (unsigned k = 0; k < layer.kernels; ++k) {
          const auto datum = [&](const Lane& lane) {
            // Channels of an image's kernel row run over its columns.
            const unsigned column = layer.image ? lane.c / layer.channels : lane.s;
            return at(b, y * layer.stride_y + lane.r * layer.dilation_y,
                      x * layer.stride_x + column * layer.dilation_x,
                      layer.image ? lane.c % layer.channels : lane.c);
          };
          RefAccumulator accumulator;
          Wide sum = 0;
          for (const auto& step : steps) {
            std::vector<std::uint16_t> data, factors;
            for (const Lane& lane : step) {
              data.push_back(datum(lane));
              factors.push_back(weights[index(k, lane.r, lane.s, lane.c)]);
            }
            if (half) {
              accumulator.add(multiply_step(data, factors));
              continue;
            }
            for (std::size_t i = 0; i < data.size(); ++i)
              sum += static_cast<Wide>(as_integer(data[i], layer.proc)) *
                     as_integer(factors[i], layer.proc);
          }
          value(b, y, x, k) = half ? static_cast<std::int32_t>(accumulator.fp32()) : deliver(sum);
        }
  return result;
}

}  // namespace nvdla::test
