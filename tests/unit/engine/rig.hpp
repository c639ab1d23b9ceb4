// SPDX-License-Identifier: MIT
//
// An engine on a mock device, and programs made by hand: each layer gets an image for each of its
// units with the layer's tag, a value and an address of its own.
#ifndef NVDLA_TESTS_ENGINE_RIG_HPP
#define NVDLA_TESTS_ENGINE_RIG_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "mock_device.hpp"

namespace nvdla::test {

// How a layer of the hand-made program looks.
struct LayerSpec {
  std::uint32_t kind = NVDLA_LAYER_CONV_SDP;
  std::vector<std::uint32_t> waits = {};
  bool rdma = false;  // SDP_RDMA, where it is a choice
  std::uint64_t cycles = 1000;
  std::uint64_t counters = 0;
  std::uint32_t lut = 0;
  bool tied = false;
  unsigned ticks = 1;
  unsigned delay = 2;
  bool hangs = false;
  std::uint32_t silent = 0;
  std::uint32_t lingering = 0;
  unsigned looks = 0;
};

class Program {
 public:
  Program(const nvdla_hw& hw, const std::vector<LayerSpec>& specs, std::uint32_t flags = 0)
      : hw_(hw), slots_(3), bases_{0x1'2000'0000, 0x7fff'f000, 0xabc'0000'0000} {
    for (const LayerSpec& spec : specs) add(spec);
    for (std::size_t i = images_.size(); i-- > 0;) {
      if (images_[i].tied != 0 && i + 1 < images_.size()) images_[i].tied += images_[i + 1].tied;
    }
    program_.hw = &hw;
    program_.layers = images_.data();
    program_.writes = writes_.data();
    program_.relocs = relocs_.data();
    program_.slots = slots_.data();
    program_.transfers = transfers_.data();
    program_.num_layers = static_cast<std::uint32_t>(images_.size());
    program_.num_writes = static_cast<std::uint32_t>(writes_.size());
    program_.num_relocs = static_cast<std::uint32_t>(relocs_.size());
    program_.num_slots = static_cast<std::uint32_t>(slots_.size());
    program_.num_transfers = static_cast<std::uint32_t>(transfers_.size());
    program_.flags = flags;
    program_.clock_khz = 1'000'000;
    // Of another run.
    nvdla_layer_stats old;
    std::memset(&old, 0xa5, sizeof(old));
    stats_.assign(images_.size(), old);
    job_.program = &program_;
    job_.bases = bases_.data();
    job_.stats = flags & NVDLA_PROGRAM_STATS ? stats_.data() : nullptr;
    job_.stats_stride = sizeof(nvdla_layer_stats);
    job_.serial = 7;
    job_.result = NVDLA_JOB_HANG;
    job_.layer = 99;
    writes_before_ = writes_;
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void set_luts(std::vector<nvdla_lut> luts) {
    luts_ = std::move(luts);
    program_.luts = luts_.data();
    program_.num_luts = static_cast<std::uint32_t>(luts_.size());
  }

  nvdla_program& get() { return program_; }
  nvdla_job& job() { return job_; }
  nvdla_layer_image& image(std::size_t layer) { return images_[layer]; }
  nvdla_layer_stats& stats(std::size_t layer) { return stats_[layer]; }
  nvdla_transfer& transfer(std::size_t i) { return transfers_[i]; }
  nvdla_slot& slot(std::size_t i) { return slots_[i]; }
  const std::vector<MockLayer>& mock_layers() const { return mock_; }
  const std::vector<std::uint64_t>& bases() const { return bases_; }
  std::vector<nvdla_reg_write>& writes() { return writes_; }

  // The engine must not change what was compiled.
  bool unchanged() const {
    return std::equal(
        writes_.begin(), writes_.end(), writes_before_.begin(),
        [](const auto& a, const auto& b) { return a.offset == b.offset && a.value == b.value; });
  }

 private:
  using Units = std::vector<std::uint32_t>;

  static std::vector<Units> stages_of(const LayerSpec& spec) {
    const Units conv = {NVDLA_UNIT_CDMA, NVDLA_UNIT_CSC, NVDLA_UNIT_CMAC_A, NVDLA_UNIT_CMAC_B,
                        NVDLA_UNIT_CACC};
    Units sdp = {NVDLA_UNIT_SDP};
    const bool from_memory = spec.kind == NVDLA_LAYER_SDP || spec.kind == NVDLA_LAYER_SDP_PDP;
    if (spec.rdma || from_memory) sdp.push_back(NVDLA_UNIT_SDP_RDMA);
    switch (spec.kind) {
      case NVDLA_LAYER_CONV_SDP:
        return {conv, sdp};
      case NVDLA_LAYER_CONV_SDP_PDP:
        return {conv, sdp, {NVDLA_UNIT_PDP}};
      case NVDLA_LAYER_SDP:
        return {sdp};
      case NVDLA_LAYER_SDP_PDP:
        return {sdp, {NVDLA_UNIT_PDP}};
      case NVDLA_LAYER_PDP:
        return {{NVDLA_UNIT_PDP, NVDLA_UNIT_PDP_RDMA}};
      case NVDLA_LAYER_CDP:
        return {{NVDLA_UNIT_CDP, NVDLA_UNIT_CDP_RDMA}};
      case NVDLA_LAYER_RUBIK:
        return {{NVDLA_UNIT_RBK}};
      default:
        return {{NVDLA_UNIT_BDMA}};
    }
  }

  void add(const LayerSpec& spec) {
    const auto layer = static_cast<std::uint32_t>(images_.size());
    nvdla_layer_image image{};
    MockLayer mock;
    mock.stages = stages_of(spec);
    mock.waits = spec.waits;
    mock.ticks = spec.ticks;
    mock.delay = spec.delay;
    mock.hangs = spec.hangs;
    mock.silent = spec.silent;
    mock.lingering = spec.lingering;
    mock.looks = spec.looks;
    image.kind = spec.kind;
    image.cycles = spec.cycles;
    image.counters = spec.counters;
    image.lut = spec.lut;
    image.tied = spec.tied;
    image.first_write = static_cast<std::uint32_t>(writes_.size());
    image.first_reloc = static_cast<std::uint32_t>(relocs_.size());
    image.num_waits = static_cast<std::uint32_t>(spec.waits.size());
    std::copy(spec.waits.begin(), spec.waits.end(), image.waits);
    for (const Units& stage : mock.stages)
      for (std::uint32_t unit : stage) image.units |= 1u << unit;
    if (spec.kind == NVDLA_LAYER_BDMA) {
      image.first_transfer = static_cast<std::uint32_t>(transfers_.size());
      image.num_transfers = 2;
      add_transfer(layer);
      add_transfer(layer + 100);
    } else {
      // By number, which is not the order in which units are to be enabled.
      for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; ++unit)
        if (image.units >> unit & 1) add_unit(layer, unit, image, mock);
    }
    image.num_writes = static_cast<std::uint32_t>(writes_.size()) - image.first_write;
    image.num_relocs = static_cast<std::uint32_t>(relocs_.size()) - image.first_reloc;
    images_.push_back(image);
    mock_.push_back(mock);
  }

  void add_unit(std::uint32_t layer, std::uint32_t unit, const nvdla_layer_image& image,
                MockLayer& mock) {
    const std::uint32_t first = kBases[hw_.regmap][unit] + kOpEnables[unit];
    const auto index = static_cast<std::uint16_t>(writes_.size() - image.first_write);
    const std::uint32_t slot = (layer + unit) % 3;
    const std::uint64_t offset = 0x1000ull * (layer + 1) + 0x20ull * unit;
    const std::uint64_t address = bases_[slot] + offset;
    const bool wide = unit != NVDLA_UNIT_CACC;
    const std::uint32_t low = static_cast<std::uint32_t>(address);
    const std::uint32_t high = static_cast<std::uint32_t>(address >> 32);
    // Nothing says where among its registers a unit has its address, nor which word comes first.
    const bool odd = layer & 1;
    if (!odd) writes_.push_back({first + 4, layer});
    writes_.push_back({first + (odd ? 12 : 8), 0});
    writes_.push_back({first + (odd ? 8 : 12), 0});
    if (odd) writes_.push_back({first + 4, layer});
    writes_.push_back({first + 16, layer * 64 + unit});
    relocs_.push_back({offset, slot, static_cast<std::uint16_t>(index + (odd ? 0 : 2)),
                       wide ? static_cast<std::uint16_t>(index + 1)
                            : static_cast<std::uint16_t>(NVDLA_RELOC_NONE)});
    mock.registers.emplace_back(first + 4, layer);
    mock.registers.emplace_back(first + 8, wide ? high : 0);
    mock.registers.emplace_back(first + 12, low);
    mock.registers.emplace_back(first + 16, layer * 64 + unit);
  }

  void add_transfer(std::uint32_t n) {
    nvdla_transfer transfer{};
    transfer.line_bytes = 64;
    transfer.lines = n + 1;
    transfer.surfaces = 2;
    transfer.source = {0x40, 0, 128, 4096, 0};
    transfer.destination = {0x80, 2, 256, 8192, 0};
    transfers_.push_back(transfer);
    slots_[2].memory = NVDLA_MEMORY_SRAM;
  }

  const nvdla_hw& hw_;
  nvdla_program program_{};
  nvdla_job job_{};
  std::vector<nvdla_layer_image> images_;
  std::vector<nvdla_reg_write> writes_, writes_before_;
  std::vector<nvdla_reloc> relocs_;
  std::vector<nvdla_slot> slots_;
  std::vector<nvdla_lut> luts_;
  std::vector<nvdla_transfer> transfers_;
  std::vector<std::uint64_t> bases_;
  std::vector<nvdla_layer_stats> stats_;
  std::vector<MockLayer> mock_;
};

// A configuration with CDMA's clock gated or not, whatever the table says of it.
inline nvdla_hw hw_of(const char* name, bool gated) {
  nvdla_hw hw = *nvdla_hw_find(name);
  hw.features &= ~NVDLA_HW_WEIGHT_GATING;
  if (gated) hw.features |= NVDLA_HW_WEIGHT_GATING;
  return hw;
}

class Rig {
 public:
  explicit Rig(const char* name = "nv_full", bool gated = false) : Rig(hw_of(name, gated)) {}
  explicit Rig(const nvdla_hw& configuration) : hw(configuration), device(hw) {
    ops.reg_read = [](void* context, u32 offset) { return self(context)->read(offset); };
    ops.reg_write = [](void* context, u32 offset, u32 value) {
      self(context)->write(offset, value);
    };
    ops.dma_barrier = [](void* context) { ++self(context)->barriers; };
    ops.relax = [](void* context) { self(context)->now += 1000; };
    ops.now_ns = [](void* context) -> u64 { return self(context)->read_clock(); };
    // Nobody says that memory is zeroed.
    std::memset(&engine, 0xa5, sizeof(engine));
    nvdla_engine_init(&engine, &hw, &ops, &device);
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  int start() { return nvdla_engine_start(&engine); }

  int submit(Program& program) {
    if (engine.started && !engine.job) {
      // Of a job that yielded, what has ended is behind it.
      const nvdla_job& job = program.job();
      std::vector<std::uint32_t> ended(job.first);
      std::iota(ended.begin(), ended.end(), 0u);
      for (std::uint32_t i = 0; i < NVDLA_ENGINE_WINDOW; ++i)
        if (job.ended >> i & 1) ended.push_back(job.first + i);
      device.begin(program.mock_layers(), ended);
    }
    return nvdla_engine_submit(&engine, &program.job());
  }

  // What the interrupt handler and its thread do.
  void interrupt() {
    if (device.line()) nvdla_engine_interrupt(&engine, nvdla_engine_read_irq(&engine));
  }

  // What the caller's timer does; `late` after it was due.
  void expire(std::uint64_t late = 0) {
    device.now = nvdla_engine_next_deadline(&engine) + late;
    nvdla_engine_poll(&engine);
  }

  // Ticks and interrupts until the job has ended; null if it does not within `limit`.
  nvdla_job* run(unsigned limit = 100000) {
    for (unsigned i = 0; i < limit; ++i) {
      if (nvdla_job* job = nvdla_engine_done(&engine)) return job;
      device.tick();
      interrupt();
    }
    return nvdla_engine_done(&engine);
  }

  const nvdla_hw hw;
  MockDevice device;
  nvdla_hw_ops ops{};
  nvdla_engine engine;

 private:
  static MockDevice* self(void* context) { return static_cast<MockDevice*>(context); }
};

// The program that was submitted ends well, each of its layers having run once.
inline void expect_ok(Rig& rig, Program& program) {
  nvdla_job* job = rig.run(2000);
  ASSERT_EQ(job, &program.job());
  EXPECT_EQ(job->result, NVDLA_JOB_OK);
  EXPECT_EQ(job->layer, 0u) << "none failed";
  EXPECT_EQ(rig.device.violations, std::vector<std::string>{});
  for (std::uint32_t layer = 0; layer < rig.device.layers.size(); ++layer)
    EXPECT_EQ(rig.device.count_runs(layer), 1u) << layer;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_ENGINE_RIG_HPP
