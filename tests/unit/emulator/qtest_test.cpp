// SPDX-License-Identifier: MIT
//
// Interrupts over the qtest socket, with a QEMU that answers as it is told.
#include "tools/emulator/qtest.hpp"

#include "fakes.hpp"

namespace nvdla::emulator {
namespace {

// Answers every line with the next of `answers`, then with OK; notes the lines.
class FakeQemu {
 public:
  FakeQemu(Descriptor socket, std::vector<std::string> answers)
      : socket_(std::move(socket)), answers_(std::move(answers)), thread_([this] { work(); }) {}
  ~FakeQemu() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }

  std::string lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  void work() {
    char byte;
    while (::recv(socket_.get(), &byte, 1, 0) == 1) {
      std::string answer = "OK\n";
      {
        const std::lock_guard lock(mutex_);
        lines_ += byte;
        if (byte != '\n') continue;
        if (next_ < answers_.size()) answer = answers_[next_++];
      }
      // Byte by byte: a line may come in pieces.
      for (const char letter : answer) ::send(socket_.get(), &letter, 1, MSG_NOSIGNAL);
    }
  }

  Descriptor socket_;
  std::vector<std::string> answers_;
  std::size_t next_ = 0;
  mutable std::mutex mutex_;
  std::string lines_;
  std::thread thread_;
};

TEST(QtestTest, SendsInOrderAndSettles) {
  SocketPair sockets;
  FakeQemu qemu(std::move(sockets.qemu), {"OK 0x1\n"});
  Qtest qtest(std::move(sockets.server), "ioapic unnamed-gpio-in 20");
  qtest.message(0xfee00000, 0x4021);
  qtest.level(true);
  qtest.level(false);
  qtest.settle();
  EXPECT_EQ(qemu.lines(),
            "writel 0xfee00000 0x4021\n"
            "set_irq_in ioapic unnamed-gpio-in 20 1\n"
            "set_irq_in ioapic unnamed-gpio-in 20 0\n");
}

TEST(QtestTest, GoesOnAfterARefusal) {
  SocketPair sockets;
  FakeQemu qemu(std::move(sockets.qemu), {"FAIL Unknown device\n"});
  Qtest qtest(std::move(sockets.server), "ioapic unnamed-gpio-in 20");
  qtest.level(true);
  qtest.level(false);
  qtest.settle();
  EXPECT_EQ(qemu.lines(),
            "set_irq_in ioapic unnamed-gpio-in 20 1\n"
            "set_irq_in ioapic unnamed-gpio-in 20 0\n");
}

TEST(QtestTest, DoesNotWaitForAQemuThatIsGone) {
  SocketPair sockets;
  Qtest qtest(std::move(sockets.server), "ioapic unnamed-gpio-in 20");
  sockets.qemu.close();
  qtest.level(true);
  qtest.settle();
  qtest.level(false);
  qtest.settle();
}

TEST(QtestTest, GivesUpOnAQemuThatDoesNotAnswer) {
  SocketPair sockets;
  Qtest qtest(std::move(sockets.server), "ioapic unnamed-gpio-in 20");
  qtest.level(true);
  const auto before = std::chrono::steady_clock::now();
  qtest.settle();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
}

}  // namespace
}  // namespace nvdla::emulator
