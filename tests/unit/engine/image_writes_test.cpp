// SPDX-License-Identifier: MIT
//
// A device may take the writes of a layer's registers several at a time.
#include <gtest/gtest.h>

#include <span>
#include <utility>
#include <vector>

#include "rig.hpp"

namespace nvdla::test {
namespace {

using Writes = std::vector<std::pair<u32, u32>>;

// Runs layers of several kinds, whose addresses lie in different places; returns the writes that
// the device sees.
Writes writes_of(void (*reg_writes)(void*, const nvdla_reg_write*, u32)) {
  Rig rig;
  rig.ops.reg_writes = reg_writes;
  Writes writes;
  rig.device.on_write = [&](u32 offset, u32 value) { writes.emplace_back(offset, value); };
  Program program(rig.hw, {{.kind = NVDLA_LAYER_CONV_SDP},
                           {.kind = NVDLA_LAYER_CONV_SDP_PDP, .waits = {0}},
                           {.kind = NVDLA_LAYER_SDP},
                           {.kind = NVDLA_LAYER_CDP},
                           {.kind = NVDLA_LAYER_RUBIK}});
  EXPECT_EQ(rig.start(), 0);
  EXPECT_EQ(rig.submit(program), 0);
  expect_ok(rig, program);
  return writes;
}

std::size_t calls;

TEST(ImageWrites, ArriveInTheSameOrderSeveralAtATime) {
  const Writes one_by_one = writes_of(nullptr);
  calls = 0;
  const Writes several = writes_of([](void* context, const nvdla_reg_write* writes, u32 count) {
    ++calls;
    for (const nvdla_reg_write& write : std::span(writes, count)) {
      EXPECT_EQ(write.offset / NVDLA_UNIT_WINDOW, writes->offset / NVDLA_UNIT_WINDOW);
      static_cast<MockDevice*>(context)->write(write.offset, write.value);
    }
  });
  EXPECT_EQ(several, one_by_one);
  EXPECT_GT(calls, 0u);
}

}  // namespace
}  // namespace nvdla::test
