// SPDX-License-Identifier: MIT
//
// Predicted cycles are those that were measured on the published logic: single layers and jobs of
// both generations, at several memories. Most constants of the estimate came with the measurement,
// which saw all rows. Others may be fitted to the rows with an even number only; what is asserted
// holds for the rest alone, and for all rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/shared.hpp"
#include "cost/sequence_cycles.hpp"
#include "measured.hpp"

namespace nvdla::test {
namespace {

struct Error {
  const MeasuredRow* row = nullptr;
  bool fitted = false;
  std::uint64_t predicted = 0;

  double relative() const {
    return static_cast<double>(predicted) / static_cast<double>(row->cycles) - 1;
  }
};

// `Tally` counts how many rows are how close.
struct Tally {
  std::size_t rows = 0, twentieth = 0, tenth = 0, fifth = 0;
  double worst = 0;

  void add(double error) {
    const double size = std::abs(error);
    rows += 1;
    twentieth += size <= 0.05;
    tenth += size <= 0.1;
    fifth += size <= 0.2;
    worst = std::max(worst, size);
  }
  // Returns true if at least this share of the rows is within that limit.
  static bool holds(std::size_t close, std::size_t rows, unsigned percent) {
    return close * 100 >= rows * percent;
  }
};

class MeasuredCycles : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!missing_shared("hw").empty()) return;
    add(read_traces(shared_folder() / "hw/cycles.csv"));
    add(read_jobs(shared_folder() / "hw/cycles-nv_full-logic.csv"));
    add(read_squeezenet(shared_folder() / "hw/cycles-squeezenet.csv"));
  }
  static void TearDownTestSuite() {
    tables_.clear();
    errors_.clear();
  }

  static Tally tally(const std::function<bool(const Error&)>& wanted) {
    Tally tally;
    for (const Error& error : errors_)
      if (wanted(error)) tally.add(error.relative());
    return tally;
  }

  static const std::vector<Error>& errors() { return errors_; }

 private:
  static void add(std::vector<MeasuredRow> rows) {
    const auto& table =
        *tables_.emplace_back(std::make_unique<std::vector<MeasuredRow>>(std::move(rows)));
    for (std::size_t i = 0; i < table.size(); ++i) {
      errors_.push_back({.row = &table[i], .fitted = i % 2 == 0, .predicted = predict(table[i])});
    }
  }

  static inline std::vector<std::unique_ptr<std::vector<MeasuredRow>>> tables_;
  static inline std::vector<Error> errors_;
};

bool convolves(const MeasuredRow& row) {
  return row.group == "convolution" || row.group == "image" || row.group == "winograd";
}

// Profiles mark nothing that one of the tables has.
TEST_F(MeasuredCycles, AreWithinWhatCountsAsMeasured) {
  NVDLA_NEEDS_SHARED("hw");
  for (const Error& error : errors()) {
    const MeasuredRow& row = *error.row;
    EXPECT_STREQ(cost::beyond_measured(machine_of(row), row.memory), nullptr) << row.name;
    for (const MeasuredLayer& layer : row.layers)
      EXPECT_STREQ(cost::beyond_measured(layer), nullptr) << row.name;
  }
}

TEST(BeyondMeasured, NamesWhatIs) {
  const auto reason = [](const auto& change) {
    MeasuredLayer layer;
    change(layer);
    const char* const text = cost::beyond_measured(layer);
    return std::string(text != nullptr ? text : "");
  };
  using Kind = MeasuredLayer::Kind;
  EXPECT_EQ(reason([](MeasuredLayer& layer) { layer.conv.kernel_width = 8; }), "");
  EXPECT_EQ(reason([](MeasuredLayer& layer) { layer.conv.kernel_height = 11; }),
            "kernels of more than 8 x 8");
  EXPECT_EQ(reason([](MeasuredLayer& layer) { layer.conv.compressed = true; }),
            "compressed weights");
  EXPECT_EQ(reason([](MeasuredLayer& layer) { layer.conv.batches = 2; }), "several cubes at once");
  EXPECT_EQ(reason([](MeasuredLayer& layer) { layer.conv.channels = 25088; }),
            "more than 8192 channels");
  EXPECT_EQ(reason([](MeasuredLayer& layer) { layer.kind = Kind::kBdma; }), "copies by BDMA");
  EXPECT_EQ(reason([](MeasuredLayer& layer) {
              layer.pooled = true;
              layer.pdp.split = true;
            }),
            "a pooling cut into columns");
  MeasuredRow row;
  row.configuration = "nv_large";
  EXPECT_STREQ(cost::beyond_measured(machine_of(row), {}),
               "another configuration than nv_full and nv_small");
  row.configuration = "nv_full";
  EXPECT_STREQ(cost::beyond_measured(machine_of(row), {.latency = 400}), nullptr);
  EXPECT_STREQ(cost::beyond_measured(machine_of(row), {.sram_latency = 401}),
               "a latency of more than 400 cycles");
}

// Prints what is asserted below: rows that are off, and a line for each group and half.
TEST_F(MeasuredCycles, ArePredictedWithinATenth) {
  NVDLA_NEEDS_SHARED("hw");
  std::map<std::string, std::map<bool, Tally>> groups;
  for (const Error& error : errors()) {
    const MeasuredRow& row = *error.row;
    groups[row.configuration + " " + row.group + (row.narrow ? ", less bandwidth" : "")]
          [error.fitted]
              .add(error.relative());
    if (std::abs(error.relative()) <= 0.05) continue;
    fmt::print(
        "{} {}: latency {}, {} requests, a beat every {} cycles: {} measured, {} predicted\n",
        row.configuration, row.name, row.memory.latency, row.memory.outstanding,
        row.memory.beat_gap, row.cycles, error.predicted);
  }
  for (const auto& [name, halves] : groups)
    for (const auto& [fitted, tally] : halves)
      fmt::print("{:<40} {:<6} {:>3} rows, {:>3} within 5 %, {:>3} within 10 %, at most {:.1f} %\n",
                 name, fitted ? "fitted" : "other", tally.rows, tally.twentieth, tally.tenth,
                 100 * tally.worst);
  for (const bool all : {false, true}) {
    const Tally rows = tally([&](const Error& error) { return all || !error.fitted; });
    ASSERT_GE(rows.rows, 215U);
    EXPECT_TRUE(Tally::holds(rows.tenth, rows.rows, 99)) << rows.tenth << " of " << rows.rows;
  }
}

// Convolutions from tensors and images and in Winograd's form, of all precisions.
TEST_F(MeasuredCycles, ConvolutionsOfNvFullAreWithinATwentieth) {
  NVDLA_NEEDS_SHARED("hw");
  for (const char* group : {"convolution", "image", "winograd"}) {
    for (const bool all : {false, true}) {
      const Tally rows = tally([&](const Error& error) {
        return error.row->configuration == "nv_full" && error.row->group == group &&
               !error.row->narrow && (all || !error.fitted);
      });
      ASSERT_GE(rows.rows, 4U) << group;
      EXPECT_TRUE(Tally::holds(rows.twentieth, rows.rows, 95)) << group << " " << rows.twentieth;
      EXPECT_EQ(rows.tenth, rows.rows) << group;
    }
  }
}

// Jobs of several layers: what is fetched ahead, with equal and with other banks, and what is not.
TEST_F(MeasuredCycles, JobsOfSeveralLayersAreWithinATwentieth) {
  NVDLA_NEEDS_SHARED("hw");
  const Tally rows = tally([](const Error& error) { return error.row->layers.size() > 1; });
  ASSERT_GE(rows.rows, 8U);
  EXPECT_EQ(rows.twentieth, rows.rows) << rows.worst;
}

// Memory that brings a beat every second or fourth cycle.
TEST_F(MeasuredCycles, ShareLessBandwidth) {
  NVDLA_NEEDS_SHARED("hw");
  for (const bool convolution : {false, true}) {
    const Tally rows = tally([&](const Error& error) {
      return error.row->narrow && convolves(*error.row) == convolution;
    });
    ASSERT_GE(rows.rows, 16U);
    EXPECT_EQ(rows.fifth, rows.rows);
    EXPECT_TRUE(Tally::holds(rows.tenth, rows.rows, 95)) << rows.tenth << " of " << rows.rows;
  }
}

}  // namespace
}  // namespace nvdla::test
