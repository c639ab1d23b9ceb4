// SPDX-License-Identifier: MIT
//
// Two random programs share the model of a device: each is asked to yield at random moments, and
// then the other one goes on. Memory and counters are what they are when each has the device for
// itself.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <span>
#include <vector>

#include "firmware/engine/nvdla_engine.h"
#include "model/core/memory.hpp"
#include "model/device.hpp"
#include "program_maker.hpp"

namespace nvdla::fuzz {
namespace {

using Random = std::mt19937_64;

// Both programs lie in each slot's part of the address space.
constexpr std::uint64_t kPart = kSlotSize / 2;
constexpr std::uint64_t kMaxBytes = 1 << 20;
constexpr std::uint64_t kMaxCycles = 1'000'000;
constexpr unsigned kMaxSteps = 100'000;

// Layers of `made` that compile, ordered by waits where two touch the same bytes.
class Compiled {
 public:
  explicit Compiled(Made made) : made_(std::move(made)) {
    std::vector<nvdla_layer> candidates;
    candidates.swap(made_.layers);
    for (nvdla_layer& layer : candidates) {
      layer.num_waits = 0;
      std::fill(std::begin(layer.waits), std::end(layer.waits), 0u);
      made_.layers.push_back(layer);
      if (!compile() || !order() || !compile()) made_.layers.pop_back();
    }
    ok_ = !made_.layers.empty() && compile() && small();
  }

  bool ok() const { return ok_; }
  const nvdla_program& get() const { return program_; }
  const Made& made() const { return made_; }

 private:
  bool compile() {
    nvdla_program_desc desc{};
    desc.slots = made_.slots.data();
    desc.luts = made_.luts.data();
    desc.transfers = made_.transfers.data();
    desc.control = made_.control.empty() ? nullptr : made_.control.data();
    desc.num_layers = static_cast<u32>(made_.layers.size());
    desc.num_slots = static_cast<u32>(made_.slots.size());
    desc.num_luts = static_cast<u32>(made_.luts.size());
    desc.num_transfers = static_cast<u32>(made_.transfers.size());
    desc.control_bytes = static_cast<u32>(made_.control.size());
    desc.flags = NVDLA_PROGRAM_STATS;
    const std::size_t bytes = nvdla_program_bytes(&desc);
    memory_.assign((bytes + 7) / 8, 0);
    nvdla_error error{};
    if (nvdla_program_begin(&program_, made_.hw, &desc, memory_.data(), bytes, &error) != 0)
      return false;
    for (const nvdla_layer& layer : made_.layers)
      if (nvdla_program_add(&program_, &layer, &error) != 0) return false;
    return nvdla_program_end(&program_, &error) == 0;
  }

  std::span<const nvdla_access> accesses(std::uint32_t layer) const {
    const nvdla_layer_image& image = program_.layers[layer];
    return {program_.accesses + image.first_access, image.num_accesses};
  }

  bool conflict(std::uint32_t a, std::uint32_t b) const {
    for (const nvdla_access& one : accesses(a))
      for (const nvdla_access& other : accesses(b))
        if ((one.write || other.write) && one.slot == other.slot && one.begin < other.end &&
            other.begin < one.end)
          return true;
    return false;
  }

  // The last layer waits for those that it has to; false if these are too many.
  bool order() {
    const auto last = static_cast<std::uint32_t>(made_.layers.size() - 1);
    nvdla_layer& layer = made_.layers[last];
    std::vector<bool> over(last);
    for (std::uint32_t i = last; i-- > 0;) {
      if (over[i])
        for (std::uint32_t n = 0; n < made_.layers[i].num_waits; ++n)
          over[made_.layers[i].waits[n]] = true;
      if (over[i] || !conflict(i, last)) continue;
      if (layer.num_waits == NVDLA_MAX_WAITS) return false;
      layer.waits[layer.num_waits++] = i;
      over[i] = true;
      for (std::uint32_t n = 0; n < made_.layers[i].num_waits; ++n)
        over[made_.layers[i].waits[n]] = true;
    }
    return true;
  }

  bool small() const {
    std::uint64_t cycles = 0, bytes = 0;
    for (u32 i = 0; i < program_.num_layers; ++i) cycles += program_.layers[i].cycles;
    for (u32 i = 0; i < program_.num_accesses; ++i) {
      bytes += program_.accesses[i].end - program_.accesses[i].begin;
      if (program_.accesses[i].end > kPart) return false;
    }
    return cycles <= kMaxCycles && bytes <= kMaxBytes;
  }

  Made made_;
  std::vector<std::uint64_t> memory_;
  nvdla_program program_{};
  bool ok_ = false;
};

// A program with its buffers and what became of it.
struct Run {
  Run(const Compiled& compiled, std::uint32_t number) : program(compiled), stats(layers()) {
    for (std::uint32_t slot = 0; slot < program.get().num_slots; ++slot)
      bases.push_back(slot_base(slot) + number * kPart);
    job.program = &program.get();
    job.bases = bases.data();
    job.stats = stats.data();
    job.stats_stride = sizeof(nvdla_layer_stats);
    job.serial = number + 1;
  }

  std::uint32_t layers() const { return program.get().num_layers; }
  model::Ram ram(std::uint32_t slot) const {
    return program.get().slots[slot].memory == NVDLA_MEMORY_DRAM ? model::Ram::kPrimary
                                                                 : model::Ram::kSecondary;
  }

  void load(model::Memory& memory) const {
    Random random(job.serial);
    std::vector<std::byte> noise;
    for (u32 i = 0; i < program.get().num_accesses; ++i) {
      const nvdla_access& access = program.get().accesses[i];
      noise.resize(access.end - access.begin);
      for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
      memory.load(ram(access.slot), bases[access.slot] + access.begin, noise);
    }
    for (std::uint32_t slot = 0; slot < program.get().num_slots; ++slot)
      if (program.get().slots[slot].access == NVDLA_SLOT_CONTROL)
        memory.load(ram(slot), bases[slot], std::as_bytes(std::span(program.made().control)));
  }

  // All that it may have touched.
  std::vector<std::vector<std::byte>> contents(const model::Memory& memory) const {
    std::vector<std::vector<std::byte>> all;
    for (u32 i = 0; i < program.get().num_accesses; ++i) {
      const nvdla_access& access = program.get().accesses[i];
      all.push_back(memory.read(ram(access.slot), bases[access.slot] + access.begin,
                                access.end - access.begin));
    }
    return all;
  }

  const Compiled& program;
  std::vector<std::uint64_t> bases;
  std::vector<nvdla_layer_stats> stats;
  nvdla_job job{};
};

struct Bench {
  Bench(const nvdla_hw& hw, model::Bus& bus, unsigned delay)
      : device(hw, bus, {.quirks = model::silicon_quirks(hw), .completion_delay = delay}) {}
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

struct Counts {
  unsigned programs = 0, yields = 0, ahead = 0, tied = 0, tables = 0;
  std::array<unsigned, NVDLA_LAYER_BDMA + 1> layers{};
};

// A device for one job after another.
class Machine {
 public:
  Machine(const nvdla_hw& hw, unsigned delay) : bench_(hw, memory, delay) {
    nvdla_engine_init(&engine_, &hw, &kHwOps, &bench_);
    EXPECT_EQ(nvdla_engine_start(&engine_), 0);
  }

  // Until the job has ended, or yielded when it was asked in step `moment`.
  bool run(nvdla_job& job, unsigned moment, unsigned sloth) {
    if (nvdla_engine_submit(&engine_, &job) != 0) return false;
    for (unsigned step = 0; step < kMaxSteps; ++step) {
      if (step == moment) nvdla_engine_yield(&engine_);
      if (nvdla_engine_done(&engine_) != nullptr) return true;
      // Interrupts are not always taken at once.
      const bool moved = bench_.device.step();
      if (bench_.device.interrupt() && (!moved || step % sloth == 0))
        nvdla_engine_interrupt(&engine_, nvdla_engine_read_irq(&engine_));
      else if (!moved && !bench_.device.interrupt() && engine_.job)
        return false;
    }
    return false;
  }
  u32 table_loads() const { return engine_.debug.lut_loads; }

  model::Memory memory{model::Memory::Spaces::kSeparate};

 private:
  Bench bench_;
  nvdla_engine engine_;
};

void expect_same(const Run& alone, const Run& shared) {
  for (std::uint32_t layer = 0; layer < alone.layers(); ++layer) {
    EXPECT_EQ(alone.stats[layer].valid, shared.stats[layer].valid) << "layer " << layer;
    for (std::uint32_t i = 0; i < NVDLA_COUNTER_MAX; ++i)
      EXPECT_EQ(alone.stats[layer].counter[i], shared.stats[layer].counter[i])
          << "layer " << layer << ", counter " << i;
  }
}

void take_turns(const Compiled& one, const Compiled& two, Random& random, Counts& counts) {
  const nvdla_hw& hw = *one.made().hw;
  std::vector<Run> alone, shared;
  std::vector<std::vector<std::vector<std::byte>>> expected;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Compiled& program = i == 0 ? one : two;
    Run& run = alone.emplace_back(program, i);
    shared.emplace_back(program, i);
    Machine machine(hw, 1);
    run.load(machine.memory);
    ASSERT_TRUE(machine.run(run.job, ~0u, 1));
    ASSERT_EQ(run.job.result, NVDLA_JOB_OK);
    expected.push_back(run.contents(machine.memory));
    counts.tables += machine.table_loads();
    for (const nvdla_layer& layer : program.made().layers) ++counts.layers[layer.kind];
  }
  Machine machine(hw, static_cast<unsigned>(random() % 4));
  for (Run& run : shared) run.load(machine.memory);
  for (bool more = true; more;) {
    more = false;
    for (Run& run : shared) {
      if (run.job.result == NVDLA_JOB_OK) continue;
      ASSERT_TRUE(machine.run(run.job, static_cast<unsigned>(random() % 8),
                              1 + static_cast<unsigned>(random() % 3)));
      if (run.job.result == NVDLA_JOB_OK) continue;
      ASSERT_EQ(run.job.result, NVDLA_JOB_YIELDED);
      ++counts.yields;
      counts.ahead += run.job.ended != 0;
      more = true;
    }
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(shared[i].contents(machine.memory), expected[i]);
    expect_same(alone[i], shared[i]);
    for (std::uint32_t layer = 0; layer < shared[i].layers(); ++layer)
      counts.tied += shared[i].program.get().layers[layer].tied != 0;
  }
  counts.programs += 2;
}

// Each program, in part, writes where the others of its layers do not: these may run side by side.
Compiled make(Random& random) {
  std::vector<std::uint64_t> words(2048);
  for (std::uint64_t& word : words) word = random();
  Input input({reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * 8});
  Made made = make_program(input, {.most_layers = 10, .mutated = false});
  std::uint64_t offset = 0;
  const auto move = [&](nvdla_surface& surface) {
    if (made.slots[surface.slot].access == NVDLA_SLOT_WRITE) surface.offset += offset;
  };
  for (nvdla_layer& layer : made.layers) {
    if (random() % 4 != 0) offset += 1 << 16;
    for (nvdla_surface* surface :
         {&layer.sdp.output, &layer.pdp.output, &layer.cdp.output, &layer.rubik.output})
      move(*surface);
  }
  for (nvdla_transfer& transfer : made.transfers) {
    offset += 1 << 16;
    move(transfer.destination);
  }
  return Compiled(std::move(made));
}

TEST(Yields, ChangeNoResult) {
  Random random(20);
  Counts counts;
  while (counts.programs < 1200 / NVDLA_TEST_SHARE) {
    const Compiled one = make(random);
    if (!one.ok()) continue;
    // Another for the same configuration.
    for (;;) {
      const Compiled two = make(random);
      if (!two.ok() || two.made().hw != one.made().hw) continue;
      take_turns(one, two, random, counts);
      break;
    }
    ASSERT_FALSE(HasFailure()) << one.made().hw->name << ", after " << counts.programs;
  }
  std::printf("%u programs, %u yields, %u with layers ahead, %u tied layers, %u tables\n",
              counts.programs, counts.yields, counts.ahead, counts.tied, counts.tables);
  EXPECT_GT(counts.yields, counts.programs / 2);
  EXPECT_GT(counts.ahead, 0u);
  EXPECT_GT(counts.tied, counts.programs / 10);
  EXPECT_GT(counts.tables, counts.programs / 10);
  for (std::uint32_t kind = NVDLA_LAYER_CONV_SDP; kind <= NVDLA_LAYER_BDMA; ++kind)
    EXPECT_GT(counts.layers[kind], 0u) << kind;
}

}  // namespace
}  // namespace nvdla::fuzz
