// SPDX-License-Identifier: MIT
#include "common/layers/cdp_case.hpp"

namespace nvdla::test {
namespace {

std::uint16_t half_near_one(Random& random) {
  return static_cast<std::uint16_t>(static_cast<unsigned>(random() & 0x83ff) |
                                    static_cast<unsigned>(pick(random, 8, 22)) << 10);
}

// Of normal numbers around one, as descriptions of tables have them.
std::int64_t single_near_one(Random& random) {
  return static_cast<std::int64_t>(random() & 0x807fffff) | pick(random, 115, 140) << 23;
}

void make_half_table(CdpTable& table, Random& random) {
  Random data = random.fork();
  for (int& entry : table.entries) entry = half_near_one(data);
  if (table.exponential) {
    table.offset = static_cast<int>(pick(random, -30, 12));
  } else {
    table.select = static_cast<int>(pick(random, -10, 8));
  }
  table.start = single_near_one(random);
  table.end = single_near_one(random);
  table.under_scale = half_near_one(random);
  table.over_scale = half_near_one(random);
}

void load_table(Registers& regs, const CdpTable& table, unsigned id) {
  regs.set("CDP.S_LUT_ACCESS_CFG", {{"LUT_TABLE_ID", id}, {"LUT_ACCESS_TYPE", 1}});
  for (const int entry : table.entries)
    regs.write("CDP.S_LUT_ACCESS_DATA", static_cast<std::uint16_t>(entry));
  const std::string name = id == 0 ? "CDP.S_LUT_LE_" : "CDP.S_LUT_LO_";
  const auto low = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::int64_t value) {
    return static_cast<std::uint32_t>(value >> 32) & 0x3f;
  };
  regs.write(name + "START_LOW", low(table.start));
  regs.write(name + "START_HIGH", high(table.start));
  regs.write(name + "END_LOW", low(table.end));
  regs.write(name + "END_HIGH", high(table.end));
  regs.write(name + "SLOPE_SCALE", static_cast<std::uint16_t>(table.under_scale) |
                                       static_cast<std::uint32_t>(table.over_scale) << 16);
  regs.write(name + "SLOPE_SHIFT", (static_cast<std::uint32_t>(table.under_shift) & 31) |
                                       (static_cast<std::uint32_t>(table.over_shift) & 31) << 5);
}

std::string compare_register(UnitRig& rig, const std::string& name, std::uint32_t value) {
  const std::uint32_t got = rig.regs.read(name);
  if (got == value) return {};
  return name + " is " + std::to_string(got) + ", not " + std::to_string(value);
}

}  // namespace

void place_cdp(CdpCase& layer, Random& random) {
  const auto gap = [&] { return layer.hw->atom * static_cast<unsigned>(pick(random, 0, 2)); };
  for (Cube* cube : {&layer.source, &layer.destination}) {
    cube->base = cube == &layer.source ? kCdpIn : kCdpOut;
    cube->line = layer.width * layer.hw->atom + gap();
    cube->surface = cube->line * layer.height + gap();
  }
}

CdpTable random_table(Random& random, bool le, unsigned precision) {
  CdpTable table;
  table.entries.resize(le ? 65 : 257);
  Random data = random.fork();
  for (int& entry : table.entries) entry = static_cast<int>(pick(data, -32768, 32767));
  table.exponential = le && pick(random, 0, 1) != 0;
  if (precision == 2) {
    make_half_table(table, random);
    return table;
  }
  const bool bytes = precision == 0;
  if (table.exponential) {
    table.offset = static_cast<int>(pick(random, -5, bytes ? 20 : 36));
  } else {
    table.select = static_cast<int>(pick(random, -6, bytes ? 15 : 29));
  }
  const int magnitude = static_cast<int>(pick(random, 0, bytes ? 20 : 36));
  const std::int64_t range = std::int64_t{1} << magnitude;
  table.start = pick(random, -range, range);
  table.end = table.start + pick(random, 0, range);
  table.under_scale = static_cast<int>(pick(random, -32768, 32767));
  table.over_scale = static_cast<int>(pick(random, -32768, 32767));
  table.under_shift = static_cast<int>(pick(random, -16, 15));
  table.over_shift = static_cast<int>(pick(random, -16, 15));
  return table;
}

CdpCase random_cdp(const nvdla_hw& hw, Random& random, unsigned precision) {
  const auto any = [&](int low, int high) {
    return static_cast<unsigned>(pick(random, low, high));
  };
  CdpCase layer;
  layer.hw = &hw;
  layer.precision = precision;
  layer.width = any(1, one_in(random, 10) ? 70 : 5);
  layer.height = any(1, 3);
  layer.channels = any(1, 40);
  layer.reach = any(1, 4);
  layer.bypass_sum = one_in(random, 4);
  layer.bypass_mul = one_in(random, 4);
  layer.flush = any(0, 1) != 0;
  const bool bytes = layer.precision == 0;
  if (any(0, 1) != 0) {
    layer.in_offset = pick(random, bytes ? -128 : -32768, bytes ? 127 : 32767);
    layer.in_scale = pick(random, -32768, 32767);
    layer.in_shift = any(0, 31);
  }
  if (any(0, 3) != 0) {
    layer.out_offset = pick(random, -(1 << 20), 1 << 20);
    layer.out_scale = pick(random, -32768, 32767);
    layer.out_shift = any(0, 63);
  }
  layer.le = random_table(random, true, layer.precision);
  layer.lo = random_table(random, false, layer.precision);
  for (unsigned& priority : layer.priority) priority = any(0, 1);
  place_cdp(layer, random);
  return layer;
}

void fill_cdp(const CdpCase& layer, UnitRig& rig, Random& random) {
  rig.randomise(kCdpIn, kCdpRegion / 2, random);
  if (!layer.real()) return;
  std::vector<std::byte> bytes;
  Random data = random.fork();
  while (bytes.size() < kCdpRegion / 2) {
    const unsigned value =
        data() % 16 == 0 ? static_cast<unsigned>(data()) & 0xffff : half_near_one(data);
    bytes.push_back(static_cast<std::byte>(value));
    bytes.push_back(static_cast<std::byte>(value >> 8));
  }
  rig.memory.load(model::Ram::kPrimary, kCdpIn, bytes);
}

void program_cdp(const CdpCase& layer, Registers& regs) {
  const auto u32 = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const auto address = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  regs.write("CDP_RDMA.D_DATA_CUBE_WIDTH", layer.width - 1);
  regs.write("CDP_RDMA.D_DATA_CUBE_HEIGHT", layer.height - 1);
  regs.write("CDP_RDMA.D_DATA_CUBE_CHANNEL", layer.channels - 1);
  regs.write("CDP_RDMA.D_DATA_FORMAT", layer.precision);
  regs.write("CDP_RDMA.D_SRC_DMA_CFG", 1);
  regs.write("CDP_RDMA.D_SRC_BASE_ADDR_LOW", address(layer.source.base));
  regs.write("CDP_RDMA.D_SRC_LINE_STRIDE", address(layer.source.line));
  regs.write("CDP_RDMA.D_SRC_SURFACE_STRIDE", address(layer.source.surface));
  regs.write("CDP.D_DATA_FORMAT", layer.precision);
  regs.write("CDP.D_DST_DMA_CFG", 1);
  regs.write("CDP.D_DST_BASE_ADDR_LOW", address(layer.destination.base));
  regs.write("CDP.D_DST_LINE_STRIDE", address(layer.destination.line));
  regs.write("CDP.D_DST_SURFACE_STRIDE", address(layer.destination.surface));
  regs.set("CDP.D_FUNC_BYPASS",
           {{"SQSUM_BYPASS", layer.bypass_sum ? 1 : 0}, {"MUL_BYPASS", layer.bypass_mul ? 1 : 0}});
  regs.write("CDP.D_NAN_FLUSH_TO_ZERO", layer.flush ? 1 : 0);
  regs.write("CDP.D_LRN_CFG", layer.reach - 1);
  regs.write("CDP.D_DATIN_OFFSET", u32(layer.in_offset));
  regs.write("CDP.D_DATIN_SCALE", u32(layer.in_scale));
  regs.write("CDP.D_DATIN_SHIFTER", layer.in_shift);
  regs.write("CDP.D_DATOUT_OFFSET", u32(layer.out_offset));
  regs.write("CDP.D_DATOUT_SCALE", u32(layer.out_scale));
  regs.write("CDP.D_DATOUT_SHIFTER", layer.out_shift);
  regs.set("CDP.D_PERF_ENABLE", {{"LUT_EN", layer.count ? 1 : 0}});
  load_table(regs, layer.le, 0);
  load_table(regs, layer.lo, 1);
  regs.set("CDP.S_LUT_CFG", {{"LUT_LE_FUNCTION", layer.le.exponential ? 0 : 1},
                             {"LUT_UFLOW_PRIORITY", layer.priority[0]},
                             {"LUT_OFLOW_PRIORITY", layer.priority[1]},
                             {"LUT_HYBRID_PRIORITY", layer.priority[2]}});
  regs.write("CDP.S_LUT_INFO", (static_cast<std::uint32_t>(layer.le.offset) & 0xff) |
                                   (static_cast<std::uint32_t>(layer.le.select) & 0xff) << 8 |
                                   (static_cast<std::uint32_t>(layer.lo.select) & 0xff) << 16);
}

void enable_cdp(Registers& regs) {
  regs.write("CDP.D_OP_ENABLE", 1);
  regs.write("CDP_RDMA.D_OP_ENABLE", 1);
}

std::string check_cdp_output(const CdpCase& layer, const CdpOutcome& want, UnitRig& rig) {
  const std::uint64_t size = layer.surfaces() * layer.destination.surface + layer.hw->atom;
  rig.memory.fill(model::Ram::kPrimary, kCdpOut, size, std::byte{kUntouched});
  program_cdp(layer, rig.regs);
  enable_cdp(rig.regs);
  rig.run();
  if (const std::string why = rig.blocked(); !why.empty()) return "blocked: " + why;
  if (const std::string wrong = rig.compare(kCdpOut, size, want.bytes); !wrong.empty())
    return wrong;
  return compare_register(rig, "CDP.D_OUT_SATURATION", want.saturated);
}

std::string check_cdp(const CdpCase& layer, UnitRig& rig) {
  const CdpOutcome want = cdp_reference(layer, rig);
  if (const std::string wrong = check_cdp_output(layer, want, rig); !wrong.empty()) return wrong;
  const std::pair<const char*, unsigned> registers[] = {
      {"GLB.S_INTR_STATUS", kCdpDone},       {"CDP.S_POINTER", 1u << 16},
      {"CDP_RDMA.S_POINTER", 1u << 16},      {"CDP.D_PERF_LUT_UFLOW", want.under},
      {"CDP.D_PERF_LUT_OFLOW", want.over},   {"CDP.D_PERF_LUT_HYBRID", want.hybrid},
      {"CDP.D_PERF_LUT_LE_HIT", want.le},    {"CDP.D_PERF_LUT_LO_HIT", want.lo},
      {"CDP.D_NAN_INPUT_NUM", want.nan_in},  {"CDP.D_INF_INPUT_NUM", want.infinite_in},
      {"CDP.D_NAN_OUTPUT_NUM", want.nan_out}};
  for (const auto& [name, value] : registers)
    if (const std::string wrong = compare_register(rig, name, value); !wrong.empty()) return wrong;
  return {};
}

}  // namespace nvdla::test
