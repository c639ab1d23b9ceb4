// SPDX-License-Identifier: MIT
#include "model/conv/wide_weights.hpp"

#include <algorithm>
#include <cstdlib>

#include "model/simd/kernels.hpp"

namespace nvdla::model {
namespace {

// The least chunk, in steps: no weights with upper bytes exceed the reach of such a chunk.
constexpr std::size_t kLeastChunk = 32;
// Emptying the sums costs less than keeping sums of a second kind for chunks of this size or more.
constexpr std::size_t kLowOnlyChunk = 64;
// The limit on the measure of a chunk: times an activation (2^15) it is less than 2^31.
constexpr std::uint32_t kReach = 65535;

}  // namespace

WideWeights::WideWeights(std::size_t blocks, std::size_t of_groups, std::size_t of_steps)
    : groups(of_groups), steps(of_steps), words(blocks * groups * steps * kKr * kBlock) {}

std::size_t WideWeights::index(std::size_t kernel, std::size_t group,
                               std::size_t element) const noexcept {
  const std::size_t pair = (kernel / kBlock * groups + group) * steps * 2 + element / 2;
  return (pair * kBlock + kernel % kBlock) * 2 + element % 2;
}

// Returns the longest chunk, kLeastChunk steps doubled repeatedly, such that the sums of
// measure(weight) over each chunk of each kernel stay within kReach; 0 if there is none.
template <typename Measure>
std::size_t WideWeights::longest_chunk(Measure measure) const {
  constexpr std::size_t kStepWords = std::size_t{kKr} * kBlock;
  const auto least = [&](const std::int16_t* group) {
    std::vector<std::uint32_t> sums((steps + kLeastChunk - 1) / kLeastChunk * kBlock);
    for (std::size_t pair = 0; pair < 2 * steps; ++pair)
      for (std::size_t i = 0; i < 2 * kBlock; ++i)
        sums[pair / (2 * kLeastChunk) * kBlock + i / 2] += measure(group[pair * 2 * kBlock + i]);
    return sums;
  };
  // A chunk that reaches beyond the end of the group need not be doubled again.
  std::size_t longest = kLeastChunk;
  while (longest < steps) longest *= 2;
  for (std::size_t first = 0; first < words.size(); first += steps * kStepWords) {
    std::vector<std::uint32_t> sums = least(words.data() + first);
    const auto reaches = [&] { return *std::max_element(sums.begin(), sums.end()) <= kReach; };
    if (!reaches()) return 0;
    std::size_t length = kLeastChunk;
    for (; length < longest; length *= 2) {
      const std::size_t count = sums.size() / kBlock;
      for (std::size_t i = 0; i < count * kBlock; ++i) {
        const std::size_t to = i / kBlock / 2 * kBlock + i % kBlock;
        sums[to] = i / kBlock % 2 == 0 ? sums[i] : sums[to] + sums[i];
      }
      sums.resize((count + 1) / 2 * kBlock);
      if (!reaches()) break;
    }
    longest = length;
  }
  return longest;
}

void WideWeights::finish() {
  chunk = longest_chunk([](int weight) { return static_cast<std::uint32_t>(std::abs(weight)); });
  if (chunk >= std::min(kLowOnlyChunk, steps)) return;
  chunk = longest_chunk([](int weight) {
    const int up = upper_byte(weight);
    return static_cast<std::uint32_t>(std::abs(up) + std::abs(weight - up * 256));
  });
  upper.resize(words.size());
  correction.resize(words.size() / (steps * kKr * kBlock) * chunks() * kBlock);
  for (std::size_t i = 0; i < words.size(); ++i) {
    // From pairs to steps.
    const std::size_t step = i / (kKr * kBlock), within = i % (kKr * kBlock);
    const std::size_t kernel = within / 2 % kBlock;
    const int up = upper_byte(words[i]);
    upper[(step * kBlock + kernel) * kKr + within / (2 * kBlock) * 2 + within % 2] =
        static_cast<std::int8_t>(up);
    const std::size_t group = step / steps, part = step % steps / chunk;
    correction[(group * chunks() + part) * kBlock + kernel] += 255 * up;
  }
}

}  // namespace nvdla::model
