// SPDX-License-Identifier: MIT
//
// The result of a step of the self-test.
#ifndef NVDLA_SELFTEST_RESULT_HPP
#define NVDLA_SELFTEST_RESULT_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvdla::selftest {

// A difference between what the device did and what it should do.
struct Finding {
  std::string saw;
  std::string expected;
  std::vector<std::string> causes;  // the likely ones
};

enum class Verdict : std::uint8_t { kPassed, kFailed, kLeftOut };

struct Result {
  Verdict verdict = Verdict::kPassed;
  std::string text = {};  // what was seen, or why the step was left out
  std::vector<Finding> findings = {};

  static Result passed(std::string text) { return {Verdict::kPassed, std::move(text), {}}; }
  static Result left_out(std::string text) { return {Verdict::kLeftOut, std::move(text), {}}; }
  static Result failed(Finding finding) { return {Verdict::kFailed, {}, {std::move(finding)}}; }

  void add(Finding finding) {
    verdict = Verdict::kFailed;
    // More of the same would only push the first ones off the screen.
    if (findings.size() < 5)
      findings.push_back(std::move(finding));
    else
      ++more;
  }

  unsigned more = 0;  // findings that are not listed
};

// Causes that more than one step reports.
namespace cause {
inline constexpr const char* kConfiguration =
    "wrong configuration: the device is another one than was named";
inline constexpr const char* kNoAnswer =
    "nothing answers: wrong address of the register window, or power, clock or reset of the core "
    "is off";
inline constexpr const char* kEndianness =
    "endianness: the bus between processor and device reverses bytes";
inline constexpr const char* kMemoryAddress =
    "memory address: what the processor calls the buffer is not what the device reaches it by "
    "(bus offset, IOMMU, address bits that are not connected)";
inline constexpr const char* kCoherence =
    "cache coherence: the device does not snoop the processor's caches, and they are not "
    "written back or invalidated for it (dma-coherent in the device tree, a cached mapping)";
inline constexpr const char* kUnitClock =
    "the unit is not built, or its clock is off: another configuration, clock gating";
}  // namespace cause

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_RESULT_HPP
