// SPDX-License-Identifier: MIT
#include "model/core/memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace nvdla::model {
namespace {

// Large, because a mapping ends with its page; untouched parts of a page cost nothing, since
// calloc leaves them to the kernel's zero page.
constexpr std::uint64_t kPageBytes = std::uint64_t{1} << 20;

// Reads of pages that were never written return this page. It stays zero: map() returns it for
// reads only.
alignas(64) std::byte zero_page[kPageBytes];

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
    table[i] = value;
  }
  return table;
}

constexpr auto kCrcTable = make_crc_table();

// Calls `piece(page number, offset in page, offset in range, size)` for each page of a range.
template <typename Piece>
void for_each_piece(std::uint64_t address, std::uint64_t size, Piece piece) {
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t at = address + done;
    const std::uint64_t offset = at % kPageBytes;
    const std::uint64_t count = std::min(kPageBytes - offset, size - done);
    piece(at / kPageBytes, offset, done, count);
    done += count;
  }
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
  std::uint32_t value = ~seed;
  for (const std::byte byte : bytes)
    value = kCrcTable[(value ^ std::to_integer<std::uint32_t>(byte)) & 0xff] ^ (value >> 8);
  return ~value;
}

Memory::Space& Memory::space(Ram ram) noexcept {
  return pages_[spaces_ == Spaces::kShared ? 0 : static_cast<std::size_t>(ram)];
}

const Memory::Space& Memory::space(Ram ram) const noexcept {
  return pages_[spaces_ == Spaces::kShared ? 0 : static_cast<std::size_t>(ram)];
}

Memory::Page* Memory::page(Ram ram, std::uint64_t number) {
  Page& page = space(ram)[number];
  if (!page.bytes) {
    page.bytes.reset(static_cast<std::byte*>(std::calloc(kPageBytes, 1)));
    if (!page.bytes) throw std::bad_alloc();
  }
  return &page;
}

void Memory::touched(Ram ram, std::uint64_t address, std::uint64_t size) {
  ++clock_;
  for_each_piece(address, size,
                 [&](std::uint64_t number, std::uint64_t, std::uint64_t, std::uint64_t) {
                   const auto found = space(ram).find(number);
                   if (found != space(ram).end()) found->second.generation = clock_;
                 });
}

void Memory::load(Ram ram, std::uint64_t address, std::span<const std::byte> bytes) {
  for_each_piece(
      address, bytes.size(),
      [&](std::uint64_t number, std::uint64_t offset, std::uint64_t at, std::uint64_t count) {
        std::memcpy(page(ram, number)->bytes.get() + offset, bytes.data() + at, count);
      });
  touched(ram, address, bytes.size());
}

void Memory::fill(Ram ram, std::uint64_t address, std::uint64_t size, std::byte value) {
  for_each_piece(
      address, size,
      [&](std::uint64_t number, std::uint64_t offset, std::uint64_t, std::uint64_t count) {
        // Zeroing what was never written needs no page.
        if (value == std::byte{0} && !space(ram).contains(number)) return;
        std::memset(page(ram, number)->bytes.get() + offset, std::to_integer<int>(value), count);
      });
  touched(ram, address, size);
}

void Memory::read(Ram ram, std::uint64_t address, std::span<std::byte> bytes) const {
  for_each_piece(
      address, bytes.size(),
      [&](std::uint64_t number, std::uint64_t offset, std::uint64_t at, std::uint64_t count) {
        const auto found = space(ram).find(number);
        const std::byte* from = found == space(ram).end() ? zero_page : found->second.bytes.get();
        std::memcpy(bytes.data() + at, from + offset, count);
      });
}

std::vector<std::byte> Memory::read(Ram ram, std::uint64_t address, std::uint64_t size) const {
  std::vector<std::byte> bytes(size);
  read(ram, address, bytes);
  return bytes;
}

std::uint32_t Memory::crc(Ram ram, std::uint64_t address, std::uint64_t size) const {
  std::uint32_t value = 0;
  for_each_piece(
      address, size,
      [&](std::uint64_t number, std::uint64_t offset, std::uint64_t, std::uint64_t count) {
        const auto found = space(ram).find(number);
        const std::byte* from = found == space(ram).end() ? zero_page : found->second.bytes.get();
        value = crc32({from + offset, count}, value);
      });
  return value;
}

void Memory::clear() noexcept {
  for (Space& pages : pages_) pages.clear();
  ++clock_;
}

Mapping Memory::map(Ram ram, std::uint64_t address, std::uint64_t, bool write) noexcept {
  const std::uint64_t offset = address % kPageBytes;
  std::byte* bytes = zero_page;
  if (write) {
    try {
      bytes = page(ram, address / kPageBytes)->bytes.get();
    } catch (const std::bad_alloc&) {
      return {};
    }
  } else if (const auto found = space(ram).find(address / kPageBytes); found != space(ram).end()) {
    bytes = found->second.bytes.get();
  }
  return {bytes + offset, kPageBytes - offset};
}

std::uint64_t Memory::generation(Ram ram, std::uint64_t address,
                                 std::uint64_t size) const noexcept {
  // The clock moves before a page is stamped, so the newest stamp of a range names its state. A
  // page that appears is stamped with a new value too, and never disappears but by clear(), after
  // which all stamps are newer.
  std::uint64_t newest = 1;
  for_each_piece(address, size,
                 [&](std::uint64_t number, std::uint64_t, std::uint64_t, std::uint64_t) {
                   const auto found = space(ram).find(number);
                   if (found != space(ram).end())
                     newest = std::max(newest, found->second.generation);
                 });
  return newest;
}

void Memory::written(Ram ram, std::uint64_t address, std::uint64_t size) noexcept {
  touched(ram, address, size);
}

}  // namespace nvdla::model
