// SPDX-License-Identifier: MIT
//
// Runs work on a device whose registers this process reaches: by the compiler and the engine of
// firmware/, with nobody in between.
#ifndef NVDLA_SELFTEST_BARE_RUNNER_HPP
#define NVDLA_SELFTEST_BARE_RUNNER_HPP

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "backend/registers/bare_engine.hpp"
#include "selftest/work.hpp"

namespace nvdla::selftest {

class BareRunner final : public Runner {
 public:
  // Both outlive it. A work that takes longer than `limit` of the host's time counts as hung,
  // whatever the device's clock says.
  BareRunner(detail::BareDevice& device, const nvdla_hw& hw, std::chrono::nanoseconds limit);

  std::unique_ptr<Load> load(const Work& work) override;

  const nvdla_hw& hw() const noexcept { return hw_; }
  detail::BareDevice& device() noexcept { return device_; }

  // Somebody else drove the registers, or something hangs: reset before the next work.
  void forget() noexcept { started_ = false; }
  // What is wrong if the device cannot be taken over.
  std::optional<std::string> start();

  // Runs `job` to its end.
  Ran run(nvdla_job& job);

 private:
  std::string state();

  detail::BareDevice& device_;
  const nvdla_hw& hw_;
  std::chrono::nanoseconds limit_;
  detail::BareEngine engine_;
  bool started_ = false;
};

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_BARE_RUNNER_HPP
