// SPDX-License-Identifier: MIT
//
// A user of the driver: a file with a context, buffers and a program that copies.
#ifndef NVDLA_TESTS_IOCTL_CLIENT_HPP
#define NVDLA_TESTS_IOCTL_CLIENT_HPP

#include <drm/nvdla_accel.h>

#include <cstdint>
#include <vector>

#include "node.hpp"

namespace nvdla::ioctl_test {

// What became of a sync_file: 0 for success, EBUSY while it is not signalled, else its error.
int fence_error(int file);

enum class Target { kDram, kDramAndSram };

// A file of the driver with a context, in which a cube is copied from one page to another, as often
// as there are layers; or to a page in each memory, by a layer each.
class Client {
 public:
  explicit Client(std::uint32_t layers = 1, Target target = Target::kDram);
  // A mapping would keep its buffer.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // A sync object that is signalled at the end.
  std::uint32_t start();
  int try_start(std::uint32_t& done);
  // With any sync objects, in any context; an errno.
  int submit(const std::vector<drm_nvdla_sync>& syncs, std::uint32_t context) {
    return submit(array_of(syncs), context);
  }
  int submit(const drm_nvdla_array& syncs, std::uint32_t context);
  // The error of the fence, 0 for success, ETIMEDOUT when it is not signalled within the seconds.
  int end(std::uint32_t done, double seconds = kAfterDeadline);
  int run(double seconds = kAfterDeadline) { return end(start(), seconds); }
  // The fence of a sync object as a sync_file, to be closed.
  int sync_file(std::uint32_t done) const;

  bool copied() const;
  // Without asking for what a cache hides.
  bool arrived() const;
  void forget();
  // Another pattern to copy.
  void refill(std::uint8_t seed);
  drm_nvdla_context_query state();
  void renew_context() { context_ = node_.context(); }
  void use_context(std::uint32_t context) { context_ = context; }
  bool can_reset() { return (node_.info().flags & DRM_NVDLA_DEVICE_CAN_RESET) != 0; }
  const Node& node() const { return node_; }
  std::uint32_t context() const { return context_; }
  std::uint32_t program() const { return program_; }
  std::uint32_t target_handle() const { return bindings_[1].handle; }

 private:
  Node node_;
  CopyProgram copy_;
  std::uint32_t context_ = 0;
  std::uint32_t program_ = 0;
  std::vector<drm_nvdla_binding> bindings_;
  std::uint8_t* from_ = nullptr;
  std::uint8_t* to_ = nullptr;
};

}  // namespace nvdla::ioctl_test

#endif  // NVDLA_TESTS_IOCTL_CLIENT_HPP
