// SPDX-License-Identifier: MIT
#include "node.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace nvdla::ioctl_test {

namespace {

bool is_nvdla(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  drmVersion* version = drmGetVersion(fd);
  const bool found =
      version != nullptr &&
      std::string(version->name, static_cast<std::size_t>(version->name_len)) == "nvdla";
  drmFreeVersion(version);
  close(fd);
  return found;
}

}  // namespace

void must(int error, const char* what) {
  if (error != 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(error));
}

std::vector<std::string> find_nodes() {
  // Other names than paths say nothing about which node.
  const char* const name = std::getenv("NVDLA_DEVICE");
  if (name != nullptr && std::strchr(name, '/') != nullptr) return {name};
  std::vector<std::string> nodes;
  for (const char* directory : {"/dev/accel", "/dev/dri"}) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
      const std::string path = entry.path().string();
      if (path.find("card") == std::string::npos && is_nvdla(path)) nodes.push_back(path);
    }
  }
  return nodes;
}

std::uint64_t module_parameter(const std::string& name) {
  const std::string path = "/sys/module/nvdla/parameters/" + name;
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (!(file >> value)) throw std::runtime_error(path + " holds no number");
  return value;
}

void set_module_parameter(const std::string& name, std::uint64_t value) {
  const std::string path = "/sys/module/nvdla/parameters/" + name;
  std::ofstream file(path);
  if (!(file << value << std::flush)) throw std::runtime_error(path + " cannot be set");
}

Node::Node() {
  const auto nodes = find_nodes();
  if (!nodes.empty()) fd_ = open(nodes.front().c_str(), O_RDWR | O_CLOEXEC);
}

Node::~Node() {
  if (fd_ >= 0) close(fd_);
}

int Node::call(unsigned long request, void* arg) const {
  return drmIoctl(fd_, request, arg) == 0 ? 0 : errno;
}

drm_nvdla_device_info Node::info() const {
  drm_nvdla_device_info info{};
  drm_nvdla_query query{reinterpret_cast<std::uintptr_t>(&info), sizeof(info),
                        DRM_NVDLA_QUERY_DEVICE};
  must(call(DRM_IOCTL_NVDLA_QUERY, &query), "QUERY");
  return info;
}

drm_nvdla_limits Node::limits() const {
  drm_nvdla_limits limits{};
  drm_nvdla_query query{reinterpret_cast<std::uintptr_t>(&limits), sizeof(limits),
                        DRM_NVDLA_QUERY_LIMITS};
  must(call(DRM_IOCTL_NVDLA_QUERY, &query), "QUERY");
  return limits;
}

std::uint32_t Node::context() const {
  drm_nvdla_context_create create{};
  must(call(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create), "CONTEXT_CREATE");
  return create.context;
}

std::uint32_t Node::buffer(std::uint64_t size, std::uint32_t flags) const {
  drm_nvdla_bo_create create{};
  create.size = size;
  create.flags = flags;
  must(call(DRM_IOCTL_NVDLA_BO_CREATE, &create), "BO_CREATE");
  return create.handle;
}

std::uint8_t* Node::map(std::uint32_t handle, std::uint64_t size) const {
  drm_nvdla_bo_mmap_offset offset{handle, 0, 0};
  must(call(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset), "BO_MMAP_OFFSET");
  void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                       static_cast<off_t>(offset.offset));
  must(address == MAP_FAILED ? errno : 0, "mmap");
  return static_cast<std::uint8_t*>(address);
}

void Node::sync(std::uint32_t handle, std::uint32_t flags, std::uint64_t size) const {
  drm_nvdla_bo_sync args{handle, flags, 0, size};
  must(call(DRM_IOCTL_NVDLA_BO_SYNC, &args), "BO_SYNC");
}

std::uint32_t Node::syncobj() const {
  std::uint32_t handle = 0;
  must(drmSyncobjCreate(fd_, 0, &handle) == 0 ? 0 : errno, "SYNCOBJ_CREATE");
  return handle;
}

int Node::wait(std::uint32_t syncobj, double seconds) const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t deadline = static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 +
                                now.tv_nsec + static_cast<std::int64_t>(seconds * 1e9);
  return -drmSyncobjWait(fd_, &syncobj, 1, deadline, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
                         nullptr);
}

CopyProgram::CopyProgram(std::uint32_t atom) : bytes(std::uint64_t{8} * atom) {
  nvdla_layer layer{};
  layer.kind = NVDLA_LAYER_SDP;
  layer.sdp.width = 4;
  layer.sdp.height = 2;
  layer.sdp.channels = atom;
  layer.sdp.out_cvt.scale = 1;
  layer.sdp.input.line_stride = layer.sdp.output.line_stride = 4 * atom;
  layer.sdp.input.surface_stride = layer.sdp.output.surface_stride = 8 * atom;
  layer.sdp.output.slot = 1;
  layers.push_back(layer);
  slots.push_back({bytes, atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_READ, 0});
  slots.push_back({bytes, atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_WRITE, 0});
}

drm_nvdla_program_create CopyProgram::args() {
  drm_nvdla_program_create args{};
  args.layers = array_of(layers);
  args.slots = array_of(slots);
  args.error = reinterpret_cast<std::uintptr_t>(&error);
  args.error_bytes = sizeof(error);
  return args;
}

}  // namespace nvdla::ioctl_test
