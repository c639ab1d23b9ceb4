// SPDX-License-Identifier: MIT
//
// Damaged files: whatever is cut off, flipped or overwritten, there is an error that says so, or
// the file still means something.
#include <gtest/gtest.h>

#include <random>

#include "firmware/nvdla_hw.h"
#include "loadable/read/loadable_impl.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/types/error.hpp"
#include "unit/loadable/maker.hpp"

namespace nvdla {
namespace {

using test::Maker;

// True if the file was taken. Anything but nvdla::Error fails the test.
bool load(const std::vector<std::byte>& file) {
  try {
    const Loadable loadable = Loadable::load(file);
    loadable.impl().check(*nvdla_hw_find("nv_small"));
    return true;
  } catch (const Error& error) {
    EXPECT_GT(std::string(error.what()).size(), 20U);
    return false;
  }
}

TEST(Damage, EveryTruncationIsRefused) {
  const std::vector<std::byte> file = Maker().file();
  ASSERT_TRUE(load(file));
  for (std::size_t size = 0; size < file.size(); ++size) {
    // The end of the file holds what nothing may be missing of.
    ASSERT_FALSE(load({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
  }
}

TEST(Damage, NoFlippedBitCrashes) {
  const std::vector<std::byte> file = Maker().file();
  unsigned refused = 0;
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::vector<std::byte> damaged = file;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    refused += !load(damaged);
  }
  // Most of the file is the tensor, where every value is right.
  EXPECT_GT(refused, 1000U);
}

TEST(Damage, NoOverwrittenWordCrashes) {
  const std::vector<std::byte> file = Maker().file();
  std::mt19937 random(4);
  const std::uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffc};
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> damaged = file;
    for (unsigned n = random() % 3 + 1; n > 0; --n) {
      const std::size_t at = random() % (file.size() / 4) * 4;
      const std::uint32_t word = random() % 2 ? words[random() % 6] : random();
      for (unsigned k = 0; k < 4; ++k) damaged[at + k] = static_cast<std::byte>(word >> 8 * k);
    }
    load(damaged);
  }
}

TEST(Damage, BytesBehindTheEndAreIgnored) {
  std::vector<std::byte> file = Maker().file();
  file.resize(file.size() + 1000);
  EXPECT_TRUE(load(file));
}

}  // namespace
}  // namespace nvdla
