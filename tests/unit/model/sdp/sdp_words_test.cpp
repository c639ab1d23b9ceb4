// SPDX-License-Identifier: MIT
//
// Random layers of SDP in int8 around what fits 16 bits: each set of kernels, which may take them
// in vectors of such words, against the portable operators one after the other.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/kernel_sets.hpp"
#include "common/share.hpp"
#include "model/core/memory.hpp"
#include "model/core/thread_pool.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::model {
namespace {

using test::pick;

constexpr std::uint64_t kIn = 0x8000'0000, kOut = 0x8010'0000, kOperands = 0x8020'0000;
constexpr std::uint64_t kMost = 64 * 1024;  // bytes of any cube here

const UnitKernels* units_of_set;
unsigned word_calls;

void count_words(const SdpStream& stream, const void* in, std::size_t count, void* out) {
  ++word_calls;
  units_of_set->sdp_words(stream, in, count, out);
}

class SdpWords : public test::KernelSets {
 protected:
  bool one_in(int count) { return pick(random_, 1, count) == 1; }
  int between(int low, int high) { return static_cast<int>(pick(random_, low, high)); }

  // Of a magnitude of any size, often the greatest.
  int number(int most_bits) {
    const int limit = (1 << between(0, most_bits)) - 1;
    return one_in(4) ? (one_in(2) ? limit : -limit) : between(-limit, limit);
  }

  OperandPart part(OperandDma& dma, unsigned use, int bits) {
    OperandPart part{.active = true, .value = number(bits)};
    if (!dma.disabled || one_in(2)) return part;
    dma.disabled = false;
    dma.use = use;
    part.from_memory = true;
    dma.per_element = one_in(2);
    dma.two_bytes = one_in(8);
    return part;
  }

  OperandConverter converter() {
    return {one_in(3), number(9), static_cast<std::int16_t>(number(15)),
            static_cast<unsigned>(between(0, 18))};
  }

  Surface surface(std::uint64_t base, unsigned bytes) {
    const std::uint64_t line = std::uint64_t{layer_.width} * bytes + (one_in(4) ? 32 : 0);
    return {Ram::kPrimary, base, line, line * layer_.height};
  }

  void draw() {
    layer_ = {};
    layer_.has_rdma = true;
    layer_.width = static_cast<std::uint32_t>(between(1, 50));
    layer_.height = static_cast<std::uint32_t>(between(1, 3));
    layer_.channels = static_cast<std::uint32_t>(between(1, 70));
    layer_.rdma.source = surface(kIn, 32);
    layer_.destination = surface(kOut, 32);
    for (unsigned i = 0; i < 3; ++i) {
      OperandDma& dma = layer_.rdma.operands[i];
      const auto algorithm = static_cast<Alu>(between(0, 3));
      OperandPart alu, mul;
      if (algorithm != Alu::kNone) alu = part(dma, 1, 14);
      if (one_in(2)) mul = part(dma, 0, 15);
      dma.memory = surface(kOperands + i * kMost, dma.two_bytes ? 64 : 32);
      const bool active = one_in(2), prelu = mul.active && one_in(4);
      const auto shift = static_cast<unsigned>(between(0, 20));
      if (i < 2) {
        layer_.x[i] = {active, algorithm, alu, mul, one_in(4) ? 3u : 0, shift, prelu, one_in(2)};
      } else {
        layer_.y = {.active = active,
                    .algorithm = algorithm,
                    .alu = alu,
                    .mul = mul,
                    .alu_converter = converter(),
                    .mul_converter = converter(),
                    .truncate = shift,
                    .prelu = prelu};
      }
      if (!active) dma.disabled = true;
    }
    layer_.scale = 1;
    if (one_in(2)) return;
    layer_.offset = number(9);
    layer_.scale = static_cast<std::int16_t>(number(15));
    layer_.shift = static_cast<unsigned>(between(0, 20));
  }

  std::vector<std::byte> run(const Kernels& kernels, bool by_operators) {
    memory_.load(Ram::kPrimary, kOut, std::vector<std::byte>(kMost, std::byte{0x55}));
    // What counts goes operator by operator.
    layer_.count_saturation = by_operators;
    Dma dma(hw_, memory_);
    ThreadPool pool(1, 0);
    SdpPass pass(hw_, dma, kernels);
    pass.begin(layer_, layer_.rdma.largest_input());
    pass.run_from_memory(pool);
    pass.end();
    return memory_.read(Ram::kPrimary, kOut, kMost);
  }

  const nvdla_hw& hw_ = *nvdla_hw_find("nv_full");
  Memory memory_;
  SdpLayer layer_;
};

TEST_P(SdpWords, EqualTheOperators) {
  constexpr unsigned kRounds = test::share(3000);
  UnitKernels units = *kernels_->units;
  units_of_set = kernels_->units;
  if (units.sdp_words != nullptr) units.sdp_words = count_words;
  Kernels kernels = *kernels_;
  kernels.units = &units;
  unsigned in_words = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    draw();
    for (const std::uint64_t base : {kIn, kOperands, kOperands + kMost, kOperands + 2 * kMost}) {
      const auto bytes = numbers<std::int8_t>(kMost / 4, INT8_MIN, INT8_MAX);
      memory_.load(Ram::kPrimary, base, std::as_bytes(std::span(bytes)));
    }
    word_calls = 0;
    const auto got = run(kernels, false);
    in_words += word_calls != 0 ? 1 : 0;
    ASSERT_EQ(got, run(kPortableKernels, true)) << "round " << round;
  }
  EXPECT_TRUE(kernels_->units->sdp_words == nullptr || in_words > kRounds / 4) << in_words;
}

INSTANTIATE_TEST_SUITE_P(All, SdpWords, test::kAllKernelSets, test::kernel_set_name);

}  // namespace
}  // namespace nvdla::model
