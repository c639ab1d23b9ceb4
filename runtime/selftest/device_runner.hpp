// SPDX-License-Identifier: MIT
//
// Runs work through the public API: on devices behind a driver, and on any other.
#ifndef NVDLA_SELFTEST_DEVICE_RUNNER_HPP
#define NVDLA_SELFTEST_DEVICE_RUNNER_HPP

#include <chrono>

#include "nvdla/device.hpp"
#include "selftest/work.hpp"

namespace nvdla::selftest {

class DeviceRunner final : public Runner {
 public:
  // A work that takes longer than `limit` counts as hung.
  DeviceRunner(Device device, std::chrono::nanoseconds limit)
      : device_(std::move(device)), limit_(limit) {}

  std::unique_ptr<Load> load(const Work& work) override;

 private:
  Device device_;
  std::chrono::nanoseconds limit_;
};

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_DEVICE_RUNNER_HPP
