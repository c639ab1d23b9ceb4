// SPDX-License-Identifier: MIT
#include "backend/registers/mmio/mmio_memory.hpp"

#include <cstring>
#include <utility>

namespace nvdla::detail {
namespace {

using Word = std::uint64_t;

// Pieces are whole pages on both sides.
void copy_words(void* to, const void* from, std::uint64_t bytes) {
  auto* const target = static_cast<volatile Word*>(to);
  const auto* const source = static_cast<const volatile Word*>(from);
  for (std::uint64_t i = 0; i < bytes / sizeof(Word); ++i) target[i] = source[i];
}

}  // namespace

SharedPiece::SharedPiece(DmaPool& pool, const DmaRange& range, std::uint64_t bytes, Memory memory)
    : BareMemory(range.data, bytes, range.address, memory), piece_(pool, range) {
  std::memset(range.data, 0, static_cast<std::size_t>(range.bytes));
}

CopiedPiece::CopiedPiece(DmaPool& pool, const DmaRange& range, std::uint64_t bytes, Memory memory)
    : CopiedPiece(pool, range, bytes, memory, Pages(range.bytes)) {}

CopiedPiece::CopiedPiece(DmaPool& pool, const DmaRange& range, std::uint64_t bytes, Memory memory,
                         Pages pages)
    : BareMemory(pages.data(), bytes, range.address, memory),
      copy_(std::move(pages)),
      piece_(pool, range) {
  sync_for_device();
}

void CopiedPiece::sync_for_device() noexcept {
  copy_words(piece_.range().data, copy_.data(), piece_.range().bytes);
}

void CopiedPiece::sync_for_cpu() noexcept {
  copy_words(copy_.data(), piece_.range().data, piece_.range().bytes);
}

}  // namespace nvdla::detail
