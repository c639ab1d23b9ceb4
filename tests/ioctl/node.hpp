// SPDX-License-Identifier: MIT
//
// The driver's node as the tests see it: ioctls by name, errno as a value, a small valid program.
#ifndef NVDLA_TESTS_IOCTL_NODE_HPP
#define NVDLA_TESTS_IOCTL_NODE_HPP

#include <drm/nvdla_accel.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nvdla::ioctl_test {

inline constexpr std::uint64_t kPage = 4096;

// Seconds in which whatever ends has ended, however busy the machine: the deadline of a layer is at
// least two.
inline constexpr double kAfterDeadline = 120;

// Throws std::runtime_error with the errno in words unless it is 0.
void must(int error, const char* what);

// Device files of the driver "nvdla", accel nodes first. A path in NVDLA_DEVICE names one instead.
std::vector<std::string> find_nodes();

// Returns a number that the module has as a parameter: what a user may have is no part of the
// interface. Throws std::runtime_error if there is no such parameter.
std::uint64_t module_parameter(const std::string& name);
// Sets it, as root. Throws std::runtime_error where it cannot be set.
void set_module_parameter(const std::string& name, std::uint64_t value);

// A module parameter that is lower while this object lives.
class LoweredParameter {
 public:
  LoweredParameter(const std::string& name, std::uint64_t value)
      : name_(name), before_(module_parameter(name)) {
    set_module_parameter(name_, value);
  }
  LoweredParameter(const LoweredParameter&) = delete;
  LoweredParameter& operator=(const LoweredParameter&) = delete;
  ~LoweredParameter() { set_module_parameter(name_, before_); }

 private:
  std::string name_;
  std::uint64_t before_;
};

// An open file. All calls return 0 or a positive errno.
class Node {
 public:
  Node();  // opens the first node; fd() is -1 if there is none
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  int fd() const { return fd_; }
  int call(unsigned long request, void* arg) const;

  // Shorthands for what most tests need; they throw std::runtime_error on failure.
  drm_nvdla_device_info info() const;
  drm_nvdla_limits limits() const;
  std::uint32_t context() const;
  std::uint32_t buffer(std::uint64_t size, std::uint32_t flags = 0) const;
  std::uint8_t* map(std::uint32_t handle, std::uint64_t size) const;
  // DRM_NVDLA_BO_SYNC_* of its first bytes.
  void sync(std::uint32_t handle, std::uint32_t flags, std::uint64_t size) const;
  std::uint32_t syncobj() const;
  // 0, or ETIME when the point is not signalled by then.
  int wait(std::uint32_t syncobj, double seconds) const;

 private:
  int fd_ = -1;
};

// SDP copies a cube of 4 x 2 x atom bytes from slot 0 to slot 1.
struct CopyProgram {
  explicit CopyProgram(std::uint32_t atom);

  drm_nvdla_program_create args();

  std::uint64_t bytes;
  std::vector<nvdla_layer> layers;
  std::vector<nvdla_slot> slots;
  nvdla_error error{};
};

template <typename T>
drm_nvdla_array array_of(const std::vector<T>& elements) {
  if (elements.empty()) return {};
  return {reinterpret_cast<std::uintptr_t>(elements.data()),
          static_cast<std::uint32_t>(elements.size()), sizeof(T)};
}

}  // namespace nvdla::ioctl_test

#endif  // NVDLA_TESTS_IOCTL_NODE_HPP
