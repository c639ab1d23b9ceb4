// SPDX-License-Identifier: MIT
//
// Input that lies open, of which each thread copies the lines that it needs first: the bytes and
// counters of one thread whose every access the bus sees; and runs that are copied. Run under TSan.
#include "model/conv/conv_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "common/layers/conv_case.hpp"
#include "common/layers/random_conv.hpp"
#include "common/property.hpp"
#include "common/recorder.hpp"
#include "common/share.hpp"
#include "model/conv/conv_atoms.hpp"
#include "model/device.hpp"

namespace nvdla::test {
namespace {

using model::Ram;

const nvdla_hw& images_and_cubes() { return *nvdla_hw_find("nv_full"); }

TEST(ConvLines, AreBroughtOnceAndBeforeAnybodyReadsThem) {
  constexpr std::uint32_t kCount = 500, kSeen = 7;
  constexpr unsigned kThreads = 3;
  model::ConvLines lines;
  for (unsigned round = 0; round < 20; ++round) {
    lines.begin(kCount);
    std::vector<unsigned> brought(kCount, 0);
    std::vector<unsigned> wrong(kThreads, 0);
    const auto work = [&](unsigned thread) {
      for (std::uint32_t first = thread; first < kCount; first += kThreads) {
        const bool negative = lines.need(first, first + kSeen, [&](std::uint32_t line) {
          ++brought[line];
          return line % 10 == 0;
        });
        const std::uint32_t end = std::min(first + kSeen, kCount);
        wrong[thread] += negative != ((end - 1) / 10 * 10 >= first);
        for (std::uint32_t line = first; line < end; ++line) wrong[thread] += brought[line] != 1;
      }
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < kThreads; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread& other : others) other.join();
    EXPECT_EQ(wrong, std::vector<unsigned>(kThreads, 0));
    EXPECT_EQ(brought, std::vector<unsigned>(kCount, 1));
  }
}

// No more is read behind a run, nor written behind the last one, than there is room for.
TEST(JoinedRuns, LieOneBehindTheOther) {
  Random random(1);
  for (unsigned round = 0; round < 2000; ++round) {
    const auto size = static_cast<std::size_t>(pick(random, 1, 70));
    const auto run_count = static_cast<std::size_t>(pick(random, 1, 7));
    const auto count = static_cast<std::uint32_t>(pick(random, 1, 20));
    const std::size_t joined = run_count * size;
    const std::size_t pitch = joined + static_cast<std::size_t>(pick(random, 0, 9));
    constexpr int kReach = 500;
    std::vector<std::uint8_t> data(kReach + size + model::kCopiedTooMuch);
    for (auto& byte : data) byte = static_cast<std::uint8_t>(random());
    std::vector<std::int32_t> runs(run_count);
    for (auto& run : runs) run = static_cast<std::int32_t>(pick(random, 0, kReach / 2));
    std::vector<const std::uint8_t*> positions(count);
    for (auto& position : positions) position = data.data() + pick(random, 0, kReach / 2);
    std::vector<std::byte> got((count - 1) * pitch + joined + model::kCopiedTooMuch);
    model::join_runs({positions.data(), count, runs.data(), run_count, size, got.data(), pitch});
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t at = 0; at < joined; ++at)
        ASSERT_EQ(std::to_integer<std::uint8_t>(got[i * pitch + at]),
                  positions[i][runs[at / size] + static_cast<int>(at % size)])
            << run_count << " runs of " << size << ", position " << i << " byte " << at;
  }
}

struct LinesOutcome {
  std::string blocked;
  std::uint32_t crc, saturated;
  unsigned input_reads;  // runs of bytes that the bus saw
  bool operator==(const LinesOutcome& other) const {
    return std::tie(blocked, crc, saturated) == std::tie(other.blocked, other.crc, other.saturated);
  }
};

LinesOutcome run_lines(const ConvCase& drawn, std::uint64_t seed, bool open, unsigned threads) {
  Random random(seed);
  ConvCase layer = drawn;
  model::Memory memory;
  finish(layer, random, memory);
  Recorder recorder(memory);
  recorder.open = open;
  model::Device device(*layer.hw, recorder, {.threads = threads, .worth_sharing = 0});
  Registers regs(device);
  program(layer, regs);
  enable(regs);
  while (device.step()) {
  }
  LinesOutcome outcome{device.idle() ? "" : device.blocked().front().reason,
                       memory.crc(Ram::kPrimary, layer.output.base,
                                  layer.batches * layer.out_batch_stride + layer.hw->atom),
                       regs.read("CACC.D_OUT_SATURATION"), 0};
  for (const auto& [begin, end] : recorder.reads.merged())
    outcome.input_reads += begin == layer.input.base;
  return outcome;
}

std::string compare_lines(Random& random, const ConvCase& layer) {
  const std::uint64_t seed = random();
  const LinesOutcome want = run_lines(layer, seed, false, 1);
  if (want.input_reads == 0) return "the bus sees no input";
  for (const unsigned threads : {1u, 2u, 3u}) {
    const LinesOutcome got = run_lines(layer, seed, true, threads);
    if (!(got == want)) return "differs on " + std::to_string(threads) + " threads";
    if (got.input_reads != 0) return "the input is not read where it lies";
  }
  return {};
}

TEST(ConvLines, OfCubesGiveWhatTheBusGives) {
  for_all(share(200), [](Random& random) {
    ConvCase layer = random_direct(images_and_cubes(), random, Number::kInt8, Number::kInt8);
    if (one_in(random, 2)) layer.channels = static_cast<unsigned>(pick(random, 1, 5));
    return with_name(describe(layer), compare_lines(random, layer));
  });
}

TEST(ConvLines, OfImagesGiveWhatTheBusGives) {
  for (const unsigned format : {0u, 12u, 13u, 14u, 15u, 16u, 17u, 18u, 19u, 26u, 27u})
    for_all(share(25), [&](Random& random) {
      ConvCase layer = random_image(images_and_cubes(), random, format, Number::kInt8);
      // Means and factors of pictures, which need no table.
      if (layer.convert && one_in(random, 2)) {
        layer.offset = static_cast<std::int16_t>(pick(random, -300, 300));
        for (auto& mean : layer.means) mean = static_cast<std::int16_t>(pick(random, -300, 300));
        layer.truncate = static_cast<unsigned>(pick(random, 0, 15));
        layer.scale = static_cast<std::int16_t>(pick(random, 1, 2 << layer.truncate) & 0x7fff);
      }
      return with_name(describe(layer), compare_lines(random, layer));
    });
}

}  // namespace
}  // namespace nvdla::test
