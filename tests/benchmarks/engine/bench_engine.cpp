// SPDX-License-Identifier: MIT
//
// What the engine costs the processor per layer: bind, write the image, enable, take the interrupt.
// The device is memory, so register accesses are nearly free and the rest is the engine's own; a
// loop of the same writes alone is measured beside it.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "firmware/engine/nvdla_engine.h"

namespace {

constexpr std::uint32_t kBases[NVDLA_REGMAP_COUNT][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;
constexpr std::uint32_t kOpEnables[NVDLA_UNIT_COUNT] = NVDLA_UNIT_OP_ENABLES;
constexpr std::uint32_t kStatus =
    kBases[NVDLA_REGMAP_NV_FULL][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS;

// Registers as memory; a test sets the interrupt status, the rest reads as of an idle device.
struct Memory {
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(NVDLA_REG_SPACE / 4);
  std::uint32_t status = 0;
  std::uint64_t writes = 0;
  std::uint64_t now = 1;
};

u32 read(void* context, u32 offset) {
  auto* memory = static_cast<Memory*>(context);
  const auto* bases = kBases[NVDLA_REGMAP_NV_FULL];
  if (offset == kStatus) return memory->status;
  if (offset == bases[NVDLA_UNIT_GLB] + NVDLA_GLB_S_NVDLA_HW_VERSION) return 0x00303031;
  if (offset == bases[NVDLA_UNIT_CDMA] + NVDLA_CDMA_S_CBUF_FLUSH_STATUS) return 1;
  if (offset == bases[NVDLA_UNIT_BDMA] + NVDLA_BDMA_STATUS) return 20;
  return 0;
}

void write(void* context, u32 offset, u32 value) {
  auto* memory = static_cast<Memory*>(context);
  ++memory->writes;
  if (offset == kStatus)
    memory->status &= ~value;
  else
    memory->words[offset / 4] = value;
}

void nothing(void*) {}

u64 clock_of(void* context) { return ++static_cast<Memory*>(context)->now; }

constexpr nvdla_hw_ops kHwOps = {read,    write,   nothing, nothing, clock_of,
                                 nullptr, nullptr, nullptr, nullptr};

// Convolutions of as many writes and addresses as compiled ones have.
struct Program {
  explicit Program(std::uint32_t num_layers, bool chain) {
    for (std::uint32_t layer = 0; layer < num_layers; ++layer) {
      nvdla_layer_image image{};
      image.kind = NVDLA_LAYER_CONV_SDP;
      image.first_write = static_cast<std::uint32_t>(writes.size());
      image.first_reloc = static_cast<std::uint32_t>(relocs.size());
      for (std::uint32_t unit = NVDLA_UNIT_CDMA; unit <= NVDLA_UNIT_SDP; ++unit) {
        image.units |= 1u << unit;
        for (std::uint32_t i = 1; i <= 25; ++i)
          writes.push_back(
              {kBases[NVDLA_REGMAP_NV_FULL][unit] + kOpEnables[unit] + 4 * i, layer + i});
      }
      for (std::uint16_t i = 0; i < 4; ++i)
        relocs.push_back({64ull * layer, i, static_cast<std::uint16_t>(40 * i + 3),
                          static_cast<std::uint16_t>(40 * i + 2)});
      image.num_writes = static_cast<std::uint32_t>(writes.size()) - image.first_write;
      image.num_relocs = 4;
      if (chain && layer > 0) {
        image.num_waits = 1;
        image.waits[0] = layer - 1;
      }
      images.push_back(image);
    }
    program.hw = nvdla_hw_find("nv_full");
    program.layers = images.data();
    program.writes = writes.data();
    program.relocs = relocs.data();
    program.num_layers = num_layers;
    program.num_writes = static_cast<std::uint32_t>(writes.size());
    program.num_relocs = static_cast<std::uint32_t>(relocs.size());
    program.num_slots = 4;
    job.program = &program;
    job.bases = bases;
    job.serial = 1;
  }

  std::vector<nvdla_layer_image> images;
  std::vector<nvdla_reg_write> writes;
  std::vector<nvdla_reloc> relocs;
  std::uint64_t bases[4] = {0x1'0000'0000, 0x2'0000'0000, 0x3'0000'0000, 0x4'0000'0000};
  nvdla_program program{};
  nvdla_job job{};
};

void run_layers(benchmark::State& state) {
  constexpr std::uint32_t kLayers = 64;
  Memory memory;
  Program program(kLayers, state.range(0) != 0);
  nvdla_engine engine;
  nvdla_engine_init(&engine, program.program.hw, &kHwOps, &memory);
  if (nvdla_engine_start(&engine) != 0) throw std::runtime_error("the engine does not start");
  memory.writes = 0;
  std::uint32_t group = 0;
  for (auto _ : state) {
    if (nvdla_engine_submit(&engine, &program.job) != 0) throw std::runtime_error("no submit");
    while (nvdla_engine_done(&engine) == nullptr) {
      memory.status = 0x150001u << group;
      group ^= 1;
      nvdla_engine_interrupt(&engine, nvdla_engine_read_irq(&engine));
    }
    if (program.job.result != NVDLA_JOB_OK) throw std::runtime_error("the job failed");
  }
  const auto layers = static_cast<double>(state.iterations() * kLayers);
  state.counters["time/layer"] =
      benchmark::Counter(layers, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["writes/layer"] = static_cast<double>(memory.writes) / layers;
}
BENCHMARK(run_layers)->ArgName("chain")->Arg(0)->Arg(1);

// The writes of a layer alone, through the same operations.
void writes_only(benchmark::State& state) {
  Memory memory;
  Program program(1, false);
  const nvdla_hw_ops* ops = &kHwOps;
  benchmark::DoNotOptimize(ops);
  for (auto _ : state)
    for (const nvdla_reg_write& w : program.writes) ops->reg_write(&memory, w.offset, w.value);
  state.counters["time/layer"] =
      benchmark::Counter(static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["writes/layer"] = static_cast<double>(program.writes.size());
}
BENCHMARK(writes_only);

}  // namespace

BENCHMARK_MAIN();
