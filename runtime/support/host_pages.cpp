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
// Multiples of this are whole pages of any processor.
constexpr std::size_t kSmallPage = std::size_t{64} << 10;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::byte* map(std::size_t bytes) {
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(pages);
}

}  // namespace

HostPages::HostPages(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const std::size_t whole = round_up(bytes, kSmallPage);
  if (bytes < kHugePage) {
    data_ = map(whole);
    return;
  }
  // Begins with a huge page, and gives back what lies before it and behind the end.
  std::byte* const pages = map(whole + kHugePage);
  const auto address = reinterpret_cast<std::uintptr_t>(pages);
  const std::size_t before = round_up(address, kHugePage) - address;
  if (before != 0) munmap(pages, before);
  munmap(pages + before + whole, kHugePage - before);
  data_ = pages + before;
  // A wish: where there are none it works as well.
  madvise(data_, whole, MADV_HUGEPAGE);
}

HostPages::~HostPages() {
  if (data_ != nullptr) munmap(data_, round_up(size_, kSmallPage));
}

void HostPages::release_before(std::size_t end) noexcept {
  // Huge pages are given back as a whole or not at all.
  const auto address = reinterpret_cast<std::uintptr_t>(data_);
  const std::size_t whole = (address + end) / kHugePage * kHugePage;
  if (whole > address) madvise(data_, whole - address, MADV_DONTNEED);
}

}  // namespace nvdla::detail
