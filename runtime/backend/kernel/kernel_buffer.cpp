// SPDX-License-Identifier: MIT
#include "backend/kernel/kernel_buffer.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "support/check.hpp"

namespace nvdla::detail {

KernelBuffer::KernelBuffer(DeviceId device, std::shared_ptr<const Node> node, bool coherent,
                           std::uint64_t size, Memory memory)
    : BufferImpl(device, size, memory), node_(std::move(node)), coherent_(coherent) {
  drm_nvdla_bo_create create{};
  create.size = size;
  create.memory = static_cast<std::uint32_t>(memory);
  const char* where = memory == Memory::kSram ? " in SRAM" : "";
  if (const int error = node_->call(DRM_IOCTL_NVDLA_BO_CREATE, &create); error == ENOMEM) {
    throw_error(ErrorCode::kNoMemory, "{}: no contiguous memory for a buffer of {} bytes{}",
                node_->path(), size, where);
  } else if (error == EDQUOT) {
    throw_error(
        ErrorCode::kNoMemory,
        "{}: with {} bytes more{} this user would have more of the device's own memory than the "
        "driver allows (its parameter user_region_mib)",
        node_->path(), size, where);
  } else if (error != 0) {
    node_->fail(error, "making a buffer");
  }
  handle_ = create.handle;
  drm_nvdla_bo_mmap_offset offset{handle_, 0, 0};
  int error = node_->call(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset);
  if (error == 0) {
    void* address = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE,
                         MAP_SHARED, node_->fd(), static_cast<off_t>(offset.offset));
    if (address == MAP_FAILED) {
      error = errno;
    } else {
      data_ = static_cast<std::byte*>(address);
    }
  }
  if (error != 0) {
    close();
    node_->fail(error, "mapping a buffer");
  }
}

KernelBuffer::~KernelBuffer() {
  munmap(data_, static_cast<std::size_t>(size()));
  close();
}

void KernelBuffer::close() noexcept {
  drm_gem_close close{handle_, 0};
  node_->call(DRM_IOCTL_GEM_CLOSE, &close);
}

std::byte* KernelBuffer::begin_access(MapMode mode) {
  if (mode != MapMode::kWrite) sync(DRM_NVDLA_BO_SYNC_FROM_DEVICE);
  return data_;
}

void KernelBuffer::end_access(MapMode mode) noexcept {
  if (mode != MapMode::kRead) sync(DRM_NVDLA_BO_SYNC_TO_DEVICE);
}

void KernelBuffer::sync(std::uint32_t direction) const noexcept {
  if (coherent_) return;
  drm_nvdla_bo_sync sync{handle_, direction, 0, size()};
  // Cannot fail: the buffer and the range are ours.
  node_->call(DRM_IOCTL_NVDLA_BO_SYNC, &sync);
}

}  // namespace nvdla::detail
