// SPDX-License-Identifier: MIT
#include "tools/replay/error.hpp"

#include <fmt/format.h>

namespace nvdla::replay {
namespace {

std::string locate(std::string_view file, unsigned line, std::string_view message) {
  return line ? fmt::format("{}:{}: {}", file, line, message)
              : fmt::format("{}: {}", file, message);
}

}  // namespace

Error::Error(std::string_view file, unsigned line, std::string_view message)
    : UsageError(locate(file, line, message)) {}

}  // namespace nvdla::replay
