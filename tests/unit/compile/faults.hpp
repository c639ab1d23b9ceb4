// SPDX-License-Identifier: MIT
//
// One fault per test: a valid layer, one change, and the whole error that must
// come of it; and changes that are just legal.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <ostream>
#include <string>

#include "common/compiled.hpp"
#include "layers.hpp"

namespace nvdla::test {

struct Expected {
  std::uint32_t rule;
  std::uint32_t field;
  std::int64_t value = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t multiple = 0;
  std::uint32_t dma = 0;
  std::uint32_t slot = 0;
  std::uint32_t object = NVDLA_OBJECT_LAYER;
  std::uint32_t index = 0;
};

using Mutation = std::function<void(Base&)>;

struct Fault {
  std::string name;
  Base (*base)(const char*);
  const char* configuration;
  Mutation mutation;
  Expected expected;
};

inline void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name << " on " << fault.configuration;
}

struct Legal {
  std::string name;
  Base (*base)(const char*);
  const char* configuration;
  Mutation mutation;
};

inline void PrintTo(const Legal& legal, std::ostream* out) {
  *out << legal.name << " on " << legal.configuration;
}

// Names a test after its row: PdpFaults.IsNamedExactly/pad_left_8.
template <typename Row>
std::string row_name(const testing::TestParamInfo<Row>& row) {
  std::string name = row.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

inline nvdla_error compile(const Base& base, std::uint32_t clock_khz = 0) {
  Program program(*base.hw, base.slots, 1, 0, clock_khz, base.luts, base.transfers, base.control);
  program.add(base.layer);
  program.end();
  return program.error();
}

inline void expect_fault(const Fault& fault) {
  Base base = fault.base(fault.configuration);
  ASSERT_EQ(compile(base).rule, NVDLA_RULE_NONE);
  fault.mutation(base);
  const nvdla_error error = compile(base);
  const Expected& expected = fault.expected;
  EXPECT_EQ(error.rule, expected.rule) << to_string(error);
  EXPECT_EQ(error.object, expected.object);
  EXPECT_EQ(error.index, expected.index);
  EXPECT_EQ(error.field, expected.field) << to_string(error);
  EXPECT_EQ(error.value, expected.value);
  EXPECT_EQ(error.min, expected.min);
  EXPECT_EQ(error.max, expected.max);
  EXPECT_EQ(error.multiple, expected.multiple);
  EXPECT_EQ(error.dma, expected.dma);
  EXPECT_EQ(error.slot, expected.slot);
}

inline void expect_legal(const Legal& legal) {
  Base base = legal.base(legal.configuration);
  legal.mutation(base);
  const nvdla_error error = compile(base);
  EXPECT_EQ(error.rule, NVDLA_RULE_NONE) << to_string(error);
}

// Of a base layer each slot is exactly as large as its client needs.
inline void expect_exact_slots(const Base& base,
                               const std::map<std::uint32_t, std::uint32_t>& clients) {
  for (const auto& [slot, dma] : clients) {
    Base less = base;
    less.slots[slot].size--;
    const nvdla_error error = compile(less);
    EXPECT_EQ(error.rule, NVDLA_RULE_EXTENT) << dma;
    EXPECT_EQ(error.dma, dma);
    EXPECT_EQ(error.slot, slot);
  }
}

// A mutation of the layer `l`, its sections, its tables, its transfers, slots.
#define CHANGE(statement)                                             \
  [](Base& base) {                                                    \
    [[maybe_unused]] nvdla_layer& l = base.layer;                     \
    [[maybe_unused]] nvdla_conv& c = base.layer.conv;                 \
    [[maybe_unused]] nvdla_sdp& s = base.layer.sdp;                   \
    [[maybe_unused]] nvdla_pdp& p = base.layer.pdp;                   \
    [[maybe_unused]] nvdla_cdp& n = base.layer.cdp;                   \
    [[maybe_unused]] nvdla_rubik& r = base.layer.rubik;               \
    [[maybe_unused]] std::vector<nvdla_lut>& luts = base.luts;        \
    [[maybe_unused]] std::vector<nvdla_transfer>& t = base.transfers; \
    [[maybe_unused]] std::vector<nvdla_slot>& slots = base.slots;     \
    statement;                                                        \
  }
#define F(member) LAYER_FIELD(member)
#define LUT_FIELD(member) static_cast<std::uint32_t>(offsetof(nvdla_lut, member))
#define TRANSFER_FIELD(member) static_cast<std::uint32_t>(offsetof(nvdla_transfer, member))

// A fault of a base layer: what it is called, the change, what is expected.
#define FAULT(base, configuration, name, statement, ...)          \
  Fault {                                                         \
    name, base, configuration, CHANGE(statement), { __VA_ARGS__ } \
  }
// The end of what is expected of a table, or of a transfer.
#define OF_LUT 0, 0, 0, NVDLA_OBJECT_LUT
#define OF_TRANSFER(index) NVDLA_OBJECT_TRANSFER, index

}  // namespace nvdla::test
