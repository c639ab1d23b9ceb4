// SPDX-License-Identifier: MIT
#include "common/layers/model_layer.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include "common/integers.hpp"

namespace nvdla::test {
namespace {

using model::Ram;

constexpr std::uint64_t kSource = 0x8000'0000;
constexpr std::uint64_t kDestination = 0x8200'0000;

void put(std::vector<std::byte>& bytes, std::int32_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i)
    bytes.push_back(static_cast<std::byte>(static_cast<std::uint32_t>(value) >> (8 * i)));
}

const model::RegisterInfo& info(std::string_view name) {
  const model::RegisterInfo* found = model::find_register(name);
  if (found == nullptr) throw std::invalid_argument("no register " + std::string(name));
  return *found;
}

const model::FieldInfo& field_info(const model::RegisterInfo& reg, std::string_view name) {
  const model::FieldInfo* found = reg.find_field(name);
  if (found == nullptr)
    throw std::invalid_argument("no field " + std::string(reg.name) + "." + std::string(name));
  return *found;
}

std::uint32_t shifted(const model::FieldInfo& field, model::RegisterMap map, std::uint32_t value) {
  const bool in_place =
      field.kind == model::FieldKind::kBytes || field.kind == model::FieldKind::kAddress;
  return (in_place ? value : value << field.lsb[map]) & field.mask(map);
}

// Surface, line, position and byte of an element of a cube.
std::uint64_t element_address(const Cube& cube, const nvdla_hw& hw, unsigned bytes, unsigned y,
                              unsigned x, unsigned c) {
  const unsigned elements = hw.atom / bytes;
  return cube.base + c / elements * cube.surface + y * cube.line + std::uint64_t{x} * hw.atom +
         std::uint64_t{c % elements} * bytes;
}

void store(model::Memory& memory, std::uint64_t address, std::int32_t value, unsigned bytes) {
  std::vector<std::byte> raw;
  put(raw, value, bytes);
  memory.load(Ram::kPrimary, address, raw);
}

// Calls place(index into RefLayer::weights) in the order of the stream.
template <typename Place>
void walk_stream(const TestLayer& layer, Place place) {
  const RefLayer& ref = layer.ref;
  const unsigned group = layer.hw->atomic_k / layer.element_bytes();
  const unsigned cube = layer.hw->atomic_c;
  for (unsigned g = 0; g < ref.kernels; g += group)
    for (unsigned cb = 0; cb < ref.channels; cb += cube)
      for (unsigned r = 0; r < ref.kernel_height; ++r)
        for (unsigned s = 0; s < ref.kernel_width; ++s)
          for (unsigned k = g; k < std::min(ref.kernels, g + group); ++k)
            for (unsigned c = cb; c < std::min(ref.channels, cb + cube); ++c)
              place(((std::size_t{k} * ref.kernel_height + r) * ref.kernel_width + s) *
                        ref.channels +
                    c);
}

bool from_memory(const RefPart& part) { return part.active && part.source != Source::kRegister; }

void load_operands(const TestLayer& layer, unsigned index, model::Memory& memory) {
  const RefX& x = layer.ref.x[index];
  const bool alu = from_memory(x.alu), mul = from_memory(x.mul);
  if (!x.active || (!alu && !mul)) return;
  const Source source = alu ? x.alu.source : x.mul.source;
  const unsigned bytes = x.two_bytes ? 2 : 1;
  const unsigned column = layer.column();
  const unsigned element = layer.operand_bytes(index);
  const unsigned positions =
      source == Source::kPerElement ? layer.ref.out_width() * layer.ref.out_height() : 1;
  for (unsigned position = 0; position < positions; ++position)
    for (unsigned lane = 0; lane < layer.ref.lanes; ++lane) {
      const std::size_t at = std::size_t{position} * layer.ref.lanes + lane;
      std::vector<std::byte> raw;
      if (alu) put(raw, x.alu.values[at], bytes);  // the addend comes first
      if (mul) put(raw, x.mul.values[at], bytes);
      std::uint64_t address = layer.operands[index];
      if (source == Source::kPerElement) {
        address += lane / column * layer.operand_surface[index] +
                   position / layer.ref.out_width() * layer.operand_line[index] +
                   std::uint64_t{position % layer.ref.out_width()} * column * element +
                   std::uint64_t{lane % column} * element;
      } else {
        address += std::uint64_t{lane} * element;
      }
      memory.load(Ram::kPrimary, address, raw);
    }
}

}  // namespace

std::uint32_t Registers::address(std::string_view name) const {
  const auto map = static_cast<model::RegisterMap>(device_.hw().regmap);
  return model::register_address(map, info(name)).value();
}

std::uint32_t Registers::read(std::string_view name) { return device_.read(address(name)); }

std::uint32_t Registers::field(std::string_view name, std::string_view field) {
  const auto map = static_cast<model::RegisterMap>(device_.hw().regmap);
  return field_info(info(name), field).extract(map, read(name));
}

void Registers::write(std::string_view name, std::uint32_t value) {
  device_.write(address(name), value);
}

void Registers::set(std::string_view name,
                    std::initializer_list<std::pair<std::string_view, std::uint32_t>> fields) {
  const auto map = static_cast<model::RegisterMap>(device_.hw().regmap);
  std::uint32_t word = 0;
  for (const auto& [field, value] : fields)
    word |= shifted(field_info(info(name), field), map, value);
  write(name, word);
}

void Registers::change(std::string_view name, std::string_view field, std::uint32_t value) {
  const auto map = static_cast<model::RegisterMap>(device_.hw().regmap);
  const model::FieldInfo& which = field_info(info(name), field);
  write(name, (read(name) & ~which.mask(map)) | shifted(which, map, value));
}

bool TestLayer::uses_rdma() const {
  if (!ref.convolution) return true;
  return std::any_of(std::begin(ref.x), std::end(ref.x), [](const RefX& x) {
    return x.active && (from_memory(x.alu) || from_memory(x.mul));
  });
}

unsigned TestLayer::entries() const {
  const unsigned q = hw->cbuf_entry_bytes / hw->atom;
  const auto n =
      static_cast<unsigned>(ceil_div(std::uint64_t{ref.channels} * element_bytes(), hw->atom));
  const unsigned last = n % q;
  unsigned entries = n / q * ref.width;
  if (last != 0) entries += static_cast<unsigned>(ceil_div(ref.width, q / last));
  return entries;
}

unsigned TestLayer::operand_bytes(unsigned index) const {
  const RefX& x = ref.x[index];
  const unsigned components = from_memory(x.alu) && from_memory(x.mul) ? 2 : 1;
  return components * (x.two_bytes ? 2 : 1);
}

void finish_layout(TestLayer& layer, Random& random, bool gaps) {
  const std::uint64_t atom = layer.hw->atom;
  const auto gap = [&] { return gaps ? atom * static_cast<std::uint64_t>(pick(random, 0, 3)) : 0; };
  const RefLayer& ref = layer.ref;
  layer.input.base = kSource;
  layer.input.line = ref.width * atom + gap();
  layer.input.surface = ref.height * layer.input.line + gap();
  // SDP ignores the strides of a 1x1 cube.
  if (!ref.convolution && ref.width == 1 && ref.height == 1) layer.input.surface = atom;
  layer.output.base = kDestination;
  layer.output.line = ref.out_width() * atom + gap();
  layer.output.surface = ref.out_height() * layer.output.line + gap();
  layer.line_packed = layer.input.line == ref.width * atom;
  layer.surface_packed = layer.input.surface == ref.width * ref.height * atom;
  layer.grain = layer.line_packed ? static_cast<unsigned>(pick(random, 1, ref.height)) : 1;
  for (unsigned i = 0; i < 2; ++i) {
    layer.operand_line[i] = ref.out_width() * layer.column() * layer.operand_bytes(i) + gap();
    layer.operand_surface[i] = ref.out_height() * layer.operand_line[i] + gap();
  }
  if (!ref.convolution) return;
  layer.data_banks = static_cast<unsigned>(
      ceil_div(std::uint64_t{layer.entries()} * ref.height, layer.hw->cbuf_entries));
  round_weights(layer, layer.hw->weight_align);
}

std::uint64_t packed_weights(const TestLayer& layer) {
  const RefLayer& ref = layer.ref;
  return std::uint64_t{ref.kernels} * ref.kernel_width * ref.kernel_height * ref.channels *
         layer.element_bytes();
}

void round_weights(TestLayer& layer, std::uint64_t multiple) {
  layer.weight_bytes = round_up(packed_weights(layer), multiple);
  layer.weight_banks = static_cast<unsigned>(ceil_div(
      layer.weight_bytes, std::uint64_t{layer.hw->cbuf_entries} * layer.hw->cbuf_entry_bytes));
}

std::vector<std::byte> weight_stream(const TestLayer& layer) {
  std::vector<std::byte> stream;
  walk_stream(layer,
              [&](std::size_t i) { put(stream, layer.ref.weights[i], layer.element_bytes()); });
  return stream;
}

void take_stream(TestLayer& layer, std::span<const std::byte> stream) {
  std::size_t at = 0;
  walk_stream(layer, [&](std::size_t i) {
    std::uint32_t value = 0;
    for (unsigned byte = 0; byte < layer.element_bytes(); ++byte)
      value |= std::to_integer<std::uint32_t>(stream[at++]) << (8 * byte);
    layer.ref.weights[i] =
        layer.ref.wide_proc ? static_cast<std::int16_t>(value) : static_cast<std::int8_t>(value);
  });
}

void load(const TestLayer& layer, model::Memory& memory) {
  const RefLayer& ref = layer.ref;
  const unsigned lanes = ref.convolution ? ref.channels : ref.lanes;
  for (unsigned y = 0; y < ref.height; ++y)
    for (unsigned x = 0; x < ref.width; ++x)
      for (unsigned c = 0; c < lanes; ++c)
        store(memory, element_address(layer.input, *layer.hw, layer.input_bytes(), y, x, c),
              ref.input[(std::size_t{y} * ref.width + x) * lanes + c], layer.input_bytes());
  if (ref.convolution) memory.load(Ram::kPrimary, layer.weights, weight_stream(layer));
  for (unsigned i = 0; i < 2; ++i) load_operands(layer, i, memory);
}

void program(const TestLayer& layer, Registers& regs, unsigned group, unsigned rdma_group) {
  const RefLayer& ref = layer.ref;
  const unsigned proc = ref.wide_proc ? 1 : 0;
  const unsigned ow = ref.out_width(), oh = ref.out_height();
  const auto address = [&](const std::string& name, const std::string& field, std::uint64_t value) {
    regs.set(name + "_LOW", {{field + "_LOW", static_cast<std::uint32_t>(value)}});
    regs.set(name + "_HIGH", {{field + "_HIGH", static_cast<std::uint32_t>(value >> 32)}});
  };

  regs.write("SDP.S_POINTER", group);
  regs.set("SDP.D_DATA_CUBE_WIDTH", {{"WIDTH", ow - 1}});
  regs.set("SDP.D_DATA_CUBE_HEIGHT", {{"HEIGHT", oh - 1}});
  regs.set("SDP.D_DATA_CUBE_CHANNEL", {{"CHANNEL", ref.kernels - 1}});
  address("SDP.D_DST_BASE_ADDR", "DST_BASE_ADDR", layer.output.base);
  regs.write("SDP.D_DST_LINE_STRIDE", static_cast<std::uint32_t>(layer.output.line));
  regs.write("SDP.D_DST_SURFACE_STRIDE", static_cast<std::uint32_t>(layer.output.surface));
  for (unsigned i = 0; i < 2; ++i) {
    const RefX& x = ref.x[i];
    const std::string n = i == 0 ? "BS" : "BN";
    const std::string reg = "SDP.D_DP_" + n;
    regs.set(reg + "_CFG", {{n + "_BYPASS", !x.active},
                            {n + "_ALU_BYPASS", !x.alu.active},
                            {n + "_ALU_ALGO", x.algorithm},
                            {n + "_MUL_BYPASS", !x.mul.active},
                            {n + "_MUL_PRELU", x.prelu},
                            {n + "_RELU_BYPASS", !x.relu}});
    regs.set(reg + "_ALU_CFG", {{n + "_ALU_SRC", x.alu.source != Source::kRegister},
                                {n + "_ALU_SHIFT_VALUE", x.alu_shift}});
    regs.write(reg + "_ALU_SRC_VALUE", static_cast<std::uint16_t>(x.alu.value));
    regs.set(reg + "_MUL_CFG", {{n + "_MUL_SRC", x.mul.source != Source::kRegister},
                                {n + "_MUL_SHIFT_VALUE", x.mul_shift}});
    regs.write(reg + "_MUL_SRC_VALUE", static_cast<std::uint16_t>(x.mul.value));
  }
  regs.set("SDP.D_DP_EW_CFG",
           {{"EW_BYPASS", 1}, {"EW_ALU_BYPASS", 1}, {"EW_MUL_BYPASS", 1}, {"EW_LUT_BYPASS", 1}});
  regs.set("SDP.D_FEATURE_MODE_CFG", {{"FLYING_MODE", ref.convolution}});
  regs.set("SDP.D_DST_DMA_CFG", {{"DST_RAM_TYPE", 1}});
  regs.set("SDP.D_DATA_FORMAT", {{"PROC_PRECISION", proc}, {"OUT_PRECISION", ref.wide_output}});
  regs.write("SDP.D_CVT_OFFSET", static_cast<std::uint32_t>(ref.offset));
  regs.write("SDP.D_CVT_SCALE", static_cast<std::uint16_t>(ref.scale));
  regs.write("SDP.D_CVT_SHIFT", ref.shift);
  regs.set("SDP.D_PERF_ENABLE", {{"PERF_SAT_EN", 1}});

  regs.write("SDP_RDMA.S_POINTER", rdma_group);
  if (layer.uses_rdma()) {
    regs.set("SDP_RDMA.D_DATA_CUBE_WIDTH", {{"WIDTH", ow - 1}});
    regs.set("SDP_RDMA.D_DATA_CUBE_HEIGHT", {{"HEIGHT", oh - 1}});
    regs.set("SDP_RDMA.D_DATA_CUBE_CHANNEL", {{"CHANNEL", ref.kernels - 1}});
    address("SDP_RDMA.D_SRC_BASE_ADDR", "SRC_BASE_ADDR", layer.input.base);
    regs.write("SDP_RDMA.D_SRC_LINE_STRIDE", static_cast<std::uint32_t>(layer.input.line));
    regs.write("SDP_RDMA.D_SRC_SURFACE_STRIDE", static_cast<std::uint32_t>(layer.input.surface));
    for (unsigned i = 0; i < 2; ++i) {
      const RefX& x = ref.x[i];
      const bool alu = x.active && from_memory(x.alu), mul = x.active && from_memory(x.mul);
      const std::string n = i == 0 ? "BRDMA" : "NRDMA";
      const std::string m = i == 0 ? "BS" : "BN";
      const Source source = alu ? x.alu.source : x.mul.source;
      regs.set("SDP_RDMA.D_" + n + "_CFG", {{n + "_DISABLE", !alu && !mul},
                                            {n + "_DATA_USE", alu && mul ? 2u
                                                              : alu      ? 1u
                                                                         : 0u},
                                            {n + "_DATA_SIZE", x.two_bytes},
                                            {n + "_DATA_MODE", source == Source::kPerElement},
                                            {n + "_RAM_TYPE", 1}});
      address("SDP_RDMA.D_" + m + "_BASE_ADDR", m + "_BASE_ADDR", layer.operands[i]);
      regs.write("SDP_RDMA.D_" + m + "_LINE_STRIDE",
                 static_cast<std::uint32_t>(layer.operand_line[i]));
      regs.write("SDP_RDMA.D_" + m + "_SURFACE_STRIDE",
                 static_cast<std::uint32_t>(layer.operand_surface[i]));
    }
    regs.set("SDP_RDMA.D_ERDMA_CFG", {{"ERDMA_DISABLE", 1}});
    regs.set("SDP_RDMA.D_FEATURE_MODE_CFG", {{"FLYING_MODE", ref.convolution},
                                             {"IN_PRECISION", ref.wide_input},
                                             {"PROC_PRECISION", proc},
                                             {"OUT_PRECISION", ref.wide_output}});
    regs.set("SDP_RDMA.D_SRC_DMA_CFG", {{"SRC_RAM_TYPE", 1}});
  }
  if (!ref.convolution) return;

  const unsigned csc_height = ref.height;
  const unsigned height = layer.fetched_height != 0 ? layer.fetched_height : ref.height;
  for (const char* unit : {"CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"})
    regs.write(std::string(unit) + ".S_POINTER", group);
  regs.set("CACC.D_MISC_CFG", {{"PROC_PRECISION", proc}});
  regs.set("CACC.D_DATAOUT_SIZE_0", {{"DATAOUT_WIDTH", ow - 1}, {"DATAOUT_HEIGHT", oh - 1}});
  regs.set("CACC.D_DATAOUT_SIZE_1", {{"DATAOUT_CHANNEL", ref.kernels - 1}});
  regs.set("CACC.D_CLIP_CFG", {{"CLIP_TRUNCATE", ref.clip}});
  regs.set("CMAC_A.D_MISC_CFG", {{"PROC_PRECISION", proc}});
  regs.set("CMAC_B.D_MISC_CFG", {{"PROC_PRECISION", proc}});
  for (const std::string unit : {"CSC", "CDMA"}) {
    regs.set(unit + ".D_MISC_CFG", {{"IN_PRECISION", proc},
                                    {"PROC_PRECISION", proc},
                                    {"DATA_REUSE", layer.data_reuse},
                                    {"WEIGHT_REUSE", layer.weight_reuse},
                                    {"SKIP_DATA_RLS", layer.keep_data},
                                    {"SKIP_WEIGHT_RLS", layer.keep_weights}});
    regs.set(unit + ".D_DATAIN_FORMAT", {});
    regs.set(unit + ".D_BATCH_NUMBER", {});
    regs.set(unit + ".D_ENTRY_PER_SLICE", {{"ENTRIES", layer.entries() - 1}});
    regs.set(unit + ".D_WEIGHT_FORMAT", {});
    regs.set(unit + ".D_WEIGHT_BYTES",
             {{"WEIGHT_BYTES", static_cast<std::uint32_t>(layer.weight_bytes)}});
    regs.set(unit + ".D_BANK",
             {{"DATA_BANK", layer.data_banks - 1}, {"WEIGHT_BANK", layer.weight_banks - 1}});
  }
  regs.set("CSC.D_DATAIN_SIZE_EXT_0",
           {{"DATAIN_WIDTH_EXT", ref.width - 1}, {"DATAIN_HEIGHT_EXT", csc_height - 1}});
  regs.set("CSC.D_DATAIN_SIZE_EXT_1", {{"DATAIN_CHANNEL_EXT", ref.channels - 1}});
  regs.set("CSC.D_WEIGHT_SIZE_EXT_0", {{"WEIGHT_WIDTH_EXT", ref.kernel_width - 1},
                                       {"WEIGHT_HEIGHT_EXT", ref.kernel_height - 1}});
  regs.set("CSC.D_WEIGHT_SIZE_EXT_1",
           {{"WEIGHT_CHANNEL_EXT", ref.channels - 1}, {"WEIGHT_KERNEL", ref.kernels - 1}});
  regs.set("CSC.D_DATAOUT_SIZE_0", {{"DATAOUT_WIDTH", ow - 1}, {"DATAOUT_HEIGHT", oh - 1}});
  regs.set("CSC.D_DATAOUT_SIZE_1", {{"DATAOUT_CHANNEL", ref.kernels - 1}});
  regs.set("CSC.D_ATOMICS", {{"ATOMICS", ow * oh - 1}});
  regs.set("CSC.D_RELEASE",
           {{"RLS_SLICES", (layer.release != 0 ? layer.release : csc_height) - 1}});
  regs.set("CSC.D_CONV_STRIDE_EXT", {{"CONV_X_STRIDE_EXT", ref.stride_width - 1},
                                     {"CONV_Y_STRIDE_EXT", ref.stride_height - 1}});
  regs.set("CSC.D_DILATION_EXT", {{"X_DILATION_EXT", ref.dilation_width - 1},
                                  {"Y_DILATION_EXT", ref.dilation_height - 1}});
  regs.set("CSC.D_ZERO_PADDING", {{"PAD_LEFT", ref.left}, {"PAD_TOP", ref.top}});
  regs.set("CSC.D_ZERO_PADDING_VALUE", {{"PAD_VALUE", static_cast<std::uint16_t>(ref.pad_value)}});

  regs.set("CDMA.D_DATAIN_SIZE_0",
           {{"DATAIN_WIDTH", ref.width - 1}, {"DATAIN_HEIGHT", height - 1}});
  regs.set("CDMA.D_DATAIN_SIZE_1", {{"DATAIN_CHANNEL", ref.channels - 1}});
  regs.set("CDMA.D_DAIN_RAM_TYPE", {{"DATAIN_RAM_TYPE", 1}});
  regs.write("CDMA.D_DAIN_ADDR_LOW_0", static_cast<std::uint32_t>(layer.input.base));
  regs.write("CDMA.D_DAIN_ADDR_HIGH_0", static_cast<std::uint32_t>(layer.input.base >> 32));
  regs.write("CDMA.D_LINE_STRIDE", static_cast<std::uint32_t>(layer.input.line));
  regs.write("CDMA.D_SURF_STRIDE", static_cast<std::uint32_t>(layer.input.surface));
  regs.set("CDMA.D_DAIN_MAP",
           {{"LINE_PACKED", layer.line_packed}, {"SURF_PACKED", layer.surface_packed}});
  regs.set("CDMA.D_FETCH_GRAIN", {{"GRAINS", std::min(layer.grain, height) - 1}});
  regs.set("CDMA.D_WEIGHT_SIZE_0",
           {{"BYTE_PER_KERNEL",
             ref.kernel_width * ref.kernel_height * ref.channels * layer.element_bytes() - 1}});
  regs.set("CDMA.D_WEIGHT_SIZE_1", {{"WEIGHT_KERNEL", ref.kernels - 1}});
  regs.set("CDMA.D_WEIGHT_RAM_TYPE", {{"WEIGHT_RAM_TYPE", 1}});
  address("CDMA.D_WEIGHT_ADDR", "WEIGHT_ADDR", layer.weights);
  regs.set("CDMA.D_CONV_STRIDE",
           {{"CONV_X_STRIDE", ref.stride_width - 1}, {"CONV_Y_STRIDE", ref.stride_height - 1}});
  regs.set("CDMA.D_ZERO_PADDING", {{"PAD_LEFT", ref.left},
                                   {"PAD_RIGHT", ref.right},
                                   {"PAD_TOP", ref.top},
                                   {"PAD_BOTTOM", ref.bottom}});
  regs.set("CDMA.D_CVT_CFG", {});
}

void enable(const TestLayer& layer, Registers& regs, bool fetch_first) {
  if (layer.uses_rdma()) regs.write("SDP_RDMA.D_OP_ENABLE", 1);
  regs.write("SDP.D_OP_ENABLE", 1);
  if (!layer.ref.convolution) return;
  for (const char* unit : {"CACC", "CMAC_A", "CMAC_B"})
    regs.write(std::string(unit) + ".D_OP_ENABLE", 1);
  for (const bool fetch : {fetch_first, !fetch_first})
    regs.write(fetch ? "CDMA.D_OP_ENABLE" : "CSC.D_OP_ENABLE", 1);
}

std::map<std::uint64_t, std::uint8_t> expected_bytes(const TestLayer& layer,
                                                     const RefResult& result) {
  std::map<std::uint64_t, std::uint8_t> bytes;
  const RefLayer& ref = layer.ref;
  Cube cube = layer.output;
  if (ref.out_width() == 1 && ref.out_height() == 1) cube.surface = layer.hw->atom;
  std::size_t at = 0;
  for (unsigned y = 0; y < ref.out_height(); ++y)
    for (unsigned x = 0; x < ref.out_width(); ++x)
      for (unsigned lane = 0; lane < ref.lanes; ++lane, ++at)
        for (unsigned i = 0; i < layer.output_bytes(); ++i)
          bytes[element_address(cube, *layer.hw, layer.output_bytes(), y, x, lane) + i] =
              static_cast<std::uint8_t>(static_cast<std::uint32_t>(result.output[at]) >> (8 * i));
  return bytes;
}

namespace {

// Sometimes at a limit.
std::int32_t value(Random& random, unsigned bits) {
  const std::int64_t high = (std::int64_t{1} << (bits - 1)) - 1;
  switch (pick(random, 0, 15)) {
    case 0:
      return 0;
    case 14:
      return static_cast<std::int32_t>(high);
    case 15:
      return static_cast<std::int32_t>(-high - 1);
    default:
      return static_cast<std::int32_t>(pick(random, -high - 1, high));
  }
}

std::vector<std::int32_t> values(Random& random, std::size_t count, unsigned bits) {
  std::vector<std::int32_t> result(count);
  Random data = random.fork();
  for (auto& one : result) one = value(data, bits);
  return result;
}

unsigned shift(Random& random, unsigned most) {
  return static_cast<unsigned>(pick(random, 0, one_in(random, 4) ? most : std::min(most, 16u)));
}

void random_x(TestLayer& layer, RefX& x, Random& random) {
  RefLayer& ref = layer.ref;
  x.active = pick(random, 0, 3) != 0;
  if (!x.active) return;
  x.alu.active = pick(random, 0, 1) != 0;
  x.mul.active = pick(random, 0, 1) != 0;
  x.algorithm = static_cast<unsigned>(pick(random, 0, 2));
  x.relu = pick(random, 0, 1) != 0;
  x.prelu = x.mul.active && one_in(random, 4);
  x.alu_shift = shift(random, 30);
  x.mul_shift = shift(random, 63);
  x.two_bytes = ref.wide_proc || pick(random, 0, 1) != 0;
  const bool single = ref.out_width() == 1 && ref.out_height() == 1;
  const auto source = static_cast<Source>(pick(random, 0, single ? 1 : 2));
  const std::size_t count =
      ref.lanes *
      (source == Source::kPerElement ? std::size_t{ref.out_width()} * ref.out_height() : 1);
  for (RefPart* part : {&x.alu, &x.mul}) {
    if (!part->active) continue;
    part->source = source;
    part->value = value(random, 16);
    part->values = values(random, count, x.two_bytes ? 16 : 8);
  }
}

}  // namespace

TestLayer random_layer(const nvdla_hw& hw, Random& random, bool convolution) {
  TestLayer layer;
  layer.hw = &hw;
  RefLayer& ref = layer.ref;
  const auto small = [&](std::int64_t high) {
    return static_cast<unsigned>(pick(random, 1, pick(random, 1, high)));
  };
  ref.first_generation = hw.regmap == NVDLA_REGMAP_NV_FULL;
  ref.convolution = convolution;
  if ((hw.features & NVDLA_HW_INT16) != 0) {
    switch (pick(random, 0, 3)) {
      case 1:
        ref.wide_output = true;
        break;
      case 2:
        ref.wide_input = ref.wide_proc = ref.wide_output = true;
        break;
      case 3:
        ref.wide_input = !convolution;
        break;  // narrowing
      default:
        break;
    }
  }
  ref.width = small(13);
  ref.height = small(13);
  ref.channels = small(one_in(random, 4) ? 140 : 40);
  const unsigned bits = ref.wide_input ? 16 : 8;
  if (convolution) {
    ref.kernels = small(70);
    ref.kernel_width = small(5);
    ref.kernel_height = small(5);
    ref.stride_width = small(4);
    ref.stride_height = small(4);
    ref.dilation_width = one_in(random, 3) ? small(3) : 1;
    ref.dilation_height = one_in(random, 3) ? small(3) : 1;
    const unsigned reach_x = (ref.kernel_width - 1) * ref.dilation_width + 1;
    const unsigned reach_y = (ref.kernel_height - 1) * ref.dilation_height + 1;
    const auto pad = [&](unsigned reach) {
      return static_cast<unsigned>(pick(random, 0, reach - 1));
    };
    ref.left = pad(reach_x);
    ref.right = pad(reach_x);
    ref.top = pad(reach_y);
    ref.bottom = pad(reach_y);
    while (ref.left + ref.width + ref.right < reach_x) ++ref.width;
    while (ref.top + ref.height + ref.bottom < reach_y) ++ref.height;
    ref.pad_value = value(random, bits);
    ref.clip = static_cast<unsigned>(pick(random, 0, 16));
    ref.input = values(random, std::size_t{ref.width} * ref.height * ref.channels, bits);
    ref.weights = values(
        random, std::size_t{ref.kernels} * ref.kernel_width * ref.kernel_height * ref.channels,
        bits);
  } else {
    ref.kernels = ref.channels;
  }
  ref.lanes = static_cast<unsigned>(round_up(ref.kernels, layer.column()));
  if (!convolution)
    ref.input = values(random, std::size_t{ref.width} * ref.height * ref.lanes, bits);
  for (RefX& x : ref.x) random_x(layer, x, random);
  if (pick(random, 0, 3) != 0) {
    ref.offset = value(random, static_cast<unsigned>(pick(random, 2, 32)));
    ref.scale = value(random, static_cast<unsigned>(pick(random, 2, 16)));
    ref.shift = shift(random, 63);
  }
  finish_layout(layer, random, pick(random, 0, 1) != 0);
  return layer;
}

}  // namespace nvdla::test
