// SPDX-License-Identifier: MIT
#include "backend/kernel/kernel_core.hpp"

#include <algorithm>
#include <utility>

#include "backend/info.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

KernelCore::KernelCore(std::string_view path)
    : node_(std::make_shared<const Node>(path)), id_(new_device_id()) {
  drm_nvdla_query query{reinterpret_cast<std::uintptr_t>(&info_), sizeof(info_),
                        DRM_NVDLA_QUERY_DEVICE};
  node_->require(DRM_IOCTL_NVDLA_QUERY, &query, "asking for the configuration");
  const auto* text = reinterpret_cast<const char*>(info_.name);
  const std::string_view name(text, strnlen(text, sizeof(info_.name)));
  hw_ = find_configuration(name);
  if (hw_ == nullptr) {
    throw_error(ErrorCode::kNoDevice, "device '{}' is an '{}', which this version does not know",
                path, name);
  }
  // The driver may have been told that this logic was mended.
  if ((info_.flags & DRM_NVDLA_DEVICE_WEIGHT_GATING) == 0) hw_ = &without_weight_gating(*hw_);
}

std::shared_ptr<KernelBuffer> KernelCore::allocate(std::uint64_t bytes, Memory memory) const {
  const bool coherent = (info_.flags & DRM_NVDLA_DEVICE_NONCOHERENT) == 0;
  return std::make_shared<KernelBuffer>(id_, node_, coherent, bytes, memory);
}

std::shared_ptr<KernelBuffer> KernelCore::take_stats(std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(stats_.begin(), stats_.end(),
                                    [=](const auto& buffer) { return buffer->size() >= bytes; });
    if (found != stats_.end()) {
      auto buffer = std::move(*found);
      stats_.erase(found);
      return buffer;
    }
  }
  return allocate(bytes, Memory::kDram);
}

void KernelCore::give_stats(std::shared_ptr<KernelBuffer> buffer) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.push_back(std::move(buffer));
}

}  // namespace nvdla::detail
