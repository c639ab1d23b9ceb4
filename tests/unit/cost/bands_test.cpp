// SPDX-License-Identifier: MIT
//
// Predicted cycles of layers in bands of lines, as they were measured on the published logic: bands
// of one layer one behind the other, and of the three layers of a residual block in turns, so that
// a band is fetched while another is computed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/sequence_cycles.hpp"
#include "measured.hpp"

namespace nvdla::test {
namespace {

struct Stage {
  unsigned channels = 0, kernels = 0, kernel = 1;
  bool adds = false;  // a shortcut, to biased results
};

struct Banded {
  std::vector<Stage> stages;
  unsigned side = 0, bands = 1, data_banks = 0, weight_banks = 0;
  std::uint64_t measured = 0;
  cost::MemoryTiming memory = {};
  bool convolutions_ahead = true;
  unsigned lag = 2;
};

cost::Machine device(const char* name) {
  MeasuredRow row;
  row.configuration = name;
  if (row.configuration == "nv_small") row.revision = 2019;
  return machine_of(row);
}

// The first line of band `band` of so many.
unsigned first_line(const Banded& of, unsigned band) {
  const unsigned more = of.side % of.bands;
  return of.side / of.bands * band + std::min(band, more);
}

// Band b of a layer stands at place b and an offset, `lag` behind the last band that it reads: with
// 2 another band lies between them.
std::vector<cost::SequenceLayer> in_turns(const cost::Machine& machine, const Banded& of) {
  struct Place {
    unsigned at, stage, band;
  };
  std::vector<Place> order;
  unsigned offset = 0;
  for (unsigned stage = 0; stage < of.stages.size(); ++stage) {
    if (stage != 0) offset += of.lag + (of.stages[stage].kernel == 1 ? 0 : 1);
    for (unsigned band = 0; band < of.bands; ++band) order.push_back({band + offset, stage, band});
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Place& a, const Place& b) { return a.at < b.at; });
  std::vector<cost::SequenceLayer> layers;
  for (const Place& place : order) {
    const Stage& stage = of.stages[place.stage];
    const unsigned begin = first_line(of, place.band), end = first_line(of, place.band + 1);
    const unsigned halo = stage.kernel / 2;
    const unsigned from = begin - std::min(begin, halo), to = std::min(end + halo, of.side);
    cost::SequenceLayer& next = layers.emplace_back();
    next.layer = direct_layer(machine, of.side, to - from, stage.channels, stage.kernels,
                              stage.kernel, end - begin);
    next.layer.conv.data_banks = of.data_banks;
    next.layer.conv.weight_banks = of.weight_banks;
    if (stage.adds) {
      cost::SdpGeometry& sdp = next.layer.sdp;
      sdp.x1 = sdp.x2 = true;
      sdp.operands[0] = {.read = true, .both = true, .two_bytes = true};
      sdp.operands[1] = {.read = true, .per_element = true};
    }
    for (std::uint32_t i = 0; i + 1 < layers.size(); ++i) {
      const Place& other = order[i];
      if (other.stage + 1 == place.stage && first_line(of, other.band) < to &&
          first_line(of, other.band + 1) > from)
        next.waits.push_back(i);
    }
  }
  return layers;
}

void expect_close(const char* name, const std::vector<Banded>& all) {
  const cost::Machine machine = device(name);
  for (const Banded& of : all) {
    const auto layers = in_turns(machine, of);
    const std::uint64_t predicted =
        cost::sequence_cycles(machine, of.memory, layers,
                              {.convolutions_ahead = of.convolutions_ahead})
            .total;
    const double error = static_cast<double>(predicted) / static_cast<double>(of.measured) - 1;
    fmt::print("{} {} layers of {} in {} bands: {} measured, {} predicted, {:.1f} %\n", name,
               of.stages.size(), of.side, of.bands, of.measured, predicted, 100 * error);
    EXPECT_LE(std::abs(error), 0.05) << of.stages[0].channels << " in " << of.bands;
  }
}

// Measured with the descriptors and the engine of this project, banks as they were set for bands.
TEST(MeasuredBands, OfOneLayerArePredicted) {
  const std::vector<Stage> shrink = {{256, 64, 1}}, narrow = {{512, 128, 1}};
  const std::vector<Stage> widen = {{64, 256, 1}}, wide = {{128, 512, 1}}, same = {{128, 128, 3}};
  expect_close("nv_full", {{shrink, 28, 1, 7, 1, 11309},
                           {shrink, 28, 2, 8, 1, 9022},
                           {shrink, 28, 2, 4, 1, 10698},
                           {shrink, 28, 3, 8, 1, 8417},
                           {shrink, 28, 4, 8, 1, 8086},
                           {narrow, 14, 1, 4, 3, 9464},
                           {narrow, 14, 2, 8, 4, 8359},
                           {narrow, 14, 4, 8, 4, 7826},
                           {widen, 28, 1, 2, 1, 14021},
                           {widen, 28, 2, 4, 1, 13446},
                           {widen, 28, 4, 4, 1, 13158},
                           {wide, 14, 1, 1, 3, 7399},
                           {wide, 14, 2, 4, 4, 6993},
                           {same, 28, 1, 4, 5, 60005},
                           {same, 28, 2, 8, 5, 58500}});
}

TEST(MeasuredBands, OfAResidualBlockArePredicted) {
  const std::vector<Stage> early = {{256, 64, 1}, {64, 64, 3}, {64, 256, 1}};
  const std::vector<Stage> late = {{1024, 256, 1}, {256, 256, 3}, {256, 1024, 1}};
  const cost::MemoryTiming far = {.latency = 100, .write_latency = 100};
  const cost::MemoryTiming slow = {.latency = 50, .write_latency = 50, .beat_gap = 3};
  expect_close("nv_full", {{early, 28, 1, 8, 2, 41212},
                           {early, 28, 2, 8, 2, 36930},
                           {early, 28, 4, 8, 2, 34866},
                           {early, 28, 7, 8, 2, 34691},
                           {early, 28, 1, 8, 2, 41806, far},
                           {early, 28, 4, 8, 2, 35262, far},
                           {early, 28, 1, 8, 2, 51202, slow},
                           {early, 28, 4, 8, 2, 40288, slow},
                           {late, 14, 1, 8, 8, 118425},
                           {late, 14, 2, 8, 8, 112695}});
}

// Blocks of ResNet-50 with their shortcuts, in the bands that the compiler chooses.
TEST(MeasuredBands, OfChosenBlocksArePredicted) {
  const std::vector<Stage> second = {{512, 128, 1}, {128, 128, 3}, {128, 512, 1, true}};
  const std::vector<Stage> third = {{1024, 256, 1}, {256, 256, 3}, {256, 1024, 1, true}};
  expect_close("nv_full", {{second, 28, 8, 13, 3, 109966, {}, true, 1},
                           {third, 14, 4, 11, 5, 109402, {}, true, 1}});
}

// The clock gate's fault lets a convolution be enabled only after the one before.
TEST(MeasuredBands, OnNvSmallDependOnTheClockGate) {
  const std::vector<Stage> block = {{64, 32, 1}, {32, 32, 3}, {32, 64, 1}};
  const cost::MemoryTiming far = {.latency = 50, .write_latency = 50};
  expect_close("nv_small", {{block, 14, 1, 16, 10, 60054},
                            {block, 14, 2, 16, 10, 56604},
                            {block, 14, 4, 16, 10, 54202},
                            {block, 14, 1, 16, 10, 60348, far},
                            {block, 14, 2, 16, 10, 56800, far},
                            {block, 14, 4, 16, 10, 54300, far},
                            {block, 14, 1, 16, 10, 60345, far, false},
                            {block, 14, 2, 16, 10, 61397, far, false},
                            {block, 14, 4, 16, 10, 63575, far, false}});
}

// Units side by side take as long as the slower one.
TEST(MeasuredBands, UnitsWorkSideBySide) {
  const cost::Machine machine = device("nv_full");
  std::vector<cost::SequenceLayer> layers(2);
  layers[0].layer = direct_layer(machine, 14, 14, 64, 64, 3, 14);
  layers[0].layer.conv.data_banks = 1;
  layers[0].layer.conv.weight_banks = 2;
  layers[1].layer.kind = cost::LayerGeometry::Kind::kPdp;
  cost::PdpGeometry& pdp = layers[1].layer.pdp;
  pdp.width = pdp.height = 28;
  pdp.channels = 64;
  pdp.kernel_width = pdp.kernel_height = 3;
  pdp.stride_width = pdp.stride_height = 2;
  pdp.left = pdp.top = 1;
  pdp.out_width = pdp.out_height = 14;
  pdp.reads_cube = true;
  const auto total = [&] {
    return static_cast<double>(cost::sequence_cycles(machine, {}, layers).total);
  };
  EXPECT_NEAR(total(), 6478, 6478 * 0.05);
  layers[1].waits = {0};
  EXPECT_NEAR(total(), 10533, 10533 * 0.05);
}

// Whatever overlaps, memory passes no more than its bandwidth.
TEST(SharedMemory, PassesNoMoreThanItsBandwidth) {
  const Banded block = {{{256, 64, 1}, {64, 64, 3}, {64, 256, 1}}, 28, 4, 8, 2, 0};
  const cost::Machine machine = device("nv_full");
  const auto layers = in_turns(machine, block);
  for (const double bandwidth : {1.0, 5.0, 20.0}) {
    const cost::MemoryTiming memory = {.bandwidth = bandwidth};
    std::uint64_t bytes = 0;
    for (const cost::SequenceLayer& one : layers) {
      const cost::LayerCycles alone = cost::layer_cycles(machine, memory, one.layer);
      bytes += alone.read + alone.written;
    }
    const std::uint64_t cycles = cost::sequence_cycles(machine, memory, layers).total;
    EXPECT_GE(static_cast<double>(cycles) * bandwidth, static_cast<double>(bytes)) << bandwidth;
  }
}

// Copies that are enabled ahead hide their first read: each costs the way of its last write and a
// few cycles more than the same lines in one layer.
TEST(MeasuredBands, OfCopiesHideTheirFirstRead) {
  struct Row {
    const char* configuration;
    unsigned latency;
    std::uint64_t more;  // measured, of each copy
  };
  for (const Row& row :
       {Row{"nv_full", 1, 25}, Row{"nv_full", 50, 74}, Row{"nv_full", 200, 224},
        Row{"nv_small", 1, 19}, Row{"nv_small", 50, 68}, Row{"nv_small", 200, 68}}) {
    const cost::Machine machine = device(row.configuration);
    const auto copies = [&](unsigned count, unsigned lines) {
      cost::LayerGeometry layer{.kind = cost::LayerGeometry::Kind::kSdp};
      layer.sdp.width = 64;
      layer.sdp.height = lines;
      layer.sdp.channels = machine.atom;
      layer.sdp.element_bytes = layer.sdp.in_bytes = layer.sdp.out_bytes = 1;
      layer.sdp.reads_cube = layer.sdp.writes_cube = true;
      const cost::MemoryTiming memory{.latency = row.latency, .write_latency = row.latency};
      return cost::sequence_cycles(machine, memory,
                                   std::vector<cost::SequenceLayer>(count, {layer}))
          .total;
    };
    EXPECT_NEAR(static_cast<double>(copies(8, 16) - copies(1, 8 * 16)),
                static_cast<double>(7 * row.more), 7 * 3.0)
        << row.configuration << " latency " << row.latency;
  }
}

// Layers of another unit go on at once, whatever layers that come before them in the order wait
// for.
TEST(SharedMemory, ServesLayersThatBeginEarlier) {
  const cost::Machine machine = device("nv_full");
  std::vector<cost::SequenceLayer> layers(3);
  layers[0].layer = direct_layer(machine, 28, 28, 64, 64, 3, 28);
  layers[1].layer = layers[0].layer;
  layers[1].waits = {0};
  layers[2].layer.kind = cost::LayerGeometry::Kind::kCdp;
  layers[2].layer.cdp = {.width = 28, .height = 28, .channels = 64};
  for (const double bandwidth : {0.0, 20.0}) {
    const cost::MemoryTiming memory = {.bandwidth = bandwidth};
    const auto alone = cost::layer_cycles(machine, memory, layers[2].layer).total;
    const auto predicted = cost::sequence_cycles(machine, memory, layers).layers;
    ASSERT_LT(2 * alone, predicted[0].total);
    EXPECT_LT(predicted[2].total, 2 * alone) << bandwidth;
  }
}

}  // namespace
}  // namespace nvdla::test
