// SPDX-License-Identifier: MIT
//
// Tensors that take each other's memory: only where nothing can touch both at once, and with the
// same results.
#include "compiler/passes/memory_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/random.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/only_program.hpp"
#include "common/runtime/reference.hpp"
#include "device/compiled_impl.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/shape.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

constexpr std::int16_t kThree[] = {3};

const CompiledNetwork::Impl& impl(const Request& built) {
  return *detail::Handles::impl(built.network());
}

Request make(const Network& net, const std::string& device, bool share = true) {
  BuildOptions options;
  options.share_memory = share;
  return net.build(Device::open(device), options);
}

std::vector<std::int8_t> run(Request& built) {
  const Shape in = built.network().desc("in").shape, out = built.network().desc("out").shape;
  built.write("in", Layout::kNchw, test::random_values<std::int8_t>(in.elements(), 11, -128, 127));
  built.run();
  std::vector<std::int8_t> result(out.elements());
  built.read("out", Layout::kNchw, result);
  return result;
}

void add_chain(Network& net, int layers) {
  Tensor tensor = net.input("in", {8, 4, 4});
  for (int i = 0; i < layers; ++i) {
    const std::string name = "add" + std::to_string(i);
    Pointwise add{.name = name};
    const auto value = static_cast<std::int16_t>(i % 5 - 2);
    add.x1 = nvdla::bias(std::span(&value, 1));
    tensor = net.pointwise(tensor, add);
  }
  net.output(tensor, "out");
}

// Far more layers than a program may have buffers.
TEST(MemoryPlan, AChainTakesTwoTensors) {
  Network net;
  add_chain(net, 1000);
  Request built = make(net, "model:nv_small");
  EXPECT_EQ(impl(built).slots.size(), 4u) << "input, output, and two in turn";
  // The biases add up to nothing.
  const auto in = test::random_values<std::int8_t>(128, 11, -100, 100);
  built.write("in", Layout::kNchw, std::span(in));
  built.run();
  std::vector<std::int8_t> out(128);
  built.read("out", Layout::kNchw, std::span(out));
  EXPECT_EQ(out, in);
}

// The last layer adds what the first one wrote.
Network kept_network() {
  Network net;
  const auto point = [&](Tensor tensor, const char* name) {
    Pointwise p{.name = name};
    p.x1 = nvdla::bias(kThree);
    return net.pointwise(tensor, p);
  };
  const Tensor kept = point(net.input("in", {8, 4, 4}), "kept");
  Pointwise add{.name = "sum"};
  add.x1 = nvdla::elementwise(NVDLA_ALU_SUM, kept);
  net.output(net.pointwise(point(point(point(kept, "a"), "b"), "c"), add), "out");
  return net;
}

TEST(MemoryPlan, WhatIsReadLaterStays) {
  const MemoryUse use = make(kept_network(), "model:nv_small").network().memory();
  ASSERT_EQ(use.buffers.size(), 5u);
  for (const BufferUse& buffer : use.buffers) {
    for (const BufferUse::Tenant& tenant : buffer.tenants) {
      if (tenant.name != "the output of layer 0 'kept'") continue;
      EXPECT_EQ(buffer.tenants.size(), 1u);
      EXPECT_EQ(tenant.first_layer, 0u);
      EXPECT_EQ(tenant.last_layer, 4u);
    }
  }
}

TEST(MemoryPlan, ConstantsLieInFewBuffers) {
  Network net;
  Tensor tensor = net.input("in", {64, 4, 4});
  const std::vector<std::int8_t> weights(std::size_t{64} * 64, 1);
  constexpr int kLayers = 40;
  for (int i = 0; i < kLayers; ++i) {
    const std::string name = "conv" + std::to_string(i);
    Convolution conv{.name = name, .kernels = 64};
    conv.weights = weights;
    tensor = net.convolution(tensor, conv);
  }
  net.output(tensor, "out");
  const MemoryUse use = make(net, "model:nv_full").network().memory();
  std::size_t constants = 0, buffers = 0;
  for (const BufferUse& buffer : use.buffers) {
    std::size_t own = 0;
    for (const BufferUse::Tenant& tenant : buffer.tenants)
      own += tenant.name.rfind("the constants", 0) == 0;
    constants += own;
    buffers += own != 0;
  }
  EXPECT_EQ(constants, std::size_t{kLayers});
  EXPECT_EQ(buffers, 1u);
}

TEST(MemoryPlan, TheReportAddsUp) {
  Network net;
  add_chain(net, 3);
  const MemoryUse use = make(net, "model:nv_small").network().memory();
  const MemoryUse apart = make(net, "model:nv_small", false).network().memory();
  EXPECT_EQ(use.total, 4u * 128);
  EXPECT_EQ(use.peak, 4u * 128) << "a layer reads one and writes the other";
  EXPECT_EQ(use.apart, 4u * 128);
  EXPECT_EQ(apart.total, apart.apart);
  EXPECT_EQ(to_text(use),
            "buffer memory      layers        bytes  what\n"
            "     0   DRAM      always          128  input 'in'\n"
            "     1   DRAM      always          128  output 'out'\n"
            "     2   DRAM        0..1          128  the output of layer 0 'add0'\n"
            "     3   DRAM        1..2          128  the output of layer 1 'add1'\n"
            "4 buffers, 0.00 MB; at most 0.00 MB in use at once; 0.00 MB if nothing was shared; "
            "a further request takes 0.00 MB\n");
}

// A network of random layers, each of which reads any tensors that there are.
Network random_network(std::uint64_t seed) {
  test::Random random(seed);
  Network net;
  const Shape shape{16, 6, 5};
  std::vector<Tensor> tensors = {net.input("in", shape)};
  const auto any = [&] {
    const auto count = static_cast<std::int64_t>(tensors.size());
    // Mostly young ones, so that others die.
    return tensors[static_cast<std::size_t>(
        random.pick(std::max<std::int64_t>(0, count - 4), count - 1))];
  };
  const std::int64_t layers = random.pick(4, 24);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const std::int64_t kind = random.pick(0, 3);
    if (kind == 0) {
      const auto weights = test::random_values<std::int8_t>(
          std::size_t{16} * 16 * 9, static_cast<std::uint32_t>(random()), -20, 20);
      Convolution conv{.name = name, .kernels = 16, .kernel_height = 3, .kernel_width = 3};
      conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
      conv.weights = weights;
      conv.output = {.scale = 1, .shift = 6};
      tensors.push_back(net.convolution(any(), conv));
    } else if (kind == 1) {
      Pooling pool{.name = name, .method = NVDLA_POOL_MAX, .kernel_height = 3, .kernel_width = 3};
      pool.pad_top = pool.pad_bottom = pool.pad_left = pool.pad_right = 1;
      tensors.push_back(net.pooling(any(), pool));
    } else {
      Pointwise point{.name = name};
      if (kind == 2) {
        point.x1 = nvdla::elementwise(NVDLA_ALU_SUM, any());
      } else {
        point.x1 = nvdla::bias(kThree);
      }
      tensors.push_back(net.pointwise(any(), point));
    }
  }
  net.output(tensors.back(), "out");
  return net;
}

TEST(MemoryPlan, SharedMemoryChangesNoResult) {
  std::uint64_t shared = 0, apart = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Network net = random_network(seed);
    const std::string device = seed % 3 == 0 ? "model:nv_full" : "model:nv_small";
    Request together = make(net, device), alone = make(net, device, false);
    ASSERT_EQ(run(together), run(alone)) << "seed " << seed;
    ASSERT_EQ(run(together), run(alone)) << "seed " << seed << ", the second time";
    const MemoryUse use = together.network().memory();
    EXPECT_LE(use.peak, use.total) << seed;
    // But for the gaps between constants.
    EXPECT_GE(alone.network().memory().total, use.apart) << seed;
    EXPECT_LT(alone.network().memory().total, use.apart + std::uint64_t{256} * net.layers())
        << seed;
    for (const BufferUse& buffer : use.buffers) {
      if (buffer.tenants[0].always) continue;
      shared += buffer.bytes;
      for (const BufferUse::Tenant& tenant : buffer.tenants) apart += tenant.bytes;
    }
  }
  EXPECT_LT(shared, apart * 2 / 3) << "little is shared";
}

std::uint64_t in_sram(const MemoryUse& use) {
  std::uint64_t bytes = 0;
  for (const BufferUse& buffer : use.buffers)
    if (buffer.memory == Memory::kSram) bytes += buffer.bytes;
  return bytes;
}

Request make_with_sram(const Network& net, std::uint64_t bytes) {
  BuildOptions options;
  options.sram_bytes = bytes;
  return net.build(Device::open("model:nv_full"), options);
}

// In nv_full an atom has 32 channels, so that each tensor takes 512 bytes.
TEST(MemoryPlan, SecondaryMemoryIsForTheBusiest) {
  const Network net = kept_network();
  const auto names = [&](std::uint64_t bytes) {
    std::vector<std::string> found;
    for (const BufferUse& buffer : make_with_sram(net, bytes).network().memory().buffers)
      if (buffer.memory == Memory::kSram)
        for (const BufferUse::Tenant& tenant : buffer.tenants) found.push_back(tenant.name);
    std::sort(found.begin(), found.end());
    return found;
  };
  // 'a', 'b' and 'c' live for two layers that touch them, 'kept' for five of which three do.
  const std::string a = "the output of layer 1 'a'", b = "the output of layer 2 'b'",
                    c = "the output of layer 3 'c'", kept = "the output of layer 0 'kept'";
  EXPECT_EQ(names(0), (std::vector<std::string>{}));
  EXPECT_EQ(names(511), (std::vector<std::string>{}));
  EXPECT_EQ(names(512), (std::vector<std::string>{a, c}));
  EXPECT_EQ(names(1024), (std::vector<std::string>{a, b, c}));
  EXPECT_EQ(names(1536), (std::vector<std::string>{kept, a, b, c}));
  Request there = make_with_sram(net, 1024), plain = make(net, "model:nv_full");
  EXPECT_EQ(run(there), run(plain));
}

TEST(MemoryPlan, SecondaryMemoryChangesNoResult) {
  std::uint64_t most = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Network net = random_network(seed);
    Request plain = make(net, "model:nv_full");
    const std::uint64_t bytes = seed * 128;
    Request there = make_with_sram(net, bytes);
    ASSERT_EQ(run(there), run(plain)) << "seed " << seed;
    ASSERT_EQ(run(there), run(plain)) << "seed " << seed << ", the second time";
    const std::uint64_t found = in_sram(there.network().memory());
    EXPECT_LE(found, bytes) << seed;
    most = std::max(most, found);
  }
  EXPECT_GT(most, 3000u);
}

TEST(MemoryPlan, SecondaryMemoryThatIsNotThereIsRefused) {
  BuildOptions options;
  options.sram_bytes = 1;
  test::expect_error(ErrorCode::kNotAvailable, "nv_small has no secondary memory",
                     [&] { kept_network().build(Device::open("model:nv_small"), options); });
}

// What a plan says of tensors that have a slot each.
struct Planned {
  explicit Planned(const Request& built) : made(impl(built)) {
    const std::vector<BufferUse> buffers = built.network().memory().buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      detail::Allocation& allocation = schedule.allocations.emplace_back();
      allocation.name = "allocation " + std::to_string(i);
      allocation.slot = made.slots[i];
      allocation.dedicated = buffers[i].tenants.size() == 1 && buffers[i].tenants[0].always;
    }
    schedule.layers = test::only_program(made).layers;
    plan = detail::plan_memory(schedule, {});
  }

  // Empty if the plan is right.
  std::string complaint() const {
    const detail::Schedule moved = detail::assign_slots(plan, schedule);
    ProgramDesc desc;
    std::vector<nvdla_slot> slots;
    for (const auto& slot : plan.slots) slots.push_back(slot.slot);
    desc.layers = moved.layers;
    desc.slots = slots;
    try {
      const auto accesses = detail::program_accesses(made.device.info(), desc);
      detail::check_plan(plan, schedule, accesses);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  const CompiledNetwork::Impl& made;
  detail::Schedule schedule;
  detail::MemoryPlan plan;
};

TEST(PlanCheck, TensorsThatLiveAtOnceShareNothing) {
  unsigned refused = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Request built = make(random_network(seed), "model:nv_small", false);
    Planned planned(built);
    ASSERT_EQ(planned.complaint(), "") << "seed " << seed;
    const std::vector<BufferUse> buffers = built.network().memory().buffers;
    for (std::uint32_t a = 0; a < buffers.size(); ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        const auto &first = buffers[a].tenants[0], &second = buffers[b].tenants[0];
        if (first.always || second.always || first.first_layer > second.last_layer ||
            second.first_layer > first.last_layer)
          continue;
        const detail::MemoryPlan::Place right = planned.plan.places[a];
        ASSERT_NE(right.slot, planned.plan.places[b].slot);
        planned.plan.places[a] = planned.plan.places[b];
        EXPECT_NE(planned.complaint(), "") << "seed " << seed << ": " << a << " over " << b;
        planned.plan.places[a] = right;
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 300u);
}

TEST(PlanCheck, SaysWhoSharesMemory) {
  const Request built = make(kept_network(), "model:nv_small", false);
  Planned planned(built);
  // What layer 2 writes lies where layer 4 will look for what layer 0 wrote.
  planned.plan.places[4] = planned.plan.places[2];
  EXPECT_EQ(
      planned.complaint(),
      "allocation 4 and allocation 2 share memory, and layers may touch both at the same time");
}

// The one behind the tensor is somebody else's, though it is in the slot.
TEST(PlanCheck, ALayerStaysInItsTensor) {
  Network net;
  add_chain(net, 4);
  const Request built = make(net, "model:nv_small", false);
  Planned planned(built);
  planned.schedule.allocations[3].slot.size -= 8;
  EXPECT_EQ(planned.complaint(),
            "layer 1 may touch bytes 0..127 of buffer 3, which are none of its tensors");
}

}  // namespace
}  // namespace nvdla
