// SPDX-License-Identifier: MIT
//
// Exit statuses, the same for all programs, and the exceptions that stand for them.
#ifndef NVDLA_TOOLS_FILES_STATUS_HPP
#define NVDLA_TOOLS_FILES_STATUS_HPP

#include <stdexcept>

namespace nvdla::program {

enum ExitStatus : int {
  kSuccess = 0,
  kDifferent = 1,  // something that was checked is not as expected
  kUsage = 2,      // wrong arguments, or input that cannot be used
  kDevice = 3,     // no such device, or it failed
  kOutput = 4,     // what was asked for could not be written
  kInternal = 5,   // the program itself failed
};

// Returns the status of a program that did two things: a failure outweighs a difference, which
// outweighs input that cannot be used.
constexpr ExitStatus worse(ExitStatus a, ExitStatus b) {
  const auto rank = [](ExitStatus status) {
    constexpr ExitStatus kFromBelow[] = {kSuccess, kUsage, kDifferent, kOutput, kDevice, kInternal};
    int found = 0;
    while (kFromBelow[found] != status) ++found;
    return found;
  };
  return rank(a) < rank(b) ? b : a;
}

// The text for --help, which README.md repeats.
inline constexpr const char* kExitStatusHelp =
    "Exit status: 0 success, 1 something that was checked is not as expected,\n"
    "2 wrong arguments or input that cannot be used, 3 no such device or it failed,\n"
    "4 output could not be written, 5 the program itself failed.";

// Thrown for wrong arguments, or input that cannot be used.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown if output could not be written.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_FILES_STATUS_HPP
