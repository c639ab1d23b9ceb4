// SPDX-License-Identifier: MIT
#include "emulator/device/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "tools/common/print.hpp"

namespace nvdla::emulator {

void Child::start(std::vector<std::string> command, std::span<const int> inherited) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);

  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  for (const int number : inherited) ::fcntl(number, F_SETFD, 0);
  ::execvp(arguments[0], arguments.data());
  program::print(stderr, "{}: {}\n", arguments[0], std::strerror(errno));
  ::_exit(127);
}

Child::~Child() {
  if (pid_ < 0) return;
  kill();
  wait();
}

void Child::kill() noexcept {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

int Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace nvdla::emulator
