// SPDX-License-Identifier: MIT
//
/// @file
/// Memory that a device reaches. One buffer per tensor or blob of weights: a program can touch
/// nothing but what is bound to its slots, so small buffers are the protection.
#ifndef NVDLA_BUFFER_HPP
#define NVDLA_BUFFER_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "nvdla/types/export.hpp"
#include "nvdla/types/memory.hpp"

namespace nvdla {

/// The accesses that a mapping allows.
enum class MapMode : std::uint32_t {
  kRead = 1,       ///< reading only; nothing is made visible to the device afterwards
  kWrite = 2,      ///< writing only
  kReadWrite = 3,  ///< both
};

namespace detail {
class BufferImpl;
struct Handles;
}  // namespace detail

/// CPU access to a buffer, from construction to destruction: the destructor makes what was written
/// visible to the device. Do not hold one across a submission that uses the buffer.
class NVDLA_API Map {
 public:
  Map(Map&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Map& operator=(Map&&) noexcept;       ///< Moves; the source is empty afterwards.
  Map(const Map&) = delete;             ///< There is one owner.
  Map& operator=(const Map&) = delete;  ///< There is one owner.
  ~Map();                               ///< Ends the access.

  /// The bytes of the buffer; aligned to 64.
  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
  /// Returns the first byte of the buffer, which is aligned to 64.
  std::byte* data() const noexcept { return data_; }
  /// Returns the number of bytes.
  std::size_t size() const noexcept { return size_; }
  /// The buffer as numbers of the device's layout.
  template <typename T>
  std::span<T> as() const noexcept {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }

 private:
  friend class Buffer;
  Map(std::shared_ptr<detail::BufferImpl> buffer, MapMode mode);
  void close() noexcept;

  std::shared_ptr<detail::BufferImpl> buffer_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  MapMode mode_ = MapMode::kRead;
};

/// A handle: copies name the same memory, which lives as long as any handle, map or submission.
/// Zeroed when allocated.
class NVDLA_API Buffer {
 public:
  /// An empty handle; all calls but assignment and bool fail on it.
  Buffer() noexcept;
  Buffer(const Buffer&) noexcept;             ///< Copies the handle.
  Buffer(Buffer&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Buffer& operator=(const Buffer&) noexcept;  ///< Copies the handle.
  Buffer& operator=(Buffer&&) noexcept;       ///< Moves; the source is empty afterwards.
  ~Buffer();                                  ///< Releases what it refers to.

  /// True unless the handle is empty.
  explicit operator bool() const noexcept { return impl_ != nullptr; }
  /// Bytes, as asked for.
  std::uint64_t size() const noexcept;
  Memory memory() const noexcept;  ///< Returns the memory interface that reaches the buffer.
  /// Throws kInvalidArgument on an empty handle.
  Map map(MapMode mode = MapMode::kReadWrite) const;

 private:
  friend struct detail::Handles;
  explicit Buffer(std::shared_ptr<detail::BufferImpl> impl) noexcept;
  std::shared_ptr<detail::BufferImpl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_BUFFER_HPP
