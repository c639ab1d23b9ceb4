// SPDX-License-Identifier: MIT
//
// Programs as a whole: limits, slots, waits, memory, bindings.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "common/compiled.hpp"
#include "layers.hpp"
#include "unit_layers.hpp"

namespace nvdla::test {
namespace {

#define SLOT_FIELD(member) static_cast<std::uint32_t>(offsetof(nvdla_slot, member))
#define BINDING_FIELD(member) static_cast<std::uint32_t>(offsetof(nvdla_binding, member))

struct Begin {
  nvdla_error error{};
  int result = 0;
};

Begin begin(const nvdla_program_desc& desc, const char* configuration = "nv_full",
            std::size_t size = SIZE_MAX) {
  Begin out;
  nvdla_program program;
  const std::size_t bytes = std::min(size, nvdla_program_bytes(&desc));
  std::vector<std::uint64_t> memory((bytes + 7) / 8 + 1);
  out.result = nvdla_program_begin(&program, nvdla_hw_find(configuration), &desc, memory.data(),
                                   bytes, &out.error);
  EXPECT_EQ(out.result, out.error.rule == NVDLA_RULE_NONE ? 0 : -1);
  return out;
}

void expect(const nvdla_error& error, std::uint32_t rule, std::uint32_t object, std::uint32_t index,
            std::uint32_t field, std::int64_t value, std::int64_t min, std::int64_t max) {
  EXPECT_EQ(error.rule, rule) << to_string(error);
  EXPECT_EQ(error.object, object);
  EXPECT_EQ(error.index, index);
  EXPECT_EQ(error.field, field);
  EXPECT_EQ(error.value, value);
  EXPECT_EQ(error.min, min);
  EXPECT_EQ(error.max, max);
}

TEST(Program, Limits) {
  const std::vector<nvdla_slot> slots(257, slot(64, NVDLA_SLOT_READ, 64));
  const std::vector<nvdla_lut> luts(65);
  const std::vector<nvdla_transfer> transfers(4097);
  nvdla_program_desc desc{};
  desc.slots = slots.data();
  desc.luts = luts.data();
  desc.transfers = transfers.data();

  EXPECT_EQ(nvdla_program_bytes(&desc), 0u);
  expect(begin(desc).error, NVDLA_RULE_RANGE, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_LAYERS, 0, 1,
         4096);
  desc.num_layers = 4097;
  EXPECT_EQ(nvdla_program_bytes(&desc), 0u);
  expect(begin(desc).error, NVDLA_RULE_LIMIT, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_LAYERS, 4097, 0,
         4096);
  desc.num_layers = 4096;
  desc.num_slots = 256;
  EXPECT_EQ(begin(desc).result, 0);
  desc.num_luts = 64;
  EXPECT_EQ(begin(desc).result, 0);
  desc.num_luts = 0;
  desc.num_slots = 257;
  EXPECT_EQ(nvdla_program_bytes(&desc), 0u);
  expect(begin(desc).error, NVDLA_RULE_LIMIT, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_SLOTS, 257, 0,
         256);
  desc.num_slots = 1;
  desc.num_luts = 65;
  EXPECT_EQ(nvdla_program_bytes(&desc), 0u);
  expect(begin(desc).error, NVDLA_RULE_LIMIT, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_LUTS, 65, 0, 64);
  desc.num_luts = 0;
  desc.num_transfers = 4097;
  EXPECT_EQ(nvdla_program_bytes(&desc), 0u);
  desc.num_transfers = 4096;
  EXPECT_GT(nvdla_program_bytes(&desc), 0u);
  desc.num_transfers = 4097;
  expect(begin(desc).error, NVDLA_RULE_LIMIT, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_TRANSFERS, 4097,
         0, 4096);
  desc.num_transfers = 0;
  desc.flags = 2;
  expect(begin(desc).error, NVDLA_RULE_FLAGS, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_FLAGS, 2, 0,
         NVDLA_PROGRAM_STATS);
  desc.flags = 0;
  desc.slots = nullptr;
  expect(begin(desc).error, NVDLA_RULE_LIMIT, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_SLOTS, 1, 0, 0);
  // What is not there has no length.
  desc = {};
  desc.num_layers = desc.num_luts = 1;
  expect(begin(desc).error, NVDLA_RULE_LIMIT, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_LUTS, 1, 0, 0);
  desc.num_luts = 0;
  desc.num_transfers = 1;
  expect(begin(desc).error, NVDLA_RULE_LIMIT, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_TRANSFERS, 1, 0,
         0);
  desc.num_transfers = 0;
  desc.control_bytes = 1;
  expect(begin(desc).error, NVDLA_RULE_LIMIT, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_CONTROL, 1, 0, 0);
}

// Whatever lay there before: an error that says nothing is empty.
TEST(Program, ErrorsAreClearedByEveryStep) {
  const Base base = base_sdp("nv_small");
  nvdla_program_desc desc{};
  desc.slots = base.slots.data();
  desc.num_slots = static_cast<std::uint32_t>(base.slots.size());
  desc.num_layers = 1;
  const std::size_t bytes = nvdla_program_bytes(&desc);
  std::vector<std::uint64_t> memory(bytes / 8);
  nvdla_program program;
  nvdla_error error;
  const nvdla_error none{};
  const auto cleared = [&](const char* step, const auto& call) {
    std::memset(&error, 0xff, sizeof(error));
    EXPECT_EQ(call(), 0) << step;
    EXPECT_EQ(std::memcmp(&error, &none, sizeof(error)), 0) << step << ": " << to_string(error);
  };
  cleared("begin", [&] {
    return nvdla_program_begin(&program, base.hw, &desc, memory.data(), bytes, &error);
  });
  cleared("add", [&] { return nvdla_program_add(&program, &base.layer, &error); });
  cleared("end", [&] { return nvdla_program_end(&program, &error); });
  std::vector<nvdla_binding> bindings;
  for (const nvdla_slot& s : base.slots)
    bindings.push_back({0x10000 * (bindings.size() + 1), s.size, s.memory, s.access});
  cleared("check bindings", [&] {
    return nvdla_program_check_bindings(&program, bindings.data(),
                                        static_cast<std::uint32_t>(bindings.size()), &error);
  });
}

// The parts lie one behind the other and end where the memory ends.
TEST(Program, MemoryIsUsedToTheByte) {
  const Base base = base_bdma("nv_full");
  nvdla_program_desc desc{};
  desc.slots = base.slots.data();
  desc.num_slots = static_cast<std::uint32_t>(base.slots.size());
  desc.transfers = base.transfers.data();
  desc.num_transfers = static_cast<std::uint32_t>(base.transfers.size());
  desc.num_layers = 3;
  const std::size_t bytes = nvdla_program_bytes(&desc);
  std::vector<std::uint64_t> memory(bytes / 8);
  nvdla_program program;
  nvdla_error error;
  ASSERT_EQ(nvdla_program_begin(&program, base.hw, &desc, memory.data(), bytes, &error), 0);
  EXPECT_EQ(static_cast<void*>(program.layers), static_cast<void*>(memory.data()));
  EXPECT_EQ(static_cast<void*>(program.transfers + desc.num_transfers),
            static_cast<void*>(memory.data() + memory.size()));
}

// Each layer's proofs are its own.
TEST(Program, LayersHaveTheirOwnAccesses) {
  Base base = base_sdp("nv_small");
  for (nvdla_slot& s : base.slots) s.size += 64;
  Program program(*base.hw, base.slots, 2);
  ASSERT_TRUE(program.add(base.layer));
  base.layer.sdp.input.offset = base.layer.sdp.output.offset = 64;
  ASSERT_TRUE(program.add(base.layer));
  ASSERT_EQ(program.accesses(0).size(), program.accesses(1).size());
  for (std::size_t i = 0; i < program.accesses(0).size(); i++) {
    const nvdla_access& first = program.accesses(0)[i];
    const nvdla_access& second = program.accesses(1)[i];
    EXPECT_EQ(first.dma, second.dma);
    const bool moved = first.dma == NVDLA_DMA_SDP_RDMA || first.dma == NVDLA_DMA_SDP_WDMA;
    EXPECT_EQ(second.begin, first.begin + (moved ? 64 : 0)) << first.dma;
  }
}

// A comparison ends at once: it waits for the layer before that writes, the first one too.
TEST(Program, ComparisonsWaitForTheFirstLayer) {
  Base base = base_sdp("nv_full");
  const nvdla_layer equal = base_equal("nv_full").layer;
  Program program(*base.hw, base.slots, 2);
  ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
  ASSERT_TRUE(program.add(equal)) << to_string(program.error());
  EXPECT_EQ(program.image(0).num_waits, 0u);
  ASSERT_EQ(program.image(1).num_waits, 1u);
  EXPECT_EQ(program.image(1).waits[0], 0u);
  // Behind a convolution as well; who writes waits for nobody.
  base = base_conv("nv_full");
  Program other(*base.hw, base.slots, 3);
  ASSERT_TRUE(other.add(base.layer)) << to_string(other.error());
  ASSERT_TRUE(other.add(base.layer)) << to_string(other.error());
  nvdla_layer compare = equal;
  compare.sdp.x1 = compare.sdp.x2 = {};
  ASSERT_TRUE(other.add(compare)) << to_string(other.error());
  EXPECT_EQ(other.image(1).num_waits, 0u);
  ASSERT_EQ(other.image(2).num_waits, 1u);
  EXPECT_EQ(other.image(2).waits[0], 1u);
}

// What follows the waits may be anything.
TEST(Program, WaitsEndWhereTheyEnd) {
  Base base = base_image("nv_small");
  Program program(*base.hw, base.slots, 2);
  ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
  base.layer.num_waits = 1;
  EXPECT_TRUE(program.add(base.layer)) << to_string(program.error());
}

// Whatever the counts, a program is at most as large as the contract says.
TEST(Program, LargestIsBelowTheLimit) {
  nvdla_program_desc desc{};
  desc.num_layers = NVDLA_MAX_LAYERS;
  desc.num_slots = NVDLA_MAX_SLOTS;
  desc.num_luts = NVDLA_MAX_LUTS;
  desc.num_transfers = NVDLA_MAX_TRANSFERS;
  EXPECT_LE(nvdla_program_bytes(&desc), 16u << 20);
  EXPECT_EQ(nvdla_program_bytes(&desc) % 8, 0u);
}

TEST(Program, MemoryThatIsTooSmall) {
  const nvdla_slot one = slot(64, NVDLA_SLOT_READ, 64);
  nvdla_program_desc desc{};
  desc.slots = &one;
  desc.num_slots = 1;
  desc.num_layers = 2;
  const auto need = static_cast<std::int64_t>(nvdla_program_bytes(&desc));
  expect(begin(desc, "nv_full", need - 1).error, NVDLA_RULE_PROGRAM_SIZE, NVDLA_OBJECT_PROGRAM, 0,
         0, need, 0, need - 1);
}

// They are the program's: wrong ones are refused before any layer.
TEST(Program, TablesAndTransfersAreChecked) {
  nvdla_lut lut{};
  const nvdla_transfer transfer{};
  nvdla_program_desc desc{};
  desc.num_layers = 1;
  desc.luts = &lut;
  desc.num_luts = 1;
  EXPECT_EQ(begin(desc).error.rule, NVDLA_RULE_NONE);
  lut.pad = 1;
  expect(begin(desc).error, NVDLA_RULE_ZERO, NVDLA_OBJECT_LUT, 0, offsetof(nvdla_lut, pad), 1, 0,
         0);
  desc.num_luts = 0;
  desc.transfers = &transfer;
  desc.num_transfers = 1;
  expect(begin(desc).error, NVDLA_RULE_RANGE, NVDLA_OBJECT_TRANSFER, 0, 0, 0, 32, 262144);
  expect(begin(desc, "nv_small").error, NVDLA_RULE_FEATURE, NVDLA_OBJECT_TRANSFER, 0, 0,
         NVDLA_FEATURE_BDMA, 0, 0);
  // Of the transfers the first, however many slots there were before.
  const std::vector<nvdla_slot> slots(3, slot(64, NVDLA_SLOT_READ, 64));
  desc.slots = slots.data();
  desc.num_slots = 3;
  expect(begin(desc, "nv_small").error, NVDLA_RULE_FEATURE, NVDLA_OBJECT_TRANSFER, 0, 0,
         NVDLA_FEATURE_BDMA, 0, 0);
}

TEST(Program, Slots) {
  const auto error = [](const std::function<void(nvdla_slot&)>& change, const char* configuration) {
    nvdla_slot slots[3] = {slot(64, NVDLA_SLOT_READ, 64), slot(64, NVDLA_SLOT_READ, 64),
                           slot(64, NVDLA_SLOT_READ, 64)};
    change(slots[1]);
    nvdla_program_desc desc{};
    desc.slots = slots;
    desc.num_slots = 3;
    desc.num_layers = 1;
    return begin(desc, configuration).error;
  };
  const auto slot_is = [](const nvdla_error& e, std::uint32_t rule, std::uint32_t field,
                          std::int64_t value, std::int64_t min, std::int64_t max) {
    expect(e, rule, NVDLA_OBJECT_SLOT, 1, field, value, min, max);
  };
  slot_is(error([](auto& s) { s.size = 0; }, "nv_small"), NVDLA_RULE_RANGE, SLOT_FIELD(size), 0, 1,
          0xffffffff);
  slot_is(error([](auto& s) { s.size = (1ull << 32) + 1; }, "nv_small"), NVDLA_RULE_ADDRESS,
          SLOT_FIELD(size), 1ll << 32, 0, 32);
  EXPECT_EQ(error([](auto& s) { s.size = 1ull << 32; }, "nv_small").rule, NVDLA_RULE_NONE);
  EXPECT_EQ(error([](auto& s) { s.size = ~0ull; }, "nv_full").rule, NVDLA_RULE_NONE);
  slot_is(error([](auto& s) { s.alignment = 0; }, "nv_full"), NVDLA_RULE_SLOT_ALIGNMENT,
          SLOT_FIELD(alignment), 0, 32, 0);
  slot_is(error([](auto& s) { s.alignment = 16; }, "nv_full"), NVDLA_RULE_SLOT_ALIGNMENT,
          SLOT_FIELD(alignment), 16, 32, 0);
  slot_is(error([](auto& s) { s.alignment = 96; }, "nv_full"), NVDLA_RULE_SLOT_ALIGNMENT,
          SLOT_FIELD(alignment), 96, 32, 0);
  EXPECT_EQ(error([](auto& s) { s.alignment = 8; }, "nv_small").rule, NVDLA_RULE_NONE);
  slot_is(error([](auto& s) { s.memory = 2; }, "nv_full"), NVDLA_RULE_CHOICE, SLOT_FIELD(memory), 2,
          0, 1);
  slot_is(error([](auto& s) { s.memory = NVDLA_MEMORY_SRAM; }, "nv_small"), NVDLA_RULE_FEATURE,
          SLOT_FIELD(memory), NVDLA_FEATURE_SRAM, 0, 0);
  EXPECT_EQ(error([](auto& s) { s.memory = NVDLA_MEMORY_SRAM; }, "nv_full").rule, NVDLA_RULE_NONE);
  slot_is(error([](auto& s) { s.access = 8; }, "nv_full"), NVDLA_RULE_FLAGS, SLOT_FIELD(access), 8,
          0, 3);
  slot_is(error([](auto& s) { s.access = 0; }, "nv_full"), NVDLA_RULE_CHOICE, SLOT_FIELD(access), 0,
          1, 3);
  slot_is(error([](auto& s) { s.pad = 9; }, "nv_full"), NVDLA_RULE_ZERO, SLOT_FIELD(pad), 9, 0, 0);
}

TEST(Program, TheFirstSlotIsChecked) {
  nvdla_slot one = slot(64, NVDLA_SLOT_READ, 64);
  one.pad = 1;
  nvdla_program_desc desc{};
  desc.slots = &one;
  desc.num_slots = desc.num_layers = 1;
  expect(begin(desc).error, NVDLA_RULE_ZERO, NVDLA_OBJECT_SLOT, 0, SLOT_FIELD(pad), 1, 0, 0);
}

// What was checked is a copy: nothing of the user is read again.
TEST(Program, SlotsAreCopied) {
  Base base = base_sdp("nv_small");
  Program program(*base.hw, base.slots, 1);
  for (auto& s : base.slots) s = {};
  EXPECT_TRUE(program.add(base.layer)) << to_string(program.error());
}

TEST(Program, Waits) {
  Base base = base_sdp("nv_small");
  Program program(*base.hw, base.slots, 10);
  for (std::uint32_t i = 0; i < 9; i++) {
    base.layer.num_waits = std::min(i, 8u);
    for (std::uint32_t j = 0; j < base.layer.num_waits; j++) base.layer.waits[j] = j;
    ASSERT_TRUE(program.add(base.layer)) << to_string(program.error());
    EXPECT_EQ(program.image(i).num_waits, base.layer.num_waits);
  }
  EXPECT_EQ(program.image(8).waits[7], 7u);
  base.layer.waits[7] = 9;  // this one
  EXPECT_FALSE(program.add(base.layer));
  expect(program.error(), NVDLA_RULE_WAIT_ORDER, NVDLA_OBJECT_LAYER, 9, LAYER_FIELD(waits[7]), 9, 0,
         8);
}

TEST(Program, LayersMustBeThere) {
  Base base = base_sdp("nv_small");
  Program program(*base.hw, base.slots, 2);
  ASSERT_TRUE(program.add(base.layer));
  nvdla_program copy = program.get();
  nvdla_error error;
  EXPECT_EQ(nvdla_program_end(&copy, &error), -1);
  expect(error, NVDLA_RULE_RANGE, NVDLA_OBJECT_PROGRAM, 0, NVDLA_PART_LAYERS, 1, 2, 2);
  ASSERT_TRUE(program.add(base.layer));
  ASSERT_TRUE(program.end());
  EXPECT_FALSE(program.add(base.layer));
  expect(program.error(), NVDLA_RULE_LIMIT, NVDLA_OBJECT_PROGRAM, 2, NVDLA_PART_LAYERS, 3, 0, 2);
}

class Bindings : public testing::Test {
 protected:
  Base base_ = base_sdp("nv_small");
  Program program_{*base_.hw, base_.slots, 1};
  std::vector<nvdla_binding> bindings_;

  void SetUp() override {
    ASSERT_TRUE(program_.add(base_.layer));
    for (std::size_t i = 0; i < base_.slots.size(); i++)
      bindings_.push_back(
          {0x10000 * (i + 1), base_.slots[i].size, base_.slots[i].memory, base_.slots[i].access});
  }
  nvdla_error check() const {
    nvdla_error error;
    const int result = nvdla_program_check_bindings(
        &program_.get(), bindings_.data(), static_cast<std::uint32_t>(bindings_.size()), &error);
    EXPECT_EQ(result, error.rule == NVDLA_RULE_NONE ? 0 : -1);
    return error;
  }
  void refused(std::uint32_t index, std::uint32_t rule, std::uint32_t field, std::int64_t value,
               std::int64_t min, std::int64_t max) const {
    expect(check(), rule, NVDLA_OBJECT_BINDING, index, field, value, min, max);
    EXPECT_EQ(check().dma, NVDLA_DMA_NONE);
  }
};

TEST_F(Bindings, Fit) { EXPECT_EQ(check().rule, NVDLA_RULE_NONE) << to_string(check()); }

TEST_F(Bindings, Missing) {
  bindings_.pop_back();
  refused(4, NVDLA_RULE_BINDING_MISSING, 0, 4, 5, 5);
  bindings_.resize(6);
  refused(5, NVDLA_RULE_BINDING_MISSING, 0, 6, 5, 5);
}

TEST_F(Bindings, OneByteTooSmall) {
  bindings_[2].size--;
  refused(2, NVDLA_RULE_BINDING_SIZE, BINDING_FIELD(size), 1919, 1920, 0);
}

TEST_F(Bindings, OtherMemory) {
  bindings_[0].memory = NVDLA_MEMORY_SRAM;
  refused(0, NVDLA_RULE_BINDING_MEMORY, BINDING_FIELD(memory), 1, 0, 0);
}

TEST_F(Bindings, LessAccess) {
  bindings_[2].access = NVDLA_SLOT_READ;
  refused(2, NVDLA_RULE_SLOT_ACCESS, BINDING_FIELD(access), NVDLA_SLOT_WRITE, 0, NVDLA_SLOT_READ);
}

TEST_F(Bindings, Misaligned) {
  bindings_[1].address += 32;
  refused(1, NVDLA_RULE_BINDING_ALIGNMENT, BINDING_FIELD(address), 0x20020, 0, 0);
  EXPECT_EQ(check().multiple, 64);
}

TEST_F(Bindings, MisalignedByOne) {
  bindings_[1].address += 1;
  refused(1, NVDLA_RULE_BINDING_ALIGNMENT, BINDING_FIELD(address), 0x20001, 0, 0);
}

TEST_F(Bindings, BeyondTheAddressWidth) {
  bindings_[4].address = 0x100000000 - 1920;
  EXPECT_EQ(check().rule, NVDLA_RULE_NONE);
  bindings_[4].address += 64;
  refused(4, NVDLA_RULE_ADDRESS, BINDING_FIELD(address), 0x10000003f, 0, 32);
  bindings_[4].address = 0 - 64ull;
  refused(4, NVDLA_RULE_ADDRESS, BINDING_FIELD(address), INT64_MAX, 0, 32);
}

TEST_F(Bindings, OverlapOfWhatIsWritten) {
  bindings_[3].address = bindings_[2].address + 1920 - 64 + 64;
  EXPECT_EQ(check().rule, NVDLA_RULE_NONE);
  bindings_[3].address -= 64;
  refused(3, NVDLA_RULE_BINDING_OVERLAP, BINDING_FIELD(address),
          static_cast<std::int64_t>(bindings_[3].address), 0x30000, 0x30000 + 1919);
}

TEST_F(Bindings, OverlapOfWhatIsOnlyRead) {
  bindings_[4].address = bindings_[0].address;
  bindings_[4].size = bindings_[0].size;
  EXPECT_EQ(check().rule, NVDLA_RULE_NONE);
}

// One byte more than a multiple of everything: buffers that share just that byte.
TEST(BindingsOfOddSizes, ShareNoByte) {
  Base base = base_sdp("nv_small");
  for (nvdla_slot& s : base.slots) s.size++;
  base.slots[kX1].size = 65;
  Program program(*base.hw, base.slots, 1);
  ASSERT_TRUE(program.add(base.layer));
  std::vector<nvdla_binding> bindings;
  for (const nvdla_slot& s : base.slots)
    bindings.push_back({0x10000 * (bindings.size() + 1), s.size, s.memory, s.access});
  nvdla_error error;
  const auto rule = [&] {
    nvdla_program_check_bindings(&program.get(), bindings.data(),
                                 static_cast<std::uint32_t>(bindings.size()), &error);
    return error.rule;
  };
  EXPECT_EQ(rule(), NVDLA_RULE_NONE);
  // The first byte of one is the last of another, of a lower and of a higher index.
  bindings[kX1].address = bindings[kOutput].address + 1920;
  EXPECT_EQ(rule(), NVDLA_RULE_BINDING_OVERLAP);
  bindings[kX1].address = bindings[kOutput].address - (base.slots[kX1].size - 1);
  EXPECT_EQ(rule(), NVDLA_RULE_BINDING_OVERLAP);
  bindings[kX1].address = 0x100000000 - (base.slots[kX1].size - 1);
  EXPECT_EQ(rule(), NVDLA_RULE_ADDRESS);
  EXPECT_EQ(error.value, 0x100000000);
}

TEST(BindingsOfWideAddresses, MayLieAnywhere) {
  const Base base = base_sdp("nv_full");
  Program program(*base.hw, base.slots, 1);
  ASSERT_TRUE(program.add(base.layer));
  std::vector<nvdla_binding> bindings;
  for (const nvdla_slot& s : base.slots)
    bindings.push_back({0 - 0x10000 * (bindings.size() + 1), s.size, s.memory, s.access});
  nvdla_error error;
  const auto check = [&] {
    return nvdla_program_check_bindings(&program.get(), bindings.data(),
                                        static_cast<std::uint32_t>(bindings.size()), &error);
  };
  EXPECT_EQ(check(), 0) << to_string(error);
  bindings[0].address = 0 - std::uint64_t{base.slots[0].size};
  EXPECT_EQ(check(), 0) << to_string(error);
  bindings[0].address += 64;
  EXPECT_EQ(check(), -1);
  EXPECT_EQ(error.rule, NVDLA_RULE_ADDRESS);
}

// A buffer may be larger than its slot; what is beyond may belong to others.
TEST_F(Bindings, OnlyTheSlotCounts) {
  bindings_[1].address = bindings_[2].address + 1920;
  bindings_[2].size = 1 << 20;
  EXPECT_EQ(check().rule, NVDLA_RULE_NONE);
}

}  // namespace
}  // namespace nvdla::test
