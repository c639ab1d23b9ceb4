// SPDX-License-Identifier: MIT
//
// The bound on a layer's cycles is one: no less than what the model predicts, which follows the
// measured hardware and shares nothing with the compiler, for the memory that the bound is made
// for, of a layer by itself and among others; and where cubes are only passed on, not far from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/compiled.hpp"
#include "common/random.hpp"
#include "cost/sequence_cycles.hpp"
#include "cost/unit_cycles.hpp"
#include "model/predict.hpp"
#include "unit_layers.hpp"

namespace nvdla::test {
namespace {

using cost::LayerCycles;
using cost::MemoryTiming;

// A hundred cycles of latency, sixteen requests on their way.
constexpr MemoryTiming kMemory = {.latency = 100, .write_latency = 100, .outstanding = 16};
// What a layer costs whatever its size.
constexpr std::uint64_t kLayer = 1000;

cost::LayerGeometry geometry_of(const nvdla_hw& hw, const Base& base, const Program& program) {
  if (base.layer.kind == NVDLA_LAYER_BDMA) {
    const cost::Machine machine = model::machine_of(hw);
    cost::LayerGeometry layer{.kind = cost::LayerGeometry::Kind::kBdma};
    for (const nvdla_transfer& transfer : base.transfers)
      layer.moved += cost::read_lines(machine, cost::Interface::kPrimary,
                                      std::uint64_t{transfer.lines} * transfer.surfaces,
                                      transfer.line_bytes / machine.atom);
    return layer;
  }
  model::RegisterFile registers(hw);
  const std::vector<std::uint64_t> bases(base.slots.size());
  for (const auto& [offset, value] : program.registers(0, bases)) registers.write(offset, value);
  registers.enable(program.image(0).units);
  return model::LayerReader().next(registers).value();
}

struct Kind {
  const char* name;
  std::function<Base(const char*, Random&)> make;
  bool passes_on = false;         // cubes: the bound is near
  bool first_generation = false;  // only
};

std::uint32_t any(Random& random, int low, int high) {
  return static_cast<std::uint32_t>(random.pick(low, high));
}

// As large as anything needs.
Base with_room(Base base) {
  for (nvdla_slot& one : base.slots) one.size = std::uint64_t{1} << 28;
  return base;
}

// Draws a size for all cubes of SDP.
void resize_sdp(Base& base, Random& random, int least_width) {
  nvdla_sdp& sdp = base.layer.sdp;
  const std::uint32_t width = any(random, least_width, 60);
  const std::uint32_t height = any(random, 1, 40);
  const std::uint32_t channels = any(random, 1, 100);
  const std::uint32_t atom = base.hw->atom;
  sdp.width = width;
  sdp.height = height;
  sdp.channels = channels;
  sdp.input = cube(kInput, width, height, atom);
  sdp.output = cube(kOutput, width, height, atom);
  if (width * height == 1) {
    sdp.x2 = {};
  } else {
    sdp.x2.operand = cube(kX2, width, height, atom);
  }
}

Base random_sdp(const char* configuration, Random& random) {
  Base base = with_room(base_sdp(configuration));
  nvdla_sdp& sdp = base.layer.sdp;
  resize_sdp(base, random, 1);
  if (any(random, 0, 1) == 0) sdp.x1 = {};
  if (any(random, 0, 1) == 0) sdp.x2 = {};
  if ((base.hw->features & NVDLA_HW_INT16) != 0 && any(random, 0, 1) == 0) {
    sdp.in_precision = sdp.proc_precision = sdp.out_precision = kInt16;
    sdp.x1.operand_bytes = sdp.x1.flags != 0 ? 2 : 0;
    sdp.x2.operand_bytes = sdp.x2.flags != 0 ? 2 : 0;
  }
  return base;
}

Base random_sdp_y(const char* configuration, Random& random) {
  Base base = with_room(base_y(configuration));
  resize_sdp(base, random, 2);
  base.layer.sdp.y.operand =
      cube(5, 4 * base.layer.sdp.width, base.layer.sdp.height, base.hw->atom);
  return base;
}

Base random_pooling(const char* configuration, Random& random) {
  Base base = with_room(base_pdp(configuration));
  nvdla_pdp& pdp = base.layer.pdp;
  const std::uint32_t atom = base.hw->atom;
  pdp.method = NVDLA_POOL_MAX;
  for (int& value : pdp.pad_value) value = 0;
  pdp.recip_width = pdp.recip_height = 0;
  pdp.kernel_width = any(random, 1, 8);
  pdp.kernel_height = any(random, 1, 8);
  pdp.stride_width = any(random, 1, 4);
  pdp.stride_height = any(random, 1, 4);
  pdp.pad_left = any(random, 0, static_cast<int>(pdp.kernel_width) - 1);
  pdp.pad_top = any(random, 0, static_cast<int>(pdp.kernel_height) - 1);
  pdp.pad_bottom = any(random, 0, static_cast<int>(pdp.kernel_height) - 1);
  pdp.pad_right = any(random, 0, static_cast<int>(pdp.kernel_width) - 1);
  const std::uint32_t out_width = any(random, 1, 16), out_height = any(random, 1, 16);
  pdp.width = (out_width - 1) * pdp.stride_width + pdp.kernel_width - pdp.pad_left - pdp.pad_right;
  pdp.height =
      (out_height - 1) * pdp.stride_height + pdp.kernel_height - pdp.pad_top - pdp.pad_bottom;
  pdp.channels = any(random, 1, 100);
  if ((base.hw->features & NVDLA_HW_INT16) != 0 && any(random, 0, 1) == 0) pdp.precision = kInt16;
  pdp.input = cube(0, pdp.width, pdp.height, atom);
  pdp.output = cube(1, out_width, out_height, atom);
  return base;
}

Base random_cdp(const char* configuration, Random& random) {
  Base base = with_room(base_cdp(configuration));
  nvdla_cdp& cdp = base.layer.cdp;
  cdp.width = any(random, 1, 40);
  cdp.height = any(random, 1, 20);
  cdp.channels = any(random, 1, 100);
  cdp.input = cube(0, cdp.width, cdp.height, base.hw->atom);
  cdp.output = cube(1, cdp.width, cdp.height, base.hw->atom);
  return base;
}

// Without operators; SDP's cube is what comes out.
void finish_conv(Base& base, std::uint32_t out_width, std::uint32_t out_height) {
  nvdla_conv& conv = base.layer.conv;
  nvdla_sdp& sdp = base.layer.sdp;
  const std::uint32_t half = base.hw->cbuf_banks / 2;
  conv.data_banks = half;
  conv.weight_banks = half;
  sdp.x1 = sdp.x2 = {};
  sdp.output = cube(kOutput, out_width, out_height, base.hw->atom);
}

Base random_conv(const char* configuration, Random& random) {
  Base base = with_room(base_conv(configuration));
  nvdla_conv& conv = base.layer.conv;
  conv.width = any(random, 1, 24);
  conv.height = any(random, 1, 24);
  conv.channels = any(random, 1, 200);
  conv.kernels = any(random, 1, 100);
  conv.kernel_width = any(random, 1, static_cast<int>(std::min(conv.width, 5U)));
  conv.kernel_height = any(random, 1, static_cast<int>(std::min(conv.height, 5U)));
  conv.stride_width = conv.stride_height = 1;
  conv.pad_left = conv.pad_right = conv.pad_top = conv.pad_bottom = 0;
  conv.pad_value = 0;
  conv.input = cube(kInput, conv.width, conv.height, base.hw->atom);
  finish_conv(base, conv.width - conv.kernel_width + 1, conv.height - conv.kernel_height + 1);
  return base;
}

Base random_wide_conv(const char* configuration, Random& random) {
  Base base = random_conv(configuration, random);
  nvdla_conv& conv = base.layer.conv;
  nvdla_sdp& sdp = base.layer.sdp;
  conv.clip_truncate = 0;
  conv.in_precision = conv.proc_precision = sdp.proc_precision = sdp.out_precision = kInt16;
  return base;
}

// Narrow ones, too: their stripes end with their lines.
Base random_image(const char* configuration, Random& random) {
  Base base = with_room(base_image(configuration));
  nvdla_conv& conv = base.layer.conv;
  conv.width = any(random, 3, 60);
  conv.height = any(random, 3, 40);
  conv.kernels = any(random, 1, 100);
  conv.input.line_stride = div_up((conv.width + 1) * 4, base.hw->atom) * base.hw->atom;
  finish_conv(base, conv.width, conv.height);
  return base;
}

Base random_move(Base base, Random& random) {
  nvdla_rubik& rubik = base.layer.rubik;
  rubik.width = any(random, 1, 60);
  rubik.height = any(random, 1, 20);
  const bool contract = rubik.mode == NVDLA_RUBIK_CONTRACT;
  const bool split = rubik.mode == NVDLA_RUBIK_SPLIT;
  if (!contract) rubik.channels = any(random, 1, 60);
  rubik.input = cube(0, rubik.width, rubik.height, 32);
  rubik.output = contract ? cube(1, 3 * rubik.width, 2 * rubik.height, 32)
                          : cube(1, rubik.width, rubik.height, 32);
  nvdla_surface& planes = split ? rubik.output : rubik.input;
  if (!contract) {
    planes.line_stride = div_up(rubik.width, 64) * 64;
    planes.surface_stride = planes.line_stride * rubik.height;
  }
  return with_room(base);
}

Base random_copy(const char* configuration, Random& random) {
  Base base = with_room(base_bdma(configuration));
  base.transfers.resize(1);
  base.layer.bdma.num_transfers = 1;
  nvdla_transfer& transfer = base.transfers[0];
  transfer.line_bytes = 32 * any(random, 1, 100);
  transfer.lines = any(random, 1, 30);
  transfer.surfaces = any(random, 1, 5);
  for (nvdla_surface* surface : {&transfer.source, &transfer.destination}) {
    surface->line_stride = transfer.line_bytes + 32 * any(random, 0, 2);
    surface->surface_stride = surface->line_stride * transfer.lines;
  }
  return base;
}

const Kind kKinds[] = {
    {"sdp", random_sdp, true},
    {"sdp with Y", random_sdp_y, true},
    {"pdp", random_pooling},
    {"cdp", random_cdp},
    {"conv", random_conv},
    {"conv in 16 bits", random_wide_conv, false, true},
    {"image", random_image},
    {"contract", [](const char* c, Random& r) { return random_move(base_contract(c), r); }, false,
     true},
    {"split", [](const char* c, Random& r) { return random_move(base_split(c), r); }, false, true},
    {"merge", [](const char* c, Random& r) { return random_move(base_merge(c), r); }, false, true},
    {"bdma", random_copy, true, true},
    {"fused", [](const char* c, Random&) { return with_room(base_conv_pdp(c)); }},
    {"sdp and pdp", [](const char* c, Random&) { return with_room(base_sdp_pdp(c)); }},
    {"batch", [](const char* c, Random&) { return with_room(base_batch(c)); }, false, true},
    {"winograd", [](const char* c, Random&) { return with_room(base_winograd(c)); }, false, true},
};

TEST(Bounds, AreNoLessThanWhatIsPredicted) {
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
    const nvdla_hw& hw = *nvdla_hw_get(i);
    for (const Kind& kind : kKinds) {
      if (kind.first_generation && (hw.features & NVDLA_HW_INT16) == 0) continue;
      if (kind.name == std::string("sdp with Y") && (hw.features & NVDLA_HW_SDP_Y) == 0) continue;
      Random random(i);
      unsigned compiled = 0;
      constexpr unsigned kLayers = 200;
      std::string refused;
      for (unsigned n = 0; n < kLayers; ++n) {
        const Base base = kind.make(hw.name, random);
        Program program(hw, base.slots, 1, 0, 0, base.luts, base.transfers, base.control);
        if (!program.add(base.layer)) {
          refused = to_string(program.error());
          continue;
        }
        ++compiled;
        const std::uint64_t bound = program.image(0).cycles;
        const cost::LayerGeometry layer = geometry_of(hw, base, program);
        const cost::Machine machine = model::machine_of(hw);
        const LayerCycles slow = cost::layer_cycles(machine, kMemory, layer);
        EXPECT_GE(bound, slow.total) << hw.name << " " << kind.name << " " << n;
        EXPECT_GE(bound, cost::layer_cycles(machine, {}, layer).total)
            << hw.name << " " << kind.name;
        // Requests of several beats bring more than the bound relies on.
        if (!kind.passes_on || hw.burst > 1) continue;
        // Lines of two atoms may be one beat of a wide interface; the bound counts a request for
        // each.
        const bool narrow = kind.name == std::string("sdp") && base.layer.sdp.width < 4;
        EXPECT_LE(bound, kLayer + (narrow ? 6 : 4) * slow.total)
            << hw.name << " " << kind.name << " " << n;
      }
      EXPECT_GE(compiled, kLayers / 4) << hw.name << " " << kind.name << ": " << refused;
    }
  }
}

// Draws layers that compile, of all kinds that the device has, with their bounds.
struct Bounded {
  cost::SequenceLayer layer;
  std::uint32_t units = 0;
  std::uint64_t bound = 0;
};

std::vector<Bounded> draw_sequence(const nvdla_hw& hw, Random& random) {
  std::vector<Bounded> sequence;
  const std::uint32_t size = any(random, 2, 8);
  while (sequence.size() < size) {
    const Kind& kind = kKinds[any(random, 0, std::size(kKinds) - 1)];
    if (kind.first_generation && (hw.features & NVDLA_HW_INT16) == 0) continue;
    if (kind.name == std::string("sdp with Y") && (hw.features & NVDLA_HW_SDP_Y) == 0) continue;
    const Base base = kind.make(hw.name, random);
    Program program(hw, base.slots, 1, 0, 0, base.luts, base.transfers, base.control);
    if (!program.add(base.layer)) continue;
    Bounded& next = sequence.emplace_back();
    next.layer.layer = geometry_of(hw, base, program);
    next.units = program.image(0).units;
    next.bound = program.image(0).cycles;
    if (sequence.size() > 1 && any(random, 0, 1) == 0)
      next.layer.waits = {any(random, 0, static_cast<int>(sequence.size()) - 2)};
  }
  return sequence;
}

// `Starts` follows when layers of a sequence may run: when their units are done with all layers
// before, what they wait for has ended, and their registers are written, which happens in order,
// into the group that the last layer but one of a unit had.
class Starts {
 public:
  std::uint64_t next(const Bounded& layer, std::span<const LayerCycles> before) {
    std::uint64_t start = 0;
    for (const std::uint32_t wait : layer.layer.waits) start = std::max(start, before[wait].total);
    for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; ++unit) {
      if ((layer.units >> unit & 1) == 0) continue;
      start = std::max(start, last_[unit]);
      written_ = std::max(written_, before_[unit]);
    }
    return std::max(start, written_);
  }
  void end(const Bounded& layer, std::uint64_t end) {
    for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; ++unit)
      if ((layer.units >> unit & 1) != 0) before_[unit] = std::exchange(last_[unit], end);
  }

 private:
  std::uint64_t last_[NVDLA_UNIT_COUNT] = {}, before_[NVDLA_UNIT_COUNT] = {};
  std::uint64_t written_ = 0;
};

// The engine gives a layer its time from when it may run. Others run meanwhile, and memory is
// theirs, too.
TEST(Bounds, AreNoLessThanWhatIsPredictedAmongOthers) {
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
    const nvdla_hw& hw = *nvdla_hw_get(i);
    Random random(i);
    for (unsigned n = 0; n < 200; ++n) {
      const std::vector<Bounded> drawn = draw_sequence(hw, random);
      std::vector<cost::SequenceLayer> layers;
      for (const Bounded& one : drawn) layers.push_back(one.layer);
      const cost::EngineTiming engine = {
          .interrupt = 0,
          .registers = 0,
          .convolutions_ahead = (hw.features & NVDLA_HW_WEIGHT_GATING) == 0};
      for (const MemoryTiming& memory : {kMemory, MemoryTiming{}}) {
        const auto predicted =
            cost::sequence_cycles(model::machine_of(hw), memory, layers, engine).layers;
        Starts starts;
        for (std::size_t at = 0; at < drawn.size(); ++at) {
          const std::uint64_t start = starts.next(drawn[at], predicted);
          EXPECT_GE(start + drawn[at].bound, predicted[at].total)
              << hw.name << ", sequence " << n << ", layer " << at << " of " << drawn.size();
          starts.end(drawn[at], predicted[at].total);
        }
      }
    }
  }
}

}  // namespace
}  // namespace nvdla::test
