// SPDX-License-Identifier: MIT
//
// The wire: what QEMU sends is understood, what it would never send is refused in words.
#include "emulator/device/message.hpp"

#include "fakes.hpp"

namespace nvdla::emulator {
namespace {

class MessageTest : public testing::Test {
 protected:
  // What receive() says about `wire`, sent whole and followed by the end of the stream.
  std::string error(const Wire& wire, const std::vector<int>& descriptors = {}) {
    SocketPair sockets;
    wire.send(sockets.qemu.get(), descriptors);
    sockets.qemu.close();
    try {
      if (!receive(sockets.server.get())) return "end of stream";
    } catch (const ProtocolError& problem) {
      return problem.what();
    }
    return "accepted";
  }
};

TEST_F(MessageTest, ReadsConfigAccesses) {
  SocketPair sockets;
  Wire::config(Command::kConfigWrite, 0x10, 0xfeb80000, 4).send(sockets.qemu.get());
  const auto message = receive(sockets.server.get());
  ASSERT_TRUE(message);
  EXPECT_EQ(message->command, Command::kConfigWrite);
  const auto access = std::get<ConfigAccess>(message->body);
  EXPECT_EQ(access.address, 0x10u);
  EXPECT_EQ(access.value, 0xfeb80000u);
  EXPECT_EQ(access.length, 4u);
}

TEST_F(MessageTest, ReadsBarAccesses) {
  SocketPair sockets;
  Wire::bar(Command::kBarWrite, 0xfeb81004, 0x1122334455667788, 8).send(sockets.qemu.get());
  const auto message = receive(sockets.server.get());
  ASSERT_TRUE(message);
  const auto access = std::get<BarAccess>(message->body);
  EXPECT_EQ(access.address, 0xfeb81004u);
  EXPECT_EQ(access.value, 0x1122334455667788u);
  EXPECT_EQ(access.size, 8u);
  EXPECT_TRUE(access.memory);
}

TEST_F(MessageTest, TakesMemoryWithItsDescriptors) {
  SocketPair sockets;
  const SharedMemory memory(8192);
  Wire::sysmem({{0x0, 0xa0000, 0}, {0x100000, 0x1000, 0x1000}})
      .send(sockets.qemu.get(), {memory.file(), memory.file()});
  const auto message = receive(sockets.server.get());
  ASSERT_TRUE(message);
  const auto& ranges = std::get<std::vector<MemoryRange>>(message->body);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[1].address, 0x100000u);
  EXPECT_EQ(ranges[1].size, 0x1000u);
  EXPECT_EQ(ranges[1].offset, 0x1000u);
  EXPECT_GE(ranges[1].file.get(), 0);
  EXPECT_NE(ranges[1].file.get(), memory.file());
}

TEST_F(MessageTest, TakesAnEmptyMemoryMap) {
  SocketPair sockets;
  Wire::sysmem({}).send(sockets.qemu.get());
  const auto message = receive(sockets.server.get());
  ASSERT_TRUE(message);
  EXPECT_TRUE(std::get<std::vector<MemoryRange>>(message->body).empty());
}

TEST_F(MessageTest, AssemblesAMessageThatComesInPieces) {
  SocketPair sockets;
  std::thread qemu([&] {
    Wire().i32(3).zeros(2).send(sockets.qemu.get());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    Wire().zeros(2).u64(12).u32(0x2c).send(sockets.qemu.get());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    Wire().u32(0).i32(2).send(sockets.qemu.get());
  });
  const auto message = receive(sockets.server.get());
  qemu.join();
  ASSERT_TRUE(message);
  EXPECT_EQ(std::get<ConfigAccess>(message->body).address, 0x2cu);
}

TEST_F(MessageTest, EndsBetweenMessagesQuietly) {
  SocketPair sockets;
  sockets.qemu.close();
  EXPECT_FALSE(receive(sockets.server.get()));
}

TEST_F(MessageTest, RefusesWhatEndsTooEarly) {
  EXPECT_EQ(error(Wire().i32(3)), "the stream ends after 4 bytes of a header of 16");
  EXPECT_EQ(error(Wire::header(3, 12).zeros(11)),
            "PCI_CFGREAD: the stream ends after 11 bytes of a payload of 12");
}

TEST_F(MessageTest, RefusesUnknownCommands) {
  EXPECT_EQ(error(Wire::header(8, 0)), "unknown command 8: QEMU 7.2 sends 0 to 7");
  EXPECT_EQ(error(Wire::header(-1, 0)), "unknown command -1: QEMU 7.2 sends 0 to 7");
  EXPECT_EQ(error(Wire::header(1, 8).u64(0)), "RET received: the device process only sends it");
}

TEST_F(MessageTest, RefusesWrongSizes) {
  EXPECT_EQ(error(Wire::header(4, 23)), "BAR_WRITE: payload of 23 bytes, 24 are right");
  EXPECT_EQ(error(Wire::header(7, 1)), "DEVICE_RESET: payload of 1 bytes, 0 are right");
  EXPECT_EQ(error(Wire::header(0, 0xffffffffffffffff)),
            "SYNC_SYSMEM: payload of 18446744073709551615 bytes, 192 are right");
}

TEST_F(MessageTest, RefusesWrongNumbersOfDescriptors) {
  const SharedMemory memory(4096);
  const int file = memory.file();
  EXPECT_EQ(error(Wire::header(6, 0)), "SET_IRQFD: 0 descriptors, 2 to 2 are right");
  EXPECT_EQ(error(Wire::header(7, 0), {file}), "DEVICE_RESET: 1 descriptors, 0 to 0 are right");
  EXPECT_EQ(error(Wire::sysmem({}), std::vector<int>(9, file)),
            "more than 8 descriptors with one message");
}

TEST_F(MessageTest, RefusesWrongLengths) {
  EXPECT_EQ(error(Wire::config(Command::kConfigRead, 0, 0, 3)),
            "configuration access of 3 bytes: 1, 2 or 4 are right");
  EXPECT_EQ(error(Wire::config(Command::kConfigRead, 0, 0, -4)),
            "configuration access of -4 bytes: 1, 2 or 4 are right");
  EXPECT_EQ(error(Wire::bar(Command::kBarRead, 0, 0, 0)),
            "register access of 0 bytes: 1, 2, 4 or 8 are right");
  EXPECT_EQ(error(Wire::bar(Command::kBarRead, 0, 0, 16)),
            "register access of 16 bytes: 1, 2, 4 or 8 are right");
}

TEST_F(MessageTest, RefusesImpossibleMemory) {
  const SharedMemory memory(4096);
  EXPECT_EQ(error(Wire::sysmem({{0x1000, 0, 0}}), {memory.file()}),
            "SYNC_SYSMEM: range 0 is empty");
  EXPECT_EQ(error(Wire::sysmem({{0xfffffffffffff000, 0x2000, 0}}), {memory.file()}),
            "SYNC_SYSMEM: range 0, 0xfffffffffffff000 + 0x2000, leaves 64 bits");
  EXPECT_EQ(error(Wire::sysmem({{0, 0x1000, -4096}}), {memory.file()}),
            "SYNC_SYSMEM: range 0 has offset -4096");
}

TEST_F(MessageTest, Replies) {
  SocketPair sockets;
  reply(sockets.server.get(), 0x1122334455667788);
  std::array<unsigned char, 24> bytes;
  ASSERT_EQ(::recv(sockets.qemu.get(), bytes.data(), bytes.size(), MSG_WAITALL), 24);
  const std::array<unsigned char, 24> expected = {1,    0,    0,    0,    0,    0,    0,    0,
                                                  8,    0,    0,    0,    0,    0,    0,    0,
                                                  0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
  EXPECT_EQ(bytes, expected);
}

TEST_F(MessageTest, AnswersNobodyWithoutComplaint) {
  SocketPair sockets;
  sockets.qemu.close();
  EXPECT_NO_THROW(reply(sockets.server.get(), 0));
}

}  // namespace
}  // namespace nvdla::emulator
