// SPDX-License-Identifier: MIT
//
// Reports of a line as a level of it.
#include "backend/registers/mmio/interrupt.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>

#include "support/descriptor.hpp"

namespace nvdla::mmio_test {
namespace {

using detail::Descriptor;
using std::chrono::milliseconds;

// As the kernel does: reports the line once, when it is heard and up.
class Line final : public detail::Interrupt {
 public:
  explicit Line(const int (&ends)[2])
      : Interrupt(ends[0], sizeof(std::uint32_t)), read_(ends[0]), write_(ends[1]) {}

  void set(bool up) {
    up_ = up;
    if (up_ && heard_) report();
  }

 private:
  void listen() override {
    heard_ = true;
    if (up_) report();
  }
  void report() {
    heard_ = false;
    const std::uint32_t count = ++count_;
    ASSERT_EQ(::write(write_.get(), &count, sizeof(count)), 4);
  }

  Descriptor read_, write_;
  bool up_ = false, heard_ = false;
  std::uint32_t count_ = 0;
};

class Interrupts : public testing::Test {
 protected:
  static Line make() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    return Line(ends);
  }
  Line line_ = make();
};

TEST_F(Interrupts, AreALevel) {
  EXPECT_FALSE(line_.wait(milliseconds(1)));
  line_.set(true);
  EXPECT_TRUE(line_.wait(milliseconds(0)));
  // Nobody has cleared it.
  EXPECT_TRUE(line_.wait(milliseconds(0)));
  line_.set(false);
  EXPECT_FALSE(line_.wait(milliseconds(1)));
}

TEST_F(Interrupts, OfBeforeAreForgotten) {
  EXPECT_FALSE(line_.wait(milliseconds(0)));
  line_.set(true);
  line_.set(false);
  EXPECT_FALSE(line_.wait(milliseconds(1)));
  line_.set(true);
  EXPECT_TRUE(line_.wait(milliseconds(1)));
}

TEST_F(Interrupts, AreNotWaitedForAfterTheTime) {
  EXPECT_FALSE(line_.wait(milliseconds(-1)));
  EXPECT_FALSE(line_.wait(std::chrono::nanoseconds::min()));
}

}  // namespace
}  // namespace nvdla::mmio_test
