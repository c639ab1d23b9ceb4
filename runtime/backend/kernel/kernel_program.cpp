// SPDX-License-Identifier: MIT
#include "backend/kernel/kernel_program.hpp"

#include <span>
#include <utility>

namespace nvdla::detail {
namespace {

template <typename T>
drm_nvdla_array array_of(std::span<const T> elements) {
  if (elements.empty()) return {};
  return {reinterpret_cast<std::uintptr_t>(elements.data()),
          static_cast<std::uint32_t>(elements.size()), sizeof(T)};
}

}  // namespace

KernelProgram::KernelProgram(DeviceId device, const nvdla_hw& hw, std::shared_ptr<const Node> node,
                             const ProgramDesc& desc)
    : ProgramImpl(device), compiled_(device, hw, desc), node_(std::move(node)) {
  nvdla_error error{};
  drm_nvdla_program_create create{};
  create.layers = array_of(desc.layers);
  create.slots = array_of(desc.slots);
  create.luts = array_of(desc.luts);
  create.transfers = array_of(desc.transfers);
  create.control = array_of(desc.control);
  create.error = reinterpret_cast<std::uintptr_t>(&error);
  create.error_bytes = sizeof(error);
  create.flags = desc.statistics ? DRM_NVDLA_PROGRAM_STATS : 0;
  if (const int code = node_->call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &create); code != 0) {
    if (error.rule != NVDLA_RULE_NONE) throw Error(ErrorCode::kInvalidProgram, error);
    node_->fail(code, "creating a program");
  }
  id_ = create.program;
}

KernelProgram::~KernelProgram() {
  drm_nvdla_program_destroy destroy{id_, 0};
  node_->call(DRM_IOCTL_NVDLA_PROGRAM_DESTROY, &destroy);
}

}  // namespace nvdla::detail
