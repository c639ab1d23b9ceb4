// SPDX-License-Identifier: MIT
//
// Objects with threads, which a child of fork() does not have.
#ifndef NVDLA_SUPPORT_PROCESS_HPP
#define NVDLA_SUPPORT_PROCESS_HPP

#include <cstdint>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "support/check.hpp"

namespace nvdla::detail {

// Counts the fork() calls between a process and the first one that had this library.
std::uint32_t process_number() noexcept;

// Remembers in which process it was made.
class MadeHere {
 public:
  // False in a child of fork().
  bool is_here() const noexcept { return number_ == process_number(); }
  // Throws kNotAvailable in a child of fork(); `what` names the object.
  void check(std::string_view what) const {
    if (is_here()) return;
    throw_error(
        ErrorCode::kNotAvailable,
        "{} is of the process that called fork(), whose threads a child does not have: open the "
        "device in the child",
        what);
  }

 private:
  std::uint32_t number_ = process_number();
};

// Starts a thread that does what `purpose` says. Throws kNoMemory where the system has none.
template <typename Body>
std::thread start_thread(std::string_view purpose, Body body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    throw_error(ErrorCode::kNoMemory,
                "no thread {}: {}; end other threads, or raise the limit (ulimit -u, pids.max)",
                purpose, error.code().message());
  }
}

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_PROCESS_HPP
