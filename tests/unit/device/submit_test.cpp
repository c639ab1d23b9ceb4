// SPDX-License-Identifier: MIT
//
// Programs, bindings, fences, and what happens when jobs fail.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/manual_fence.hpp"
#include "common/runtime/small_program.hpp"
#include "nvdla/device.hpp"
#include "nvdla/queue.hpp"

namespace nvdla {
namespace {

using namespace std::chrono_literals;
using test::break_layer;
using test::compiled;
using test::expect_error;
using test::ManualFence;
using test::SmallProgram;

class Submit : public ::testing::TestWithParam<const char*> {
 protected:
  Device device_ = Device::open(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Models, Submit, ::testing::Values("model:nv_small", "model:nv_full"),
                         [](const auto& param) { return std::string(param.param).substr(6); });

TEST_P(Submit, RunsAndCanBeRunAgain) {
  const SmallProgram small(device_, 5);
  const Program program = small.create();
  EXPECT_EQ(program.layers(), 1U);
  EXPECT_EQ(program.slots(), 2U);
  EXPECT_GT(program.cycles(0), 0U);
  EXPECT_EQ(program.cycles(1), 0U);
  const Buffer in = small.buffer(3), out = small.buffer();
  const std::vector<Binding> bindings = {in, out};
  for (int i = 0; i < 20; ++i) {
    small.fill(in, static_cast<std::int8_t>(i));
    const Fence fence = device_.submit(program, bindings);
    fence.wait();
    EXPECT_TRUE(fence.done());
    EXPECT_TRUE(fence.wait(0s));
    EXPECT_EQ(small.value(out), i + 5);
    EXPECT_TRUE(fence.statistics().empty());
  }
}

TEST_P(Submit, TakesPartsOfBuffers) {
  const SmallProgram small(device_, 1);
  const std::uint64_t bytes = tensor_bytes(small.tensor), from = 1024;
  const Buffer both = device_.allocate(from + bytes);
  pack(small.tensor, Layout::kNchw, std::vector<std::int8_t>(small.tensor.shape.elements(), 7),
       both.map(MapMode::kWrite).bytes());
  const std::vector<Binding> bindings = {both, {both, from}};
  device_.submit(small.create(), bindings).wait();
  std::vector<std::int8_t> values(small.tensor.shape.elements());
  unpack(small.tensor, Layout::kNchw, both.map(MapMode::kRead).bytes().subspan(from), values);
  EXPECT_EQ(values, std::vector<std::int8_t>(values.size(), 8));
}

TEST_P(Submit, HandlesMayBeDropped) {
  Fence fence;
  std::optional<Buffer> out;
  std::optional<SmallProgram> small;
  {
    const Device device = Device::open(GetParam());
    small.emplace(device, 2, Shape{8, 16, 16}, 50);
    out = small->buffer();
    const Buffer in = small->buffer(40);
    const Program program = small->create();
    const std::vector<Binding> bindings = {in, *out};
    for (int i = 0; i < 20; ++i) fence = device.submit(program, bindings);
    small->device = device_;
  }
  // The device was closed: it ended its jobs first.
  EXPECT_TRUE(fence.done());
  fence.wait();
  EXPECT_EQ(small->value(*out), 42);
}

TEST_P(Submit, FencesChain) {
  const SmallProgram small(device_, 1);
  const Program program = small.create();
  std::vector<Buffer> buffers;
  for (int i = 0; i <= 30; ++i) buffers.push_back(small.buffer(0));
  // Each step on a queue of its own, so that only fences make the order, and submitted at once.
  Fence last;
  for (int i = 0; i < 30; ++i) {
    const std::vector<Binding> bindings = {buffers[i], buffers[i + 1]};
    const std::vector<Fence> waits = {last};
    last = device_.create_queue().submit(program, bindings, {.wait_fences = waits});
  }
  last.wait();
  EXPECT_EQ(small.value(buffers[30]), 30);
}

TEST_P(Submit, FencesOfOtherDevices) {
  const Device other = Device::open("model:nv_small");
  const SmallProgram long_one(other, 1, Shape{64, 32, 32}, 100), small(device_, 1);
  const std::vector<Binding> slow = {long_one.buffer(1), long_one.buffer()};
  const std::vector<Fence> waits = {other.submit(long_one.create(), slow)};
  const std::vector<Binding> quick = {small.buffer(1), small.buffer()};
  const Fence fence = device_.submit(small.create(), quick, {.wait_fences = waits});
  fence.wait();
  EXPECT_TRUE(waits[0].done());
}

TEST_P(Submit, WaitTimesOut) {
  const auto gate = std::make_shared<ManualFence>();
  const std::vector<Fence> waits = {test::fence_of(gate)};
  const SmallProgram small(device_);
  const std::vector<Binding> bindings = {small.buffer(1), small.buffer()};
  const Program program = small.create();
  const Fence fence = device_.submit(program, bindings, {.wait_fences = waits});
  // Later ones of the queue stay behind it, other queues do not.
  const Fence behind = device_.submit(program, bindings);
  device_.create_queue().submit(program, bindings).wait();
  EXPECT_FALSE(fence.wait(0s));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(fence.wait(30ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 30ms);
  EXPECT_FALSE(fence.done());
  EXPECT_FALSE(behind.done());
  EXPECT_TRUE(fence.statistics().empty());
  gate->end();
  EXPECT_TRUE(fence.wait(std::chrono::nanoseconds::max()));
  behind.wait();
}

TEST_P(Submit, AFailedWaitCancels) {
  const auto gate = std::make_shared<ManualFence>();
  const std::vector<Fence> waits = {test::fence_of(gate)};
  const SmallProgram small(device_);
  const Buffer out = small.buffer(9);
  const std::vector<Binding> bindings = {small.buffer(1), out};
  const Fence fence = device_.submit(small.create(), bindings, {.wait_fences = waits});
  const std::vector<Fence> chain = {fence};
  const Fence second = device_.submit(small.create(), bindings, {.wait_fences = chain});
  gate->end(Error(ErrorCode::kHang, "the other one is stuck"));
  expect_error(ErrorCode::kCanceled, "the other one is stuck", [&] { fence.wait(); });
  expect_error(ErrorCode::kCanceled, "the other one is stuck", [&] { second.wait(); });
  EXPECT_EQ(small.value(out), 9);
  // What waits for nothing runs.
  device_.submit(small.create(), bindings).wait();
  EXPECT_EQ(small.value(out), 2);
}

TEST_P(Submit, Statistics) {
  const SmallProgram small(device_, 127, Shape{8, 4, 4}, 3, true);
  const Program program = small.create();
  EXPECT_TRUE(program.statistics());
  const std::vector<Binding> bindings = {small.buffer(1), small.buffer()};
  const Fence fence = device_.submit(program, bindings);
  fence.wait();
  const auto stats = fence.statistics();
  ASSERT_EQ(stats.size(), 3U);
  // All in the same units: each can start when the one before has ended, so times add up.
  std::uint64_t before = stats[0].start_ns;
  for (const nvdla_layer_stats& layer : stats) {
    EXPECT_EQ(layer.start_ns, before);
    EXPECT_GE(layer.end_ns, layer.start_ns);
    EXPECT_NE(layer.valid & (std::uint64_t{1} << NVDLA_COUNTER_SDP_SATURATION), 0U);
    EXPECT_EQ(layer.valid & (std::uint64_t{1} << NVDLA_COUNTER_CACC_SATURATION), 0U);
    before = layer.end_ns;
  }
}

// ---- refusals, one fault a test

TEST_P(Submit, RefusesTooFewBuffers) {
  const SmallProgram small(device_);
  const std::vector<Binding> bindings = {small.buffer()};
  expect_error(ErrorCode::kInvalidArgument, "1 buffers bound, the program has 2 slots",
               [&] { device_.submit(small.create(), bindings); });
}

TEST_P(Submit, RefusesABufferOneByteTooSmall) {
  const SmallProgram small(device_);
  const std::vector<Binding> bindings = {small.buffer(),
                                         device_.allocate(tensor_bytes(small.tensor) - 1)};
  const auto error = expect_error(ErrorCode::kInvalidBinding, "binding of slot 1: buffer has",
                                  [&] { device_.submit(small.create(), bindings); });
  EXPECT_EQ(error->rule(), static_cast<std::uint32_t>(NVDLA_RULE_BINDING_SIZE));
}

TEST_P(Submit, RefusesABufferThatAnOffsetMakesTooSmall) {
  const SmallProgram small(device_);
  const std::vector<Binding> bindings = {small.buffer(), {small.buffer(), device_.info().atom}};
  expect_error(ErrorCode::kInvalidBinding, "binding of slot 1: buffer has",
               [&] { device_.submit(small.create(), bindings); });
}

TEST_P(Submit, RefusesAnOffsetBeyondTheBuffer) {
  const SmallProgram small(device_);
  const std::vector<Binding> bindings = {small.buffer(), {small.buffer(), ~std::uint64_t{0}}};
  expect_error(ErrorCode::kInvalidArgument, "is beyond the buffer's",
               [&] { device_.submit(small.create(), bindings); });
}

TEST_P(Submit, RefusesAnUnalignedOffset) {
  const SmallProgram small(device_);
  const std::vector<Binding> bindings = {small.buffer(), {device_.allocate(4096), 4}};
  const auto error = expect_error(ErrorCode::kInvalidBinding, "is not aligned to",
                                  [&] { device_.submit(small.create(), bindings); });
  EXPECT_EQ(error->rule(), static_cast<std::uint32_t>(NVDLA_RULE_BINDING_ALIGNMENT));
}

TEST_P(Submit, RefusesAWrittenBufferInTwoSlots) {
  const SmallProgram small(device_);
  const Buffer buffer = small.buffer();
  const std::vector<Binding> bindings = {buffer, buffer};
  const auto error = expect_error(ErrorCode::kInvalidBinding, "shares bytes with slot",
                                  [&] { device_.submit(small.create(), bindings); });
  EXPECT_EQ(error->rule(), static_cast<std::uint32_t>(NVDLA_RULE_BINDING_OVERLAP));
}

TEST_P(Submit, RefusesAnEmptyBuffer) {
  const SmallProgram small(device_);
  const std::vector<Binding> bindings = {small.buffer(), Buffer()};
  expect_error(ErrorCode::kInvalidArgument, "the buffer for slot 1 is an empty handle",
               [&] { device_.submit(small.create(), bindings); });
}

TEST_P(Submit, RefusesABufferOfAnotherDevice) {
  const SmallProgram small(device_);
  const Device other = Device::open(GetParam());
  const std::vector<Binding> bindings = {other.allocate(4096), small.buffer()};
  expect_error(ErrorCode::kInvalidArgument, "slot 0 belongs to another device",
               [&] { device_.submit(small.create(), bindings); });
}

TEST_P(Submit, RefusesAProgramOfAnotherDevice) {
  const SmallProgram small(device_);
  const Device other = Device::open(GetParam());
  const std::vector<Binding> bindings = {other.allocate(4096), other.allocate(4096)};
  expect_error(ErrorCode::kInvalidArgument, "created for another device",
               [&] { other.submit(small.create(), bindings); });
}

TEST_P(Submit, RefusesAnEmptyProgram) {
  expect_error(ErrorCode::kInvalidArgument, "program handle is empty",
               [&] { device_.submit(Program(), {}); });
}

TEST(SubmitSram, RefusesTheWrongMemory) {
  const Device device = Device::open("model:nv_full");
  const SmallProgram small(device);
  const std::vector<Binding> bindings = {small.buffer(), device.allocate(4096, Memory::kSram)};
  const auto error =
      expect_error(ErrorCode::kInvalidBinding, "buffer is in SRAM (1), it must be in DRAM (0)",
                   [&] { device.submit(small.create(), bindings); });
  EXPECT_EQ(error->rule(), static_cast<std::uint32_t>(NVDLA_RULE_BINDING_MEMORY));
}

TEST(SubmitSram, RunsThere) {
  const Device device = Device::open("model:nv_full");
  SmallProgram small(device, 4);
  small.slots[1].memory = NVDLA_MEMORY_SRAM;
  const Buffer out = device.allocate(tensor_bytes(small.tensor), Memory::kSram);
  const std::vector<Binding> bindings = {small.buffer(2), out};
  device.submit(small.create(), bindings).wait();
  EXPECT_EQ(small.value(out), 6);
}

// ---- programs that compile refuses

TEST_P(Submit, ABrokenRuleNamesLayerAndField) {
  SmallProgram small(device_, 1, {8, 2, 2}, 3);
  small.layers[2].sdp.output.line_stride += 4;
  const auto error = expect_error(ErrorCode::kInvalidProgram, "layer 2 (sdp): output.line_stride",
                                  [&] { small.create(); });
  EXPECT_EQ(error->layer(), 2);
  EXPECT_EQ(error->field(), "sdp.output.line_stride");
  EXPECT_EQ(error->rule(), static_cast<std::uint32_t>(NVDLA_RULE_MULTIPLE));
}

TEST_P(Submit, ASlotOneByteTooSmall) {
  SmallProgram small(device_);
  small.slots[1].size -= 1;
  const auto error =
      expect_error(ErrorCode::kInvalidProgram, "would touch bytes", [&] { small.create(); });
  EXPECT_EQ(error->rule(), static_cast<std::uint32_t>(NVDLA_RULE_EXTENT));
}

TEST_P(Submit, TooManyLayers) {
  SmallProgram small(device_);
  const std::vector<nvdla_layer> many(NVDLA_MAX_LAYERS + 1, small.layers[0]);
  small.desc.layers = many;
  const auto error = expect_error(ErrorCode::kInvalidProgram,
                                  "layers 4097 exceed the limit of 4096", [&] { small.create(); });
  EXPECT_EQ(error->rule(), static_cast<std::uint32_t>(NVDLA_RULE_LIMIT));
}

TEST_P(Submit, NoLayers) {
  SmallProgram small(device_);
  small.desc.layers = {};
  // Either it is refused, or it ends at once.
  try {
    const Program program = small.create();
    const std::vector<Binding> bindings = {small.buffer(), small.buffer()};
    EXPECT_NO_THROW(device_.submit(program, bindings).wait());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), make_error_code(ErrorCode::kInvalidProgram));
  }
}

// ---- jobs that fail: what compile proves is broken behind its back

TEST_P(Submit, AnEscapeIsRefusedAndReported) {
  const SmallProgram small(device_, 1, {8, 4, 4});
  const Program program = small.create();
  compiled(program).slots[1].size -= device_.info().atom;
  const Buffer out = small.buffer(9);
  const std::vector<Binding> bindings = {small.buffer(1), out};
  const Fence fence = device_.submit(program, bindings);
  const auto error = expect_error(ErrorCode::kBusFault, "SDP WDMA at 0x", [&] { fence.wait(); });
  EXPECT_EQ(error->code(), std::errc::bad_address);
  EXPECT_EQ(error->detail().dma, static_cast<std::uint32_t>(NVDLA_DMA_SDP_WDMA));
  EXPECT_NE(error->detail().value, 0);
  // The last atom was not written, although the buffer has it.
  EXPECT_EQ(out.map(MapMode::kRead).bytes()[tensor_bytes(small.tensor) - device_.info().atom],
            std::byte{9});
  // The next job is not blamed.
  device_.submit(small.create(), bindings).wait();
  EXPECT_EQ(small.value(out), 2);
}

TEST_P(Submit, AWriteToWhatIsOnlyReadIsRefused) {
  const SmallProgram small(device_);
  const Program program = small.create();
  compiled(program).slots[1].access = NVDLA_SLOT_READ;
  const std::vector<Binding> bindings = {small.buffer(1), small.buffer()};
  expect_error(ErrorCode::kBusFault, "writing", [&] { device_.submit(program, bindings).wait(); });
}

TEST_P(Submit, AHangIsFoundAtOnceAndTheDeviceRecovers) {
  const SmallProgram small(device_, 1, {8, 2, 2}, 3);
  const Program broken = small.create();
  break_layer(device_, broken, 1);
  // Nobody would wait for a deadline of hours.
  compiled(broken).layers[1].cycles = 1'000'000'000'000'000;
  const Buffer out = small.buffer();
  const std::vector<Binding> bindings = {small.buffer(1), out};
  const Fence fence = device_.submit(broken, bindings);
  const Fence next = device_.submit(small.create(), bindings);
  const auto error =
      expect_error(ErrorCode::kHang, "layer 1 (sdp) does not end: SDP", [&] { fence.wait(); });
  EXPECT_EQ(error->layer(), 1);
  EXPECT_EQ(error->code(), std::errc::timed_out);
  expect_error(ErrorCode::kHang, "layer 1", [&] { fence.wait(0s); });
  next.wait();
  EXPECT_EQ(small.value(out), 2);
}

}  // namespace
}  // namespace nvdla
