// SPDX-License-Identifier: MIT
#include "compiler/lower/constant_pool.hpp"

namespace nvdla::detail {
namespace {

constexpr std::uint64_t kStreamAlign = 256;

}  // namespace

std::uint64_t ConstantPool::add(std::uint64_t bytes) {
  const std::uint64_t offset = bytes_.size();
  const auto size =
      static_cast<std::size_t>((offset + bytes + kStreamAlign - 1) / kStreamAlign * kStreamAlign);
  // Weights come first, and much smaller operands follow: these do not move them.
  if (size > bytes_.capacity()) bytes_.reserve(size + size / 4);
  bytes_.resize(size);
  return offset;
}

}  // namespace nvdla::detail
