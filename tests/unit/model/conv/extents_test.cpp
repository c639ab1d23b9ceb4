// SPDX-License-Identifier: MIT
//
// The bytes that a layer touches, recorded on the bus, are exactly those of the formulas in the
// facts about extents: not one more, not one less, over-fetched lanes included.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/layers/model_layer.hpp"
#include "common/recorder.hpp"

namespace nvdla::test {
namespace {

using model::Device;
using model::Memory;
using model::Ram;

// n surfaces x H lines x `run` bytes.
void add_cube(Bytes& bytes, const Cube& cube, std::uint64_t surfaces, std::uint64_t lines,
              std::uint64_t run) {
  for (std::uint64_t s = 0; s < surfaces; ++s)
    for (std::uint64_t y = 0; y < lines; ++y)
      bytes.add(cube.base + s * cube.surface + y * cube.line, run);
}

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

void expect_operands(const TestLayer& layer, unsigned index, Bytes& reads) {
  const RefX& x = layer.ref.x[index];
  const bool alu = x.alu.active && x.alu.source != Source::kRegister;
  const bool mul = x.mul.active && x.mul.source != Source::kRegister;
  if (!x.active || (!alu && !mul)) return;
  const std::uint64_t atom = layer.hw->atom;
  const std::uint64_t m = ceil_div(layer.ref.kernels, layer.column());
  // Atoms of a column.
  const std::uint64_t k =
      layer.ref.wide_proc ? (alu && mul ? 2 : 1) : (alu && mul ? 2 : 1) * (x.two_bytes ? 2 : 1);
  const bool element = (alu ? x.alu.source : x.mul.source) == Source::kPerElement;
  const std::uint64_t width = layer.ref.out_width(), height = layer.ref.out_height();
  if (!element || (width == 1 && height == 1)) {
    reads.add(layer.operands[index], m * k * atom);
  } else {
    add_cube(reads,
             {layer.operands[index], layer.operand_line[index], layer.operand_surface[index]}, m,
             height, width * k * atom);
  }
}

Bytes expected_reads(const TestLayer& layer) {
  Bytes reads;
  const RefLayer& ref = layer.ref;
  const std::uint64_t atom = layer.hw->atom;
  if (ref.convolution) {
    const std::uint64_t n = ceil_div(ref.channels, layer.column());
    Cube cube = layer.input;
    if (ref.width == 1 && ref.height == 1 && layer.surface_packed) cube.surface = atom;
    if (layer.line_packed) {
      // Grains of lines: the stride only steps from grain to grain.
      for (std::uint64_t s = 0; s < n; ++s)
        for (std::uint64_t y = 0; y < ref.height; y += layer.grain)
          reads.add(cube.base + s * cube.surface + y * cube.line,
                    std::min<std::uint64_t>(layer.grain, ref.height - y) * ref.width * atom);
    } else {
      add_cube(reads, cube, n, ref.height, ref.width * atom);
    }
    reads.add(layer.weights, layer.weight_bytes);
  } else {
    const std::uint64_t n = ref.wide_input && !ref.wide_proc
                                ? 2 * ceil_div(ref.channels, atom)
                                : ceil_div(ref.channels, layer.column());
    if (ref.width == 1 && ref.height == 1) {
      reads.add(layer.input.base, n * atom);
    } else {
      add_cube(reads, layer.input, n, ref.height, ref.width * atom);
    }
  }
  expect_operands(layer, 0, reads);
  expect_operands(layer, 1, reads);
  return reads;
}

Bytes expected_writes(const TestLayer& layer) {
  Bytes writes;
  const RefLayer& ref = layer.ref;
  const std::uint64_t atom = layer.hw->atom;
  const std::uint64_t n = ref.wide_output && !ref.wide_proc ? 2 * ceil_div(ref.kernels, atom)
                                                            : ceil_div(ref.kernels, layer.column());
  if (ref.out_width() == 1 && ref.out_height() == 1) {
    writes.add(layer.output.base, n * atom);
  } else {
    add_cube(writes, layer.output, n, ref.out_height(), ref.out_width() * atom);
  }
  return writes;
}

void run(const TestLayer& layer, Recorder& bus, const std::string& what) {
  Device device(*layer.hw, bus);
  Registers regs(device);
  program(layer, regs, 0, 0);
  enable(layer, regs);
  while (device.step()) {
  }
  ASSERT_TRUE(device.idle()) << what << ": " << device.blocked().front().reason;
}

void check(const TestLayer& layer, const std::string& what) {
  Memory memory;
  load(layer, memory);
  Recorder bus(memory);
  run(layer, bus, what);
  ASSERT_EQ(bus.reads.merged(), expected_reads(layer).merged()) << what << ", reads";
  ASSERT_EQ(bus.writes.merged(), expected_writes(layer).merged()) << what << ", writes";
  // Everything written was announced, within the interval of the cube.
  const auto announced = bus.announced.merged();
  for (const auto& [begin, end] : bus.writes.merged()) {
    const auto after = announced.upper_bound(begin);
    ASSERT_NE(after, announced.begin());
    ASSERT_GE(std::prev(after)->second, end);
  }
  ASSERT_EQ(announced.begin()->first, bus.writes.merged().begin()->first);
  ASSERT_EQ(announced.rbegin()->second, bus.writes.merged().rbegin()->second);

  // Nor is anything else read or written where memory lies open.
  Memory window;
  load(layer, window);
  Recorder open(window);
  open.open = true;
  run(layer, open, what);
  for (const auto& [begin, end] : announced)
    ASSERT_EQ(window.crc(Ram::kPrimary, begin, end - begin),
              memory.crc(Ram::kPrimary, begin, end - begin))
        << what << ", written through a window";
}

class Extents : public testing::TestWithParam<const char*> {};

TEST_P(Extents, OfRandomLayers) {
  const nvdla_hw& hw = *nvdla_hw_find(GetParam());
  for (unsigned seed = 5000; seed < 5300; ++seed) {
    Random random(seed);
    const TestLayer layer = random_layer(hw, random, seed % 2 != 0);
    check(layer, "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
  }
}

TEST_P(Extents, PackedLinesAreReadByGrainWhateverTheStride) {
  Random random(1);
  TestLayer layer;
  layer.hw = nvdla_hw_find(GetParam());
  RefLayer& ref = layer.ref;
  ref.width = 5;
  ref.height = 7;
  ref.channels = 40;
  ref.kernels = 3;
  ref.lanes = layer.hw->atom;
  ref.input.assign(std::size_t{5} * 7 * 40, 1);
  ref.weights.assign(std::size_t{3} * 40, 1);
  finish_layout(layer, random, false);
  layer.input.line += 3 * layer.hw->atom;
  layer.input.surface = 8 * layer.input.line;
  for (layer.grain = 1; layer.grain <= ref.height + 1; ++layer.grain)
    check(layer, "grain " + std::to_string(layer.grain));
}

TEST_P(Extents, OneByOneCubes) {
  for (const bool packed : {false, true}) {
    Random random(1);
    TestLayer layer;
    layer.hw = nvdla_hw_find(GetParam());
    RefLayer& ref = layer.ref;
    ref.channels = 77;
    ref.kernels = 70;
    ref.lanes = static_cast<unsigned>(ceil_div(70, layer.hw->atom) * layer.hw->atom);
    ref.input.assign(77, 1);
    ref.weights.assign(std::size_t{70} * 77, 1);
    finish_layout(layer, random, false);
    layer.input.surface = 5 * layer.hw->atom;
    layer.output.surface = 9 * layer.hw->atom;
    layer.surface_packed = packed;
    check(layer, packed ? "packed" : "unpacked");
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, Extents,
                         testing::Values("nv_full", "nv_large", "nv_medium_512", "nv_small_256",
                                         "nv_small"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace nvdla::test
