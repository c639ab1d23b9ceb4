// SPDX-License-Identifier: MIT
//
// Every input where there are few enough of them: all fp16 patterns as either operand of each
// pooling and its padding, all pairs of int8.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "common/layers/pdp_case.hpp"
#include "common/share.hpp"

namespace nvdla::test {
namespace {

// 64 x 64 windows of 16 channels take every 16-bit pattern once.
PdpCase all_patterns(unsigned method, bool flush) {
  PdpCase layer;
  layer.hw = nvdla_hw_find("nv_full");
  layer.precision = 2;
  layer.method = method;
  layer.flush = flush;
  layer.width = layer.height = layer.out_width = layer.out_height = 64;
  layer.channels = 16;
  layer.reciprocal[0] = layer.reciprocal[1] = 0x7c00;
  return layer;
}

// `value(i)` is element i of the memory that the input takes.
template <typename Value>
void run(PdpCase layer, Value value, const std::string& what) {
  SCOPED_TRACE(what);
  Random random(0);
  place_pdp(layer, random, false);
  UnitRig rig(*layer.hw);
  std::vector<std::byte> bytes;
  const unsigned elements = layer.width * layer.height * layer.lanes();
  for (unsigned i = 0; i < elements; ++i) {
    const std::uint16_t bits = value(i);
    bytes.push_back(static_cast<std::byte>(bits));
    if (layer.bytes() == 2) bytes.push_back(static_cast<std::byte>(bits >> 8));
  }
  rig.memory.load(model::Ram::kPrimary, kPdpIn, bytes);
  rig.memory.fill(model::Ram::kPrimary, kPdpOut, kPdpRegion, std::byte{kUntouched});
  program_pdp(layer, rig.regs);
  enable_pdp(rig.regs);
  rig.run();
  ASSERT_EQ(rig.blocked(), "");
  const PdpOutcome want = pdp_reference(layer, rig);
  ASSERT_EQ(rig.compare(kPdpOut, kPdpRegion, want.bytes), "");
  ASSERT_EQ(rig.regs.read("PDP.D_NAN_INPUT_NUM"), want.nan_in);
  ASSERT_EQ(rig.regs.read("PDP.D_INF_INPUT_NUM"), want.infinite_in);
  ASSERT_EQ(rig.regs.read("PDP.D_NAN_OUTPUT_NUM"), want.nan_out);
}

class PdpFp16 : public testing::TestWithParam<std::tuple<PdpMethod, bool>> {
 protected:
  PdpCase layer() const { return all_patterns(std::get<0>(GetParam()), std::get<1>(GetParam())); }
  template <typename Value>
  void run_share(const PdpCase& layer, Value value, const std::string& what) {
    if (share_.next()) run(layer, value, what);
  }

 private:
  Share share_;
};

TEST_P(PdpFp16, EveryInputAlone) {
  run_share(layer(), std::identity{}, "by 1");
  PdpCase thirds = layer();
  thirds.reciprocal[0] = 0x7555;
  thirds.reciprocal[1] = 0x7092;
  run_share(thirds, std::identity{}, "by 3 and 7");
}

// A zero, denormals, ordinary numbers, the largest, infinity and NaN on either side.
TEST_P(PdpFp16, EveryInputBesideAnother) {
  for (const std::uint16_t other : {0x8000, 0x0001, 0x83ff, 0x3c00, 0xc248, 0x7bff, 0xfc00, 0x7d55})
    for (const unsigned side : {0u, 1u}) {
      PdpCase across = layer();
      across.width = 128;
      across.kw = across.sx = 2;
      across.reciprocal[0] = 0x7800;
      // A column is 16 elements: of two neighbours one has the pattern.
      const auto beside = [&](unsigned i) {
        return i / 16 % 2 == side ? static_cast<std::uint16_t>(i / 32 * 16 + i % 16) : other;
      };
      run_share(across, beside, "beside " + std::to_string(other));
      PdpCase along = layer();
      along.height = 128;
      along.kh = along.sy = 2;
      along.reciprocal[1] = 0x7800;
      // A line is 1024 elements.
      const auto below = [&](unsigned i) {
        return i / 1024 % 2 == side ? static_cast<std::uint16_t>(i / 2048 * 1024 + i % 1024)
                                    : other;
      };
      run_share(along, below, "below " + std::to_string(other));
    }
}

// Each window has its own element and columns or lines that are not there.
TEST_P(PdpFp16, EveryInputBesidePadding) {
  for (const bool lines : {false, true})
    for (const std::uint32_t padding : {0x00000u, 0x07c00u, 0x1f123u, 0x0fbffu, 0x10401u}) {
      PdpCase layer = this->layer();
      for (unsigned n = 1; n < 8; ++n) layer.padding[n] = padding;
      (lines ? layer.kh : layer.kw) = 2;
      (lines ? layer.bottom : layer.right) = 1;
      run_share(layer, std::identity{}, (lines ? "lines " : "columns ") + std::to_string(padding));
    }
}

std::string path_name(const testing::TestParamInfo<PdpFp16::ParamType>& which) {
  constexpr const char* kNames[] = {"Average", "Max", "Min"};
  const auto [method, flush] = which.param;
  return std::string(kNames[method]) + (flush ? "Flush" : "Keep");
}

INSTANTIATE_TEST_SUITE_P(AllInputs, PdpFp16,
                         testing::Combine(testing::Values(kAverage, kMax, kMin), testing::Bool()),
                         path_name);

TEST(PdpInt8, EveryPair) {
  for (const char* name : {"nv_full", "nv_medium_512", "nv_small"}) {
    const nvdla_hw& hw = *nvdla_hw_find(name);
    for (const PdpMethod method : {kAverage, kMax, kMin}) {
      PdpCase layer;
      layer.hw = &hw;
      layer.method = method;
      layer.channels = hw.atom;
      layer.kw = layer.sx = 2;
      layer.reciprocal[0] = 0x8000;
      layer.out_width = 64;
      layer.width = 128;
      layer.height = layer.out_height = 0x10000 / 64 / hw.atom;
      const auto pair = [&](unsigned i) {
        const unsigned column = i / hw.atom;
        const unsigned index = column / 2 * hw.atom + i % hw.atom;
        return static_cast<std::uint16_t>(column % 2 == 0 ? index & 0xff : index >> 8);
      };
      run(layer, pair, std::string(name) + " " + std::to_string(method));
    }
  }
}

}  // namespace
}  // namespace nvdla::test
