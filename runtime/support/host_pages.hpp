// SPDX-License-Identifier: MIT
//
// Memory of whole pages, which the system clears when they are first touched and takes back at
// once.
#ifndef NVDLA_SUPPORT_HOST_PAGES_HPP
#define NVDLA_SUPPORT_HOST_PAGES_HPP

#include <cstddef>
#include <utility>

namespace nvdla::detail {

class HostPages {
 public:
  HostPages() = default;
  // Zeroed. Throws std::bad_alloc.
  explicit HostPages(std::size_t bytes);
  HostPages(HostPages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  HostPages& operator=(HostPages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~HostPages();

  // Aligned to a page; nullptr of no bytes.
  std::byte* data() const noexcept { return data_; }
  // Returns the number of bytes that the constructor was given.
  std::size_t size() const noexcept { return size_; }
  // Gives the system back what it can of the first bytes, which are zero or what they were from
  // then on.
  void release_before(std::size_t end) noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_HOST_PAGES_HPP
