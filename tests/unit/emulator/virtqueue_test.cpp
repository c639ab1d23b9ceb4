// SPDX-License-Identifier: MIT
//
// A virtqueue in a guest's memory: chains come and go; damaged ones are refused in words.
#include "emulator/vhost/virtqueue.hpp"

#include "ring.hpp"

namespace nvdla::emulator {
namespace {

constexpr std::uint64_t kBase = 0x100000;
constexpr std::uint16_t kNext = 1;
constexpr std::uint16_t kWrite = 2;
constexpr std::uint16_t kIndirect = 4;

class VirtqueueTest : public testing::Test {
 protected:
  VirtqueueTest() {
    guest_.set_bus_master(true);
    std::vector<MemoryRange> ranges;
    ranges.push_back(memory_.range(kBase, 0x20000));
    guest_.replace(std::move(ranges));
    queue_.set_size(4);
    queue_.set_rings(ring_.addresses(0));
    queue_.set_next(0);
  }

  template <typename Call>
  std::string error(Call call) {
    try {
      call();
    } catch (const ProtocolError& problem) {
      return problem.what();
    }
    return "accepted";
  }
  std::string take_error() {
    queue_.set_next(0);
    queue_.start();
    return error([this] { queue_.take(); });
  }

  Counters counters_;
  SharedMemory memory_{0x20000};
  GuestMemory guest_{counters_};
  GuestRing ring_{memory_, kBase, 0, 4};
  Virtqueue queue_{guest_};
};

TEST_F(VirtqueueTest, PassesChainsAround) {
  queue_.start();
  EXPECT_FALSE(queue_.take());
  std::memcpy(memory_.data() + 0x1000, "abcdefgh", 8);
  ring_.describe(2, kBase + 0x1000, 3, kNext, 0);
  ring_.describe(0, kBase + 0x1004, 2, kNext, 3);
  ring_.describe(3, kBase + 0x1100, 8, kWrite);
  // More often than there are entries.
  for (std::uint16_t round = 0; round < 9; ++round) {
    ring_.offer(2);
    const auto chain = queue_.take();
    ASSERT_TRUE(chain);
    EXPECT_EQ(chain->read, (std::vector<unsigned char>{'a', 'b', 'c', 'e', 'f'}));
    EXPECT_EQ(chain->room(), 8u);
    const unsigned char answer = static_cast<unsigned char>(round + 1);
    chain->fill(std::span(&answer, 1));
    EXPECT_EQ(memory_.data()[0x1100], std::byte{answer});
    EXPECT_EQ(ring_.used(), round);
    queue_.give_back(*chain, 1);
    EXPECT_EQ(ring_.used(), round + 1);
    EXPECT_EQ(ring_.used_entry(round), std::make_pair(2u, 1u));
    EXPECT_FALSE(queue_.take());
  }
}

TEST_F(VirtqueueTest, DoesNothingUnlessStarted) {
  ring_.describe(0, kBase + 0x1000, 3, 0);
  ring_.offer(0);
  EXPECT_FALSE(queue_.take());
  queue_.start();
  queue_.stop();
  EXPECT_FALSE(queue_.take());
}

TEST_F(VirtqueueTest, RefusesRingsThatCannotBe) {
  const std::string size = " entries, a power of two up to 32768 is right";
  EXPECT_EQ(error([&] { queue_.set_size(3); }), "SET_VRING_NUM: 3" + size);
  EXPECT_EQ(error([&] { queue_.set_size(0); }), "SET_VRING_NUM: 0" + size);
  EXPECT_EQ(error([&] { queue_.set_size(65536); }), "SET_VRING_NUM: 65536" + size);
  EXPECT_EQ(error([&] { queue_.set_next(65536); }), "SET_VRING_BASE: 65536, indices have 16 bits");
  const auto starts = [&](VringAddress rings) {
    queue_.set_rings(rings);
    return error([&] { queue_.start(); });
  };
  VringAddress rings = ring_.addresses(1);
  rings.descriptors = kBase + 0x1ffd0;
  EXPECT_EQ(starts(rings), "queue 1: descriptors at 0x11ffd0 has 48 bytes of 64 in memory");
  rings = ring_.addresses(1);
  rings.available = 0;
  EXPECT_EQ(starts(rings), "queue 1: available ring at 0x0 has 0 bytes of 14 in memory");
  rings = ring_.addresses(1);
  rings.used += 2;
  EXPECT_EQ(starts(rings), "queue 1: used ring at 0x100302, a multiple of 4 is right");
  Virtqueue unknown(guest_);
  EXPECT_EQ(error([&] { unknown.start(); }),
            "SET_VRING_ENABLE: the size of the queue is not known, SET_VRING_NUM first");
}

TEST_F(VirtqueueTest, RefusesDamagedChains) {
  ring_.describe(0, kBase + 0x1000, 8, kNext, 4);
  ring_.offer(0);
  EXPECT_EQ(take_error(), "queue 0: descriptor 4 of a queue of 4");
  ring_.describe(0, kBase + 0x1000, 8, kNext, 1);
  ring_.describe(1, kBase + 0x1000, 8, kNext, 0);
  EXPECT_EQ(take_error(), "queue 0: the chain of descriptor 0 has no end");
  ring_.describe(0, kBase + 0x1000, 16, kIndirect);
  EXPECT_EQ(take_error(), "queue 0: descriptor 0 is indirect, which the device does not offer");
  ring_.describe(0, 0x1000, 8, kWrite);
  EXPECT_EQ(take_error(), "queue 0: a buffer at 0x1000, where there is no memory");
  // Begins in memory and does not end there.
  ring_.describe(0, kBase + 0x1fff8, 16, 0);
  EXPECT_EQ(take_error(), "queue 0: a buffer at 0x120000, where there is no memory");
  ring_.describe(0, kBase, 0x10000, kNext, 1);
  ring_.describe(1, kBase, 1, 0);
  EXPECT_EQ(take_error(), "queue 0: a chain of more than 65536 bytes");
  ring_.set_available(5);
  EXPECT_EQ(take_error(), "queue 0: 5 chains are available in a queue of 4");
}

}  // namespace
}  // namespace nvdla::emulator
