// SPDX-License-Identifier: MIT
//
// The multiply-accumulate loops of the model, each set that this processor runs: int8, int16
// ("wide") and fp16 as the hardware aligns it ("half").
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "model/conv/half_operand.hpp"
#include "model/conv/wide_weights.hpp"
#include "model/simd/kernels.hpp"

namespace {

using namespace nvdla::model;

// A 3x3 kernel over 64 channels of lines of 16 positions, for one line of results or four.
constexpr unsigned kChannels = 64, kWidth = 16, kRuns = 3, kRunElements = 3 * kChannels;
constexpr unsigned kLine = kWidth * kChannels, kLines = 4;
constexpr TileLines kTileLines{0, kMr, kChannels, kLine};

template <typename Element>
struct Data {
  std::vector<Element> elements = std::vector<Element>((kRuns + kLines - 1) * kLine);
  const Element* bases[kMr] = {};
  std::int32_t runs[kRuns] = {};

  Data() {
    std::mt19937 random(1);
    for (Element& one : elements) one = static_cast<Element>(random());
    for (unsigned p = 0; p < kMr; ++p) bases[p] = elements.data() + p * kChannels;
    for (unsigned r = 0; r < kRuns; ++r) runs[r] = static_cast<std::int32_t>(r * kLine);
  }
};

template <typename Element>
std::vector<Element> random_weights(std::size_t count) {
  std::mt19937 random(2);
  std::vector<Element> weights(count);
  for (Element& one : weights) one = static_cast<Element>(random());
  return weights;
}

void count_macs(benchmark::State& state, double macs) {
  state.counters["MAC/s"] = benchmark::Counter(macs, benchmark::Counter::kIsIterationInvariantRate);
}

// A tile of SDP, which sets cut into register tiles themselves.
void int8(benchmark::State& state, const Kernels& kernels, bool nonnegative) {
  constexpr unsigned kPositions = kLines * kMr;
  Data<std::uint8_t> data;
  if (nonnegative)
    for (std::uint8_t& one : data.elements) one &= 127;
  const auto weights = random_weights<std::int8_t>(kRuns * kRunElements * kBlock);
  const std::vector<std::int32_t> starts(kBlock);
  std::vector<std::int32_t> sums(kPositions * kBlock);
  const std::uint8_t* bases[kPositions];
  for (unsigned p = 0; p < kPositions; ++p) bases[p] = data.bases[p % kMr] + p / kMr * kLine;
  const MacTile tile{bases,          kPositions,    data.runs,   kRuns,       kRunElements / kKr,
                     weights.data(), starts.data(), sums.data(), nonnegative, kTileLines};
  if (kernels.enter != nullptr) kernels.enter();
  for (auto _ : state) {
    kernels.mac(tile);
    benchmark::DoNotOptimize(sums.data());
  }
  if (kernels.leave != nullptr) kernels.leave();
  count_macs(state, kPositions * kBlock * kRuns * kRunElements);
}

// `bits` of weights: of few of them 32 bits hold the sum.
void wide(benchmark::State& state, const Kernels& kernels, unsigned bits) {
  const Data<std::int16_t> data;
  std::vector<std::uint8_t> upper(data.elements.size());
  std::transform(data.elements.begin(), data.elements.end(), upper.begin(), biased_upper_byte);
  std::size_t bases[kMr];
  for (unsigned p = 0; p < kMr; ++p) bases[p] = std::size_t{p} * kChannels;
  WideWeights weights(1, 1, kRuns * kRunElements / kKr);
  weights.words = random_weights<std::int16_t>(weights.words.size());
  for (std::int16_t& one : weights.words) one = static_cast<std::int16_t>(one >> (16 - bits));
  weights.finish();
  std::vector<std::int64_t> sums(kMr * kBlock);
  const WideTile tile{data.elements.data(),
                      upper.data(),
                      bases,
                      kMr,
                      data.runs,
                      kRuns,
                      kRunElements / kKr,
                      weights.words.data(),
                      weights.upper.empty() ? nullptr : weights.upper.data(),
                      weights.correction.data(),
                      static_cast<unsigned>(weights.chunk),
                      sums.data()};
  for (auto _ : state) {
    kernels.wide(tile);
    benchmark::DoNotOptimize(sums.data());
  }
  count_macs(state, kMr * kBlock * kRuns * kRunElements);
}

// int16 by bytes.
void pieces(benchmark::State& state, const Kernels& kernels) {
  constexpr unsigned kPositions = kLines * kMr;
  const Data<std::int8_t> upper;
  const Data<std::uint8_t> lower;
  const auto upper_weights = random_weights<std::int8_t>(kRuns * kRunElements * kBlock);
  const auto lower_weights = random_weights<std::uint8_t>(kRuns * kRunElements * kBlock);
  std::vector<std::int64_t> sums(kPositions * kBlock);
  const PieceTile tile{upper.elements.data(),
                       lower.elements.data(),
                       kTileLines,
                       kPositions,
                       upper.runs,
                       kRuns,
                       kRunElements / kKr,
                       upper_weights.data(),
                       lower_weights.data(),
                       sums.data()};
  if (kernels.enter != nullptr) kernels.enter();
  for (auto _ : state) {
    kernels.pieces(tile);
    benchmark::DoNotOptimize(sums.data());
  }
  if (kernels.leave != nullptr) kernels.leave();
  count_macs(state, kPositions * kBlock * kRuns * kRunElements);
}

// `exponents`: those of data and weights take so many values in turn, from 1.0 down. Products that
// are not of the greatest ones are cut off, which is the slow way.
std::vector<std::uint16_t> halves(std::size_t count, unsigned exponents) {
  std::vector<std::uint16_t> values = random_weights<std::uint16_t>(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<std::uint16_t>((values[i] & 0x83ff) | (15 - i / 5 % exponents) << 10);
  return values;
}

// One step of one kernel, as where there are NaNs.
void half(benchmark::State& state, const Kernels& kernels, unsigned exponents) {
  const auto data = halves(kLanes, exponents);
  const auto weights = halves(kLanes + 3, exponents);
  HalfProducts products;
  for (auto _ : state) {
    kernels.half({data.data(), weights.data() + 3, kLanes, false}, products);
    benchmark::DoNotOptimize(products);
  }
  count_macs(state, kLanes);
}

// A step of a tile with its accumulators.
void half_tile(benchmark::State& state, const Kernels& kernels, unsigned exponents) {
  constexpr std::size_t kData = std::size_t{kMr} * kLanes, kWeights = std::size_t{kLanes} * kBlock;
  std::vector<std::int16_t> mantissas, groups;
  for (const std::uint16_t value : halves(kData + kWeights, exponents)) {
    const HalfOperand operand = half_operand(value);
    mantissas.push_back(operand.mantissa);
    groups.push_back(operand.group);
  }
  std::vector<HalfSums> sums(kMr);
  const HalfTile tile{mantissas.data(),         groups.data(),         kMr,        kLanes,
                      mantissas.data() + kData, groups.data() + kData, sums.data()};
  for (auto _ : state) {
    kernels.half_tile(tile);
    benchmark::DoNotOptimize(sums.data());
  }
  count_macs(state, kMr * kLanes * kBlock);
}

// fp16 as if it were fp32.
void fast(benchmark::State& state, const Kernels& kernels) {
  const std::vector<float> data(kRuns * kWidth * kChannels, 0.5F);
  const std::vector<float> weights(std::size_t{kRuns} * kRunElements * kBlock, 0.25F);
  const Data<std::int16_t> walk;
  std::size_t bases[kMr];
  for (unsigned p = 0; p < kMr; ++p) bases[p] = std::size_t{p} * kChannels;
  std::vector<float> sums(kMr * kBlock);
  const FloatTile tile{data.data(),  bases,          kMr,        walk.runs, kRuns,
                       kRunElements, weights.data(), sums.data()};
  for (auto _ : state) {
    kernels.float_tile(tile);
    benchmark::DoNotOptimize(sums.data());
  }
  count_macs(state, kMr * kBlock * kRuns * kRunElements);
}

}  // namespace

int main(int argc, char** argv) {
  for (unsigned i = 0; i < kKernelChoices; ++i) {
    const KernelChoice choice = kernel_choice(i);
    if (!choice.usable) continue;
    const Kernels& kernels = *choice.kernels;
    const std::string name = kernels.name;
    benchmark::RegisterBenchmark((name + "/int8").c_str(), int8, kernels, false);
    if (kernels.form.sign)
      benchmark::RegisterBenchmark((name + "/int8/nonnegative").c_str(), int8, kernels, true);
    for (const unsigned bits : {16, 8})
      benchmark::RegisterBenchmark((name + "/wide/" + std::to_string(bits)).c_str(), wide, kernels,
                                   bits);
    if (kernels.pieces != nullptr)
      benchmark::RegisterBenchmark((name + "/pieces").c_str(), pieces, kernels);
    benchmark::RegisterBenchmark((name + "/fast").c_str(), fast, kernels);
    for (const unsigned exponents : {4, 6, 12}) {
      const std::string suffix = std::to_string(exponents);
      benchmark::RegisterBenchmark((name + "/half/" + suffix).c_str(), half, kernels, exponents);
      benchmark::RegisterBenchmark((name + "/half_tile/" + suffix).c_str(), half_tile, kernels,
                                   exponents);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
