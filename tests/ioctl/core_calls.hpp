// SPDX-License-Identifier: MIT
//
// The ioctls of the DRM core that a node of this driver takes.
#ifndef NVDLA_TESTS_CORE_CALLS_HPP
#define NVDLA_TESTS_CORE_CALLS_HPP

#include <xf86drm.h>

#include <cstdint>
#include <set>

namespace nvdla::ioctl_test {

// libdrm may be too old to know DRM_IOCTL_SYNCOBJ_EVENTFD, and the kernel, too.
inline constexpr std::uint32_t kSyncobjEventfd = 0xcf;

// The contract names these: version, capabilities, GEM close, PRIME, sync objects.
inline const std::set<std::uint32_t> kCoreCalls = {
    _IOC_NR(DRM_IOCTL_VERSION),
    _IOC_NR(DRM_IOCTL_GEM_CLOSE),
    _IOC_NR(DRM_IOCTL_GET_CAP),
    _IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD),
    _IOC_NR(DRM_IOCTL_PRIME_FD_TO_HANDLE),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_CREATE),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_DESTROY),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_WAIT),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_RESET),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_SIGNAL),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_QUERY),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_TRANSFER),
    _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL),
    kSyncobjEventfd,
};

}  // namespace nvdla::ioctl_test

#endif  // NVDLA_TESTS_CORE_CALLS_HPP
