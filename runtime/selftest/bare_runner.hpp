// SPDX-License-Identifier: MIT
//
// Runs work on a device whose registers this process reaches, directly with the compiler and the
// engine of firmware/.
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
  // `device` and `hw` outlive the runner. A work that exceeds `limit` on the host's clock counts as
  // hung, whatever the device's clock shows.
  BareRunner(detail::BareDevice& device, const nvdla_hw& hw, std::chrono::nanoseconds limit);

  std::unique_ptr<Load> load(const Work& work) override;

  const nvdla_hw& hw() const noexcept { return hw_; }
  detail::BareDevice& device() noexcept { return device_; }

  // Makes the next work reset the device first, because other code drove the registers or a layer
  // hangs.
  void forget() noexcept { started_ = false; }
  // Takes the device over. Returns a description of the failure, if any.
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
