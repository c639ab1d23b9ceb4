// SPDX-License-Identifier: MIT
#include "program_runner.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "firmware/engine/nvdla_engine.h"
#include "model/device.hpp"
#include "model/memory.hpp"

namespace nvdla::fuzz {

namespace {

// Where slot n is bound. Slots are far apart, within 32 address bits.
std::uint64_t slot_base(std::uint32_t slot) { return 0x10000000ull * (slot + 1); }

// Lets pass what the program's accesses allow.
class GuardedBus final : public model::Bus {
 public:
  explicit GuardedBus(const nvdla_program& program) : program_(program) {}

  model::Mapping map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override {
    if (!allowed(address, size, write)) {
      std::fprintf(stderr, "%s of %" PRIu64 " bytes at 0x%" PRIx64 " is in no declared access\n",
                   write ? "write" : "read", size, address);
      std::abort();
    }
    return memory_.map(ram, address, size, write);
  }
  std::uint64_t generation(model::Ram ram, std::uint64_t address,
                           std::uint64_t size) const noexcept override {
    return memory_.generation(ram, address, size);
  }
  void written(model::Ram ram, std::uint64_t address, std::uint64_t size) noexcept override {
    memory_.written(ram, address, size);
  }

 private:
  bool allowed(std::uint64_t address, std::uint64_t size, bool write) const {
    for (std::uint32_t i = 0; i < program_.num_accesses; ++i) {
      const nvdla_access& access = program_.accesses[i];
      const std::uint64_t base = slot_base(access.slot);
      if ((access.write != 0) == write && address >= base + access.begin &&
          address + size <= base + access.end) {
        return true;
      }
    }
    return false;
  }

  const nvdla_program& program_;
  model::Memory memory_;
};

struct Bench {
  model::Device device;
  std::uint64_t now = 0;
};

Bench& bench(void* context) { return *static_cast<Bench*>(context); }

const nvdla_port kPort = {
    .reg_read = [](void* c, u32 offset) -> u32 { return bench(c).device.read(offset); },
    .reg_write = [](void* c, u32 offset, u32 value) { bench(c).device.write(offset, value); },
    .dma_barrier = [](void*) {},
    .relax = [](void* c) { bench(c).device.step(); },
    .now_ns = [](void* c) -> u64 { return bench(c).now += 100; },
    .take_irq = nullptr,
};

[[noreturn]] void fail(const Bench& bench, const char* what) {
  std::fprintf(stderr, "%s\n", what);
  for (const auto& blocked : bench.device.blocked()) {
    std::fprintf(stderr, "unit %u group %u: %s\n", blocked.unit, blocked.group,
                 blocked.reason.c_str());
  }
  std::abort();
}

}  // namespace

void run_program(const nvdla_program& program) {
  GuardedBus bus(program);
  Bench bench{model::Device(*program.hw, bus)};
  nvdla_engine engine;
  nvdla_engine_init(&engine, program.hw, &kPort, &bench);
  if (nvdla_engine_start(&engine) != 0) fail(bench, "the engine does not start");

  std::vector<std::uint64_t> bases;
  for (std::uint32_t slot = 0; slot < program.num_slots; ++slot) bases.push_back(slot_base(slot));
  std::vector<nvdla_layer_stats> stats(program.num_layers);
  nvdla_job job{};
  job.program = &program;
  job.bases = bases.data();
  job.stats = (program.flags & NVDLA_PROGRAM_STATS) != 0 ? stats.data() : nullptr;
  job.serial = 1;
  if (nvdla_engine_submit(&engine, &job) != 0) fail(bench, "the engine refuses the job");
  while (nvdla_engine_done(&engine) == nullptr) {
    const bool moved = bench.device.step();
    if (bench.device.interrupt()) {
      nvdla_engine_interrupt(&engine, nvdla_engine_read_irq(&engine));
    } else if (!moved) {
      fail(bench, "the model hangs on a program that compiles");
    }
  }
  if (job.result != NVDLA_JOB_OK) fail(bench, "the job fails");
}

}  // namespace nvdla::fuzz
