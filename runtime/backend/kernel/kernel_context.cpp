// SPDX-License-Identifier: MIT
#include "backend/kernel/kernel_context.hpp"

#include <utility>

namespace nvdla::detail {

KernelContext::KernelContext(std::shared_ptr<const Node> node) : node_(std::move(node)) {
  drm_nvdla_context_create create{};
  node_->require(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create, "making a context");
  id_ = create.context;
}

KernelContext::~KernelContext() {
  drm_nvdla_context_destroy destroy{id_, 0};
  node_->call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy);
}

std::optional<std::uint32_t> KernelContext::guilty_layer() const noexcept {
  drm_nvdla_context_query query{id_, 0, 0, 0};
  if (node_->call(DRM_IOCTL_NVDLA_CONTEXT_QUERY, &query) != 0 ||
      query.state != DRM_NVDLA_CONTEXT_GUILTY) {
    return std::nullopt;
  }
  return query.layer;
}

}  // namespace nvdla::detail
