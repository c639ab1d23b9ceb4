// SPDX-License-Identifier: MIT
//
// What is wrong with a case or trace: file, line, what, and what would be right.
#ifndef NVDLA_TOOLS_REPLAY_ERROR_HPP
#define NVDLA_TOOLS_REPLAY_ERROR_HPP

#include <string_view>

#include "tools/files/status.hpp"

namespace nvdla::replay {

// what() is "file:line: message"; line 0 means the file as a whole.
class Error : public program::UsageError {
 public:
  Error(std::string_view file, unsigned line, std::string_view message);
};

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_ERROR_HPP
