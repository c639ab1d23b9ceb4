// SPDX-License-Identifier: MIT
//
// Who reads and clears S_INTR_STATUS, and under what lock: a hard handler and the engine's thread,
// as the kernel has them, and a device that raises bits all the time. Run under TSan.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "rig.hpp"

namespace nvdla::test {
namespace {

constexpr unsigned kBits = 10;  // that layers end with, from bit 0 on
static_assert(NVDLA_IRQ_LAST == (1u << kBits) - 1);

// S_INTR_STATUS, whoever accesses it at the same time: reads change nothing, writes clear the bits
// that are ones, and units set theirs at any time.
class StatusRegister {
 public:
  std::uint32_t read(std::uint32_t offset) const { return offset == kAddress ? status_.load() : 0; }
  void write(std::uint32_t offset, std::uint32_t value) {
    if (offset == kAddress) status_.fetch_and(~value);
  }
  void raise(std::uint32_t bits) { status_.fetch_or(bits); }
  bool line() const { return status_.load() != 0; }

 private:
  static constexpr std::uint32_t kAddress =
      kBases[NVDLA_REGMAP_NV_SMALL][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS;
  std::atomic<std::uint32_t> status_{0};
};

// What the kernel has: a handler and a thread, and a lock around each look at the register.
class Caller {
 public:
  Caller() {
    ops_.reg_read = [](void* context, u32 offset) { return self(context)->device.read(offset); };
    ops_.reg_write = [](void* context, u32 offset, u32 value) {
      self(context)->device.write(offset, value);
    };
    nvdla_engine_init(&engine_, nvdla_hw_find("nv_small"), &ops_, this);
  }

  // Hard handler: keeps for the thread what was raised.
  void interrupt() {
    const std::lock_guard lock(mutex_);
    pending_ |= nvdla_engine_read_irq(&engine_);
  }
  // The thread that it wakes.
  std::uint32_t take_pending() {
    const std::lock_guard lock(mutex_);
    return std::exchange(pending_, 0);
  }
  // nvdla_hw_ops.take_irq: what the engine asks for when a layer is late, and before a job.
  std::uint32_t take_irq() {
    const std::lock_guard lock(mutex_);
    const std::uint32_t raised = nvdla_engine_read_irq(&engine_);
    return std::exchange(pending_, 0) | raised;
  }

  StatusRegister device;

 private:
  static Caller* self(void* context) { return static_cast<Caller*>(context); }

  nvdla_hw_ops ops_{};
  nvdla_engine engine_{};
  std::mutex mutex_;
  std::uint32_t pending_ = 0;
};

// Each completion counts once. As in hardware, a unit raises a bit again only when its layer was
// given back and the next one of the group enabled, which is after it was counted.
TEST(IrqThreads, EachCompletionCountsOnce) {
  constexpr unsigned kEach = 2000;
  Caller caller;
  std::array<std::atomic<bool>, kBits> open{};
  std::array<unsigned, kBits> counted{};
  std::atomic<bool> done{false};
  unsigned twice = 0;

  std::thread device([&] {
    std::array<unsigned, kBits> raised{};
    for (unsigned left = kBits * kEach; left > 0;) {
      std::uint32_t bits = 0;
      for (unsigned bit = 0; bit < kBits; ++bit) {
        if (raised[bit] == kEach || open[bit].exchange(true)) continue;
        ++raised[bit];
        --left;
        bits |= 1u << bit;
        // Some come one by one, others together.
        if ((raised[bit] + bit) % 3 == 0) caller.device.raise(std::exchange(bits, 0));
      }
      caller.device.raise(bits);
      if (bits == 0) std::this_thread::yield();
    }
    while (std::any_of(open.begin(), open.end(), [](const auto& bit) { return bit.load(); })) {
      std::this_thread::yield();
    }
    done = true;
  });
  std::thread handler([&] {
    while (!done) {
      if (caller.device.line()) {
        caller.interrupt();
      } else {
        std::this_thread::yield();
      }
    }
  });
  // The engine's thread, which looks by itself now and then.
  for (unsigned look = 0; !done; ++look) {
    const std::uint32_t bits = look % 4 == 0 ? caller.take_irq() : caller.take_pending();
    EXPECT_EQ(bits & ~NVDLA_IRQ_LAST, 0u);
    for (unsigned bit = 0; bit < kBits; ++bit) {
      if ((bits >> bit & 1) == 0) continue;
      ++counted[bit];
      if (!open[bit].exchange(false)) ++twice;
    }
    if (bits == 0) std::this_thread::yield();
  }
  device.join();
  handler.join();
  EXPECT_EQ(twice, 0u) << "completions that nobody raised";
  for (unsigned bit = 0; bit < kBits; ++bit) EXPECT_EQ(counted[bit], kEach) << "bit " << bit;
  EXPECT_EQ(caller.take_irq(), 0u);
}

// Why there has to be a lock, step by step: the handler has read the register and not yet cleared
// it when the thread looks, so both have the bit of layer 0. The second one comes with the end of
// layer 1 and is taken for that of layer 2, which has the same group and runs.
TEST(IrqThreads, TwoReadersEndALaterLayerEarly) {
  for (const bool locked : {true, false}) {
    Rig rig;
    Program program(rig.hw, {{.kind = NVDLA_LAYER_SDP},
                             {.kind = NVDLA_LAYER_SDP, .ticks = 9},
                             {.kind = NVDLA_LAYER_SDP, .ticks = 50}});
    ASSERT_EQ(rig.start(), 0);
    ASSERT_EQ(rig.submit(program), 0);
    std::uint32_t pending = 0, first = 0;
    const auto wait_for = [&](std::size_t layers) {
      while (rig.device.ended.size() < layers) rig.device.tick();
    };
    wait_for(1);
    const auto thread = [&] {
      first = std::exchange(pending, 0) | nvdla_engine_read_irq(&rig.engine);
      nvdla_engine_interrupt(&rig.engine, first);
    };
    const std::uint32_t status = kBases[rig.hw.regmap][NVDLA_UNIT_GLB] + NVDLA_GLB_S_INTR_STATUS;
    bool between = !locked;
    rig.device.on_write = [&](std::uint32_t offset, std::uint32_t) {
      if (offset == status && std::exchange(between, false)) thread();
    };
    const std::uint32_t handler = nvdla_engine_read_irq(&rig.engine);
    pending |= handler;
    if (locked) thread();
    EXPECT_EQ(first, handler) << "the bit of layer 0";
    EXPECT_EQ(pending, locked ? 0 : handler) << "seen twice, unless the thread had to wait";

    wait_for(2);
    pending |= nvdla_engine_read_irq(&rig.engine);
    nvdla_engine_interrupt(&rig.engine, std::exchange(pending, 0));
    EXPECT_EQ(rig.device.ended, (std::vector<std::uint32_t>{0, 1})) << "layer 2 runs";
    if (locked) {
      EXPECT_EQ(nvdla_engine_done(&rig.engine), nullptr);
      expect_ok(rig, program);
    } else {
      EXPECT_EQ(nvdla_engine_done(&rig.engine), &program.job()) << "and is said to have ended";
    }
  }
}

}  // namespace
}  // namespace nvdla::test
