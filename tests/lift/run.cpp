// SPDX-License-Identifier: MIT
#include "lift/run.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <nvdla/types/error.hpp>

#include "lift/device_memory.hpp"

namespace nvdla::test {
namespace {

using namespace replay;

class Runner {
 public:
  Runner(const Device& device, const Plan& plan, const CompiledPlan& compiled)
      : device_(device), plan_(plan), compiled_(compiled), memory_(device, plan, compiled) {}

  RunResult run() {
    statistics_.resize(plan_.launches.size());
    for (const Step& step : plan_.steps)
      std::visit([this](const auto& action) { execute(action); }, step);
    return std::move(result_);
  }

 private:
  void fail(std::string text) { result_.differences.push_back(std::move(text)); }

  void execute(const FillMemory& action) {
    memory_.fill(action.ram, action.address, action.size, action.byte);
  }

  void execute(const LoadMemory& action) {
    if (!action.file.data) return;  // it may be missing; that was said when it was read
    for (const Segment& segment : *action.file.data) {
      std::span<const std::byte> bytes(segment.bytes);
      if (action.size != 0) {
        if (segment.offset >= action.size) continue;
        bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), action.size - segment.offset));
      }
      memory_.load(action.ram, action.address + segment.offset, bytes);
    }
  }

  void execute(const PlannedProgram& planned) {
    const Lifted& lifted = compiled_.lifted;
    ProgramDesc desc;
    desc.layers = std::span(lifted.layers).subspan(planned.first, planned.end - planned.first);
    desc.slots = lifted.slots;
    desc.luts = lifted.luts;
    desc.transfers = lifted.transfers;
    desc.control = std::as_bytes(std::span(lifted.control));
    desc.statistics = true;
    const nvdla::Program program = device_.create_program(desc);
    const Fence fence = device_.submit(program, memory_.bindings());
    fence.wait();
    const auto statistics = fence.statistics();
    std::copy(statistics.begin(), statistics.end(),
              statistics_.begin() + static_cast<std::ptrdiff_t>(planned.first));
  }

  void execute(const CompareMemory& action) {
    if (!action.file.data) return;
    for (const Segment& segment : *action.file.data) {
      if (segment.offset >= action.size) continue;
      const std::uint64_t size =
          std::min<std::uint64_t>(segment.bytes.size(), action.size - segment.offset);
      const auto got = memory_.fetch(action.ram, action.address + segment.offset, size);
      result_.bytes_compared += size;
      std::uint64_t wrong = 0;
      std::uint64_t first = 0;
      for (std::uint64_t i = size; i-- > 0;) {
        if (got[i] == segment.bytes[i]) continue;
        wrong++;
        first = i;
      }
      if (wrong != 0)
        fail(
            fmt::format("memory {:#x}: expected {:#04x}, got {:#04x} (first of {} wrong bytes of "
                        "{} in {})",
                        action.address + segment.offset + first,
                        std::to_integer<unsigned>(segment.bytes[first]),
                        std::to_integer<unsigned>(got[first]), wrong, size, action.file.name));
    }
  }

  void execute(const CheckCrc& action) {
    const auto got = memory_.fetch(action.ram, action.address, action.size);
    result_.bytes_compared += action.size;
    const uLong crc =
        crc32_z(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(got.data()), got.size());
    if (crc != action.crc)
      fail(fmt::format("CRC of memory {:#x} with {:#x} bytes: expected {:#010x}, got {:#010x}",
                       action.address, action.size, action.crc, crc));
  }

  // A counter that the launch has off is 0 there and counts here.
  void execute(const CheckCounter& action) {
    if (!counts(plan_.launches[action.launch], action.counter)) return;
    // The reference model fills registers that the logic does not drive.
    if (counter_worth(device_.info(), action.counter) == CounterWorth::kNotValid) return;
    const nvdla_layer_stats& statistics = statistics_[action.launch];
    const std::uint32_t got = statistics.counter[action.counter];
    const std::uint32_t value = (got & action.check.mask) >> action.check.shift;
    result_.counters_compared++;
    if (value == action.check.value) return;
    fail(fmt::format("launch {}: counter {}: expected {}, got {}{}", action.launch,
                     counter_name(action.counter), action.check.value, value,
                     (statistics.valid >> action.counter & 1) != 0 ? "" : " (it is not read)"));
  }

  const Device& device_;
  const Plan& plan_;
  const CompiledPlan& compiled_;
  DeviceMemory memory_;
  std::vector<nvdla_layer_stats> statistics_;
  RunResult result_;
};

}  // namespace

RunResult run_plan(const Device& device, const Plan& plan, const CompiledPlan& compiled) {
  return Runner(device, plan, compiled).run();
}

}  // namespace nvdla::test
