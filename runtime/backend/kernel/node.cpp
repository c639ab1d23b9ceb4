// SPDX-License-Identifier: MIT
#include "backend/kernel/node.hpp"

#include <fcntl.h>
#include <linux/sync_file.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr std::string_view kDriver = "nvdla";
constexpr int kMajor = 1;

struct FreeVersion {
  void operator()(drmVersion* version) const noexcept { drmFreeVersion(version); }
};
using Version = std::unique_ptr<drmVersion, FreeVersion>;

std::string_view driver_of(const Version& version) {
  if (version == nullptr) return "none of DRM";
  return {version->name, static_cast<std::size_t>(version->name_len)};
}

int open_file(const std::string& path) { return ::open(path.c_str(), O_RDWR | O_CLOEXEC); }

bool is_ours(const std::string& path) {
  const int fd = open_file(path);
  if (fd < 0) return false;
  const Version version(drmGetVersion(fd));
  ::close(fd);
  return driver_of(version) == kDriver;
}

ErrorCode code_of(int error) {
  switch (error) {
    case ENOMEM:
    case EDQUOT:
      return ErrorCode::kNoMemory;
    case ENODEV:
      return ErrorCode::kGone;
    case EOPNOTSUPP:
      return ErrorCode::kNotAvailable;
    case ECANCELED:
      return ErrorCode::kCanceled;
    case ETIME:
      return ErrorCode::kHang;
    default:
      return ErrorCode::kInvalidArgument;
  }
}

}  // namespace

std::vector<std::string> find_kernel_devices() {
  std::vector<std::string> found;
  for (const char* directory : {"/dev/accel", "/dev/dri"}) {
    std::vector<std::string> files;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("accel") || name.starts_with("renderD")) {
        files.push_back(entry.path().string());
      }
    }
    std::sort(files.begin(), files.end());
    std::copy_if(files.begin(), files.end(), std::back_inserter(found), is_ours);
  }
  return found;
}

Node::Node(std::string_view path) : path_(path) {
  fd_ = open_file(path_);
  if (fd_ < 0) {
    throw_error(ErrorCode::kNoDevice, "device '{}' cannot be opened: {}", path_,
                std::strerror(errno));
  }
  const Version version(drmGetVersion(fd_));
  if (driver_of(version) != kDriver || version->version_major != kMajor) {
    ::close(fd_);
    throw_error(ErrorCode::kNoDevice,
                "device '{}' belongs to the driver '{}', not to '{}' version {}", path_,
                driver_of(version), kDriver, kMajor);
  }
}

Node::~Node() { ::close(fd_); }

std::string Node::driver_version() const {
  const Version version(drmGetVersion(fd_));
  if (version == nullptr) fail(errno, "asking for the version of the driver");
  return fmt::format("{}.{}.{}", version->version_major, version->version_minor,
                     version->version_patchlevel);
}

int Node::call(unsigned long request, void* argument) const noexcept {
  // drmIoctl() repeats what a signal interrupted.
  return drmIoctl(fd_, request, argument) == 0 ? 0 : errno;
}

void Node::require(unsigned long request, void* argument, std::string_view what) const {
  if (const int error = call(request, argument); error != 0) fail(error, what);
}

void Node::fail(int error, std::string_view what) const {
  throw_error(code_of(error), "{}: {}: {}", path_, what,
              error == EDQUOT ? "more than the driver allows one user" : std::strerror(error));
}

std::uint32_t Node::create_syncobj() const {
  std::uint32_t handle = 0;
  if (drmSyncobjCreate(fd_, 0, &handle) != 0) fail(errno, "making a sync object");
  return handle;
}

void Node::destroy_syncobj(std::uint32_t handle) const noexcept { drmSyncobjDestroy(fd_, handle); }

bool Node::wait(std::uint32_t syncobj, std::optional<FenceImpl::Clock::time_point> until) const {
  // The steady clock is CLOCK_MONOTONIC, which the kernel's times are on.
  const std::int64_t deadline =
      until ? std::chrono::nanoseconds(until->time_since_epoch()).count() : INT64_MAX;
  const int result = drmSyncobjWait(fd_, &syncobj, 1, deadline, 0, nullptr);
  if (result == 0) return true;
  if (result == -ETIME) return false;
  fail(-result, "waiting for a job");
}

int Node::export_sync_file(std::uint32_t syncobj) const {
  int file = -1;
  if (drmSyncobjExportSyncFile(fd_, syncobj, &file) != 0) fail(errno, "making a file to poll");
  return file;
}

int Node::status(std::uint32_t syncobj) const {
  int file = -1;
  if (drmSyncobjExportSyncFile(fd_, syncobj, &file) != 0) return errno;
  sync_file_info info{};
  const int result = ::ioctl(file, SYNC_IOC_FILE_INFO, &info);
  const int error = result != 0 ? errno : 0;
  ::close(file);
  if (error != 0) return error;
  return info.status < 0 ? -info.status : 0;
}

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
