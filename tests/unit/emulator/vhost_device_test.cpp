// SPDX-License-Identifier: MIT
//
// A whole session with a fake User-mode Linux: start, enumeration, a layer, interrupts, the end;
// and guests that say what cannot be.
#include "emulator/vhost/vhost_device.hpp"

#include <linux/pci_regs.h>
#include <linux/virtio_pcidev.h>
#include <poll.h>

#include "ring.hpp"

namespace nvdla::emulator {
namespace {

constexpr std::uint64_t kBase = 0x1000;
constexpr std::uint16_t kNext = 1;
constexpr std::uint16_t kWrite = 2;
constexpr std::uint32_t kBar = 0xf0000000;
// Offsets in the memory: rings, then buffers, then what the device writes.
constexpr std::uint64_t kCommand = 0x1000;
constexpr std::uint64_t kAnswer = 0x1800;
constexpr std::uint64_t kInterrupt = 0x1900;
constexpr std::uint64_t kOutput = 0x2000;

class VhostDeviceTest : public testing::Test {
 protected:
  VhostDeviceTest() {
    function_.start(std::make_unique<FakeAccelerator>(function_.bus()));
    server_ = std::thread([this] {
      try {
        device_.serve(sockets_.server.get(), function_);
        end_ = "end of stream";
      } catch (const ProtocolError& problem) {
        end_ = problem.what();
      }
      sockets_.server.close();
    });
  }
  ~VhostDeviceTest() override { end(); }

  void send(const Wire& wire, const std::vector<int>& descriptors = {}) {
    wire.send(sockets_.qemu.get(), descriptors);
  }
  std::uint64_t ask(VhostRequest request) {
    send(Wire::vhost(request, 0));
    std::array<unsigned char, 20> answer{};
    EXPECT_EQ(::recv(sockets_.qemu.get(), answer.data(), answer.size(), MSG_WAITALL), 20);
    return field<std::uint64_t>(answer, 12);
  }
  void set_memory() {
    send(Wire::vhost(VhostRequest::kSetMemTable, 40)
             .u32(1)
             .u32(0)
             .u64(kBase)
             .u64(0x3000)
             .u64(kBase)
             .u64(0),
         {memory_.file()});
  }
  // As virtio_uml of Linux 6.12 does.
  void connect() {
    send(Wire::vhost(VhostRequest::kSetOwner, 0));
    const std::uint64_t features = ask(VhostRequest::kGetFeatures);
    EXPECT_EQ(features, 0x140000000u);
    const std::uint64_t protocol = ask(VhostRequest::kGetProtocolFeatures);
    EXPECT_EQ(protocol, 0x4020u);
    send(Wire::vhost(VhostRequest::kSetProtocolFeatures, 8).u64(protocol));
    send(Wire::vhost(VhostRequest::kSetSlaveReqFd, 0), {calls_.qemu.get()});
    calls_.qemu.close();
    send(Wire::vhost(VhostRequest::kSetFeatures, 8).u64(features));
    set_memory();
    for (std::uint32_t i = 0; i < 2; ++i) {
      send(Wire::vring(VhostRequest::kSetVringNum, i, 4));
      send(Wire::vring(VhostRequest::kSetVringBase, i, 0));
      send(Wire::rings((i == 0 ? commands_ : interrupts_).addresses(i)));
    }
    for (std::uint32_t i = 0; i < 2; ++i) send(Wire::vring(VhostRequest::kSetVringEnable, i, 1));
  }

  // The device looks into its queues at other messages, too: what is offered may have stopped it
  // before the kick that announces it is sent. Who expects it to go on sees that it did not.
  void kick(std::uint32_t queue) {
    const std::vector<unsigned char> bytes =
        Wire::vring(VhostRequest::kVringKick, queue, 0).bytes();
    const ssize_t sent = ::send(sockets_.qemu.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return;
    ASSERT_EQ(sent, static_cast<ssize_t>(bytes.size()));
  }
  // Until the device has handled all that was sent so far.
  void settle() { ask(VhostRequest::kGetFeatures); }
  // Queues a command with the answer's room, and waits for it unless it is never answered.
  void start(std::uint8_t op, std::uint8_t bar, std::uint64_t address, std::uint32_t size,
             const std::vector<unsigned char>& data, std::uint32_t room) {
    virtio_pcidev_msg header{};
    header.op = op;
    header.bar = bar;
    header.addr = address;
    header.size = size;
    std::memcpy(memory_.data() + kCommand, &header, sizeof(header));
    std::copy(data.begin(), data.end(),
              reinterpret_cast<unsigned char*>(memory_.data()) + kCommand + sizeof(header));
    const auto length = static_cast<std::uint32_t>(sizeof(header) + data.size());
    commands_.describe(0, kBase + kCommand, length, room != 0 ? kNext : 0, 1);
    commands_.describe(1, kBase + kAnswer, room, kWrite);
    commands_.offer(0);
    kick(0);
  }
  std::uint64_t command(std::uint8_t op, std::uint64_t address, std::uint32_t size,
                        std::uint64_t value = 0) {
    const bool reads = op == VIRTIO_PCIDEV_OP_CFG_READ || op == VIRTIO_PCIDEV_OP_MMIO_READ;
    std::vector<unsigned char> data(reads ? 0 : 8);
    if (!reads) std::memcpy(data.data(), &value, sizeof(value));
    const std::uint16_t before = commands_.used();
    start(op, 0, address, size, data, reads ? 8 : 0);
    EXPECT_TRUE(eventually([&] { return commands_.used() != before; }));
    EXPECT_EQ(commands_.used_entry(before), std::make_pair(0u, reads ? size : 0u));
    std::uint64_t answer = 0;
    std::memcpy(&answer, memory_.data() + kAnswer, size);
    return answer;
  }
  std::uint64_t config(std::uint32_t address, std::uint32_t size) {
    return command(VIRTIO_PCIDEV_OP_CFG_READ, address, size);
  }
  void set_config(std::uint32_t address, std::uint32_t size, std::uint32_t value) {
    command(VIRTIO_PCIDEV_OP_CFG_WRITE, address, size, value);
  }
  std::uint64_t read(std::uint32_t offset, std::uint32_t size = 4) {
    return command(VIRTIO_PCIDEV_OP_MMIO_READ, offset, size);
  }
  void write(std::uint32_t offset, std::uint32_t value) {
    command(VIRTIO_PCIDEV_OP_MMIO_WRITE, offset, 4, value);
  }
  void enumerate() {
    connect();
    set_config(PCI_BASE_ADDRESS_0, 4, kBar);
    set_config(PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
  }

  // A buffer for interrupts; two fit beside each other.
  void offer_buffer(std::uint16_t index, std::uint32_t size = 20) {
    interrupts_.describe(index, kBase + kInterrupt + 32 * index, size, kWrite);
    interrupts_.offer(index);
    kick(1);
  }
  virtio_pcidev_msg interrupt(std::uint16_t index) {
    virtio_pcidev_msg header;
    std::memcpy(&header, memory_.data() + kInterrupt + 32 * index, sizeof(header));
    return header;
  }
  // That the device says queue 1 has news, once.
  void expect_call() {
    std::array<unsigned char, 20> call{};
    ASSERT_EQ(::recv(calls_.server.get(), call.data(), call.size(), MSG_WAITALL), 20);
    EXPECT_EQ(field<std::uint32_t>(call, 0), 4u);
    EXPECT_EQ(field<std::uint32_t>(call, 12), 1u);
  }

  std::string end() {
    ::shutdown(sockets_.qemu.get(), SHUT_WR);
    if (server_.joinable()) server_.join();
    return end_;
  }
  // For what makes the server stop.
  std::string stopped() {
    if (server_.joinable()) server_.join();
    return end_;
  }

  SocketPair sockets_;
  SocketPair calls_;
  SharedMemory memory_{0x3000};
  GuestRing commands_{memory_, kBase, 0, 4};
  GuestRing interrupts_{memory_, kBase, GuestRing::kBytes, 4};
  VhostDevice device_;
  Function function_{*nvdla_hw_find("nv_small"), device_, Function::Options{}};
  std::thread server_;
  std::string end_;
};

TEST_F(VhostDeviceTest, AnswersAccesses) {
  enumerate();
  EXPECT_EQ(config(0, 2), 0x1234u);
  EXPECT_EQ(config(0x2c, 8), 0x00011234u);
  EXPECT_EQ(config(0x100, 4), 0u);
  EXPECT_EQ(read(FakeAccelerator::kGlb), FakeAccelerator::kVersion);
  // Registers have words of 32 bits: what crosses them comes in pieces.
  EXPECT_EQ(read(0x1234, 2), 0x1234u);
  EXPECT_EQ(read(0x1238, 8), 0x0000123c00001238u);
  EXPECT_EQ(read(0x1236, 4), 0x12380000u);
  command(VIRTIO_PCIDEV_OP_MMIO_MEMSET, FakeAccelerator::kMask, 4, 0x5a);
  EXPECT_EQ(read(FakeAccelerator::kMask), 0x5a5a5a5au);
  EXPECT_EQ(end(), "end of stream");
}

TEST_F(VhostDeviceTest, ReachesMemoryAsConfigurationSpaceAllows) {
  enumerate();
  set_config(PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
  write(FakeAccelerator::kStart, kBase + kOutput);
  ASSERT_TRUE(eventually([&] { return read(FakeAccelerator::kStatus) != 0; }));
  EXPECT_EQ(memory_.data()[kOutput], std::byte{0});
  write(FakeAccelerator::kStatus, 1);
  set_config(PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
  write(FakeAccelerator::kStart, kBase + kOutput);
  ASSERT_TRUE(eventually([&] { return read(FakeAccelerator::kStatus) != 0; }));
  EXPECT_EQ(memory_.data()[kOutput], std::byte{0x5a});
}

TEST_F(VhostDeviceTest, SendsMessages) {
  enumerate();
  set_config(0x40 + PCI_MSI_ADDRESS_LO, 4, 0xa0000);
  set_config(0x40 + PCI_MSI_DATA_64, 2, 0x1234);
  set_config(0x40 + PCI_MSI_FLAGS, 2, PCI_MSI_FLAGS_ENABLE);
  offer_buffer(0);
  write(FakeAccelerator::kSet, 1);
  expect_call();
  EXPECT_EQ(interrupts_.used_entry(0), std::make_pair(0u, 18u));
  EXPECT_EQ(interrupt(0).op, VIRTIO_PCIDEV_OP_MSI);
  EXPECT_EQ(interrupt(0).size, 2u);
  EXPECT_EQ(interrupt(0).addr, 0xa0000u);
  EXPECT_EQ(memory_.data()[kInterrupt + 16], std::byte{0x34});
  EXPECT_EQ(memory_.data()[kInterrupt + 17], std::byte{0x12});
  // Two more without a buffer are one when there is one.
  for (int i = 0; i < 2; ++i) {
    write(FakeAccelerator::kStatus, 1);
    write(FakeAccelerator::kSet, 1);
  }
  offer_buffer(1);
  expect_call();
  offer_buffer(2);
  write(FakeAccelerator::kStatus, 1);
  EXPECT_EQ(interrupts_.used(), 2u);
}

TEST_F(VhostDeviceTest, SendsAnEdgeOfTheLine) {
  enumerate();
  offer_buffer(0);
  write(FakeAccelerator::kSet, 1);
  expect_call();
  EXPECT_EQ(interrupts_.used_entry(0), std::make_pair(0u, 16u));
  EXPECT_EQ(interrupt(0).op, VIRTIO_PCIDEV_OP_INT);
  EXPECT_EQ(interrupt(0).addr, 1u);
  // One that is over before there is a buffer never was.
  write(FakeAccelerator::kStatus, 1);
  write(FakeAccelerator::kSet, 1);
  write(FakeAccelerator::kStatus, 1);
  offer_buffer(1);
  read(0);
  EXPECT_EQ(interrupts_.used(), 1u);
}

TEST_F(VhostDeviceTest, ForgetsQueuesWithTheirMemory) {
  enumerate();
  set_memory();
  settle();
  start(VIRTIO_PCIDEV_OP_CFG_READ, 0, 0, 4, {}, 8);
  settle();
  EXPECT_EQ(commands_.used(), 2u) << "those of enumerate()";
  send(Wire::vring(VhostRequest::kSetVringEnable, 0, 1));
  EXPECT_TRUE(eventually([&] { return commands_.used() == 3; }));
}

TEST_F(VhostDeviceTest, RefusesFeaturesItDoesNotHave) {
  send(Wire::vhost(VhostRequest::kSetFeatures, 8).u64(0x150000000));
  EXPECT_EQ(stopped(),
            "SET_FEATURES: 0x150000000, all of what is offered, and needed, is 0x140000000");
}

TEST_F(VhostDeviceTest, RefusesToDoWithoutFeatures) {
  send(Wire::vhost(VhostRequest::kSetProtocolFeatures, 8).u64(0x20));
  EXPECT_EQ(stopped(),
            "SET_PROTOCOL_FEATURES: 0x20, all of what is offered, and needed, is 0x4020");
}

TEST_F(VhostDeviceTest, RefusesQueuesItDoesNotHave) {
  connect();
  kick(2);
  EXPECT_EQ(stopped(), "VRING_KICK: queue 2, there are 0 and 1");
}

TEST_F(VhostDeviceTest, RefusesMemoryThatIsNotThere) {
  send(Wire::vhost(VhostRequest::kSetMemTable, 40).u32(1).u32(0).u64(0).u64(0x4000).u64(0).u64(0),
       {memory_.file()});
  EXPECT_EQ(stopped(), "memory 0x0: 0x4000 bytes at 0x0 of a file of 0x3000");
}

TEST_F(VhostDeviceTest, RefusesUnknownCommands) {
  connect();
  start(VIRTIO_PCIDEV_OP_MSI, 0, 0, 4, {}, 8);
  EXPECT_EQ(stopped(), "PCI command 7: 1 to 5 are right, accesses to configuration space and BARs");
}

TEST_F(VhostDeviceTest, RefusesShortCommands) {
  connect();
  commands_.describe(0, kBase + kCommand, 15, 0);
  commands_.offer(0);
  kick(0);
  EXPECT_EQ(stopped(), "a PCI command of 15 bytes: its header has 16");
}

TEST_F(VhostDeviceTest, RefusesReadsWithoutRoom) {
  connect();
  start(VIRTIO_PCIDEV_OP_MMIO_READ, 0, 0, 9, {}, 8);
  EXPECT_EQ(stopped(), "a read of 9 bytes with room for 8");
}

TEST_F(VhostDeviceTest, RefusesWritesWithoutData) {
  connect();
  start(VIRTIO_PCIDEV_OP_CFG_WRITE, 0, 0, 4, {1, 2}, 0);
  EXPECT_EQ(stopped(), "a write of 4 bytes brings 2");
}

TEST_F(VhostDeviceTest, RefusesToSetMemoryToNothing) {
  connect();
  start(VIRTIO_PCIDEV_OP_MMIO_MEMSET, 0, 0, 4, {}, 0);
  EXPECT_EQ(stopped(), "a PCI command to set memory brings no byte");
}

TEST_F(VhostDeviceTest, RefusesToSetMoreThanThereIs) {
  connect();
  start(VIRTIO_PCIDEV_OP_MMIO_MEMSET, 0, 0, 0xffffffff, {1}, 0);
  EXPECT_EQ(stopped(), "a PCI command sets 4294967295 bytes: the BAR has 262144");
}

TEST_F(VhostDeviceTest, RefusesOtherBars) {
  connect();
  start(VIRTIO_PCIDEV_OP_MMIO_READ, 1, 0, 4, {}, 8);
  EXPECT_EQ(stopped(), "access to BAR 1: the function has BAR 0 only");
}

TEST_F(VhostDeviceTest, RefusesConfigurationSpaceThatIsNotThere) {
  connect();
  start(VIRTIO_PCIDEV_OP_CFG_READ, 0, 4094, 4, {}, 8);
  EXPECT_EQ(stopped(), "4 bytes of configuration space at 0xffe: it has 4096");
}

// Found on another thread than the one that has to say so.
TEST_F(VhostDeviceTest, RefusesSmallBuffersForInterrupts) {
  enumerate();
  offer_buffer(0, 8);
  write(FakeAccelerator::kStart, kBase + kOutput);
  EXPECT_EQ(stopped(), "a buffer of 8 bytes for interrupts: 18 are right");
}

}  // namespace
}  // namespace nvdla::emulator
