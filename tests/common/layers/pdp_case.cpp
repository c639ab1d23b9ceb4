// SPDX-License-Identifier: MIT
#include "common/layers/pdp_case.hpp"

#include <algorithm>

#include "common/layers/host_float.hpp"

namespace nvdla::test {
namespace {

long long round_shift16(long long value) {
  const long long magnitude = (std::llabs(value) + 0x8000) / 0x10000;
  return value < 0 ? -magnitude : magnitude;
}

// The real part of a window.
struct Window {
  unsigned x0, x1, y0, y1, missing_columns, missing_rows;
};

Window window(const PdpCase& layer, unsigned ox, unsigned oy) {
  const auto clip = [](unsigned o, unsigned stride, unsigned kernel, unsigned before, unsigned size,
                       unsigned& missing, unsigned& begin, unsigned& end) {
    missing = 0;
    begin = size;
    end = 0;
    for (unsigned i = 0; i < kernel; ++i) {
      const int at = static_cast<int>(o * stride + i) - static_cast<int>(before);
      if (at < 0 || at >= static_cast<int>(size)) {
        ++missing;
      } else {
        begin = std::min(begin, static_cast<unsigned>(at));
        end = static_cast<unsigned>(at) + 1;
      }
    }
  };
  Window w{};
  clip(ox, layer.sx, layer.kw, layer.left, layer.width, w.missing_columns, w.x0, w.x1);
  clip(oy, layer.sy, layer.kh, layer.top, layer.height, w.missing_rows, w.y0, w.y1);
  return w;
}

// The number of so many bits that is left of a longer one.
long long wrapped(long long value, unsigned bits) {
  const long long all = 1LL << bits, rest = (value % all + all) % all;
  return rest >= all / 2 ? rest - all : rest;
}

// What the logic adds for n missing columns of a line, and for n missing lines.
long long padding_of_columns(const PdpCase& layer, unsigned n) {
  return wrapped(layer.padding[n], layer.precision == 0 ? 11 : 19);
}
long long padding_of_lines(const PdpCase& layer, unsigned n) {
  const long long product = layer.kw * wrapped(layer.padding[n], 19);
  return layer.precision == 0 ? wrapped(product, 14) : product;
}

// The greatest or smallest, or the leftmost NaN of the lowest line that has one.
template <typename Element>
std::uint16_t extreme_half(const PdpCase& layer, const Window& w, Element element) {
  for (unsigned y = w.y1; y-- > w.y0;)
    for (unsigned x = w.x0; x < w.x1; ++x)
      if (kHalf.nan(element(x, y))) return element(x, y);
  std::uint16_t best = element(w.x0, w.y0);
  const auto key = [](std::uint16_t bits) {
    return (bits & 0x8000) != 0 ? -1 - (bits & 0x7fff) : bits;
  };
  for (unsigned y = w.y0; y < w.y1; ++y)
    for (unsigned x = w.x0; x < w.x1; ++x) {
      const std::uint16_t bits = element(x, y);
      if (layer.method == kMax ? key(bits) > key(best) : key(bits) < key(best)) best = bits;
    }
  return best;
}

// All in fp17: lines from left to right, then one under the other.
template <typename Element>
std::uint16_t average_half(const PdpCase& layer, const Window& w, Element element) {
  std::uint32_t sum = 0;
  for (unsigned y = w.y0; y < w.y1; ++y) {
    std::uint32_t row = float_convert(kHalf, kFp17, element(w.x0, y));
    for (unsigned x = w.x0 + 1; x < w.x1; ++x)
      row = float_add(kFp17, row, float_convert(kHalf, kFp17, element(x, y)));
    if (w.missing_columns != 0) row = float_add(kFp17, row, layer.padding[w.missing_columns]);
    sum = y == w.y0 ? row : float_add(kFp17, row, sum);
  }
  if (w.missing_rows != 0)
    sum = float_add(
        kFp17, sum,
        float_mul(kFp17, layer.padding[w.missing_rows], float_bits(kFp17, false, layer.kw)));
  for (const std::uint32_t reciprocal : layer.reciprocal) sum = float_mul(kFp17, sum, reciprocal);
  return static_cast<std::uint16_t>(float_convert(kFp17, kHalf, sum));
}

template <typename Element>
long long pooled_int(const PdpCase& layer, const Window& w, Element element) {
  if (layer.method != kAverage) {
    long long result = element(w.x0, w.y0);
    for (unsigned y = w.y0; y < w.y1; ++y)
      for (unsigned x = w.x0; x < w.x1; ++x)
        result = layer.method == kMax ? std::max(result, element(x, y))
                                      : std::min(result, element(x, y));
    return result;
  }
  long long sum = 0;
  for (unsigned y = w.y0; y < w.y1; ++y) {
    for (unsigned x = w.x0; x < w.x1; ++x) sum += element(x, y);
    if (w.missing_columns != 0) sum += padding_of_columns(layer, w.missing_columns);
  }
  if (w.missing_rows != 0) sum += padding_of_lines(layer, w.missing_rows);
  sum = round_shift16(round_shift16(sum * layer.reciprocal[0]) * layer.reciprocal[1]);
  const long long low = layer.precision == 0 ? -128 : -32768;
  return std::clamp(sum, low, -low - 1);
}

// One output element; `read(x, y)` gives the bits of an input element of its channel.
template <typename Read>
std::uint16_t pooled(const PdpCase& layer, unsigned ox, unsigned oy, Read read) {
  const Window w = window(layer, ox, oy);
  if (!layer.real())
    return static_cast<std::uint16_t>(
        pooled_int(layer, w, [&](unsigned x, unsigned y) -> long long {
          const std::uint16_t bits = read(x, y);
          return layer.precision == 0 ? static_cast<std::int8_t>(bits)
                                      : static_cast<std::int16_t>(bits);
        }));
  const auto element = [&](unsigned x, unsigned y) {
    const std::uint16_t bits = read(x, y);
    return layer.flush && kHalf.nan(bits) ? std::uint16_t{0} : bits;
  };
  return layer.method == kAverage ? average_half(layer, w, element)
                                  : extreme_half(layer, w, element);
}

// Splits the output into bands, if that can be.
void split(PdpCase& layer, Random& random) {
  const auto any = [&](int low, int high) {
    return static_cast<unsigned>(pick(random, low, high));
  };
  if (layer.out_width < 2) return;
  const unsigned bands = any(2, static_cast<int>(std::min(4u, layer.out_width)));
  const unsigned middle =
      bands > 2 ? any(1, static_cast<int>((layer.out_width - 2) / (bands - 2))) : 0;
  const unsigned rest = layer.out_width - middle * (bands - 2);
  const unsigned first = any(1, static_cast<int>(rest - 1)), last = rest - first;
  const int overlap = static_cast<int>(layer.kw) - static_cast<int>(layer.sx);
  const int first_in = static_cast<int>((first - 1) * layer.sx + layer.kw - layer.left);
  const int middle_in = static_cast<int>(middle * layer.sx);
  const int last_in =
      static_cast<int>(layer.width) - first_in - middle_in * static_cast<int>(bands - 2);
  if (first_in < 1 || last_in < 1 || first_in < overlap || last_in + overlap < 1) return;
  if (bands > 2 && (middle_in < 1 || middle_in + overlap < 1)) return;
  layer.bands = bands;
  layer.in[0] = static_cast<unsigned>(first_in);
  layer.in[1] = bands > 2 ? static_cast<unsigned>(middle_in) : 1;
  layer.in[2] = static_cast<unsigned>(last_in);
  layer.out[0] = first;
  layer.out[1] = bands > 2 ? middle : 1;
  layer.out[2] = last;
}

}  // namespace

void place_pdp(PdpCase& layer, Random& random, bool gaps) {
  const auto gap = [&] {
    return gaps ? layer.hw->atom * static_cast<unsigned>(pick(random, 0, 2)) : 0;
  };
  layer.source = {kPdpIn, layer.width * layer.hw->atom + gap(), 0};
  layer.source.surface = layer.source.line * layer.height + gap();
  layer.destination = {kPdpOut, layer.out_width * layer.hw->atom + gap(), 0};
  layer.destination.surface = layer.destination.line * layer.out_height + gap();
}

PdpCase random_pdp(const nvdla_hw& hw, Random& random) {
  const auto any = [&](int low, int high) {
    return static_cast<unsigned>(pick(random, low, high));
  };
  PdpCase layer;
  layer.hw = &hw;
  layer.precision = hw.regmap == NVDLA_REGMAP_NV_FULL ? any(0, 2) : 0;
  layer.method = any(0, 2);
  layer.channels = any(1, 40);
  const auto axis = [&](unsigned& size, unsigned& out, unsigned& kernel, unsigned& stride,
                        unsigned& before, unsigned& behind) {
    for (;;) {
      out = any(1, 7);
      kernel = any(1, 8);
      stride = any(1, one_in(random, 4) ? 16 : 3);
      before = any(0, static_cast<int>(kernel) - 1);
      const unsigned used = (out - 1) * stride + kernel;
      const unsigned missing = any(0, static_cast<int>(kernel) - 1);
      if (used <= before + missing) continue;
      size = used - before - missing;
      before = std::min(before, 7u);
      // Padding behind the last window is of no use, but may be there.
      behind = any(static_cast<int>(missing), static_cast<int>(kernel) - 1);
      return;
    }
  };
  axis(layer.width, layer.out_width, layer.kw, layer.sx, layer.left, layer.right);
  axis(layer.height, layer.out_height, layer.kh, layer.sy, layer.top, layer.bottom);
  layer.flush = any(0, 1) != 0;
  if (layer.real()) {
    for (unsigned n = 1; n < 8; ++n)
      layer.padding[n] = any(0, 1) << 16 | (31 + any(-3, 3)) << 10 | any(0, 1023);
    const std::uint32_t reciprocals[] = {0x7c00, 0x7800, 0x7555, 0x7400,
                                         0x7266, 0x7155, 0x7092, 0x7000};
    layer.reciprocal[0] = reciprocals[layer.kw - 1];
    layer.reciprocal[1] = reciprocals[layer.kh - 1];
  } else {
    for (unsigned n = 1; n < 8; ++n)
      layer.padding[n] = static_cast<std::uint32_t>(random()) & 0x7ffff;
    const bool proper = !one_in(random, 4);
    layer.reciprocal[0] = proper ? 0x10000 / layer.kw : any(0, 0x1ffff);
    layer.reciprocal[1] = proper ? 0x10000 / layer.kh : any(0, 0x1ffff);
  }
  if (one_in(random, 3)) split(layer, random);
  place_pdp(layer, random, true);
  return layer;
}

void fill_pdp(const PdpCase& layer, UnitRig& rig, Random& random) {
  rig.randomise(kPdpIn, kPdpRegion / 4, random);
  if (!layer.real()) return;
  // Few NaNs, or a window hardly ever is without one.
  std::vector<std::byte> bytes(kPdpRegion / 4);
  Random data = random.fork();
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    unsigned value = static_cast<unsigned>(data()) & 0xffff;
    if (data() % 16 != 0) value = (value & 0x83ff) | static_cast<unsigned>(pick(data, 8, 20)) << 10;
    bytes[i] = static_cast<std::byte>(value);
    bytes[i + 1] = static_cast<std::byte>(value >> 8);
  }
  rig.memory.load(model::Ram::kPrimary, kPdpIn, bytes);
}

void program_pdp(const PdpCase& layer, Registers& regs, bool flying) {
  const auto u32 = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const unsigned columns_in[3] = {layer.in[0] - 1, layer.in[1] - 1, layer.in[2] - 1};
  for (const std::string unit : {"PDP", "PDP_RDMA"}) {
    // Nobody looks at the width of a layer in bands.
    regs.write(unit + ".D_DATA_CUBE_IN_WIDTH", layer.bands > 1 ? 0 : layer.width - 1);
    regs.write(unit + ".D_DATA_CUBE_IN_HEIGHT", layer.height - 1);
    regs.write(unit + ".D_DATA_CUBE_IN_CHANNEL", layer.channels - 1);
    regs.write(unit + ".D_DATA_FORMAT", layer.precision);
    regs.set(unit + ".D_PARTIAL_WIDTH_IN", {{"PARTIAL_WIDTH_IN_FIRST", columns_in[0]},
                                            {"PARTIAL_WIDTH_IN_MID", columns_in[1]},
                                            {"PARTIAL_WIDTH_IN_LAST", columns_in[2]}});
  }
  regs.write("PDP_RDMA.D_FLYING_MODE", 1);
  regs.write("PDP_RDMA.D_SRC_BASE_ADDR_LOW", u32(layer.source.base));
  regs.write("PDP_RDMA.D_SRC_LINE_STRIDE", u32(layer.source.line));
  regs.write("PDP_RDMA.D_SRC_SURFACE_STRIDE", u32(layer.source.surface));
  regs.write("PDP_RDMA.D_SRC_RAM_CFG", 1);
  regs.write("PDP_RDMA.D_OPERATION_MODE_CFG", layer.bands - 1);
  regs.set("PDP_RDMA.D_POOLING_KERNEL_CFG",
           {{"KERNEL_WIDTH", layer.kw - 1}, {"KERNEL_STRIDE_WIDTH", layer.sx - 1}});
  regs.write("PDP_RDMA.D_POOLING_PADDING_CFG", layer.left);
  regs.write("PDP.D_DATA_CUBE_OUT_WIDTH", layer.out_width - 1);
  regs.write("PDP.D_DATA_CUBE_OUT_HEIGHT", layer.out_height - 1);
  regs.write("PDP.D_DATA_CUBE_OUT_CHANNEL", layer.channels - 1);
  regs.set("PDP.D_OPERATION_MODE_CFG", {{"POOLING_METHOD", layer.method},
                                        {"FLYING_MODE", flying ? 0 : 1},
                                        {"SPLIT_NUM", layer.bands - 1}});
  regs.write("PDP.D_NAN_FLUSH_TO_ZERO", layer.flush ? 1 : 0);
  regs.set("PDP.D_PARTIAL_WIDTH_OUT", {{"PARTIAL_WIDTH_OUT_FIRST", layer.out[0] - 1},
                                       {"PARTIAL_WIDTH_OUT_MID", layer.out[1] - 1},
                                       {"PARTIAL_WIDTH_OUT_LAST", layer.out[2] - 1}});
  regs.set("PDP.D_POOLING_KERNEL_CFG", {{"KERNEL_WIDTH", layer.kw - 1},
                                        {"KERNEL_HEIGHT", layer.kh - 1},
                                        {"KERNEL_STRIDE_WIDTH", layer.sx - 1},
                                        {"KERNEL_STRIDE_HEIGHT", layer.sy - 1}});
  regs.write("PDP.D_RECIP_KERNEL_WIDTH", layer.reciprocal[0]);
  regs.write("PDP.D_RECIP_KERNEL_HEIGHT", layer.reciprocal[1]);
  regs.set("PDP.D_POOLING_PADDING_CFG", {{"PAD_LEFT", layer.left},
                                         {"PAD_TOP", layer.top},
                                         {"PAD_RIGHT", layer.right},
                                         {"PAD_BOTTOM", layer.bottom}});
  for (unsigned n = 1; n < 8; ++n)
    regs.write("PDP.D_POOLING_PADDING_VALUE_" + std::to_string(n) + "_CFG", layer.padding[n]);
  regs.write("PDP.D_DST_BASE_ADDR_LOW", u32(layer.destination.base));
  regs.write("PDP.D_DST_LINE_STRIDE", u32(layer.destination.line));
  regs.write("PDP.D_DST_SURFACE_STRIDE", u32(layer.destination.surface));
  regs.write("PDP.D_DST_RAM_CFG", 1);
}

void enable_pdp(Registers& regs) {
  regs.write("PDP.D_OP_ENABLE", 1);
  regs.write("PDP_RDMA.D_OP_ENABLE", 1);
}

std::vector<PdpColumns> pdp_columns(const PdpCase& layer) {
  if (layer.bands == 1) return {{0, layer.width}};
  const unsigned before = layer.kw > layer.sx ? layer.kw - layer.sx : 0;
  const unsigned skipped = layer.sx > layer.kw ? layer.sx - layer.kw : 0;
  std::vector<PdpColumns> columns = {{0, layer.in[0]}};
  for (unsigned band = 1, fresh = layer.in[0]; band < layer.bands; ++band) {
    const unsigned next = fresh + layer.in[band + 1 < layer.bands ? 1 : 2];
    columns.push_back({fresh + skipped - before, next});
    fresh = next;
  }
  return columns;
}

PdpOutcome pdp_reference(const PdpCase& layer, UnitRig& rig) {
  PdpOutcome outcome;
  for (unsigned c = 0; c < layer.surfaces() * layer.lanes(); ++c) {
    const auto read = [&](unsigned x, unsigned y) -> std::uint16_t {
      const std::uint64_t at = layer.at(layer.source, x, y, c);
      return layer.bytes() == 1 ? rig.byte(at) : rig.half(at);
    };
    // What is read twice counts twice.
    for (unsigned y = 0; layer.real() && y < layer.height; ++y)
      for (const PdpColumns& band : pdp_columns(layer))
        for (unsigned x = band.begin; x < band.end; ++x) {
          outcome.nan_in += kHalf.nan(read(x, y));
          outcome.infinite_in += (read(x, y) & 0x7fff) == kHalf.infinity();
        }
    for (unsigned oy = 0; oy < layer.out_height; ++oy)
      for (unsigned ox = 0; ox < layer.out_width; ++ox) {
        const std::uint16_t value = pooled(layer, ox, oy, read);
        outcome.nan_out += layer.real() && kHalf.nan(value);
        const std::uint64_t at = layer.at(layer.destination, ox, oy, c);
        outcome.bytes[at] = static_cast<std::uint8_t>(value);
        if (layer.bytes() == 2) outcome.bytes[at + 1] = static_cast<std::uint8_t>(value >> 8);
      }
  }
  return outcome;
}

std::string check_pdp(const PdpCase& layer, UnitRig& rig) {
  rig.memory.fill(model::Ram::kPrimary, kPdpOut, kPdpRegion, std::byte{kUntouched});
  program_pdp(layer, rig.regs);
  enable_pdp(rig.regs);
  rig.run();
  if (const std::string reason = rig.blocked(); !reason.empty()) return "blocked: " + reason;
  const PdpOutcome want = pdp_reference(layer, rig);
  if (const std::string wrong = rig.compare(kPdpOut, kPdpRegion, want.bytes); !wrong.empty())
    return wrong;
  const std::pair<const char*, std::uint32_t> registers[] = {
      {"GLB.S_INTR_STATUS", kPdpDone},           {"PDP.S_POINTER", 1u << 16},
      {"PDP_RDMA.S_POINTER", 1u << 16},          {"PDP.D_NAN_INPUT_NUM", want.nan_in},
      {"PDP.D_INF_INPUT_NUM", want.infinite_in}, {"PDP.D_NAN_OUTPUT_NUM", want.nan_out}};
  if (const std::string wrong = rig.compare_registers(registers); !wrong.empty()) return wrong;
  if (rig.recorder.open) return {};
  const std::uint64_t atom = layer.hw->atom;
  Bytes reads, writes;
  for (const PdpColumns& band : pdp_columns(layer)) {
    Cube cube = layer.source;
    cube.base += band.begin * atom;
    add_cube(reads, cube, layer.surfaces(), layer.height, (band.end - band.begin) * atom);
  }
  add_cube(writes, layer.destination, layer.surfaces(), layer.out_height, layer.out_width * atom);
  return rig.compare_access(reads, writes);
}

}  // namespace nvdla::test
