// SPDX-License-Identifier: MIT
//
// Runs a command as a user does: what it prints and how it exits.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace nvdla::test {

struct CommandResult {
  int status = -1;     // of its exit; -1 if it did not get that far
  std::string output;  // with what goes to standard error
};

inline CommandResult run_command(const std::string& program, const std::string& arguments) {
  CommandResult result;
  const std::string command = program + " " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> buffer;
  for (std::size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    result.output.append(buffer.data(), count);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

}  // namespace nvdla::test
