// SPDX-License-Identifier: MIT
//
// A whole session with a fake QEMU: start, enumeration, a layer, the end.
#include <linux/pci_regs.h>

#include "emulator/device/function.hpp"
#include "fakes.hpp"

namespace nvdla::emulator {
namespace {

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    function_.start(std::make_unique<FakeAccelerator>(function_.bus()));
    server_ = std::thread([this] {
      try {
        serve(sockets_.server.get(), function_);
        end_ = "end of stream";
      } catch (const ProtocolError& problem) {
        end_ = problem.what();
      }
      sockets_.server.close();
    });
  }
  ~ServerTest() override { end(); }

  // Sends a message and takes its answer.
  std::uint64_t ask(const Wire& wire) {
    wire.send(sockets_.qemu.get());
    std::uint64_t words[3] = {};
    EXPECT_EQ(::recv(sockets_.qemu.get(), words, sizeof(words), MSG_WAITALL),
              static_cast<ssize_t>(sizeof(words)));
    EXPECT_EQ(words[0] & 0xffffffff, 1u);
    EXPECT_EQ(words[1], 8u);
    return words[2];
  }
  std::uint64_t config(std::uint32_t address, std::int32_t length) {
    return ask(Wire::config(Command::kConfigRead, address, 0, length));
  }
  void set_config(std::uint32_t address, std::uint32_t value, std::int32_t length) {
    ask(Wire::config(Command::kConfigWrite, address, value, length));
  }
  std::string end() {
    ::shutdown(sockets_.qemu.get(), SHUT_WR);
    if (server_.joinable()) server_.join();
    return end_;
  }

  SocketPair sockets_;
  SharedMemory memory_{0x2000};
  FakePort port_;
  Function function_{*nvdla_hw_find("nv_small"), port_, Function::Options{}};
  std::thread server_;
  std::string end_;
};

TEST_F(ServerTest, RunsARequest) {
  // As QEMU 7.2 begins.
  const int qemu = sockets_.qemu.get();
  Wire::sysmem({{0x100000, 0x2000, 0}}).send(qemu, {memory_.file()});
  Wire::header(6, 0).send(qemu, {memory_.file(), memory_.file()});
  EXPECT_EQ(config(0x00, 2), 0x1234u);
  EXPECT_EQ(config(0x0a, 2), 0x1200u);
  EXPECT_EQ(config(0x2e, 2), 0x0001u);
  for (std::uint32_t i = 0; i <= 6; ++i) {
    set_config(0x10 + 4 * i, 0xffffffff, 4);
    EXPECT_EQ(config(0x10 + 4 * i, 4), i == 0 ? 0xfffc0000u : 0u);
    set_config(0x10 + 4 * i, 0, 4);
  }
  ask(Wire::header(7, 0));

  // As a driver goes on.
  set_config(PCI_BASE_ADDRESS_0, 0xfeb80000, 4);
  set_config(PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
  const auto read = [this](std::uint32_t offset) {
    return ask(Wire::bar(Command::kBarRead, 0xfeb80000 + offset, 0, 4));
  };
  EXPECT_EQ(read(FakeAccelerator::kGlb), FakeAccelerator::kVersion);
  ask(Wire::bar(Command::kBarWrite, 0xfeb80000 + FakeAccelerator::kStart, 0x100800, 4));
  ASSERT_TRUE(eventually([&] { return read(FakeAccelerator::kStatus) != 0; }));
  EXPECT_EQ(memory_.data()[0x800], std::byte{0x5a});
  EXPECT_EQ(port_.seen(), std::vector<std::string>{"high"});

  // The memory map changes, the old one is gone.
  Wire::sysmem({}).send(qemu);
  ask(Wire::bar(Command::kBarWrite, 0xfeb80000 + FakeAccelerator::kStatus, 1, 4));
  ask(Wire::bar(Command::kBarWrite, 0xfeb80000 + FakeAccelerator::kStart, 0x100900, 4));
  ASSERT_TRUE(eventually([&] { return read(FakeAccelerator::kStatus) != 0; }));
  EXPECT_EQ(memory_.data()[0x900], std::byte{0});
  EXPECT_EQ(end(), "end of stream");
}

TEST_F(ServerTest, StopsAtTheFirstBadMessage) {
  EXPECT_EQ(config(0x00, 2), 0x1234u);
  Wire::header(42, 0).send(sockets_.qemu.get());
  EXPECT_EQ(end(), "unknown command 42: QEMU 7.2 sends 0 to 7");
}

TEST_F(ServerTest, StopsAtMemoryThatIsNotThere) {
  Wire::sysmem({{0x0, 0x4000, 0}}).send(sockets_.qemu.get(), {memory_.file()});
  EXPECT_EQ(end(), "memory 0x0: 0x4000 bytes at 0x0 of a file of 0x2000");
}

}  // namespace
}  // namespace nvdla::emulator
