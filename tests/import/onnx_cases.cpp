// SPDX-License-Identifier: MIT
//
// Runs ONNX's own test cases and prints how many are right, and why the others are refused:
//   onnx_cases FOLDER DEVICE none|tail|all [LEAST]
// It fails if a case is wrong or crashes, or if fewer than LEAST are right.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <regex>

#include "import/case.hpp"

namespace {

using namespace nvdla;
using namespace nvdla::import_test;
namespace fs = std::filesystem;

// The reason without names and numbers, by which cases are counted together.
std::string kind_of(const Outcome& outcome) {
  std::string text = outcome.text;
  const std::size_t node = text.find("\n  node '");
  if (node != std::string::npos) {
    const std::size_t colon = text.find("): ", node);
    text = text.substr(colon == std::string::npos ? node : colon + 3);
    text = text.substr(0, text.find('\n'));
  }
  text = std::regex_replace(text, std::regex("'[^']*'"), "'...'");
  text = std::regex_replace(text, std::regex("[0-9]+(x[0-9]+)*"), "N");
  return text.substr(0, 100);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("expected FOLDER DEVICE none|tail|all [LEAST]\n", stderr);
    return 2;
  }
  const std::string cpu = argv[3];
  const CpuUse use = cpu == "all" ? CpuUse::kAll : cpu == "none" ? CpuUse::kNone : CpuUse::kTail;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(argv[1]))
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::array<std::size_t, 7> counts{};
  std::map<std::string, std::map<std::string, int>> reasons;
  for (const fs::path& folder : folders) {
    const Outcome outcome = run_apart(folder, argv[2], use);
    ++counts[static_cast<std::size_t>(outcome.verdict)];
    if (outcome.verdict == Verdict::kRefused) ++reasons[kind_of(outcome)][outcome.op];
    if (outcome.verdict == Verdict::kWrong || outcome.verdict == Verdict::kCrashed)
      fmt::print("{} {}: {}\n", outcome.verdict == Verdict::kWrong ? "WRONG" : "CRASHED",
                 folder.filename().string(), outcome.text);
  }
  std::vector<std::pair<int, std::string>> rows;
  for (const auto& [reason, ops] : reasons) {
    int count = 0;
    std::string names;
    for (const auto& [op, n] : ops) {
      count += n;
      names += fmt::format("{}{} {}", names.empty() ? "" : ", ", op, n);
    }
    rows.emplace_back(count, fmt::format("{} [{}]", reason, names));
  }
  std::sort(rows.begin(), rows.end(), std::greater<>());
  for (const auto& [count, text] : rows) fmt::print("{:4} {}\n", count, text);
  const std::size_t right = counts[0] + counts[1];
  fmt::print(
      "{} cases on {}, --cpu {}: {} right ({} of them with constant inputs), {} folded whole, "
      "{} refused, {} beyond fp16, {} wrong, {} crashed\n",
      folders.size(), argv[2], cpu, right, counts[1], counts[2], counts[3], counts[6], counts[4],
      counts[5]);
  if (counts[4] + counts[5] != 0) return 1;
  return argc > 4 && right < std::stoul(argv[4]) ? 1 : 0;
}
