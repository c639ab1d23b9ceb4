// SPDX-License-Identifier: MIT
//
// Interrupts over the qtest socket, with a QEMU that answers as it is told.
#include "emulator/device/qtest.hpp"

#include <cstdio>
#include <cstdlib>

#include "emulator/device/log.hpp"
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

constexpr const char* kLine = "ioapic unnamed-gpio-in 20";
// For a QEMU that answers: it may be as slow as it likes.
constexpr std::chrono::minutes kPatience{4};

TEST(QtestTest, SendsInOrderAndSettles) {
  SocketPair sockets;
  FakeQemu qemu(std::move(sockets.qemu), {"OK 0x1\n"});
  Qtest qtest(std::move(sockets.server), kLine, kPatience);
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
  Qtest qtest(std::move(sockets.server), kLine, kPatience);
  qtest.level(true);
  qtest.level(false);
  qtest.settle();
  EXPECT_EQ(qemu.lines(),
            "set_irq_in ioapic unnamed-gpio-in 20 1\n"
            "set_irq_in ioapic unnamed-gpio-in 20 0\n");
}

// Longer than a test may take, unless it knows that nobody will answer.
TEST(QtestTest, DoesNotWaitForAQemuThatIsGone) {
  SocketPair sockets;
  Qtest qtest(std::move(sockets.server), kLine, std::chrono::hours(1));
  sockets.qemu.close();
  qtest.level(true);
  qtest.settle();
  qtest.level(false);
  qtest.settle();
}

TEST(QtestTest, GivesUpOnAQemuThatDoesNotAnswer) {
  SocketPair sockets;
  char* said = nullptr;
  std::size_t size = 0;
  log_sink = ::open_memstream(&said, &size);
  {
    Qtest qtest(std::move(sockets.server), kLine, std::chrono::milliseconds(20));
    qtest.level(true);
    qtest.settle();
  }
  std::fclose(std::exchange(log_sink, nullptr));
  EXPECT_STREQ(said, "nvdla-device-server: QEMU has not taken an interrupt within 20 ms\n");
  std::free(said);
}

}  // namespace
}  // namespace nvdla::emulator
