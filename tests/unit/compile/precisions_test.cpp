// SPDX-License-Identifier: MIT
//
// All triples of SDP's precisions - input, processing, output - in every place that SDP has, on
// both generations: which ones are legal, and which rule refuses the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "unit_faults.hpp"

namespace nvdla::test {
namespace {

using Triple = std::array<std::uint32_t, 3>;

constexpr Triple kLegalTriples[] = {
    {kInt8, kInt8, kInt8},    {kInt8, kInt8, kInt16},  {kInt16, kInt8, kInt8},
    {kInt16, kInt16, kInt16}, {kInt16, kInt16, kHalf}, {kHalf, kHalf, kHalf},
    {kHalf, kHalf, kInt16},
};

bool is_legal(const Triple& triple) { return std::ranges::count(kLegalTriples, triple) != 0; }

// Nothing but the precisions depends on them: no operators, and room for two bytes everywhere.
void set(Base& base, const Triple& triple) {
  const auto [in, proc, out] = triple;
  nvdla_sdp& sdp = base.layer.sdp;
  if (base.layer.conv.width != 0) {
    nvdla_conv& conv = base.layer.conv;
    conv.in_precision = conv.proc_precision = in;
    if (in == kHalf) conv.clip_truncate = conv.pra_truncate = 0;
    conv.pad_value = 0;
  } else {
    sdp.in_precision = in;
  }
  sdp.proc_precision = proc;
  sdp.out_precision = out;
  sdp.x1 = sdp.x2 = {};
  sdp.out_cvt = {.offset = 0, .scale = proc == kHalf ? 0 : 1, .truncate = 0, .pad = 0};
  if (sdp.y.flags != 0) sdp.y.operand_bytes = proc == kInt8 ? 1 : 2;
  if (base.layer.pdp.kernel_width != 0) {
    base.layer.pdp.method = NVDLA_POOL_MAX;
    std::ranges::fill(base.layer.pdp.pad_value, 0);
    base.layer.pdp.recip_width = base.layer.pdp.recip_height = 0;
  }
  for (nvdla_slot& slot : base.slots) slot.size *= 4;
}

Base base_conv_batch(const char* configuration) {
  Base base = base_conv(configuration);
  base.layer.conv.batch = 2;
  base.layer.conv.input.batch_stride = 4 * 19 * 8 * base.hw->atom;
  base.layer.sdp.output.batch_stride = 4 * 10 * 8 * base.hw->atom;
  for (const std::uint32_t slot : {kInput, kOutput}) base.slots[slot].size *= 4;
  return base;
}

struct Place {
  const char* name;
  Base (*base)(const char*);
  bool flying;    // the input is what the convolution computes in
  bool converts;  // elsewhere output is what SDP computes in
};

constexpr Place kPlaces[] = {
    {"from memory", base_sdp, false, true},
    {"after a convolution", base_conv, true, true},
    {"before a pooling", base_sdp_pdp, false, false},
    {"between both", base_conv_pdp, true, false},
    {"after a batch", base_conv_batch, true, false},
    {"after tiles", base_winograd, true, false},
    {"comparing", base_equal, false, false},
};

void for_all_triples(const std::function<void(const Triple&)>& check) {
  for (std::uint32_t in = 0; in < 3; ++in)
    for (std::uint32_t proc = 0; proc < 3; ++proc)
      for (std::uint32_t out = 0; out < 3; ++out) {
        SCOPED_TRACE(std::to_string(in) + std::to_string(proc) + std::to_string(out));
        check({in, proc, out});
      }
}

TEST(Precisions, AllTriplesOfTheFirstGeneration) {
  for (const Place& place : kPlaces) {
    SCOPED_TRACE(place.name);
    for_all_triples([&](const Triple& triple) {
      const auto [in, proc, out] = triple;
      Base base = place.base("nv_full");
      set(base, triple);
      const nvdla_error error = compile(base);
      // Only from memory are words narrowed on their way in.
      const bool known = is_legal(triple) && (!place.flying || in == proc);
      if (known && (place.converts || proc == out)) {
        EXPECT_EQ(error.rule, NVDLA_RULE_NONE) << to_string(error);
        return;
      }
      EXPECT_EQ(error.rule, NVDLA_RULE_PRECISIONS) << to_string(error);
      // A comparison is what the operators are told to do, not where SDP is.
      EXPECT_EQ(error.field, known && base.layer.sdp.y.alu == NVDLA_ALU_EQUAL
                                 ? F(sdp.out_precision)
                                 : F(sdp.proc_precision));
      EXPECT_EQ(error.value, in);
      EXPECT_EQ(error.min, proc);
      EXPECT_EQ(error.max, out);
    });
  }
}

// There is int8 and nothing else; the first field that says otherwise is named.
TEST(Precisions, AllTriplesOfTheSecondGeneration) {
  for (const char* name : {"nv_large", "nv_medium_512", "nv_small"}) {
    SCOPED_TRACE(name);
    for_all_triples([&](const Triple& triple) {
      Base base = base_sdp(name);
      set(base, triple);
      const nvdla_error error = compile(base);
      const auto* wrong = std::ranges::find_if(triple, [](auto one) { return one != kInt8; });
      if (wrong == triple.end()) {
        EXPECT_EQ(error.rule, NVDLA_RULE_NONE) << to_string(error);
        return;
      }
      const std::uint32_t fields[] = {F(sdp.in_precision), F(sdp.proc_precision),
                                      F(sdp.out_precision)};
      EXPECT_EQ(error.rule, NVDLA_RULE_FEATURE) << to_string(error);
      EXPECT_EQ(error.field, fields[wrong - triple.begin()]);
      EXPECT_EQ(error.value, *wrong == kInt16 ? NVDLA_FEATURE_INT16 : NVDLA_FEATURE_FP16);
    });
  }
}

}  // namespace
}  // namespace nvdla::test
