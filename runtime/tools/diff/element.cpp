// SPDX-License-Identifier: MIT
#include "tools/diff/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "firmware/compile/nvdla_compile.h"
#include "nvdla/types/half.hpp"
#include "tools/diff/layer_registers.hpp"

namespace nvdla::compare {
namespace {

struct FieldName {
  const char* reg;
  const char* field;
};

// The registers with which a client walks through a cube. Sizes in them are one less.
struct CubeRegisters {
  std::uint32_t dma;
  const char* low;
  const char* high;
  const char* line;
  const char* surface;
  FieldName width, height, channels;
  FieldName precision;
  const char* batch;   // stride, or nullptr
  bool packed_single;  // the strides of a cube of one position are ignored
};

constexpr FieldName kSdpIn = {"SDP_RDMA.D_FEATURE_MODE_CFG", "IN_PRECISION"};
constexpr CubeRegisters kCubes[] = {
    {NVDLA_DMA_CDMA_DATA,
     "CDMA.D_DAIN_ADDR_LOW_0",
     "CDMA.D_DAIN_ADDR_HIGH_0",
     "CDMA.D_LINE_STRIDE",
     "CDMA.D_SURF_STRIDE",
     {"CDMA.D_DATAIN_SIZE_0", "DATAIN_WIDTH"},
     {"CDMA.D_DATAIN_SIZE_0", "DATAIN_HEIGHT"},
     {"CDMA.D_DATAIN_SIZE_1", "DATAIN_CHANNEL"},
     {"CDMA.D_MISC_CFG", "IN_PRECISION"},
     "CDMA.D_BATCH_STRIDE",
     false},
    {NVDLA_DMA_SDP_RDMA,
     "SDP_RDMA.D_SRC_BASE_ADDR_LOW",
     "SDP_RDMA.D_SRC_BASE_ADDR_HIGH",
     "SDP_RDMA.D_SRC_LINE_STRIDE",
     "SDP_RDMA.D_SRC_SURFACE_STRIDE",
     {"SDP_RDMA.D_DATA_CUBE_WIDTH", "WIDTH"},
     {"SDP_RDMA.D_DATA_CUBE_HEIGHT", "HEIGHT"},
     {"SDP_RDMA.D_DATA_CUBE_CHANNEL", "CHANNEL"},
     kSdpIn,
     nullptr,
     true},
    {NVDLA_DMA_SDP_WDMA,
     "SDP.D_DST_BASE_ADDR_LOW",
     "SDP.D_DST_BASE_ADDR_HIGH",
     "SDP.D_DST_LINE_STRIDE",
     "SDP.D_DST_SURFACE_STRIDE",
     {"SDP.D_DATA_CUBE_WIDTH", "WIDTH"},
     {"SDP.D_DATA_CUBE_HEIGHT", "HEIGHT"},
     {"SDP.D_DATA_CUBE_CHANNEL", "CHANNEL"},
     {"SDP.D_DATA_FORMAT", "OUT_PRECISION"},
     "SDP.D_DST_BATCH_STRIDE",
     true},
    {NVDLA_DMA_PDP_RDMA,
     "PDP_RDMA.D_SRC_BASE_ADDR_LOW",
     "PDP_RDMA.D_SRC_BASE_ADDR_HIGH",
     "PDP_RDMA.D_SRC_LINE_STRIDE",
     "PDP_RDMA.D_SRC_SURFACE_STRIDE",
     {"PDP_RDMA.D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH"},
     {"PDP_RDMA.D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT"},
     {"PDP_RDMA.D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL"},
     {"PDP_RDMA.D_DATA_FORMAT", "INPUT_DATA"},
     nullptr,
     false},
    {NVDLA_DMA_PDP_WDMA,
     "PDP.D_DST_BASE_ADDR_LOW",
     "PDP.D_DST_BASE_ADDR_HIGH",
     "PDP.D_DST_LINE_STRIDE",
     "PDP.D_DST_SURFACE_STRIDE",
     {"PDP.D_DATA_CUBE_OUT_WIDTH", "CUBE_OUT_WIDTH"},
     {"PDP.D_DATA_CUBE_OUT_HEIGHT", "CUBE_OUT_HEIGHT"},
     {"PDP.D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL"},
     {"PDP.D_DATA_FORMAT", "INPUT_DATA"},
     nullptr,
     false},
    {NVDLA_DMA_CDP_RDMA,
     "CDP_RDMA.D_SRC_BASE_ADDR_LOW",
     "CDP_RDMA.D_SRC_BASE_ADDR_HIGH",
     "CDP_RDMA.D_SRC_LINE_STRIDE",
     "CDP_RDMA.D_SRC_SURFACE_STRIDE",
     {"CDP_RDMA.D_DATA_CUBE_WIDTH", "WIDTH"},
     {"CDP_RDMA.D_DATA_CUBE_HEIGHT", "HEIGHT"},
     {"CDP_RDMA.D_DATA_CUBE_CHANNEL", "CHANNEL"},
     {"CDP_RDMA.D_DATA_FORMAT", "INPUT_DATA"},
     nullptr,
     false},
    {NVDLA_DMA_CDP_WDMA,
     "CDP.D_DST_BASE_ADDR_LOW",
     "CDP.D_DST_BASE_ADDR_HIGH",
     "CDP.D_DST_LINE_STRIDE",
     "CDP.D_DST_SURFACE_STRIDE",
     {"CDP_RDMA.D_DATA_CUBE_WIDTH", "WIDTH"},
     {"CDP_RDMA.D_DATA_CUBE_HEIGHT", "HEIGHT"},
     {"CDP_RDMA.D_DATA_CUBE_CHANNEL", "CHANNEL"},
     {"CDP.D_DATA_FORMAT", "INPUT_DATA_TYPE"},
     nullptr,
     false},
    {NVDLA_DMA_RUBIK_READ,
     "RBK.D_DAIN_ADDR_LOW",
     "RBK.D_DAIN_ADDR_HIGH",
     "RBK.D_DAIN_LINE_STRIDE",
     "RBK.D_DAIN_SURF_STRIDE",
     {"RBK.D_DATAIN_SIZE_0", "DATAIN_WIDTH"},
     {"RBK.D_DATAIN_SIZE_0", "DATAIN_HEIGHT"},
     {"RBK.D_DATAIN_SIZE_1", "DATAIN_CHANNEL"},
     {"RBK.D_MISC_CFG", "IN_PRECISION"},
     nullptr,
     false},
    {NVDLA_DMA_RUBIK_WRITE,
     "RBK.D_DAOUT_ADDR_LOW",
     "RBK.D_DAOUT_ADDR_HIGH",
     "RBK.D_DAOUT_LINE_STRIDE",
     "RBK.D_DAOUT_SURF_STRIDE",
     {"RBK.D_DATAIN_SIZE_0", "DATAIN_WIDTH"},
     {"RBK.D_DATAIN_SIZE_0", "DATAIN_HEIGHT"},
     {"RBK.D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL"},
     {"RBK.D_MISC_CFG", "IN_PRECISION"},
     nullptr,
     false},
};

enum RubikMode : std::uint32_t { kContract = 0, kSplit = 1, kMerge = 2 };

struct Cube {
  std::uint64_t base, line, surface, batch;
  std::uint32_t width, height, channels, precision;
};

std::uint32_t element_bytes(std::uint32_t precision) {
  return precision == NVDLA_PRECISION_INT8 ? 1 : 2;
}

// Memory that is no cube of elements, such as weights.
Element byte_at(const nvdla_dump_access& access, std::uint64_t address) {
  return {fmt::format("byte {} of {}", address - access.address, access.bytes), address, 1,
          NVDLA_PRECISION_INT8};
}

Cube cube_of(const LayerRegisters& registers, const CubeRegisters& names, std::uint32_t atom) {
  const auto number = [&](const FieldName& name) { return registers.field(name.reg, name.field); };
  Cube cube{};
  cube.base = std::uint64_t{registers.value(names.high)} << 32 | registers.value(names.low);
  cube.line = registers.value(names.line);
  cube.surface = registers.value(names.surface);
  cube.batch = names.batch ? registers.value(names.batch) : 0;
  cube.width = number(names.width) + 1;
  cube.height = number(names.height) + 1;
  cube.channels = number(names.channels) + 1;
  cube.precision = number(names.precision);
  if (names.packed_single && cube.batch == 0 && cube.width == 1 && cube.height == 1)
    cube.surface = cube.line = atom;
  return cube;
}

Element make(const Cube& cube, std::uint64_t address, std::uint64_t at, std::uint64_t batch,
             std::uint64_t x, std::uint64_t y, std::uint64_t c) {
  Element element;
  element.bytes = element_bytes(cube.precision);
  element.precision = cube.precision;
  element.address = address - at % element.bytes;
  element.place = fmt::format("element ({}x {}, y {}, channel {})",
                              batch ? fmt::format("batch {}, ", batch) : "", x, y, c);
  // Hardware works on whole atoms.
  if (c >= cube.channels) element.place += fmt::format(" behind the last of {}", cube.channels);
  return element;
}

// (x, y, c) of a cube of surfaces, each a line of atoms after the other; nullopt for what lies
// between its lines.
std::optional<Element> in_cube(const Cube& cube, std::uint32_t atom, std::uint64_t address) {
  if (address < cube.base) return std::nullopt;
  const std::uint64_t per_atom = atom / element_bytes(cube.precision);
  // A stride of what there is only one of steps over nothing.
  const bool surfaces = cube.channels > per_atom && cube.surface != 0;
  const bool lines = cube.height > 1 && cube.line != 0;
  std::uint64_t at = address - cube.base;
  std::uint64_t batch = 0;
  if (cube.batch != 0) {
    batch = at / cube.batch;
    at %= cube.batch;
  }
  const std::uint64_t surface = surfaces ? at / cube.surface : 0;
  if (surfaces) at %= cube.surface;
  const std::uint64_t y = lines ? at / cube.line : 0;
  if (lines) at %= cube.line;
  const std::uint64_t x = at / atom;
  if (x >= cube.width || y >= cube.height) return std::nullopt;
  const std::uint64_t c = surface * per_atom + at % atom / element_bytes(cube.precision);
  return make(cube, address, at, batch, x, y, c);
}

// Each channel a plane of lines of elements.
std::optional<Element> in_planes(const Cube& cube, std::uint64_t plane, std::uint64_t address) {
  if (address < cube.base) return std::nullopt;
  std::uint64_t at = address - cube.base;
  const std::uint64_t c = plane != 0 ? at / plane : 0;
  if (plane != 0) at %= plane;
  const std::uint64_t y = cube.line != 0 ? at / cube.line : 0;
  if (cube.line != 0) at %= cube.line;
  const std::uint64_t x = at / element_bytes(cube.precision);
  if (x >= cube.width || y >= cube.height) return std::nullopt;
  return make(cube, address, at, 0, x, y, c);
}

std::optional<Element> in_rubik(const LayerRegisters& registers, Cube cube, std::uint32_t atom,
                                std::uint32_t dma, std::uint64_t address) {
  const std::uint32_t mode = registers.field("RBK.D_MISC_CFG", "RUBIK_MODE");
  const bool write = dma == NVDLA_DMA_RUBIK_WRITE;
  if (write && mode == kContract) {
    cube.width *= registers.field("RBK.D_DECONV_STRIDE", "DECONV_X_STRIDE") + 1;
    cube.height *= registers.field("RBK.D_DECONV_STRIDE", "DECONV_Y_STRIDE") + 1;
  }
  if (write && mode == kSplit)
    return in_planes(cube, registers.value("RBK.D_DAOUT_PLANAR_STRIDE"), address);
  if (!write && mode == kMerge)
    return in_planes(cube, registers.value("RBK.D_DAIN_PLANAR_STRIDE"), address);
  return in_cube(cube, atom, address);
}

// Returns the element of an image at an address, by line and pixel. `plane` 1 is that of the second
// address.
std::optional<Element> in_image(const LayerRegisters& registers, unsigned plane,
                                std::uint64_t address) {
  const nvdla_pixel* const format =
      nvdla_pixel_find(registers.field("CDMA.D_DATAIN_FORMAT", "PIXEL_FORMAT"));
  if (format == nullptr || format->bytes[plane] == 0) return std::nullopt;
  const auto value = [&](std::string_view name, std::string_view name_uv) {
    return registers.value(plane == 0 ? name : name_uv);
  };
  const std::uint64_t base =
      std::uint64_t{value("CDMA.D_DAIN_ADDR_HIGH_0", "CDMA.D_DAIN_ADDR_HIGH_1")} << 32 |
      value("CDMA.D_DAIN_ADDR_LOW_0", "CDMA.D_DAIN_ADDR_LOW_1");
  const std::uint64_t line = value("CDMA.D_LINE_STRIDE", "CDMA.D_LINE_UV_STRIDE");
  if (address < base || line == 0) return std::nullopt;
  const std::uint64_t at = address - base;
  Element element = {{}, address, 1, NVDLA_PRECISION_INT8};
  // The line may begin before the first pixel, with bytes that are read but not used.
  element.place = fmt::format("byte {} of pixel {} of line {}{}", at % line % format->bytes[plane],
                              at % line / format->bytes[plane], at / line,
                              plane == 0 ? "" : " of the second plane");
  return element;
}

}  // namespace

Element element_at(const replay::Dump& dump, std::uint32_t layer, const nvdla_dump_access& access,
                   std::uint64_t address) {
  const LayerRegisters registers(dump, layer);
  const std::uint32_t atom = dump.hw->atom;
  const bool image = registers.field("CDMA.D_DATAIN_FORMAT", "DATAIN_FORMAT") != 0;
  std::optional<Element> found;
  if (access.dma == NVDLA_DMA_CDMA_DATA_UV) {
    found = in_image(registers, 1, address);
  } else if (access.dma == NVDLA_DMA_CDMA_DATA && image) {
    found = in_image(registers, 0, address);
  } else {
    const auto* const names =
        std::find_if(std::begin(kCubes), std::end(kCubes),
                     [&](const CubeRegisters& one) { return one.dma == access.dma; });
    if (names != std::end(kCubes)) {
      const Cube cube = cube_of(registers, *names, atom);
      const bool rubik = access.dma == NVDLA_DMA_RUBIK_READ || access.dma == NVDLA_DMA_RUBIK_WRITE;
      found = rubik ? in_rubik(registers, cube, atom, access.dma, address)
                    : in_cube(cube, atom, address);
    }
  }
  // The registers of a damaged file may say what they like.
  const bool inside = found && found->address >= access.address &&
                      found->address + found->bytes <= access.address + access.bytes;
  return inside ? *found : byte_at(access, address);
}

std::string value_text(const Element& element, std::span<const std::byte> bytes) {
  if (element.bytes == 1) {
    const auto value = std::to_integer<std::uint8_t>(bytes[0]);
    return fmt::format("{:#04x} ({})", value, static_cast<std::int8_t>(value));
  }
  const auto value = static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[0]) |
                                                std::to_integer<unsigned>(bytes[1]) << 8);
  if (element.precision == NVDLA_PRECISION_FP16)
    return fmt::format("{:#06x} ({:g})", value, from_half(value));
  return fmt::format("{:#06x} ({})", value, static_cast<std::int16_t>(value));
}

}  // namespace nvdla::compare
