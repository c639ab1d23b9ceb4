// SPDX-License-Identifier: MIT
//
// Numbers and tables as people read them, and what errors end as.
#include "tools/common/text.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "tools/common/layer_table.hpp"
#include "tools/common/program.hpp"

namespace nvdla::program {
namespace {

std::size_t widest(const std::string& text) {
  std::istringstream lines(text);
  std::size_t width = 0;
  for (std::string line; std::getline(lines, line);) width = std::max(width, line.size());
  return width;
}

TEST(Text, TimesHaveTheUnitThatShowsThem) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1000), "1.00 us");
  EXPECT_EQ(duration_text(14'700), "14.7 us");
  EXPECT_EQ(duration_text(999'499), "999 us");
  EXPECT_EQ(duration_text(999'500), "1.00 ms");
  EXPECT_EQ(duration_text(321'000'000), "321 ms");
  EXPECT_EQ(duration_text(9'996'000'000), "10.0 s");
  EXPECT_EQ(duration_text(4'000'000'000'000), "4000 s");
}

TEST(Text, CountsAreShortWhereTheyAreLarge) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(9'999'999), "9999999");
  EXPECT_EQ(count_text(10'000'000), "10.0M");
  EXPECT_EQ(count_text(118'013'952), "118M");
  EXPECT_EQ(count_text(3'857'000'000), "3.86G");
  EXPECT_LE(count_text(~std::uint64_t{0}).size(), 7U);
}

TEST(Text, LongNamesLoseTheirMiddle) {
  EXPECT_EQ(elide("conv1", 5), "conv1");
  EXPECT_EQ(elide("resnet/stage4/conv1", 12), "resne..conv1");
  EXPECT_EQ(elide("abc", 2), "ab");
}

TEST(Text, LinesEndAtTheEdge) {
  std::string words;
  for (int i = 0; i < 200; ++i) words += (i ? " " : "") + std::string(1 + i % 9, 'x');
  const std::string text = wrap(words, 10);
  EXPECT_LE(widest(std::string(10, ' ') + text), kColumns);
  // Nothing is lost.
  std::string again;
  std::istringstream parts(text);
  for (std::string word; parts >> word;) again += (again.empty() ? "" : " ") + word;
  EXPECT_EQ(again, words);
  // What cannot be broken stays whole.
  EXPECT_EQ(wrap(std::string(100, 'x'), 4), std::string(100, 'x'));
}

TEST(Text, SuggestsWhatIsNear) {
  const std::vector<std::string> names = {"info", "regs", "replay", "run", "dump"};
  EXPECT_EQ(closest("rnu", names), "run");
  EXPECT_EQ(closest("inof", names), "info");
  EXPECT_EQ(closest("reply", names), "replay");
  EXPECT_EQ(closest("dumps", names), "dump");
  EXPECT_EQ(closest("classify", names), "");
  EXPECT_EQ(closest("x", names), "");
}

LayerRow row(std::string name, std::optional<std::uint64_t> macs, std::uint64_t cycles) {
  LayerRow layer{std::move(name), macs, cycles, {}};
  layer.stats.start_ns = 1000;
  layer.stats.end_ns = 15'700;
  return layer;
}

TEST(LayerTable, ShowsWhatUnitsCount) {
  LayerRow conv = row("conv1", 78400, 15752), pool = row("pool", 0, 300);
  conv.stats.valid = std::uint64_t{1} << NVDLA_COUNTER_CDMA_DATA_STALL |
                     std::uint64_t{1} << NVDLA_COUNTER_CDMA_WEIGHT_STALL |
                     std::uint64_t{1} << NVDLA_COUNTER_CDMA_DATA_LATENCY |
                     std::uint64_t{1} << NVDLA_COUNTER_SDP_SATURATION |
                     std::uint64_t{1} << NVDLA_COUNTER_CDMA_NAN_DATA |
                     std::uint64_t{1} << NVDLA_COUNTER_CDMA_INF_DATA;
  conv.stats.counter[NVDLA_COUNTER_CDMA_DATA_STALL] = 12;
  conv.stats.counter[NVDLA_COUNTER_CDMA_DATA_LATENCY] = 1234;
  conv.stats.counter[NVDLA_COUNTER_SDP_SATURATION] = 3;
  conv.stats.counter[NVDLA_COUNTER_CDMA_NAN_DATA] = 5;
  conv.stats.counter[NVDLA_COUNTER_PDP_NAN_IN] = 9;  // not valid
  pool.stats.valid = std::uint64_t{1} << NVDLA_COUNTER_PDP_RDMA_STALL;
  pool.stats.counter[NVDLA_COUNTER_PDP_RDMA_STALL] = 7;
  EXPECT_EQ(layer_table(std::vector{conv, pool}, configuration_info("nv_full")),
            "              at most              read   weight    write\n"
            "layer    MACs  cycles     time    stall    stall    stall saturated\n"
            "conv1   78400   15752  14.7 us      ~12       ~0        -         3\n"
            "pool        0     300  14.7 us       ~7        -        -         -\n"
            "\n"
            "layer                              counters that are not 0        value\n"
            "conv1                              cdma.nan_data                      5\n"
            "~ is indicative: it moves with the load, and is not comparable.\n");
  conv.stats.valid = std::uint64_t{1} << NVDLA_COUNTER_SDP_SATURATION;
  EXPECT_EQ(layer_table(std::vector{conv}, configuration_info("nv_full")),
            "              at most              read   weight    write\n"
            "layer    MACs  cycles     time    stall    stall    stall saturated\n"
            "conv1   78400   15752  14.7 us        -        -        -         3\n");
}

TEST(LayerTable, FitsTheScreenWhateverIsInIt) {
  for (const bool macs : {false, true}) {
    LayerRow layer = row(std::string(200, 'n'), std::nullopt, ~std::uint64_t{0});
    if (macs) layer.macs = ~std::uint64_t{0};
    layer.stats.end_ns = ~std::uint64_t{0} >> 20;
    layer.stats.valid = ~std::uint64_t{0};
    for (auto& counter : layer.stats.counter) counter = ~std::uint32_t{0};
    EXPECT_LE(widest(layer_table(std::vector{layer}, configuration_info("nv_full"))), kColumns);
  }
}

TEST(Status, OfEveryErrorOfTheLibrary) {
  for (const ErrorCode code : {ErrorCode::kInvalidArgument, ErrorCode::kInvalidProgram,
                               ErrorCode::kInvalidBinding, ErrorCode::kNotAvailable})
    EXPECT_EQ(status_of(code), kUsage) << static_cast<int>(code);
  for (const ErrorCode code :
       {ErrorCode::kNoDevice, ErrorCode::kNoMemory, ErrorCode::kHang, ErrorCode::kCanceled,
        ErrorCode::kBusFault, ErrorCode::kGone, ErrorCode::kBusy})
    EXPECT_EQ(status_of(code), kDevice) << static_cast<int>(code);
  EXPECT_EQ(status_of(ErrorCode::kNotWritten), kOutput);
}

TEST(Status, OfEveryException) {
  const auto status = [](const std::function<int()>& body) {
    Program program("test", "Nothing");
    std::string name = "test";
    char* arguments[] = {name.data(), nullptr};
    testing::internal::CaptureStderr();
    const int result = program.run(1, arguments, body);
    return std::pair(result, testing::internal::GetCapturedStderr());
  };
  using Pair = std::pair<int, std::string>;
  EXPECT_EQ(status([] { return 0; }), Pair(0, ""));
  EXPECT_EQ(status([] { return 1; }), Pair(1, ""));
  EXPECT_EQ(status([]() -> int { throw UsageError("odd"); }), Pair(2, "test: odd\n"));
  EXPECT_EQ(status([]() -> int { throw Error(ErrorCode::kHang, "layer 3 hangs"); }),
            Pair(3, "test: layer 3 hangs\n"));
  EXPECT_EQ(status([]() -> int { throw OutputError("lost"); }), Pair(4, "test: lost\n"));
  EXPECT_EQ(status([]() -> int { throw std::bad_alloc(); }), Pair(5, "test: out of memory\n"));
  EXPECT_EQ(status([]() -> int { throw std::logic_error("a bug"); }), Pair(5, "test: a bug\n"));
}

}  // namespace
}  // namespace nvdla::program
