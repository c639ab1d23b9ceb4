// SPDX-License-Identifier: MIT
//
// From a bit of GLB to the line, and back.
#include <fmt/format.h>

#include "selftest/steps.hpp"

namespace nvdla::selftest {
namespace {

constexpr const char* kStatus = "GLB.S_INTR_STATUS";
constexpr const char* kMask = "GLB.S_INTR_MASK";
constexpr const char* kSet = "GLB.S_INTR_SET";

constexpr auto kUp = std::chrono::milliseconds(100);
constexpr auto kDown = std::chrono::milliseconds(2);
constexpr unsigned kLooks = 4;

// Returns whether the line is down and stays down. Writes are posted, and a mask reaches the line
// some 25 cycles after its register: a read orders it, and time passes between two looks.
bool is_down(detail::BareDevice& device, const Registers& registers) {
  for (unsigned look = 0; look < kLooks; ++look) {
    registers.read(kMask);
    device.relax();
    if (!device.wait_interrupt(device.now() + kDown)) return true;
  }
  return false;
}

}  // namespace

Result check_interrupt(Bench& bench) {
  detail::BareDevice& device = bench.bare->device();
  const Registers registers(device, bench.hw);
  bench.bare->forget();
  device.reset();
  registers.write(kMask, 0);
  registers.write(kStatus, NVDLA_IRQ_ALL);

  Result result;
  unsigned bits = 0;
  if (!is_down(device, registers)) {
    result.add({"the interrupt line is up while no interrupt is pending",
                "the line is down",
                {"interrupt line stuck: its number is another device's, or its polarity is "
                 "reversed (level, active high)"}});
    return result;
  }
  for (unsigned i = 0; i < 32; ++i) {
    const std::uint32_t bit = 1u << i;
    // Units that the configuration lacks have no bits.
    if ((nvdla_hw_interrupts(&bench.hw) & bit) == 0) continue;
    ++bits;
    registers.write(kSet, bit);
    const std::uint32_t status = registers.read(kStatus);
    if (status != bit) {
      result.add(
          {fmt::format("{} is {:#x} when bit {} was set", kStatus, status, i),
           fmt::format("{:#x}", bit),
           {"interrupts: S_INTR_SET raises nothing, or something else", cause::kConfiguration}});
    } else if (!device.wait_interrupt(device.now() + kUp)) {
      result.add({fmt::format("bit {} of {} is set and no interrupt arrives for {} ms", i, kStatus,
                              kUp.count()),
                  "the interrupt line is up",
                  {"interrupt line never arrives: wrong interrupt number, not routed or not "
                   "enabled at the interrupt controller"}});
      registers.write(kStatus, bit);
      break;  // The others have the same line.
    }
    registers.write(kMask, bit);
    if (!is_down(device, registers)) {
      result.add({fmt::format("the line is up while bit {} is masked", i),
                  "the line is down",
                  {"interrupt mask: S_INTR_MASK does not keep interrupts from the line, or the "
                   "line is an edge where a level is due"}});
    }
    registers.write(kMask, 0);
    registers.write(kStatus, bit);
    if (const std::uint32_t left = registers.read(kStatus); left != 0) {
      result.add({fmt::format("{} is {:#x} after it was cleared", kStatus, left),
                  "0x0",
                  {"interrupts: writing 1 to S_INTR_STATUS does not clear"}});
      break;
    }
    if (result.verdict == Verdict::kFailed) break;
  }
  registers.write(kStatus, NVDLA_IRQ_ALL);
  if (result.verdict == Verdict::kPassed)
    return Result::passed(fmt::format("{} bits, each raised, seen, masked and cleared", bits));
  return result;
}

}  // namespace nvdla::selftest
