// SPDX-License-Identifier: MIT
#include "hostile.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "../emulator/seen.hpp"
#include "tools/emulator/fault_capability.h"

namespace nvdla::hostile {
namespace {

std::uint64_t number(const char* name, std::uint64_t fallback) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::stoull(text) : fallback;
}

bool is_long() { return std::getenv("NVDLA_HOSTILE_LONG") != nullptr; }

}  // namespace

Clock::duration duration(unsigned seconds, unsigned long_seconds) {
  return std::chrono::seconds(number("NVDLA_HOSTILE_SECONDS", is_long() ? long_seconds : seconds));
}

unsigned rounds(unsigned count, unsigned long_count) {
  return static_cast<unsigned>(number("NVDLA_HOSTILE_ROUNDS", is_long() ? long_count : count));
}

std::uint64_t seed() { return number("NVDLA_HOSTILE_SEED", std::random_device{}()); }

int collect(std::vector<int>& files, std::vector<int>& errors, double seconds) {
  int result = 0;
  for (const int file : files) {
    pollfd waiting{file, POLLIN, 0};
    if (result == 0 && ::poll(&waiting, 1, static_cast<int>(seconds * 1000)) == 1)
      errors.push_back(ioctl_test::fence_error(file));
    else
      result = EBUSY;
    ::close(file);
  }
  files.clear();
  return result;
}

pid_t spawn(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 99;
  try {
    status = work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  ::_exit(status);
}

int reap(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -errno;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Milestone::Milestone() { ioctl_test::must(::pipe(pipe_) == 0 ? 0 : errno, "pipe"); }

Milestone::~Milestone() {
  ::close(pipe_[0]);
  ::close(pipe_[1]);
}

void Milestone::reach() const {
  ioctl_test::must(::write(pipe_[1], "", 1) == 1 ? 0 : errno, "write");
}

void Milestone::wait() {
  // The end of the file once all writers are gone.
  ::close(pipe_[1]);
  pipe_[1] = -1;
  char byte = 0;
  ioctl_test::must(::read(pipe_[0], &byte, 1) == 1 ? 0 : EPIPE, "milestone");
}

void Hostile::SetUp() {
  seed_ = seed();
  std::printf("NVDLA_HOSTILE_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  std::fflush(stdout);
  find_device();
  ASSERT_GE(Node().fd(), 0) << "no node of the driver nvdla";
}

void Hostile::TearDown() {
  find_device();
  expect_service();
}

void Hostile::find_device() {
  faults_.reset();
  faults_ = std::make_unique<emulator_test::FaultControl>();
  faults_->clear();
}

void Hostile::wait_until_blocked() {
  // A reset takes the fault away, too.
  while ((faults_->get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_BLOCKED) == 0 &&
         faults_->get(NVDLA_FAULT_BLOCK) != 0)
    ::usleep(1000);
}

void Hostile::wait_until_ready(Client& client) {
  while (!emulator_test::has_ready_job(client.node().fd()) && client.state().resets == 0)
    ::usleep(1000);
}

void Hostile::go_on(std::uint32_t layers) {
  faults_->set(NVDLA_FAULT_BLOCK, layers == 0 ? 0 : layers + 1);
}

void Hostile::expect_service() {
  Client client(3);
  // What the dead had queued counts as their user's until the scheduler has come by.
  std::uint32_t done = 0;
  int error = 0;
  while ((error = client.try_start(done)) == EDQUOT) ::usleep(1000);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(client.end(done), 0);
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(client.state().resets, 0u);
}

}  // namespace nvdla::hostile
