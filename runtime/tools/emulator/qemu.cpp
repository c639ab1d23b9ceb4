// SPDX-License-Identifier: MIT
#include "tools/emulator/qemu.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace nvdla::emulator {
namespace {

// {ours, the child's}; both close on exec until the child says otherwise.
std::pair<Descriptor, Descriptor> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

std::vector<std::string> command_line(const Machine& machine) {
  std::vector<std::string> command = {
      machine.program,
      "-machine",
      "q35,memory-backend=ram0",
      "-accel",
      "tcg,thread=multi",
      "-cpu",
      "max",
      "-smp",
      "1",
      "-m",
      machine.memory,
      "-object",
      fmt::format("memory-backend-memfd,id=ram0,size={},share=on", machine.memory),
      "-nodefaults",
      "-no-user-config",
      "-display",
      "none",
      "-no-reboot",
      "-serial",
      "stdio",
      "-kernel",
      machine.kernel,
      "-append",
      machine.append};
  if (!machine.initrd.empty()) command.insert(command.end(), {"-initrd", machine.initrd});
  return command;
}

Qemu::Qemu(std::vector<std::string> command) {
  auto [device, device_child] = socket_pair();
  auto [qtest, qtest_child] = socket_pair();
  device_ = std::move(device);
  qtest_ = std::move(qtest);
  // The name of the character device must be exactly `qtest`.
  command.insert(command.end(),
                 {"-chardev", fmt::format("socket,id=qtest,fd={}", qtest_child.get()), "-qtest",
                  "chardev:qtest", "-qtest-log", "/dev/null", "-device",
                  fmt::format("x-pci-proxy-dev,id=dla0,fd={},addr={}", device_child.get(), kSlot)});
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);

  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::fcntl(device_child.get(), F_SETFD, 0);
  ::fcntl(qtest_child.get(), F_SETFD, 0);
  ::execvp(arguments[0], arguments.data());
  std::perror(arguments[0]);
  ::_exit(127);
}

Qemu::~Qemu() {
  if (pid_ < 0) return;
  kill();
  wait();
}

void Qemu::kill() noexcept {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

int Qemu::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace nvdla::emulator
