// SPDX-License-Identifier: MIT
#include "support/host_pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace nvdla::detail {
namespace {

// Most processors have pages of this size. To touch one costs the kernel as much as a few small
// ones.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

HostPages::HostPages(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(pages);
  // A wish: where there are none it works as well.
  if (bytes >= kHugePage) madvise(pages, bytes, MADV_HUGEPAGE);
}

HostPages::~HostPages() {
  if (data_ != nullptr) munmap(data_, size_);
}

void HostPages::release_before(std::size_t end) noexcept {
  // Huge pages are given back as a whole or not at all.
  const auto address = reinterpret_cast<std::uintptr_t>(data_);
  const std::size_t whole = (address + end) / kHugePage * kHugePage;
  if (whole > address) madvise(data_, whole - address, MADV_DONTNEED);
}

}  // namespace nvdla::detail
