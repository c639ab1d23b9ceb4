// SPDX-License-Identifier: MIT
//
// Memory for what a call has and does not leave behind.
#ifndef NVDLA_SUPPORT_STACK_MEMORY_HPP
#define NVDLA_SUPPORT_STACK_MEMORY_HPP

#include <array>
#include <cstddef>
#include <memory_resource>

namespace nvdla::detail {

// For containers of std::pmr that live as long: so many bytes on the stack, then the heap.
template <std::size_t kBytes>
class StackMemory {
 public:
  StackMemory() = default;
  StackMemory(const StackMemory&) = delete;
  StackMemory& operator=(const StackMemory&) = delete;

  std::pmr::memory_resource* resource() noexcept { return &resource_; }

 private:
  alignas(std::max_align_t) std::array<std::byte, kBytes> bytes_;
  std::pmr::monotonic_buffer_resource resource_{bytes_.data(), kBytes};
};

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_STACK_MEMORY_HPP
