// SPDX-License-Identifier: MIT
#ifndef NVDLA_COMPILER_LOWER_CONSTANT_POOL_HPP
#define NVDLA_COMPILER_LOWER_CONSTANT_POOL_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace nvdla::detail {

// `ConstantPool` collects the constants of one layer, streams one behind the other.
class ConstantPool {
 public:
  explicit ConstantPool(std::uint32_t slot) : slot_(slot) {}

  std::uint32_t slot() const noexcept { return slot_; }
  // Makes room for a stream, aligned to the widest that any of them asks for; returns its offset.
  std::uint64_t add(std::uint64_t bytes);
  // Returns the bytes from the stream at `offset` on; they are valid until the next add().
  std::span<std::byte> at(std::uint64_t offset) {
    return std::span(bytes_).subspan(static_cast<std::size_t>(offset));
  }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // Takes back all that was added since the pool had so many bytes.
  void cut(std::size_t bytes) { bytes_.resize(bytes); }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::uint32_t slot_;
  std::vector<std::byte> bytes_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_CONSTANT_POOL_HPP
