// SPDX-License-Identifier: MIT
//
// Build parameters of the configurations, as they are published.
#include <gtest/gtest.h>

#include <string>

#include "firmware/nvdla_hw.h"

namespace nvdla::test {
namespace {

struct Published {
  const char* name;
  std::uint32_t atom, atomic_c, atomic_k;
  std::uint32_t banks, entries, entry_bytes;
  std::uint32_t address_bits, bus_bytes;
  // Beats of a request to the primary and the secondary memory.
  std::uint32_t burst, sram_burst;
  // Of SDP its operators X, and the slowest of those that are built.
  std::uint32_t sdp_x, sdp, pdp, cdp;
};

constexpr Published kPublished[] = {
    {"nv_full", 32, 64, 32, 16, 256, 128, 64, 64, 1, 4, 16, 4, 8, 8},
    {"nv_large", 32, 64, 32, 16, 512, 64, 64, 32, 1, 1, 16, 4, 8, 8},
    {"nv_medium_1024_full", 32, 32, 32, 32, 512, 32, 64, 32, 4, 4, 8, 2, 4, 4},
    {"nv_medium_512", 16, 32, 16, 32, 512, 32, 64, 16, 4, 0, 4, 4, 2, 2},
    {"nv_small_256_full", 8, 32, 8, 32, 128, 32, 32, 8, 4, 4, 2, 1, 1, 1},
    {"nv_small_256", 8, 32, 8, 32, 128, 32, 32, 8, 1, 0, 1, 1, 1, 1},
    {"nv_small", 8, 8, 8, 32, 512, 8, 32, 8, 1, 0, 1, 1, 1, 1},
};

TEST(Hw, ParametersAreThePublishedOnes) {
  ASSERT_EQ(nvdla_hw_count(), std::size(kPublished));
  for (const Published& p : kPublished) {
    SCOPED_TRACE(p.name);
    const nvdla_hw* hw = nvdla_hw_find(p.name);
    ASSERT_NE(hw, nullptr);
    EXPECT_EQ(hw->atom, p.atom);
    EXPECT_EQ(hw->atomic_c, p.atomic_c);
    EXPECT_EQ(hw->atomic_k, p.atomic_k);
    EXPECT_EQ(hw->cbuf_banks, p.banks);
    EXPECT_EQ(hw->cbuf_entries, p.entries);
    EXPECT_EQ(hw->cbuf_entry_bytes, p.entry_bytes);
    EXPECT_EQ(hw->address_bits, p.address_bits);
    EXPECT_EQ(hw->bus_bytes, p.bus_bytes);
    EXPECT_EQ(hw->burst, p.burst);
    EXPECT_EQ(hw->sram_burst, p.sram_burst);
    EXPECT_EQ(hw->sdp_x_throughput, p.sdp_x);
    EXPECT_EQ(hw->sdp_throughput, p.sdp);
    EXPECT_EQ(hw->pdp_throughput, p.pdp);
    EXPECT_EQ(hw->cdp_throughput, p.cdp);
  }
}

TEST(Hw, NamesAreWholeAndIndicesEnd) {
  EXPECT_EQ(nvdla_hw_get(nvdla_hw_count()), nullptr);
  for (std::uint32_t i = 0; i < nvdla_hw_count(); ++i) {
    EXPECT_EQ(nvdla_hw_find(nvdla_hw_get(i)->name), nvdla_hw_get(i));
  }
  for (const char* name : {"", "nv", "nv_ful", "nv_fulls", "vn_full", "xv_full", "nv_small_25"}) {
    EXPECT_EQ(nvdla_hw_find(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace nvdla::test
