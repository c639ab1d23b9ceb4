// SPDX-License-Identifier: MIT
//
// What a user reads of a step that failed.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "breakable_model.hpp"
#include "tools/cli/selftest_output.hpp"

namespace nvdla::test {
namespace {

selftest::Report broken(const Breakage& breakage) {
  const nvdla_hw& hw = *nvdla_hw_find("nv_small");
  BreakableModel device(hw, breakage);
  return selftest::test(device, &hw, {});
}

TEST(SelftestOutput, AFailureIsABlock) {
  const selftest::Report report = broken({.line_never = true});
  std::string text;
  for (const auto& entry : report.entries) text += cli::text_of(entry);
  EXPECT_NE(
      text.find("FAIL  interrupt     checks that an interrupt is raised, arrives, is masked and\n"
                "                    cleared\n"
                "               saw  bit 0 of GLB.S_INTR_STATUS is set and no interrupt arrives\n"
                "                    for 100 ms\n"
                "          expected  the interrupt line is up\n"
                "            likely  interrupt line never arrives: wrong interrupt number, not\n"
                "                    routed or not enabled at the interrupt controller\n"
                "ok    copy "),
      std::string::npos)
      << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(SelftestOutput, ManyFindingsAreCounted) {
  const selftest::Report report = broken({.lost_window_bits = 0x40});
  const auto entry = std::find_if(report.entries.begin(), report.entries.end(),
                                  [](const auto& one) { return one.step.name == "write-masks"; });
  ASSERT_NE(entry, report.entries.end());
  const std::string text = cli::text_of(*entry);
  EXPECT_NE(text.find("               and  "), std::string::npos) << text;
  EXPECT_EQ(entry->result.findings.size(), 5u);
}

TEST(SelftestOutput, JsonHasAllOfIt) {
  const auto document = cli::json_of(broken({.line_never = true}), "model:nv_small");
  EXPECT_EQ(document["device"], "model:nv_small");
  EXPECT_EQ(document["configuration"], "nv_small");
  EXPECT_EQ(document["passed"], false);
  ASSERT_EQ(document["steps"].size(), selftest::list_steps().size());
  for (const auto& step : document["steps"]) {
    const bool failed = step["step"] == "interrupt";
    const bool missing = step["step"] == "bdma" || step["step"] == "rubik";
    EXPECT_EQ(step["verdict"], failed ? "failed" : missing ? "left out" : "passed") << step;
    EXPECT_EQ(step["findings"].empty(), !failed) << step;
    if (failed) {
      EXPECT_FALSE(step["findings"][0]["causes"].empty()) << step;
    }
  }
}

}  // namespace
}  // namespace nvdla::test
