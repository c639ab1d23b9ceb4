// SPDX-License-Identifier: MIT
//
// What a person at a terminal is told, and that files and pipes are not.
#include "tools/common/progress.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace nvdla::program {
namespace {

constexpr std::string_view kGone = "\r\x1b[K";

// Standard error is something else as long as this lives.
class StandardError {
 public:
  explicit StandardError(int file) : before_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    dup2(file, STDERR_FILENO);
  }
  ~StandardError() {
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(before_);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

 private:
  int before_;
};

// Waits for the first line, or as long as it is certain that none comes.
std::string all_of(int file) {
  std::string text;
  std::array<char, 256> part;
  for (ssize_t size; (size = read(file, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(size));
  return text;
}

class OnATerminal : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(openpty(&master_, &slave_, nullptr, nullptr, nullptr), 0);
    ASSERT_EQ(fcntl(master_, F_SETFL, O_NONBLOCK), 0);
  }
  void TearDown() override {
    close(master_);
    close(slave_);
  }
  // What comes until something has, and then what has come meanwhile.
  std::string first_text() const {
    std::string text;
    while ((text = all_of(master_)).empty()) std::this_thread::yield();
    return text;
  }

  int master_ = -1, slave_ = -1;
};

TEST_F(OnATerminal, SaysWhatGoesOnAndTakesItBack) {
  std::string text;
  {
    const StandardError terminal(slave_);
    {
      Progress progress;
      progress.building("building")({"layer 11 'conv3'", 11, 45});
      text = first_text();
      EXPECT_TRUE(text.starts_with(std::string(kGone) + "building, 12 of 45: ")) << text;
      EXPECT_NE(text.find(" s"), std::string::npos) << text;
      EXPECT_NE(text.find("layer 11 'conv3'"), std::string::npos) << text;
    }
    text += all_of(master_);
  }
  EXPECT_TRUE(text.ends_with(kGone)) << text;
}

TEST_F(OnATerminal, LinesAreNotBroken) {
  const winsize size = {.ws_row = 25, .ws_col = 30, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(ioctl(slave_, TIOCSWINSZ, &size), 0);
  const StandardError terminal(slave_);
  Progress progress;
  progress.building("building")({"layer 11 'stage2/block3/convolution3'", 11, 45});
  const std::string text = first_text();
  EXPECT_TRUE(text.starts_with(std::string(kGone) + "building, 1")) << text;
  EXPECT_LT(text.size() - kGone.size(), 30U) << text;
}

TEST_F(OnATerminal, ShortWorkSaysNothing) {
  {
    const StandardError terminal(slave_);
    Progress progress;
    progress.say("running");
  }
  EXPECT_EQ(all_of(master_), "");
}

TEST_F(OnATerminal, NothingIsSaidWhereItIsNotWanted) {
  {
    const StandardError terminal(slave_);
    Progress progress(false);
    progress.say("running");
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  }
  EXPECT_EQ(all_of(master_), "");
}

TEST(Progress, FilesAndPipesGetNothing) {
  std::array<int, 2> ends;
  ASSERT_EQ(pipe2(ends.data(), O_NONBLOCK), 0);
  {
    const StandardError into(ends[1]);
    Progress progress;
    progress.say("running");
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  }
  EXPECT_EQ(all_of(ends[0]), "");
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace nvdla::program
