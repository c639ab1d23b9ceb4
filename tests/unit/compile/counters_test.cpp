// SPDX-License-Identifier: MIT
//
// Which counters are enabled and read for each kind of layer, precision and configuration: exactly
// these registers, of the group that the layer ran in, into exactly these fields. Places and
// enables are written from the register descriptions, not from what the compiler or the engine
// says.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "common/compiled.hpp"
#include "common/counter_places.hpp"
#include "firmware/engine/nvdla_engine.h"
#include "unit_layers.hpp"

namespace nvdla::test::counting {
namespace {

using Counters = std::vector<std::uint32_t>;

constexpr std::uint32_t kBases[NVDLA_REGMAP_COUNT][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;
constexpr std::uint32_t kOpEnables[NVDLA_UNIT_COUNT] = NVDLA_UNIT_OP_ENABLES;
// BDMA's counters: a register for each group.
constexpr std::uint32_t kBdmaGroup0 = 0x44, kBdmaGroup1 = 0x4c;

// A unit's register of enables, all bits that it has. SDP's second one is for tables, in a layer
// that has them.
struct Enable {
  std::uint32_t unit, reg, bits;
};
constexpr Enable kEnables[] = {
    {NVDLA_UNIT_CDMA, 0xd4, 1},     {NVDLA_UNIT_SDP_RDMA, 0x80, 3}, {NVDLA_UNIT_SDP, 0xdc, 15},
    {NVDLA_UNIT_PDP_RDMA, 0x44, 1}, {NVDLA_UNIT_PDP, 0x94, 1},      {NVDLA_UNIT_CDP_RDMA, 0x38, 1},
    {NVDLA_UNIT_CDP, 0x9c, 3},      {NVDLA_UNIT_RBK, 0x58, 1},
};
constexpr std::uint32_t kSdpLutEnable = 2;

// ---- what is counted

const Counters kConv = {NVDLA_COUNTER_CDMA_DATA_STALL, NVDLA_COUNTER_CDMA_WEIGHT_STALL,
                        NVDLA_COUNTER_CDMA_DATA_LATENCY, NVDLA_COUNTER_CDMA_WEIGHT_LATENCY,
                        NVDLA_COUNTER_CACC_SATURATION};
const Counters kConvHalf = {NVDLA_COUNTER_CDMA_NAN_DATA, NVDLA_COUNTER_CDMA_NAN_WEIGHT,
                            NVDLA_COUNTER_CDMA_INF_DATA, NVDLA_COUNTER_CDMA_INF_WEIGHT};
const Counters kSdpPasses = {NVDLA_COUNTER_SDP_SATURATION};
const Counters kSdpWrites = {NVDLA_COUNTER_SDP_SATURATION, NVDLA_COUNTER_SDP_WRITE_STALL};
const Counters kSdpReads = {NVDLA_COUNTER_SDP_MRDMA_STALL};
const Counters kSdpReadsHalf = {NVDLA_COUNTER_SDP_RDMA_NAN, NVDLA_COUNTER_SDP_RDMA_INF};
const Counters kSdpMakesHalf = {NVDLA_COUNTER_SDP_NAN_OUT};
const Counters kX1Reads = {NVDLA_COUNTER_SDP_BRDMA_STALL};
const Counters kX2Reads = {NVDLA_COUNTER_SDP_NRDMA_STALL};
const Counters kYReads = {NVDLA_COUNTER_SDP_ERDMA_STALL};
const Counters kSdpTables = {NVDLA_COUNTER_SDP_LUT_UNDERFLOW, NVDLA_COUNTER_SDP_LUT_OVERFLOW,
                             NVDLA_COUNTER_SDP_LUT_HYBRID, NVDLA_COUNTER_SDP_LUT_LE_HIT,
                             NVDLA_COUNTER_SDP_LUT_LO_HIT};
const Counters kUnequal = {NVDLA_COUNTER_SDP_UNEQUAL};
const Counters kPdpReads = {NVDLA_COUNTER_PDP_RDMA_STALL};
const Counters kPdp = {NVDLA_COUNTER_PDP_WRITE_STALL};
const Counters kPdpHalf = {NVDLA_COUNTER_PDP_NAN_IN, NVDLA_COUNTER_PDP_INF_IN,
                           NVDLA_COUNTER_PDP_NAN_OUT};
const Counters kCdp = {NVDLA_COUNTER_CDP_RDMA_STALL,   NVDLA_COUNTER_CDP_WRITE_STALL,
                       NVDLA_COUNTER_CDP_SATURATION,   NVDLA_COUNTER_CDP_LUT_UNDERFLOW,
                       NVDLA_COUNTER_CDP_LUT_OVERFLOW, NVDLA_COUNTER_CDP_LUT_HYBRID,
                       NVDLA_COUNTER_CDP_LUT_LE_HIT,   NVDLA_COUNTER_CDP_LUT_LO_HIT};
const Counters kCdpHalf = {NVDLA_COUNTER_CDP_NAN_IN, NVDLA_COUNTER_CDP_INF_IN,
                           NVDLA_COUNTER_CDP_NAN_OUT};
const Counters kRubik = {NVDLA_COUNTER_RUBIK_READ_STALL, NVDLA_COUNTER_RUBIK_WRITE_STALL};
const Counters kBdma = {NVDLA_COUNTER_BDMA_READ_STALL, NVDLA_COUNTER_BDMA_WRITE_STALL};

// ---- layers

void plain(Base& base) {
  base.layer.sdp.x1 = base.layer.sdp.x2 = {};
  base.layer.sdp.out_cvt = {.offset = 0, .scale = 1, .truncate = 0, .pad = 0};
}

// Precisions of input and output; SDP computes in the input's.
void set(Base& base, std::uint32_t in, std::uint32_t out) {
  nvdla_conv& conv = base.layer.conv;
  nvdla_sdp& sdp = base.layer.sdp;
  plain(base);
  if (conv.width != 0) {
    conv.in_precision = conv.proc_precision = in;
    conv.clip_truncate = conv.pra_truncate = 0;
    conv.pad_value = 0;
  } else {
    sdp.in_precision = in;
  }
  sdp.proc_precision = in;
  sdp.out_precision = out;
  if (in == kHalf) sdp.out_cvt.scale = 0;
  if (base.layer.pdp.kernel_width != 0) {
    base.layer.pdp.method = NVDLA_POOL_MAX;
    std::ranges::fill(base.layer.pdp.pad_value, 0);
    base.layer.pdp.recip_width = base.layer.pdp.recip_height = 0;
  }
  for (nvdla_slot& slot : base.slots) slot.size *= 4;
}

template <std::uint32_t kIn, std::uint32_t kOut>
void convert(Base& base) {
  set(base, kIn, kOut);
}

template <std::uint32_t kPrecision>
void pool(Base& base) {
  base.layer.pdp.precision = kPrecision;
  set(base, kInt8, kInt8);
  base.layer.sdp = {};
}

void scale_by_register(Base& base) {
  for (nvdla_sdp_x* x : {&base.layer.sdp.x1, &base.layer.sdp.x2}) {
    x->mode = NVDLA_OPERAND_LAYER;
    x->operand_bytes = 0;
    x->operand = {};
  }
}

void look_up_only(Base& base) {
  nvdla_sdp_y& y = base.layer.sdp.y;
  y = {};
  y.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT;
}

void keep(Base&) {}

struct Row {
  const char* name;
  Base (*base)(const char*);
  void (*change)(Base&);
  std::vector<Counters> counted;
  std::vector<const char*> configurations = {"nv_full"};
};

const std::vector<const char*> kEvery = {
    "nv_full",      "nv_large", "nv_medium_1024_full", "nv_medium_512", "nv_small_256_full",
    "nv_small_256", "nv_small"};
const std::vector<const char*> kWithY = {"nv_full", "nv_large", "nv_medium_1024_full",
                                         "nv_small_256_full"};

const Row kRows[] = {
    {"convolution, operands in memory",
     base_conv,
     keep,
     {kConv, kSdpWrites, kX1Reads, kX2Reads},
     kEvery},
    {"convolution alone", base_conv, plain, {kConv, kSdpWrites}, kEvery},
    {"convolution, operands in registers", base_conv, scale_by_register, {kConv, kSdpWrites}},
    {"convolution, int16", base_conv, convert<kInt16, kInt16>, {kConv, kSdpWrites}},
    {"convolution, int16 to fp16",
     base_conv,
     convert<kInt16, kHalf>,
     {kConv, kSdpWrites, kSdpMakesHalf}},
    {"convolution, fp16",
     base_conv,
     convert<kHalf, kHalf>,
     {kConv, kConvHalf, kSdpWrites, kSdpMakesHalf}},
    {"convolution, fp16 to int16",
     base_conv,
     convert<kHalf, kInt16>,
     {kConv, kConvHalf, kSdpWrites}},
    {"convolution of a batch", base_batch, keep, {kConv, kSdpWrites, kX1Reads, kX2Reads}},
    {"image", base_image, keep, {kConv, kSdpWrites}, kEvery},
    {"two planes", base_planes, keep, {kConv, kSdpWrites}},
    {"tiles", base_winograd, keep, {kConv, kSdpWrites, kX1Reads, kX2Reads}},
    {"tiles, fp16",
     base_winograd,
     convert<kHalf, kHalf>,
     {kConv, kConvHalf, kSdpWrites, kSdpMakesHalf}},
    {"convolution and pooling",
     base_conv_pdp,
     keep,
     {kConv, kSdpPasses, kX1Reads, kX2Reads, kPdp},
     kEvery},
    {"convolution and pooling, fp16",
     base_conv_pdp,
     convert<kHalf, kHalf>,
     {kConv, kConvHalf, kSdpPasses, kSdpMakesHalf, kPdp, kPdpHalf}},
    {"SDP", base_sdp, keep, {kSdpReads, kSdpWrites, kX1Reads, kX2Reads}, kEvery},
    {"SDP alone", base_sdp, plain, {kSdpReads, kSdpWrites}, kEvery},
    {"SDP, operands in registers", base_sdp, scale_by_register, {kSdpReads, kSdpWrites}, kEvery},
    {"SDP, int16 to fp16",
     base_sdp,
     convert<kInt16, kHalf>,
     {kSdpReads, kSdpWrites, kSdpMakesHalf}},
    {"SDP, fp16 to int16",
     base_sdp,
     convert<kHalf, kInt16>,
     {kSdpReads, kSdpReadsHalf, kSdpWrites}},
    {"SDP, fp16",
     base_sdp,
     convert<kHalf, kHalf>,
     {kSdpReads, kSdpReadsHalf, kSdpWrites, kSdpMakesHalf}},
    {"SDP, Y and tables",
     base_y,
     keep,
     {kSdpReads, kSdpWrites, kX1Reads, kX2Reads, kYReads, kSdpTables},
     kWithY},
    {"SDP, tables",
     base_y,
     look_up_only,
     {kSdpReads, kSdpWrites, kX1Reads, kX2Reads, kSdpTables},
     kWithY},
    {"comparison",
     base_equal,
     keep,
     {kSdpReads, kSdpPasses, kX1Reads, kX2Reads, kYReads, kUnequal},
     kWithY},
    {"SDP and pooling",
     base_sdp_pdp,
     keep,
     {kSdpReads, kSdpPasses, kX1Reads, kX2Reads, kPdp},
     kEvery},
    {"SDP and pooling, fp16",
     base_sdp_pdp,
     convert<kHalf, kHalf>,
     {kSdpReads, kSdpReadsHalf, kSdpPasses, kSdpMakesHalf, kPdp, kPdpHalf}},
    {"pooling", base_pdp, keep, {kPdpReads, kPdp}, kEvery},
    {"pooling in bands", base_bands, keep, {kPdpReads, kPdp}, kEvery},
    {"pooling, int16", base_pdp, pool<kInt16>, {kPdpReads, kPdp}},
    {"pooling, fp16", base_pdp, pool<kHalf>, {kPdpReads, kPdp, kPdpHalf}},
    {"normalisation", base_cdp, keep, {kCdp}, kEvery},
    {"normalisation, fp16", base_cdp_half, keep, {kCdp, kCdpHalf}},
    {"contraction", base_contract, keep, {kRubik}},
    {"split", base_split, keep, {kRubik}},
    {"merge", base_merge, keep, {kRubik}},
    {"copy", base_bdma, keep, {kBdma}},
};

// Registers that hold what they were written; the rest says where it was read.
class Device {
 public:
  using Read = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // unit, group, register

  explicit Device(const nvdla_hw& hw) : hw_(hw) {
    ops.reg_read = [](void* context, u32 offset) { return self(context)->read(offset); };
    ops.reg_write = [](void* context, u32 offset, u32 value) {
      self(context)->write(offset, value);
    };
    ops.dma_barrier = [](void*) {};
    ops.relax = [](void*) {};
    ops.now_ns = [](void* context) -> u64 { return ++self(context)->now_; };
  }

  static std::uint32_t value(const Read& at) {
    const auto [unit, group, reg] = at;
    return 0x80000000u | unit << 20 | group << 16 | reg;
  }

  // Where units begin: not in the same group.
  static std::uint32_t consumer(std::uint32_t unit) {
    return unit == NVDLA_UNIT_BDMA ? 0 : unit & 1;
  }

  nvdla_hw_ops ops{};
  std::multiset<Read> counters;  // that were read, outside of the registers of all groups

 private:
  static Device* self(void* context) { return static_cast<Device*>(context); }

  std::uint32_t unit_of(std::uint32_t offset) const {
    const auto& bases = kBases[hw_.regmap];
    return static_cast<std::uint32_t>(std::find(bases, bases + NVDLA_UNIT_COUNT, offset & ~0xfffu) -
                                      bases);
  }

  std::uint32_t read(std::uint32_t offset) {
    const std::uint32_t unit = unit_of(offset), reg = offset & 0xfff;
    if (unit == NVDLA_UNIT_GLB) return reg == NVDLA_GLB_S_NVDLA_HW_VERSION ? 0x00303031 : 0;
    if (unit == NVDLA_UNIT_BDMA) {
      if (reg == NVDLA_BDMA_STATUS) return 20 | NVDLA_BDMA_STATUS_IDLE_MASK;
      const std::uint32_t group = reg >= kBdmaGroup1;
      return count({unit, group, group ? reg - kBdmaGroup1 + kBdmaGroup0 : reg});
    }
    if (reg == NVDLA_REG_S_STATUS) return 0;
    if (reg == NVDLA_REG_S_POINTER) return producer_[unit] | consumer(unit) << 16;
    if (unit == NVDLA_UNIT_CDMA && reg == NVDLA_CDMA_S_CBUF_FLUSH_STATUS) return 1;
    return count({unit, producer_[unit], reg});
  }

  std::uint32_t count(const Read& at) {
    counters.insert(at);
    return value(at);
  }

  void write(std::uint32_t offset, std::uint32_t value) {
    const std::uint32_t unit = unit_of(offset);
    if (kOpEnables[unit] != NVDLA_NO_REG && (offset & 0xfff) == NVDLA_REG_S_POINTER)
      producer_[unit] = value & 1;
  }

  const nvdla_hw& hw_;
  std::array<std::uint32_t, NVDLA_UNIT_COUNT> producer_{};
  std::uint64_t now_ = 0;
};

// All bits that a layer raises in `units`.
std::uint32_t bits_of(std::uint32_t units,
                      const std::function<std::uint32_t(std::uint32_t)>& group) {
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 7> kBits = {{
      {NVDLA_UNIT_SDP, 1},
      {NVDLA_UNIT_CDP, 4},
      {NVDLA_UNIT_PDP, 0x10},
      {NVDLA_UNIT_BDMA, 0x40},
      {NVDLA_UNIT_RBK, 0x100},
      {NVDLA_UNIT_CDMA, 0x50000},
      {NVDLA_UNIT_CACC, 0x100000},
  }};
  std::uint32_t bits = 0;
  for (const auto& [unit, bit] : kBits)
    if (units >> unit & 1) bits |= bit << group(unit);
  return bits;
}

Base make(const Row& row, const char* configuration) {
  Base base = row.base(configuration);
  row.change(base);
  return base;
}

Counters flat(const Row& row) {
  Counters all;
  for (const Counters& counters : row.counted)
    all.insert(all.end(), counters.begin(), counters.end());
  std::ranges::sort(all);
  return all;
}

constexpr std::uint32_t kLayers = 3;

std::unique_ptr<Program> compile_thrice(const Base& base, std::uint32_t flags) {
  auto program = std::make_unique<Program>(*base.hw, base.slots, kLayers, flags, 0, base.luts,
                                           base.transfers, base.control);
  for (std::uint32_t i = 0; i < kLayers && program->add(base.layer); ++i) continue;
  program->end();
  EXPECT_TRUE(program->ok()) << to_string(program->error());
  return program;
}

// Runs the same layer three times, in the groups from `Device::consumer` on.
void run(const Base& base, const Row& row) {
  const auto program = compile_thrice(base, NVDLA_PROGRAM_STATS);
  if (!program->ok()) return;
  Device device(*base.hw);
  nvdla_engine engine;
  nvdla_engine_init(&engine, base.hw, &device.ops, &device);
  ASSERT_EQ(nvdla_engine_start(&engine), 0);
  const std::vector<std::uint64_t> bases(base.slots.size(), 0x10000000);
  std::array<nvdla_layer_stats, kLayers> stats{};
  nvdla_job job{};
  job.program = &program->get();
  job.bases = bases.data();
  job.stats = stats.data();
  job.stats_stride = sizeof(nvdla_layer_stats);
  job.serial = 1;
  for (nvdla_layer_stats& layer : stats) std::ranges::fill(layer.counter, 0xdeadu);
  ASSERT_EQ(nvdla_engine_submit(&engine, &job), 0);
  EXPECT_TRUE(device.counters.empty()) << "nothing has ended";
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    device.counters.clear();
    const auto group = [&](std::uint32_t unit) { return (Device::consumer(unit) + layer) & 1; };
    nvdla_engine_interrupt(&engine, bits_of(program->image(layer).units, group));
    std::uint64_t valid = 0;
    std::multiset<Device::Read> expected;
    std::array<std::uint32_t, NVDLA_COUNTER_MAX> values{};
    for (std::uint32_t counter : flat(row)) {
      // The engine leaves out what nobody counts on the configuration.
      if (nvdla_hw_counts(base.hw, counter) == NVDLA_COUNTS_INVALID) continue;
      const CounterPlace place = counter_places().at(counter);
      const Device::Read at = {place.unit, group(place.unit), place.reg};
      valid |= 1ull << counter;
      expected.insert(at);
      values[counter] = Device::value(at);
    }
    EXPECT_EQ(stats[layer].valid, valid) << "layer " << layer;
    EXPECT_EQ(device.counters, expected) << "layer " << layer;
    EXPECT_TRUE(std::ranges::equal(stats[layer].counter, values)) << "layer " << layer;
  }
  ASSERT_EQ(nvdla_engine_done(&engine), &job);
  EXPECT_EQ(job.result, NVDLA_JOB_OK);
}

// Every register of enables that the layer writes, with all its bits or none.
void check_enables(const Base& base, std::uint32_t flags) {
  const auto program = compile_thrice(base, flags);
  if (!program->ok()) return;
  const bool tables = base.layer.sdp.y.flags & NVDLA_SDP_LUT;
  const std::vector<std::uint64_t> bases(base.slots.size(), 0);
  const auto registers = program->registers(0, bases);
  for (const Enable& enable : kEnables) {
    if (!(program->image(0).units >> enable.unit & 1)) continue;
    const auto found = registers.find(kBases[base.hw->regmap][enable.unit] + enable.reg);
    ASSERT_NE(found, registers.end()) << enable.unit;
    std::uint32_t bits = flags != 0 ? enable.bits : 0;
    if (enable.unit == NVDLA_UNIT_SDP && !tables) bits &= ~kSdpLutEnable;
    EXPECT_EQ(found->second, bits) << "unit " << enable.unit;
  }
}

TEST(Counters, AreReadExactlyWhereTheyAre) {
  for (const Row& row : kRows)
    for (const char* configuration : row.configurations) {
      SCOPED_TRACE(std::string(row.name) + ", " + configuration);
      run(make(row, configuration), row);
    }
}

TEST(Counters, AreEnabledOnlyWithStatistics) {
  for (const Row& row : kRows)
    for (const char* configuration : row.configurations) {
      SCOPED_TRACE(std::string(row.name) + ", " + configuration);
      const Base base = make(row, configuration);
      check_enables(base, NVDLA_PROGRAM_STATS);
      check_enables(base, 0);
      EXPECT_EQ(compile_thrice(base, 0)->image(0).counters, 0u);
    }
}

// No counter is without a row that reads it.
TEST(Counters, AreAllInTheTable) {
  std::set<std::uint32_t> counted;
  for (const Row& row : kRows)
    for (std::uint32_t counter : flat(row)) counted.insert(counter);
  EXPECT_EQ(counted.size(), static_cast<std::size_t>(NVDLA_COUNTER_COUNT));
  EXPECT_EQ(counter_places().size(), static_cast<std::size_t>(NVDLA_COUNTER_COUNT));
}

}  // namespace
}  // namespace nvdla::test::counting
