// SPDX-License-Identifier: MIT
//
// Memory that a device reaches. One buffer per tensor or blob of weights: a program can touch
// nothing but what is bound to its slots, so small buffers are the protection.
#ifndef NVDLA_BUFFER_HPP
#define NVDLA_BUFFER_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "nvdla/export.hpp"

namespace nvdla {

// Which memory interface reaches a buffer (enum nvdla_memory).
enum class Memory : std::uint32_t {
  kDram = NVDLA_MEMORY_DRAM,
  kSram = NVDLA_MEMORY_SRAM,  // DeviceInfo::has_sram
};

// What a mapping is for.
enum class MapMode : std::uint32_t { kRead = 1, kWrite = 2, kReadWrite = 3 };

namespace detail {
class BufferImpl;
struct Handles;
}  // namespace detail

// CPU access to a buffer, from construction to destruction: the destructor makes what was written
// visible to the device. Do not hold one across a submission that uses the buffer.
class NVDLA_API Map {
 public:
  Map(Map&&) noexcept;
  Map& operator=(Map&&) noexcept;
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;
  ~Map();

  // The bytes of the buffer; aligned to 64.
  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  // The buffer as numbers of the device's layout.
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

// A handle: copies name the same memory, which lives as long as any handle, map or submission.
// Zeroed when allocated.
class NVDLA_API Buffer {
 public:
  // An empty handle; all calls but assignment and bool fail on it.
  Buffer() noexcept;
  Buffer(const Buffer&) noexcept;
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(const Buffer&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();

  explicit operator bool() const noexcept { return impl_ != nullptr; }
  // Bytes, as asked for.
  std::uint64_t size() const noexcept;
  Memory memory() const noexcept;
  // Throws kInvalidArgument on an empty handle.
  Map map(MapMode mode = MapMode::kReadWrite) const;

 private:
  friend struct detail::Handles;
  explicit Buffer(std::shared_ptr<detail::BufferImpl> impl) noexcept;
  std::shared_ptr<detail::BufferImpl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_BUFFER_HPP
