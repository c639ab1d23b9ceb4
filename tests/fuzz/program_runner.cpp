// SPDX-License-Identifier: MIT
#include "program_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "firmware/engine/nvdla_engine.h"
#include "model/device.hpp"

namespace nvdla::fuzz {
namespace {

// More than any program within a fuzzer's budget takes.
constexpr std::uint64_t kMaxSteps = 1'000'000;
// Memory behind all addresses.
constexpr std::uint64_t kBytes = 1 << 18;

// Lets pass what the program's accesses allow their clients. All addresses share a little memory:
// reads find noise, writes go where nobody reads.
class GuardedBus final : public model::Bus {
 public:
  GuardedBus(const nvdla_program& program, std::span<const nvdla_binding> bindings,
             std::span<const std::uint8_t> control)
      : program_(program), bindings_(bindings) {
    for (const std::uint8_t byte : control) control_.push_back(static_cast<std::byte>(byte));
  }

  model::Mapping map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override {
    if (!allowed(ram, address, size, write)) {
      if (failure_.empty())
        failure_ = fmt::format("client {} {} {} bytes at {:#x}, which is in none of its accesses",
                               client_, write ? "writes" : "reads", size, address);
      return {};
    }
    if (client_ == NVDLA_DMA_CDMA_WGS || client_ == NVDLA_DMA_CDMA_WMB)
      return {control_.data() + (address - control_base()), size};
    const std::uint64_t at = address % kBytes;
    return {(write ? sink() : noise()).data() + at, std::min(size, kBytes - at)};
  }
  void client(std::uint32_t dma) noexcept override { client_ = dma; }
  // Nobody knows what happens to it.
  std::uint64_t generation(model::Ram, std::uint64_t, std::uint64_t) const noexcept override {
    return 0;
  }
  void written(model::Ram, std::uint64_t, std::uint64_t) noexcept override {}

  const std::string& failure() const { return failure_; }

 private:
  static std::vector<std::byte>& noise() {
    thread_local std::vector<std::byte> bytes = [] {
      std::vector<std::byte> made(kBytes);
      std::mt19937 random(1);
      for (std::byte& one : made) one = static_cast<std::byte>(random());
      return made;
    }();
    return bytes;
  }
  static std::vector<std::byte>& sink() {
    thread_local std::vector<std::byte> bytes(kBytes);
    return bytes;
  }

  // The accesses of who reads them lie in it.
  std::uint64_t control_base() const {
    std::uint32_t slot = 0;
    while (program_.slots[slot].access != NVDLA_SLOT_CONTROL) ++slot;
    return bindings_[slot].address;
  }

  bool allowed(model::Ram ram, std::uint64_t address, std::uint64_t size, bool write) const {
    for (std::uint32_t i = 0; i < program_.num_accesses; ++i) {
      const nvdla_access& access = program_.accesses[i];
      const std::uint64_t base = bindings_[access.slot].address;
      const model::Ram memory = bindings_[access.slot].memory == NVDLA_MEMORY_DRAM
                                    ? model::Ram::kPrimary
                                    : model::Ram::kSecondary;
      if (access.dma == client_ && (access.write != 0) == write && memory == ram &&
          address >= base + access.begin && address + size <= base + access.end)
        return true;
    }
    return false;
  }

  const nvdla_program& program_;
  std::span<const nvdla_binding> bindings_;
  std::vector<std::byte> control_;
  std::uint32_t client_ = NVDLA_DMA_NONE;
  std::string failure_;
};

struct Bench {
  model::Device device;
  std::uint64_t now = 0;
};

Bench& bench(void* context) { return *static_cast<Bench*>(context); }

const nvdla_hw_ops kHwOps = {
    .reg_read = [](void* c, u32 offset) -> u32 { return bench(c).device.read(offset); },
    .reg_write = [](void* c, u32 offset, u32 value) { bench(c).device.write(offset, value); },
    .dma_barrier = [](void*) {},
    .relax = [](void* c) { bench(c).device.step(); },
    .now_ns = [](void* c) -> u64 { return bench(c).now += 100; },
    .take_irq = nullptr,
    .layer_start = nullptr,
    .layer_end = nullptr,
    .reg_writes = nullptr,
};

std::string with_blocked(const Bench& bench, std::string what) {
  for (const auto& one : bench.device.blocked())
    what += fmt::format("; unit {} group {}: {}", one.unit, one.group, one.reason);
  return what;
}

}  // namespace

std::string run_program(const nvdla_program& program, std::span<const nvdla_binding> bindings,
                        std::span<const std::uint8_t> control) {
  GuardedBus bus(program, bindings, control);
  Bench bench{model::Device(*program.hw, bus)};
  nvdla_engine engine;
  nvdla_engine_init(&engine, program.hw, &kHwOps, &bench);
  if (nvdla_engine_start(&engine) != 0) return "the engine does not start";

  std::vector<std::uint64_t> bases;
  for (const nvdla_binding& binding : bindings) bases.push_back(binding.address);
  std::vector<nvdla_layer_stats> stats(program.num_layers);
  nvdla_job job{};
  job.program = &program;
  job.bases = bases.data();
  job.stats = (program.flags & NVDLA_PROGRAM_STATS) != 0 ? stats.data() : nullptr;
  job.stats_stride = sizeof(nvdla_layer_stats);
  job.serial = 1;
  if (nvdla_engine_submit(&engine, &job) != 0) return "the engine refuses the job";
  for (std::uint64_t steps = 0; nvdla_engine_done(&engine) == nullptr; ++steps) {
    const bool moved = bench.device.step();
    if (bench.device.interrupt()) {
      nvdla_engine_interrupt(&engine, nvdla_engine_read_irq(&engine));
    } else if (!moved) {
      return with_blocked(bench, "the model hangs on a program that compiles");
    }
    if (steps == kMaxSteps) return "the model goes on and on";
  }
  if (!bus.failure().empty()) return bus.failure();
  if (bench.device.refusals().count != 0) return "the bus refuses what it should not";
  if (job.result != NVDLA_JOB_OK) return "the job fails";
  if (!bench.device.idle()) return with_blocked(bench, "units go on when the job has ended");
  return {};
}

}  // namespace nvdla::fuzz
