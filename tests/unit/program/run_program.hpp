// SPDX-License-Identifier: MIT
//
// Programs as a user runs them: by a shell, with what they print kept apart.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace nvdla::test {

struct ProgramResult {
  int status = -1;  // of its exit; -1 if it did not get that far
  std::string out, err;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A line of shell, killed when it takes minutes; `folder` takes what it prints. Redirections in
// the line itself come first.
inline ProgramResult run_line(const std::string& folder, const std::string& line) {
  const std::string out = folder + "/.out", err = folder + "/.err", script = folder + "/.sh";
  std::ofstream(script) << "unset NVDLA_DEVICE\n" << line << "\n";
  const std::string command =
      "timeout 600 sh '" + script + "' </dev/null >'" + out + "' 2>'" + err + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
}

// How a program ends whose standard output is a pipe that nobody reads, as of waitpid().
inline int run_into_closed_pipe(const std::string& command, bool ignore_signal,
                                const std::string& err) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  close(ends[0]);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGPIPE, ignore_signal ? SIG_IGN : SIG_DFL);
    dup2(ends[1], STDOUT_FILENO);
    const std::string line = "exec " + command + " 2>'" + err + "' </dev/null";
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  return status;
}

}  // namespace nvdla::test
