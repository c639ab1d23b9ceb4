// SPDX-License-Identifier: MIT
//
// The table of the user's layers: what is written is read, and nothing damaged is.
#include "loadable/format/user_table.hpp"

#include <gtest/gtest.h>

#include "nvdla/types/error.hpp"

namespace nvdla::loadable {
namespace {

using detail::UserLayer;

detail::UserNetwork small_network() {
  detail::UserNetwork network;
  UserLayer conv;
  conv.name = "conv";
  conv.kind = "convolution";
  conv.kernel_height = conv.kernel_width = 3;
  conv.stride_height = 1;
  conv.stride_width = 2;
  conv.input = {8, 5, 6, 2};
  conv.output = {16, 3, 2, 2};
  conv.output_precision = Precision::kInt16;
  conv.sources = {UserLayer::kInput};
  conv.layers = {0, 1};
  UserLayer check;
  check.kind = "comparison";
  check.silent = true;
  check.sources = {0, UserLayer::kInput};
  check.layers = {2};
  network.layers = {conv, check};
  network.outputs = {0};
  return network;
}

const std::vector<std::string> kNames = {"conv 1/2", "conv 2/2", ""};

// A file with the table and one input.
Container file_with(std::span<const std::byte> bytes) {
  Container c;
  c.blobs.emplace_back();
  c.blobs.back().name = kUserBlob;
  c.blobs.back().version = {kUserVersion, 0, 0};
  c.blobs.back().data = bytes;
  c.memories.emplace_back().flags = kMemoryInput;
  return c;
}

TEST(UserTable, IsReadAsItWasWritten) {
  const auto bytes = pack_user_table(small_network(), kNames);
  const auto table = read_user_table(file_with(bytes));
  ASSERT_TRUE(table);
  EXPECT_EQ(table->names, kNames);
  ASSERT_EQ(table->network.layers.size(), 2U);
  const UserLayer& conv = table->network.layers[0];
  EXPECT_EQ(conv.name, "conv");
  EXPECT_EQ(conv.kind, "convolution");
  EXPECT_EQ(conv.kernel_height, 3U);
  EXPECT_EQ(conv.stride_width, 2U);
  EXPECT_EQ(conv.input, (Shape{8, 5, 6, 2}));
  EXPECT_EQ(conv.output, (Shape{16, 3, 2, 2}));
  EXPECT_EQ(conv.output_precision, Precision::kInt16);
  EXPECT_EQ(conv.layers, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(table->network.layers[1].silent);
  EXPECT_EQ(table->network.layers[1].sources, (std::vector<std::uint32_t>{0, UserLayer::kInput}));
  EXPECT_EQ(table->network.outputs, std::vector<std::uint32_t>{0});
}

TEST(UserTable, OtherFilesAndLaterVersionsHaveNone) {
  EXPECT_FALSE(read_user_table(Container()));
  const auto bytes = pack_user_table(small_network(), kNames);
  Container later = file_with(bytes);
  later.blobs.back().version.major_version = kUserVersion + 1;
  EXPECT_FALSE(read_user_table(later));
}

TEST(UserTable, NoBeginningOfItIsOne) {
  const auto bytes = pack_user_table(small_network(), kNames);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(read_user_table(file_with(std::span(bytes).first(size))), Error) << size;
  auto longer = bytes;
  longer.emplace_back();
  EXPECT_THROW(read_user_table(file_with(longer)), Error);
}

// Any byte may be wrong: it is refused, or means something else.
TEST(UserTable, DamageIsRefusedOrHarmless) {
  const auto bytes = pack_user_table(small_network(), kNames);
  unsigned refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] = ~damaged[i];
    try {
      const auto table = read_user_table(file_with(damaged));
      for (const UserLayer& layer : table->network.layers)
        for (const std::uint32_t step : layer.layers) EXPECT_LT(step, table->names.size());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      ++refused;
    }
  }
  EXPECT_GT(refused, bytes.size() / 4);
}

}  // namespace
}  // namespace nvdla::loadable
