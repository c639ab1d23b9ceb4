// SPDX-License-Identifier: MIT
#include "tools/cli/selftest_output.hpp"

#include <fmt/format.h>

#include "tools/common/text.hpp"

namespace nvdla::cli {
namespace {

using selftest::Finding;
using selftest::Report;
using selftest::StepInfo;
using selftest::Verdict;
using Json = nlohmann::ordered_json;

constexpr std::size_t kName = 14, kWord = 6;

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "ok";
    case Verdict::kFailed:
      return "FAIL";
    case Verdict::kLeftOut:
      return "-";
  }
  return "";
}

const char* long_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kLeftOut:
      return "left out";
  }
  return "";
}

std::string line(const std::string& head, std::string_view text) {
  return fmt::format("{}{}\n", head, program::wrap(text, head.size()));
}

// A part of a block, below the text of its first line.
std::string part(std::string_view name, std::string_view text) {
  return line(fmt::format("{:>{}}  ", name, kWord + kName - 2), text);
}

Json json_of(const Report::Entry& entry) {
  Json findings = Json::array();
  for (const Finding& finding : entry.result.findings)
    findings.push_back(
        {{"saw", finding.saw}, {"expected", finding.expected}, {"causes", finding.causes}});
  return {{"step", entry.step.name},
          {"checks", entry.step.checks},
          {"verdict", long_word(entry.result.verdict)},
          {"text", entry.result.text},
          {"findings", std::move(findings)},
          {"more_findings", entry.result.more}};
}

}  // namespace

std::string text_of(const Report::Entry& entry) {
  const bool failed = entry.result.verdict == Verdict::kFailed;
  std::string text =
      line(fmt::format("{:<{}}{:<{}}", word(entry.result.verdict), kWord, entry.step.name, kName),
           failed ? fmt::format("checks that {}", entry.step.checks) : entry.result.text);
  for (const Finding& finding : entry.result.findings) {
    text += part("saw", finding.saw) + part("expected", finding.expected);
    for (const std::string& cause : finding.causes) text += part("likely", cause);
  }
  if (entry.result.more != 0) text += part("and", fmt::format("{} more", entry.result.more));
  return text;
}

std::string text_of(const StepInfo& step) {
  return line(fmt::format("{:<{}}", step.name, kName),
              fmt::format("{}{}", step.checks, step.registers ? " (needs registers)" : ""));
}

Json json_of(const Report& report, const std::string& device) {
  Json steps = Json::array();
  for (const Report::Entry& entry : report.entries) steps.push_back(json_of(entry));
  return {{"device", device},
          {"configuration", report.configuration},
          {"passed", report.passed()},
          {"steps", std::move(steps)}};
}

Json json_of(const StepInfo& step) {
  return {{"step", step.name}, {"checks", step.checks}, {"registers", step.registers}};
}

}  // namespace nvdla::cli
