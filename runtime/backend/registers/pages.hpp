// SPDX-License-Identifier: MIT
//
// Pages of this process: private, or of a file that others map, too.
#ifndef NVDLA_BACKEND_REGISTERS_PAGES_HPP
#define NVDLA_BACKEND_REGISTERS_PAGES_HPP

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "support/check.hpp"

namespace nvdla::detail {

class Pages {
 public:
  // Zeroed and private, or those of `file` from its beginning. Throws kNoMemory.
  explicit Pages(std::uint64_t bytes, int file = -1) : bytes_(static_cast<std::size_t>(bytes)) {
    const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* const data = bytes_ != bytes
                           ? MAP_FAILED
                           : ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, flags, file, 0);
    if (data == MAP_FAILED) {
      throw_error(ErrorCode::kNoMemory, "no memory for a buffer of {} bytes", bytes);
    }
    data_ = static_cast<std::byte*>(data);
  }
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Pages& operator=(Pages&&) = delete;
  ~Pages() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  std::byte* data() const noexcept { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_PAGES_HPP
