// SPDX-License-Identifier: MIT
#include "nvdla/buffer.hpp"

#include <utility>

#include "backend/backend.hpp"
#include "nvdla/types/memory.hpp"
#include "support/check.hpp"

namespace nvdla {

Buffer::Buffer() noexcept = default;
Buffer::Buffer(std::shared_ptr<detail::BufferImpl> impl) noexcept : impl_(std::move(impl)) {}
Buffer::Buffer(const Buffer&) noexcept = default;
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer& Buffer::operator=(const Buffer&) noexcept = default;
Buffer& Buffer::operator=(Buffer&&) noexcept = default;
Buffer::~Buffer() = default;

std::uint64_t Buffer::size() const noexcept { return impl_ == nullptr ? 0 : impl_->size(); }

Memory Buffer::memory() const noexcept {
  return impl_ == nullptr ? Memory::kDram : impl_->memory();
}

Map Buffer::map(MapMode mode) const {
  if (impl_ == nullptr) detail::throw_invalid_argument("the buffer handle is empty");
  if (mode != MapMode::kRead && mode != MapMode::kWrite && mode != MapMode::kReadWrite) {
    detail::throw_invalid_argument("map mode {} is none of read (1), write (2), both (3)",
                                   static_cast<std::uint32_t>(mode));
  }
  return Map(impl_, mode);
}

Map::Map(std::shared_ptr<detail::BufferImpl> buffer, MapMode mode)
    : buffer_(std::move(buffer)),
      data_(buffer_->begin_access(mode)),
      size_(static_cast<std::size_t>(buffer_->size())),
      mode_(mode) {}

Map::Map(Map&& other) noexcept
    : buffer_(std::move(other.buffer_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mode_(other.mode_) {}

Map& Map::operator=(Map&& other) noexcept {
  if (this != &other) {
    close();
    buffer_ = std::move(other.buffer_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    mode_ = other.mode_;
  }
  return *this;
}

Map::~Map() { close(); }

void Map::close() noexcept {
  if (buffer_ != nullptr) buffer_->end_access(mode_);
  buffer_.reset();
}

}  // namespace nvdla
