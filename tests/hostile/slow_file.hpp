// SPDX-License-Identifier: MIT
//
// Memory of an ordinary user whose pages never come: a file that the user's own FUSE file system
// serves, mapped.
#ifndef NVDLA_TESTS_HOSTILE_SLOW_FILE_HPP
#define NVDLA_TESTS_HOSTILE_SLOW_FILE_HPP

#include <cstdint>
#include <functional>
#include <string>

namespace nvdla::hostile {

// `SlowFile` gives a process without privileges a user namespace and a mount namespace of its own.
// Another process of its process group serves the file system until it is killed.
class SlowFile {
 public:
  // Calls `touched` when somebody, the kernel included, touches the page.
  explicit SlowFile(std::function<void()> touched);
  ~SlowFile();
  SlowFile(const SlowFile&) = delete;
  SlowFile& operator=(const SlowFile&) = delete;

  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(page_); }

 private:
  void serve();
  void answer(std::uint64_t unique, int error, const void* body, std::size_t bytes) const;

  std::function<void()> touched_;
  int fuse_ = -1;
  void* page_ = nullptr;
};

}  // namespace nvdla::hostile

#endif  // NVDLA_TESTS_HOSTILE_SLOW_FILE_HPP
