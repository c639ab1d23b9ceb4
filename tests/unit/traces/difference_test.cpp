// SPDX-License-Identifier: MIT
//
// Where two runs differ: the element, by the layout of each unit, against what sessions read; and
// the layer, cut out of a record.
#include "tools/diff/difference.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "common/runtime/lut_layer.hpp"
#include "common/runtime/lut_reference.hpp"
#include "recorded.hpp"
#include "tools/diff/rerun.hpp"
#include "tools/replay/player.hpp"
#include "unit/tools/temporary_folder.hpp"

namespace nvdla {
namespace {

using compare::Difference;
using compare::first_difference;
using replay::Dump;
using test::Recorded;
using test::RecordedNetwork;

const nvdla_lut& lrn_table() {
  static const nvdla_lut kTable = [] {
    test::Random random(3);
    return test::random_lut(NVDLA_LUT_CDP, 20, random);
  }();
  return kTable;
}

Tensor pool(Network& net, Tensor in) {
  return net.pooling(in, {.name = "pool", .kernel_height = 2, .kernel_width = 2});
}

Tensor add_one(Network& net, Tensor in) {
  return net.pointwise(in, {.name = "add", .output = {.offset = 1, .scale = 1}});
}

std::vector<RecordedNetwork> networks() {
  constexpr Shape kShape{.channels = 21, .height = 5, .width = 6};
  constexpr Precision kInt8 = Precision::kInt8, kInt16 = Precision::kInt16,
                      kFp16 = Precision::kFp16;
  std::vector<RecordedNetwork> list;
  const auto conv = [&](const char* name, const char* configuration, Precision precision) {
    list.push_back({name, configuration, kShape, precision, [precision](Network& net, Tensor in) {
                      return test::convolve(net, in, 21, 19, precision);
                    }});
  };
  conv("ConvolutionOfSmall", "nv_small", kInt8);
  conv("ConvolutionOfFull", "nv_full", kInt8);
  conv("ConvolutionInInt16", "nv_full", kInt16);
  conv("ConvolutionInFp16", "nv_full", kFp16);
  list.push_back({"Sdp", "nv_small", kShape, kInt8, add_one});
  list.push_back({"SdpOfOnePosition", "nv_full", {.channels = 70}, kInt8, add_one});
  list.push_back({"Pdp", "nv_small", kShape, kInt8, pool});
  list.push_back({"PdpInFp16", "nv_full", kShape, kFp16, pool});
  list.push_back({"Cdp", "nv_full", kShape, kInt8, [](Network& net, Tensor in) {
                    return net.normalization(in, {.name = "lrn", .lut = &lrn_table()});
                  }});
  list.push_back({"RubikContract",
                  "nv_full",
                  {.channels = 128, .height = 3, .width = 4},
                  kInt8,
                  [](Network& net, Tensor in) {
                    return net.contract(in, {.name = "up", .stride_height = 2, .stride_width = 2});
                  }});
  list.push_back({"RubikSplit", "nv_full", kShape, kInt16,
                  [](Network& net, Tensor in) { return net.split(in, "split"); }});
  list.push_back({"RubikMerge", "nv_full", kShape, kInt16,
                  [](Network& net, Tensor in) { return net.merge(in, "merge"); }, true});
  return list;
}

class Elements : public testing::TestWithParam<RecordedNetwork> {
 protected:
  replay::TemporaryFolder folder_;
};

// The number behind `name` in a text such as "(x 3, y 0, channel 17)".
std::size_t number_after(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name + " ");
  return at == text.npos ? SIZE_MAX : std::stoul(text.substr(at + name.size() + 1));
}

// What sessions unpack by their own rules is what the registers must lead to.
TEST_P(Elements, AreThoseThatARequestReads) {
  const Recorded recorded = test::record(folder_.path() / "a.record", GetParam());
  const Shape& shape = recorded.out.shape;
  const bool wide = recorded.out.precision != Precision::kInt8;
  std::size_t named = 0;
  for (std::size_t w = 0; w < recorded.jobs[0].written.size(); ++w) {
    const std::size_t size = recorded.jobs[0].written[w].bytes.size();
    for (std::size_t at = 0; at < size; at += 1 + at % 5) {
      auto wrong = recorded.jobs;
      wrong[0].written[w].bytes[at] ^= std::byte{0x40};
      const auto found = first_difference(recorded.jobs, wrong);
      // What lies between lines is compared, too: no layer of these leaves it.
      if (!found) continue;
      EXPECT_TRUE(found->output);
      EXPECT_EQ(found->layer, recorded.jobs[0].layers.size() - 1);
      if (found->what.find(" behind the last of ") != std::string::npos) continue;
      const std::size_t x = number_after(found->what, "x"), y = number_after(found->what, "y"),
                        c = number_after(found->what, "channel");
      if (found->what.find("element (") == std::string::npos) continue;
      ASSERT_LT(x, shape.width) << found->what;
      ASSERT_LT(y, shape.height) << found->what;
      ASSERT_LT(c, shape.channels) << found->what;
      const std::int32_t value = recorded.out.data[(c * shape.height + y) * shape.width + x];
      char hex[16];
      std::snprintf(hex, sizeof(hex), wide ? "0x%04x (" : "0x%02x (",
                    static_cast<unsigned>(value) & (wide ? 0xffffU : 0xffU));
      ASSERT_TRUE(found->a.starts_with(hex)) << compare::text(*found) << ", not " << hex;
      ASSERT_FALSE(found->b.starts_with(hex)) << compare::text(*found);
      ++named;
    }
  }
  EXPECT_GT(named, 20U);
}

INSTANTIATE_TEST_SUITE_P(Units, Elements, testing::ValuesIn(networks()),
                         [](const auto& param) { return param.param.name; });

// Three layers, of which the last overwrites nothing of the others.
RecordedNetwork chain() {
  return {"chain",
          "nv_small",
          {.channels = 8, .height = 6, .width = 6},
          Precision::kInt8,
          [](Network& net, Tensor in) {
            return pool(net, add_one(net, test::convolve(net, in, 8, 8, Precision::kInt8)));
          }};
}

class Differences : public testing::Test {
 protected:
  Recorded record(unsigned runs = 1) {
    return test::record(folder_.path() / "a.record", chain(), runs);
  }
  // Flips a bit of what the layer of the job wrote.
  static void damage(Dump& job, std::uint32_t layer) {
    const nvdla_dump_layer& of = job.layers[layer];
    for (std::uint32_t i = 0; i < of.num_accesses; ++i) {
      const nvdla_dump_access& access = job.accesses[of.first_access + i];
      if (access.write == 0) continue;
      for (replay::DumpBuffer& written : job.written)
        if (access.address - written.info.address < written.info.size) {
          written.bytes[access.address - written.info.address + 9] ^= std::byte{1};
          return;
        }
    }
    FAIL() << "layer " << layer << " writes nothing";
  }
  static std::string text_of(const std::vector<Dump>& a, const std::vector<Dump>& b) {
    const auto found = first_difference(a, b);
    return found ? compare::text(*found) : "none";
  }

  replay::TemporaryFolder folder_;
};

TEST_F(Differences, ThereAreNoneBetweenTheSameRuns) {
  const Recorded first = record(3), second = record(3);
  EXPECT_EQ(text_of(first.jobs, second.jobs), "none");
  auto target = test::model_for(first.jobs);
  EXPECT_EQ(text_of(first.jobs, compare::rerun(first.jobs, "a.record", target)), "none");
}

TEST_F(Differences, TheFirstLayerOfTheFirstJobIsNamed) {
  const Recorded good = record(2);
  auto wrong = good.jobs;
  const auto last = static_cast<std::uint32_t>(good.jobs[0].layers.size() - 1);
  damage(wrong[1], last);
  EXPECT_TRUE(text_of(good.jobs, wrong).starts_with("job 2, layer 1 'add+pool' (sdp+pdp): "))
      << text_of(good.jobs, wrong);
  damage(wrong[1], 0);
  EXPECT_TRUE(text_of(good.jobs, wrong).starts_with("job 2, layer 0 'conv' (conv+sdp): output: "));
  damage(wrong[0], last);
  EXPECT_TRUE(text_of(good.jobs, wrong).starts_with("job 1, layer "));
}

TEST_F(Differences, WhatWasProgrammedIsComparedByField) {
  const Recorded good = record();
  auto wrong = good.jobs;
  const auto* info = model::find_register("SDP.D_DATA_CUBE_CHANNEL");
  const std::uint32_t offset = *model::register_address(NVDLA_REGMAP_NV_SMALL, *info);
  for (auto& write : wrong[0].writes)
    if (write.offset == offset) write.value ^= 8;
  EXPECT_EQ(
      text_of(good.jobs, wrong),
      "job 1, layer 0 'conv' (conv+sdp): SDP.D_DATA_CUBE_CHANNEL.CHANNEL: 7 (0x00000007) in A, 15 "
      "(0x0000000f) in B");
}

TEST_F(Differences, InputsComeBeforeWhatIsMadeOfThem) {
  const Recorded good = record();
  auto wrong = good.jobs;
  const auto& layer = good.jobs[0].layers[0];
  const auto& access = good.jobs[0].accesses[layer.first_access];
  ASSERT_EQ(access.dma, std::uint32_t{NVDLA_DMA_CDMA_DATA});
  for (auto& buffer : wrong[0].buffers)
    if (access.address - buffer.info.address < buffer.info.size)
      buffer.bytes[access.address - buffer.info.address + 8 * 6 + 2] ^= std::byte{1};
  damage(wrong[0], 0);
  const std::string text = text_of(good.jobs, wrong);
  EXPECT_TRUE(text.starts_with("job 1, layer 0 'conv' (conv+sdp): input: ")) << text;
  EXPECT_NE(text.find("element (x 0, y 1, channel 2)"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("; 1 of 288 bytes differ")) << text;
}

TEST_F(Differences, AddressesMayDiffer) {
  const Recorded good = record();
  auto moved = good.jobs;
  constexpr std::uint64_t kBy = 0x4000000;
  for (Dump& job : moved) {
    for (auto& buffer : job.buffers) buffer.info.address += kBy;
    for (auto& written : job.written) written.info.address += kBy;
    for (auto& access : job.accesses) access.address += kBy;
    for (auto& slot : job.slots) slot.address += kBy;
    for (auto& write : job.writes)
      if (model::register_name(NVDLA_REGMAP_NV_SMALL, write.offset).find("ADDR_LOW") !=
          std::string::npos)
        write.value += kBy;
  }
  EXPECT_EQ(text_of(good.jobs, moved), "none");
  // Another place in the same slot is another thing.
  moved[0].accesses[0].address += 8;
  EXPECT_NE(text_of(good.jobs, moved).find("what it touches: "), std::string::npos);
}

TEST_F(Differences, RunsOfOtherThings) {
  const Recorded one = record(1), two = record(2);
  EXPECT_EQ(text_of(one.jobs, two.jobs), "job 2: the number of jobs: 1 in A, 2 in B");
  RecordedNetwork other = chain();
  other.configuration = "nv_full";
  EXPECT_EQ(text_of(one.jobs, test::record(folder_.path() / "b.record", other).jobs),
            "job 1: the configuration: nv_small in A, nv_full in B");
  other = chain();
  other.add = add_one;
  EXPECT_TRUE(text_of(one.jobs, test::record(folder_.path() / "b.record", other).jobs)
                  .starts_with("job 1: the number of layers: "));
}

// Each layer, cut out, is still right where the record is, and still wrong where it is not.
TEST_F(Differences, ReducedToOneLayer) {
  const Recorded good = record(2);
  const auto count = static_cast<std::uint32_t>(good.jobs[1].layers.size());
  for (std::uint32_t layer = 0; layer < count; ++layer) {
    auto wrong = good.jobs;
    damage(wrong[1], layer);
    for (const std::vector<Dump>* jobs : {&good.jobs, &std::as_const(wrong)}) {
      auto target = test::model_for(*jobs), fresh = test::model_for(*jobs);
      const Dump reduced = compare::reduce(*jobs, 1, layer, "a.record", target);
      ASSERT_EQ(reduced.layers.size(), 1U);
      EXPECT_EQ(reduced.layers[0].kind, good.jobs[1].layers[layer].kind);
      const auto bytes = compare::record_bytes(reduced);
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      const auto again = replay::parse_record(text, "small.record");
      const auto outcome = replay::play(replay::record_script(again, "small.record"), fresh);
      EXPECT_GT(outcome.bytes_compared, 0U);
      EXPECT_EQ(outcome.failures.size(), jobs == &good.jobs ? 0U : 1U) << layer;
    }
  }
}

// Bands of one convolution go on from what the last one left in the convolution buffer.
TEST_F(Differences, ReducedWithWhatItGoesOnFrom) {
  const RecordedNetwork tall = {
      "tall",
      "nv_small",
      {.channels = 64, .height = 400, .width = 12},
      Precision::kInt8,
      [](Network& net, Tensor in) { return test::convolve(net, in, 64, 8, Precision::kInt8); }};
  const Recorded good = test::record(folder_.path() / "a.record", tall);
  const auto count = static_cast<std::uint32_t>(good.jobs[0].layers.size());
  ASSERT_GT(count, 2U);
  auto target = test::model_for(good.jobs), fresh = test::model_for(good.jobs);
  const Dump reduced = compare::reduce(good.jobs, 0, count - 1, "a.record", target);
  EXPECT_EQ(reduced.layers.size(), count);
  EXPECT_EQ(text_of({reduced}, compare::rerun({reduced}, "small.record", fresh)), "none");
}

}  // namespace
}  // namespace nvdla
