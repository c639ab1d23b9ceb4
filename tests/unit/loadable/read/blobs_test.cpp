// SPDX-License-Identifier: MIT
//
// Large blobs have pages of their own, which devices of this process take as they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "loadable/format/container.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "loadable_generated.h"
#include "nvdla/loadable.hpp"
#include "nvdla/network.hpp"
#include "unit/loadable/maker.hpp"
#include "unit/loadable/write/round_trip.hpp"

namespace nvdla {
namespace {

using loadable::Blob;
using loadable::Container;

constexpr std::size_t kLarge = 600'001;  // no whole pages

// The blobs of a small file, and after these the given ones.
std::vector<std::byte> file_with(const std::vector<std::vector<std::byte>>& more) {
  test::Maker maker;
  Container c = maker.container();
  for (const std::vector<std::byte>& bytes : more) {
    Blob blob;
    blob.name = "more-" + std::to_string(c.blobs.size());
    blob.data = bytes;
    c.blobs.push_back(std::move(blob));
  }
  return loadable::write_container(c);
}

std::vector<std::byte> numbers(std::size_t count, unsigned factor) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * factor >> 3);
  return bytes;
}

TEST(Blobs, AreWhatTheFileSays) {
  const std::vector<std::vector<std::byte>> more = {
      numbers(kLarge, 3), numbers(33, 5), numbers(9'000'000, 7), {}, numbers(5000, 11)};
  const Container c = loadable::parse_container(file_with(more));
  const std::size_t first = c.blobs.size() - more.size();
  for (std::size_t i = 0; i < more.size(); ++i) {
    const auto data = c.blobs[first + i].data;
    EXPECT_TRUE(std::equal(data.begin(), data.end(), more[i].begin(), more[i].end())) << i;
  }
}

TEST(Blobs, HavePagesThatEndWithZerosIfTheyAreLarge) {
  const Container c = loadable::parse_container(file_with({numbers(kLarge, 3), numbers(5000, 5)}));
  const Blob& large = c.blobs[c.blobs.size() - 2];
  ASSERT_NE(large.pages, nullptr);
  EXPECT_EQ(large.pages->data(), large.data.data());
  EXPECT_EQ(large.pages->size(), loadable::whole_pages(kLarge));
  EXPECT_TRUE(std::all_of(large.pages->data() + kLarge, large.pages->data() + large.pages->size(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
  EXPECT_EQ(c.blobs.back().pages, nullptr);
}

// Makes the blob one of the bytes of another one, which comes before it.
void share(std::vector<std::byte>& file, std::size_t blob, std::size_t other) {
  const auto* const blobs =
      loadable::fb::GetLoadable(reinterpret_cast<const std::uint8_t*>(file.data()))->blobs();
  const auto at = [&](std::size_t i) { return blobs->Get(static_cast<flatbuffers::uoffset_t>(i)); };
  auto* const table =
      const_cast<flatbuffers::Table*>(reinterpret_cast<const flatbuffers::Table*>(at(blob)));
  ASSERT_TRUE(table->SetPointer(loadable::fb::Blob::VT_DATA,
                                reinterpret_cast<const std::uint8_t*>(at(other)->data())));
  ASSERT_TRUE(table->SetField<std::uint64_t>(loadable::fb::Blob::VT_SIZE, at(other)->size(), 0));
}

TEST(Blobs, MayShareBytes) {
  // The file's memory is given back in steps, and each of these blobs is longer than a step.
  const std::vector<std::byte> bytes = numbers(8 * kLarge, 3);
  std::vector<std::byte> file = file_with({bytes, numbers(8 * kLarge, 5), numbers(20, 7)});
  const std::size_t count = loadable::parse_container(file).blobs.size();
  share(file, count - 2, count - 3);
  const Container c = loadable::parse_container(file);
  for (const std::size_t i : {count - 3, count - 2}) {
    const auto data = c.blobs[i].data;
    EXPECT_TRUE(std::equal(data.begin(), data.end(), bytes.begin(), bytes.end())) << i;
  }
}

// A small file could have a machine's memory filled otherwise.
TEST(Blobs, ThatShareBytesAreNotMultiplied) {
  const std::vector<std::byte> bytes = numbers(kLarge, 3);
  std::vector<std::byte> file = file_with({bytes, numbers(20, 5), numbers(20, 7)});
  const std::size_t count = loadable::parse_container(file).blobs.size();
  for (const std::size_t blob : {count - 2, count - 1}) share(file, blob, count - 3);
  const Container c = loadable::parse_container(file);
  for (std::size_t i = count - 3; i < count; ++i) {
    EXPECT_EQ(c.blobs[i].pages, nullptr) << i;
    EXPECT_EQ(c.blobs[i].data.data(), c.blobs[count - 1].data.data()) << i;
    EXPECT_EQ(c.blobs[i].data.size(), kLarge) << i;
  }
}

TEST(Blobs, OfConstantsAreTheDevicesMemory) {
  constexpr std::uint32_t kChannels = 1024, kOutputs = 512;
  const auto weights = test::random_elements<std::int8_t>(kChannels * kOutputs, 3);
  Network network;
  FullyConnected layer{.name = "full", .outputs = kOutputs, .weights = weights};
  layer.output = {.scale = 1, .shift = 9};
  network.output(network.fully_connected(network.input("in", Shape{kChannels, 1, 1}), layer),
                 "out");
  const Loadable loadable = Loadable::load(test::saved_file(network, "nv_small"));
  const auto& blobs = loadable.impl().container.blobs;
  const auto large = std::find_if(blobs.begin(), blobs.end(),
                                  [](const Blob& blob) { return blob.pages != nullptr; });
  ASSERT_NE(large, blobs.end());

  const auto input = test::random_elements<std::int8_t>(kChannels, 4);
  std::vector<std::int8_t> expected(kOutputs), found(kOutputs);
  const auto run = [&](Request request, std::vector<std::int8_t>& results) {
    request.write("in", Layout::kNchw, input);
    request.run();
    request.read("out", Layout::kNchw, results);
  };
  run(network.build(Device::open("model:nv_small")), expected);
  const std::vector<std::byte> before(large->data.begin(), large->data.end());
  {
    const CompiledNetwork one = loadable.compile(Device::open("model:nv_small"));
    const CompiledNetwork other = loadable.compile(Device::open("model:nv_small"));
    EXPECT_EQ(large->pages.use_count(), 3);
    for (const CompiledNetwork& network_of_file : {one, other}) {
      run(network_of_file.create_request(), found);
      EXPECT_EQ(found, expected);
    }
  }
  EXPECT_EQ(large->pages.use_count(), 1);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), large->data.begin(), large->data.end()));
}

}  // namespace
}  // namespace nvdla
