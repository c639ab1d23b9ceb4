// SPDX-License-Identifier: MIT
//
// The wire of vhost-user: what User-mode Linux sends is understood, the rest is refused in words.
#include "emulator/vhost/vhost_message.hpp"

#include "fakes.hpp"

namespace nvdla::emulator {
namespace {

// A region of SET_MEM_TABLE, as the guest lays it out.
Wire& add_region(Wire& wire, std::uint64_t address, std::uint64_t size, std::uint64_t user,
                 std::uint64_t offset) {
  return wire.u64(address).u64(size).u64(user).u64(offset);
}

Wire mem_table(std::uint32_t count, std::uint32_t room) {
  return Wire::vhost(VhostRequest::kSetMemTable, 8 + 32 * room).u32(count).u32(0);
}

std::optional<VhostMessage> received(const Wire& wire, const std::vector<int>& descriptors = {}) {
  SocketPair sockets;
  wire.send(sockets.qemu.get(), descriptors);
  sockets.qemu.close();
  return receive_vhost(sockets.server.get());
}

std::string error(const Wire& wire, const std::vector<int>& descriptors = {}) {
  try {
    return received(wire, descriptors) ? "accepted" : "end of stream";
  } catch (const ProtocolError& problem) {
    return problem.what();
  }
}

TEST(VhostMessage, ReadsNumbersAndQueues) {
  auto message = received(Wire::vhost(VhostRequest::kSetFeatures, 8).u64(0x140000000));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->request, VhostRequest::kSetFeatures);
  EXPECT_EQ(std::get<std::uint64_t>(message->body), 0x140000000u);

  message = received(Wire::vring(VhostRequest::kSetVringNum, 1, 256));
  ASSERT_TRUE(message);
  EXPECT_EQ(std::get<VringState>(message->body).index, 1u);
  EXPECT_EQ(std::get<VringState>(message->body).number, 256u);

  message = received(Wire::rings({1, 0x1000, 0x3000, 0x2000}));
  ASSERT_TRUE(message);
  const auto& rings = std::get<VringAddress>(message->body);
  EXPECT_EQ(rings.index, 1u);
  EXPECT_EQ(rings.descriptors, 0x1000u);
  EXPECT_EQ(rings.used, 0x3000u);
  EXPECT_EQ(rings.available, 0x2000u);
}

TEST(VhostMessage, TakesDescriptors) {
  const SharedMemory memory(0x2000);
  auto message = received(Wire::vhost(VhostRequest::kSetSlaveReqFd, 0), {memory.file()});
  ASSERT_TRUE(message);
  EXPECT_GE(std::get<Descriptor>(message->body).get(), 0);

  // Room for two regions, of which there is one: as User-mode Linux sends it.
  Wire table = mem_table(1, 2);
  add_region(table, 0x1000, 0x1000, 0x1000, 0x1000);
  message = received(add_region(table, 0, 0, 0, 0), {memory.file()});
  ASSERT_TRUE(message);
  const auto& ranges = std::get<std::vector<MemoryRange>>(message->body);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].address, 0x1000u);
  EXPECT_EQ(ranges[0].size, 0x1000u);
  EXPECT_EQ(ranges[0].offset, 0x1000u);
  EXPECT_GE(ranges[0].file.get(), 0);
}

TEST(VhostMessage, AnswersAndCalls) {
  SocketPair sockets;
  reply_vhost(sockets.server.get(), VhostRequest::kGetFeatures, 0x1122334455667788);
  call_vhost(sockets.server.get(), 1);
  std::array<unsigned char, 40> bytes{};
  ASSERT_EQ(::recv(sockets.qemu.get(), bytes.data(), bytes.size(), MSG_WAITALL), 40);
  const Wire expected = Wire::vhost(VhostRequest::kGetFeatures, 8, 5)
                            .u64(0x1122334455667788)
                            .u32(4)
                            .u32(1)
                            .u32(8)
                            .u32(1)
                            .u32(0);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.bytes().begin()));
}

TEST(VhostMessage, RefusesWhatIsNoMessage) {
  EXPECT_EQ(error(Wire()), "end of stream");
  EXPECT_EQ(error(Wire().u32(1).zeros(3)), "the stream ends after 7 bytes of a header of 12");
  EXPECT_EQ(error(Wire().u32(24).u32(1).u32(0)),
            "vhost-user request 24: unknown, or of a feature that the device does not offer");
  EXPECT_EQ(error(Wire::vhost(VhostRequest::kSetOwner, 0, 9)),
            "SET_OWNER: flags 0x9, 0x1 are right: version 1, no reply asked for");
  EXPECT_EQ(error(Wire::vhost(VhostRequest::kSetFeatures, 4).u32(0)),
            "SET_FEATURES: payload of 4 bytes, 8 are right");
  EXPECT_EQ(error(Wire::vhost(VhostRequest::kSetFeatures, 8).u32(0)),
            "SET_FEATURES: the stream ends after 4 bytes of a payload of 8");
  EXPECT_EQ(error(Wire::vhost(VhostRequest::kSetSlaveReqFd, 0)),
            "SET_SLAVE_REQ_FD: 0 descriptors, 1 are right");
}

TEST(VhostMessage, RefusesMemoryThatCannotBe) {
  const SharedMemory memory(0x1000);
  EXPECT_EQ(error(Wire::vhost(VhostRequest::kSetMemTable, 39).zeros(39)),
            "SET_MEM_TABLE: payload of 39 bytes, 8 and 32 for each of at most 8 regions are right");
  EXPECT_EQ(error(Wire::vhost(VhostRequest::kSetMemTable, 0xffffffe8)),
            "SET_MEM_TABLE: payload of 4294967272 bytes, 8 and 32 for each of at most 8 regions "
            "are right");
  EXPECT_EQ(error(mem_table(2, 1).zeros(32), {memory.file(), memory.file()}),
            "SET_MEM_TABLE: 2 regions with 2 descriptors in a payload for 1");
  EXPECT_EQ(error(mem_table(1, 1).zeros(32)),
            "SET_MEM_TABLE: 1 regions with 0 descriptors in a payload for 1");
  const auto region = [&](std::uint64_t address, std::uint64_t size, std::uint64_t user,
                          std::uint64_t offset) {
    Wire table = mem_table(1, 1);
    return error(add_region(table, address, size, user, offset), {memory.file()});
  };
  EXPECT_EQ(region(0, 0, 0, 0), "SET_MEM_TABLE: region 0 is empty");
  EXPECT_EQ(region(~std::uint64_t{0}, 2, ~std::uint64_t{0}, 0),
            "SET_MEM_TABLE: region 0, 0x2 bytes at 0xffffffffffffffff, 0x0 of its file, leaves 64 "
            "bits");
  EXPECT_EQ(region(0, 2, 0, ~std::uint64_t{0}),
            "SET_MEM_TABLE: region 0, 0x2 bytes at 0x0, 0xffffffffffffffff of its file, leaves 64 "
            "bits");
  EXPECT_EQ(region(0x1000, 0x1000, 0x2000, 0),
            "SET_MEM_TABLE: region 0 is at 0x1000 for the guest and 0x2000 for its user, where "
            "User-mode Linux has one address");
}

}  // namespace
}  // namespace nvdla::emulator
