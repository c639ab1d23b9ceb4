// SPDX-License-Identifier: MIT
//
// Every instruction set gives the numbers of the portable loops.
#include "model/simd/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/kernel_sets.hpp"
#include "model/conv/wide_weights.hpp"

namespace nvdla::model {
namespace {

using test::pick;

class KernelSets : public test::KernelSets {
 protected:
  // What a byte stands for.
  int activation_of(std::uint8_t byte) const {
    return kernels_->form.biased ? byte - 128 : static_cast<std::int8_t>(byte);
  }
  // Returns the sums of kernels that see one channel each, of a block of them at each base.
  std::vector<std::int32_t> depthwise_sums(const std::vector<const std::uint8_t*>& bases,
                                           const std::vector<std::int32_t>& taps,
                                           const std::vector<std::int8_t>& weights) const {
    std::vector<std::int32_t> sums;
    for (const std::uint8_t* base : bases)
      for (unsigned k = 0; k < kBlock; ++k) {
        std::int32_t sum = 0;
        for (std::size_t tap = 0; tap < taps.size(); ++tap)
          sum += activation_of(base[taps[tap] + static_cast<int>(k)]) *
                 weights[(tap / 4 * kBlock + k) * 4 + tap % 4];
        sums.push_back(sum);
      }
    return sums;
  }
  // Each third time a single one, for which sets have loops of their own.
  unsigned some_positions(unsigned round, unsigned most) {
    return round % 3 == 0 ? 1 : static_cast<unsigned>(pick(random_, 1, static_cast<int>(most)));
  }
};

TEST_P(KernelSets, DepthwiseConvolution) {
  for (unsigned round = 0; round < 300; ++round) {
    const auto count = static_cast<unsigned>(pick(random_, 1, 4 * kMr));
    const auto quads = static_cast<unsigned>(pick(random_, 1, 7));
    const std::size_t bytes = 400;
    // The data ends where the last channel of the last position may lie.
    const auto data = numbers<std::uint8_t>(2 * bytes + kBlock, 0, 255);
    const auto weights = numbers<std::int8_t>(std::size_t{quads} * 4 * kBlock, -128, 127);
    std::vector<std::int32_t> starts(kBlock);
    if (kernels_->form.biased)
      for (std::size_t i = 0; i < weights.size(); ++i) starts[i / 4 % kBlock] -= 128 * weights[i];
    std::vector<const std::uint8_t*> bases(count);
    for (auto& base : bases) base = data.data() + pick(random_, 0, static_cast<int>(bytes));
    std::vector<std::int32_t> taps(std::size_t{quads} * 4);
    for (auto& tap : taps) tap = static_cast<std::int32_t>(pick(random_, 0, bytes));
    std::vector<std::int32_t> sums(count * kBlock);
    kernels_->depthwise(
        {bases.data(), count, taps.data(), quads, weights.data(), starts.data(), sums.data()});
    ASSERT_EQ(sums, depthwise_sums(bases, taps, weights)) << "round " << round;
  }
}

// Rows of three neighbours, whose outputs are neighbours at times and the last ones of the data.
TEST_P(KernelSets, DepthwiseRowsOfThree) {
  for (unsigned round = 0; round < 300; ++round) {
    const auto count = static_cast<unsigned>(pick(random_, 1, 4 * kMr));
    const unsigned quads = pick(random_, 0, 3) != 0 ? 3 : 2;
    const auto places = static_cast<unsigned>(pick(random_, 3, 30));
    const std::int32_t step = pick(random_, 0, 1) != 0 ? 32 : pick(random_, 0, 1) != 0 ? 64 : 16;
    // The last one is read as a block.
    const auto size = (places - 1) * static_cast<unsigned>(step) + kBlock;
    const auto data = numbers<std::uint8_t>(size, 0, 255);
    auto weights = numbers<std::int8_t>(std::size_t{quads} * 4 * kBlock, -128, 127);
    for (std::size_t i = 3; i < weights.size(); i += 4) weights[i] = 0;
    std::vector<std::int32_t> starts(kBlock);
    if (kernels_->form.biased)
      for (std::size_t i = 0; i < weights.size(); ++i) starts[i / 4 % kBlock] -= 128 * weights[i];
    std::vector<std::int32_t> taps(std::size_t{quads} * 4);
    // The first output and all taps of a row end within the data.
    const auto room = static_cast<std::int32_t>(places - 3);
    std::int32_t farthest = 0;
    for (unsigned quad = 0; quad < quads; ++quad) {
      const std::int32_t first = static_cast<std::int32_t>(pick(random_, 0, room)) * step;
      farthest = std::max(farthest, first);
      for (std::int32_t s = 0; s < 4; ++s)
        taps[quad * 4 + static_cast<unsigned>(s)] = first + std::min(s, 2) * step;
    }
    const std::int32_t last = room - farthest / step;
    std::vector<const std::uint8_t*> bases(count);
    std::int32_t at = 0;
    for (auto& base : bases) {
      base = data.data() + at * step;
      at = pick(random_, 0, 3) != 0 ? at + 1 : static_cast<std::int32_t>(pick(random_, 0, last));
      if (at > last) at = 0;
    }
    std::vector<std::int32_t> sums(count * kBlock);
    kernels_->depthwise({bases.data(), count, taps.data(), quads, weights.data(), starts.data(),
                         sums.data(), static_cast<unsigned>(step)});
    ASSERT_EQ(sums, depthwise_sums(bases, taps, weights)) << "round " << round;
  }
}

TEST_P(KernelSets, Convolution) {
  const unsigned step = kernels_->form.step;
  unsigned in_lines = 0;
  for (unsigned round = 0; round < 300; ++round) {
    const unsigned count = some_positions(round, 4 * kMr + 20);
    const auto run_count = static_cast<unsigned>(pick(random_, 1, 6));
    const auto bytes = static_cast<unsigned>(pick(random_, 1, 360 / step)) * step;
    const unsigned steps = bytes / kKr;
    // As many as they reach to: the data ends where the last run ends, and what reads on is seen by
    // a sanitizer.
    const auto [lines, places] = this->places(count, 2000 + round);
    in_lines += std::is_sorted(places.begin(), places.end());
    std::vector<std::int32_t> runs(run_count);
    for (auto& run : runs) run = static_cast<std::int32_t>(pick(random_, 0, 2 * bytes));
    const std::size_t size = *std::max_element(places.begin(), places.end()) +
                             static_cast<unsigned>(*std::max_element(runs.begin(), runs.end())) +
                             bytes;
    const bool nonnegative = kernels_->form.sign && round % 2 != 0;
    const auto data = numbers<std::uint8_t>(size, 0, nonnegative ? 127 : 255);
    const auto weights = numbers<std::int8_t>(run_count * bytes * kBlock, -128, 127);
    auto starts = numbers<std::int32_t>(kBlock, -1000000, 1000000);
    const auto wanted = starts;
    if (kernels_->form.biased)
      for (std::size_t i = 0; i < weights.size(); ++i) starts[i / kKr % kBlock] -= 128 * weights[i];
    std::vector<const std::uint8_t*> bases(count);
    for (unsigned p = 0; p < count; ++p) bases[p] = data.data() + places[p];
    std::vector<std::int32_t> sums(count * kBlock);
    compute([&, &lines = lines] {
      kernels_->mac({bases.data(), count, runs.data(), run_count, steps, weights.data(),
                     starts.data(), sums.data(), nonnegative, lines});
    });
    for (unsigned p = 0; p < count; ++p)
      for (unsigned k = 0; k < kBlock; ++k) {
        std::int32_t sum = wanted[k];
        for (unsigned r = 0; r < run_count; ++r)
          for (unsigned i = 0; i < bytes; ++i) {
            sum += activation_of(bases[p][runs[r] + static_cast<int>(i)]) *
                   weights[((r * steps + i / kKr) * kBlock + k) * kKr + i % kKr];
          }
        ASSERT_EQ(sums[p * kBlock + k], sum) << "round " << round << ": " << p << " " << k;
      }
  }
  EXPECT_GT(in_lines, 100u);
}

// Sums that are finished before they go to memory become what those from memory become.
TEST_P(KernelSets, FinishedConvolution) {
  if (kernels_->mac_finish == nullptr) return;
  for (unsigned round = 0; round < 300; ++round) {
    const unsigned count = some_positions(round, kMostPositions);
    const unsigned step = kernels_->form.step;
    const auto steps = static_cast<unsigned>(pick(random_, 1, 120 / step + 1)) * (step / kKr);
    const auto [lines, places] = this->places(count, steps * kKr);
    const std::size_t size = *std::max_element(places.begin(), places.end()) + steps * kKr;
    const auto data = numbers<std::uint8_t>(size, 0, 255);
    const auto weights = numbers<std::int8_t>(steps * kKr * kBlock, -128, 127);
    const auto starts = numbers<std::int32_t>(kBlock, -1000000, 1000000);
    const auto addends = numbers<std::int32_t>(kBlock, -1000000, 1000000);
    std::vector<const std::uint8_t*> bases(count);
    for (unsigned p = 0; p < count; ++p) bases[p] = data.data() + places[p];
    const std::int32_t run = 0;
    std::vector<std::int32_t> sums(count * kBlock), halves(kBlock);
    const MacTile tile{bases.data(),   count,         &run,        1,     steps,
                       weights.data(), starts.data(), sums.data(), false, lines};

    std::vector<float> factors(kBlock);
    for (unsigned k = 0; k < kBlock; ++k) {
      factors[k] = std::ldexp(static_cast<float>(pick(random_, -32768, 32767)), -20);
      halves[k] = std::bit_cast<std::int32_t>(factors[k] < 0 ? -0.5F : 0.5F);
    }
    const unsigned stride = pick(random_, 0, 1) != 0 ? kBlock : 0;
    const auto elements = numbers<std::int32_t>(count * kBlock, -100000, 100000);
    SdpFinish finish{addends.data(), nullptr, nullptr, {nullptr, 0}, round % 2 != 0, 0};
    if (pick(random_, 0, 1) != 0) {
      finish.factors = factors.data();
      finish.halves = halves.data();
    }
    if (pick(random_, 0, 1) != 0) finish.elements = {elements.data(), stride};
    if (pick(random_, 0, 3) != 0) finish.scale = std::ldexp(1.0F, -pick(random_, 0, 20));

    // Nothing behind the tile is written.
    std::vector<std::int8_t> want(count * kBlock), got(count * kBlock);
    compute([&] {
      kernels_->mac(tile);
      kernels_->finish(sums.data(), count, finish, want.data());
      kernels_->mac_finish(tile, finish, got.data());
    });
    ASSERT_EQ(got, want) << "round " << round;
  }
}

// The same of merged steps.
TEST_P(KernelSets, ConvolutionWithMergedSteps) {
  if (kernels_->mac_epilogue == nullptr) return;
  for (unsigned round = 0; round < 300; ++round) {
    const unsigned count = some_positions(round, kMostPositions);
    const auto steps = static_cast<unsigned>(pick(random_, 1, 120));
    const auto [lines, places] = this->places(count, steps * kKr);
    const std::size_t size = *std::max_element(places.begin(), places.end()) + steps * kKr;
    const auto data = numbers<std::uint8_t>(size, 0, 255);
    const auto weights = numbers<std::int8_t>(steps * kKr * kBlock, -128, 127);
    const auto starts = numbers<std::int32_t>(kBlock, -1000000, 1000000);
    std::vector<const std::uint8_t*> bases(count);
    for (unsigned p = 0; p < count; ++p) bases[p] = data.data() + places[p];
    const std::int32_t run = 0;
    std::vector<std::int32_t> sums(count * kBlock);
    const MacTile tile{bases.data(),   count,         &run,        1,     steps,
                       weights.data(), starts.data(), sums.data(), false, lines};

    const auto factors = numbers<std::int32_t>(kBlock, -(1 << 20), 1 << 20);
    // Upper and lower halves of addends.
    const auto even = numbers<std::int32_t>(kBlock, -(1 << 12), 1 << 12);
    const auto odd = numbers<std::int32_t>(kBlock, -(1 << 12), 1 << 12);
    EpilogueBlock block{};
    block.first = EpilogueStep::kMerged;
    block.factors = factors.data();
    block.addends = even.data();
    block.between = odd.data();
    block.shift = static_cast<std::uint8_t>(pick(random_, 0, 9));
    block.relu = round % 2 != 0;
    block.offset = static_cast<std::int32_t>(pick(random_, -128, 127));

    std::vector<std::int8_t> want(count * kBlock), got(count * kBlock);
    compute([&] {
      kernels_->mac(tile);
      EXPECT_TRUE(kernels_->epilogue(sums.data(), count, block, want.data()));
      kernels_->mac_epilogue(tile, block, got.data());
    });
    ASSERT_EQ(got, want) << "round " << round;
  }
}

// Sums against plain ones in 64 bits, with weights of any size: so that 32 bits hold them, or do
// not, over chunks of any length.
TEST_P(KernelSets, WideConvolution) {
  unsigned low_only = 0, chunked = 0;
  for (unsigned round = 0; round < 300; ++round) {
    const auto count = static_cast<unsigned>(pick(random_, 1, kMr));
    const auto steps = static_cast<unsigned>(pick(random_, 1, pick(random_, 0, 1) != 0 ? 20 : 100));
    const auto run_count = static_cast<unsigned>(pick(random_, 1, 4));
    const std::size_t elements = std::size_t{steps} * kKr;
    // The data ends where the last run ends: what reads on is seen by a sanitizer.
    auto data = numbers<std::int16_t>(elements * 3, INT16_MIN, INT16_MAX);
    std::int64_t largest = INT64_C(1) << pick(random_, 0, 15);
    WideWeights weights(1, 1, std::size_t{run_count} * steps);
    weights.words = numbers<std::int16_t>(weights.words.size(), -largest, largest - 1);
    // All products of one sign and as great as they get.
    if (round % 10 == 0) {
      std::fill(data.begin(), data.end(), INT16_MIN);
      std::fill(weights.words.begin(), weights.words.end(),
                static_cast<std::int16_t>(round % 20 == 0 ? -largest : largest - 1));
    }
    weights.finish();
    low_only += weights.upper.empty();
    chunked += weights.chunks() > 1;
    std::vector<std::uint8_t> upper(data.size());
    std::transform(data.begin(), data.end(), upper.begin(), biased_upper_byte);
    std::vector<std::size_t> bases(count);
    for (auto& base : bases) base = static_cast<std::size_t>(pick(random_, 0, elements));
    std::vector<std::int32_t> runs(run_count);
    for (auto& run : runs) run = static_cast<std::int32_t>(pick(random_, 0, elements));
    std::vector<std::int64_t> sums(count * kBlock);
    kernels_->wide({data.data(), upper.data(), bases.data(), count, runs.data(), run_count, steps,
                    weights.words.data(), weights.upper.empty() ? nullptr : weights.upper.data(),
                    weights.correction.data(), static_cast<unsigned>(weights.chunk), sums.data()});
    for (unsigned p = 0; p < count; ++p)
      for (unsigned k = 0; k < kBlock; ++k) {
        std::int64_t sum = 0;
        for (unsigned r = 0; r < run_count; ++r)
          for (std::size_t i = 0; i < elements; ++i)
            sum += std::int64_t{data[bases[p] + static_cast<std::size_t>(runs[r]) + i]} *
                   weights.at(k, 0, r * elements + i);
        ASSERT_EQ(sums[p * kBlock + k], sum) << "round " << round << ": " << p << " " << k;
      }
  }
  EXPECT_GT(low_only, 50u);
  EXPECT_GT(chunked, 10u);
}

// Chunks are as long as promised and no longer than 32 bits allow.
TEST(WideWeights, ChunksReachAsFarAsTheirSumsMay) {
  for (const int weight : {1, 100, -128, 255, 1000, 32767, -32768}) {
    WideWeights weights(1, 1, 1000);
    std::fill(weights.words.begin(), weights.words.end(), static_cast<std::int16_t>(weight));
    weights.finish();
    const std::int64_t up = upper_byte(weight);
    const std::int64_t measure =
        weights.upper.empty() ? std::abs(weight) : std::abs(up) + std::abs(weight - 256 * up);
    const auto reach = static_cast<std::int64_t>(std::min<std::size_t>(weights.chunk, 1000));
    EXPECT_LE(measure * reach * kKr, 65535) << weight;
    EXPECT_TRUE(weights.chunk >= 1000 || measure * reach * 2 * kKr > 65535) << weight;
    EXPECT_EQ(weights.upper.empty(), std::abs(weight) * 64 * kKr <= 65535) << weight;
  }
}

// Whole numbers so small that fp32 is exact, whatever the order.
TEST_P(KernelSets, FloatConvolution) {
  for (unsigned round = 0; round < 200; ++round) {
    const auto count = static_cast<unsigned>(pick(random_, 1, kMr));
    const auto elements = static_cast<unsigned>(pick(random_, 1, 40));
    const auto run_count = static_cast<unsigned>(pick(random_, 1, 4));
    const auto data = numbers<float>(elements * 3, -50, 50);
    const auto weights = numbers<float>(run_count * elements * kBlock, -50, 50);
    std::vector<std::size_t> bases(count);
    for (auto& base : bases) base = static_cast<std::size_t>(pick(random_, 0, elements));
    std::vector<std::int32_t> runs(run_count);
    for (auto& run : runs) run = static_cast<std::int32_t>(pick(random_, 0, elements));
    std::vector<float> sums(count * kBlock);
    kernels_->float_tile({data.data(), bases.data(), count, runs.data(), run_count, elements,
                          weights.data(), sums.data()});
    for (unsigned p = 0; p < count; ++p)
      for (unsigned k = 0; k < kBlock; ++k) {
        double sum = 0;
        for (unsigned r = 0; r < run_count; ++r)
          for (unsigned i = 0; i < elements; ++i)
            sum += data[bases[p] + static_cast<std::size_t>(runs[r]) + i] *
                   weights[(r * elements + i) * kBlock + k];
        ASSERT_EQ(sums[p * kBlock + k], sum) << "round " << round;
      }
  }
}

TEST_P(KernelSets, ClipsWideSums) {
  for (unsigned round = 0; round < 2000; ++round) {
    const unsigned count = 3;
    const auto bits = static_cast<unsigned>(pick(random_, 0, 1) != 0 ? 33 : 47);
    const WideClip clip{(std::int64_t{1} << bits) - 1,
                        static_cast<unsigned>(pick(random_, 0, 1) * pick(random_, 1, 15)),
                        static_cast<unsigned>(pick(random_, 0, 31))};
    std::vector<std::int64_t> sums(count * kBlock);
    for (std::int64_t& sum : sums) {
      const std::int64_t largest = std::int64_t{1} << pick(random_, 0, 61);
      sum = pick(random_, 0, 3) == 0 ? -largest / 2 : pick(random_, -largest, largest);
    }
    std::vector<std::int32_t> got(sums.size());
    const std::uint32_t saturated = kernels_->wide_clip(sums.data(), count, clip, got.data());
    std::uint32_t expected = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::int64_t kept = std::clamp(sums[i], -clip.limit - 1, clip.limit) >> clip.dropped;
      // What is above the point, then the bit below it: away from zero.
      const std::int64_t magnitude = kept < 0 ? -kept : kept;
      std::int64_t rounded = magnitude >> clip.rounded;
      if (clip.rounded != 0) rounded += magnitude >> (clip.rounded - 1) & 1;
      if (kept < 0) rounded = -rounded;
      const std::int64_t want = std::clamp<std::int64_t>(rounded, INT32_MIN, INT32_MAX);
      expected += want != rounded;
      ASSERT_EQ(got[i], want) << sums[i] << " >> " << clip.dropped << " + " << clip.rounded;
    }
    ASSERT_EQ(saturated, expected);
  }
}

TEST_P(KernelSets, Sdp) {
  for (unsigned round = 0; round < 2000; ++round) {
    const auto count = static_cast<unsigned>(pick(random_, 1, 20));
    const auto lanes = static_cast<unsigned>(8 * pick(random_, 1, 4));
    const auto in = words(count * kBlock);
    const auto alu = words(count * kBlock);
    const auto mul = numbers<std::int32_t>(count * kBlock, INT16_MIN, INT16_MAX);
    const unsigned stride = pick(random_, 0, 1) != 0 ? kBlock : 0;
    SdpX x{true,
           static_cast<Alu>(pick(random_, 0, 3)),
           pick(random_, 0, 1) != 0,
           pick(random_, 0, 1) != 0,
           pick(random_, 0, 1) != 0,
           static_cast<std::uint8_t>(pick(random_, 0, 255)),
           {alu.data(), stride},
           {mul.data(), stride},
           false};
    SdpY y{true,
           x.mul,
           x.prelu,
           static_cast<std::uint16_t>(pick(random_, 0, 1023)),
           x.alu,
           {alu.data(), stride},
           {alu.data(), stride},
           false};
    if (pick(random_, 0, 1) != 0) y.truncate %= 64;
    if (pick(random_, 0, 1) != 0) x.shift %= 64;
    const SdpConverter converter{
        in[0], static_cast<std::int16_t>(mul[0]),
        static_cast<std::uint8_t>(pick(random_, 0, 1) != 0 ? pick(random_, 0, 63) : 0),
        pick(random_, 0, 3) != 0, pick(random_, 0, 1) != 0};
    const auto shift = static_cast<unsigned>(pick(random_, 0, 31));

    std::vector<std::int32_t> out[2];
    std::uint32_t saturated[2];
    std::vector<std::int8_t> bytes[2];
    std::vector<std::int16_t> shorts[2];
    const Kernels* sets[2] = {&kPortableKernels, kernels_};
    for (unsigned i = 0; i < 2; ++i) {
      out[i] = in;
      sets[i]->clip(out[i].data(), count, shift);
      sets[i]->sdp_x(out[i].data(), count, lanes, x);
      sets[i]->sdp_y(out[i].data(), count, lanes, y);
      saturated[i] = sets[i]->sdp_convert(out[i].data(), count, lanes, converter);
      bytes[i].resize(count * kBlock);
      shorts[i].resize(count * kBlock);
      sets[i]->to_int8(out[i].data(), count, bytes[i].data());
      sets[i]->to_int16(out[i].data(), count, shorts[i].data());
    }
    // What is in lanes beyond the last is nobody's.
    for (unsigned i = 0; i < count * kBlock; ++i) {
      if (i % kBlock < lanes) {
        ASSERT_EQ(out[0][i], out[1][i]) << "round " << round << ", value " << i;
        ASSERT_EQ(bytes[0][i], bytes[1][i]);
        ASSERT_EQ(shorts[0][i], shorts[1][i]);
      }
    }
    ASSERT_EQ(saturated[0], saturated[1]) << "round " << round;
  }
}

// Straight to int8, as with the two passes. Products are near to what int8 has, or anywhere.
TEST_P(KernelSets, ConvertsToInt8) {
  constexpr unsigned kCount = 4;
  for (unsigned round = 0; round < 20000; ++round) {
    SdpConverter converter{};
    converter.scale = static_cast<std::int16_t>(pick(random_, INT16_MIN, INT16_MAX));
    if (pick(random_, 0, 3) == 0) converter.scale = static_cast<std::int16_t>(pick(random_, -3, 3));
    converter.shift = static_cast<std::uint8_t>(pick(random_, 0, pick(random_, 0, 3) ? 40 : 63));
    const auto bits = pick(random_, 0, 31);
    converter.offset = static_cast<std::int32_t>(pick(random_, -(1ll << bits), (1ll << bits) - 1));
    auto in = words(kCount * kBlock);
    const double step = std::ldexp(1.0, converter.shift) / std::max(1, std::abs(converter.scale));
    for (std::int32_t& value : in) {
      if (pick(random_, 0, 7) == 0) continue;
      const double near =
          converter.offset + step * static_cast<double>(pick(random_, -270, 270)) / 2;
      value = static_cast<std::int32_t>(std::clamp<double>(near, INT32_MIN, INT32_MAX));
      value = static_cast<std::int32_t>(
          std::clamp<std::int64_t>(value + pick(random_, -2, 2), INT32_MIN, INT32_MAX));
    }
    auto two = in;
    kPortableKernels.sdp_convert(two.data(), kCount, kBlock, converter);
    std::vector<std::int8_t> want(in.size()), got(in.size());
    kPortableKernels.to_int8(two.data(), kCount, want.data());
    kernels_->convert_to_int8(in.data(), kCount, converter, got.data());
    for (std::size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(static_cast<int>(got[i]), static_cast<int>(want[i]))
          << "(" << in[i] << " - " << converter.offset << ") * " << converter.scale << " >> "
          << static_cast<unsigned>(converter.shift);
  }
}

// A bias without multiplier and shift, with sums at the limits of 32 bits.
TEST_P(KernelSets, AddsWithoutMultiplier) {
  constexpr unsigned kCount = 3;
  for (unsigned round = 0; round < 2000; ++round) {
    const auto alu = words(kCount * kBlock);
    auto in = words(kCount * kBlock);
    SdpX x{};
    x.active = true;
    x.alu = static_cast<Alu>(round % 4);
    x.relu = pick(random_, 0, 1) != 0;
    x.alu_operand = {alu.data(), kBlock};
    auto got = in;
    kernels_->sdp_x(got.data(), kCount, kBlock, x);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::int64_t a = in[i], b = alu[i];
      std::int64_t want = x.alu == Alu::kMax   ? std::max(a, b)
                          : x.alu == Alu::kMin ? std::min(a, b)
                          : x.alu == Alu::kSum ? a + b
                                               : a;
      want = std::clamp<std::int64_t>(want, x.relu ? 0 : INT32_MIN, INT32_MAX);
      ASSERT_EQ(got[i], want) << a << " " << b;
    }
  }
}

// The best one by itself, else the one that is asked for, never another.
TEST(ChooseKernels, TakesWhatIsWantedOrSaysWhyNot) {
  const auto named = [](const char* name) {
    Kernels set = kPortableKernels;
    set.name = name;
    return set;
  };
  const Kernels plain = named("plain"), wide = named("wide"), huge = named("huge"),
                locked = named("locked");
  const KernelChoice choices[] = {{&plain, true, ""},
                                  {&wide, true, "W"},
                                  {&huge, false, "H and I"},
                                  {&locked, false, "L", "the system says no"}};
  for (const char* nothing : {static_cast<const char*>(nullptr), ""})
    EXPECT_EQ(&choose_kernels(choices, 4, nothing), &wide);
  EXPECT_EQ(&choose_kernels(choices, 4, "plain"), &plain);
  EXPECT_EQ(&choose_kernels(choices, 4, "wide"), &wide);
  const auto refusal = [&](const char* wanted) -> std::string {
    try {
      choose_kernels(choices, 4, wanted);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_EQ(refusal("huge"),
            "kernels 'huge' need H and I, which this processor lacks; it runs plain, wide");
  EXPECT_EQ(refusal("locked"),
            "kernels 'locked' cannot be used: the system says no; this processor runs plain, wide");
  EXPECT_EQ(refusal("Wide"),
            "no set of kernels is called 'Wide'; there are plain, wide, huge, locked");
}

INSTANTIATE_TEST_SUITE_P(All, KernelSets, test::kAllKernelSets, test::kernel_set_name);

}  // namespace
}  // namespace nvdla::model
