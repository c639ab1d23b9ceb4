// SPDX-License-Identifier: MIT
//
// Runs jobs on a bare device.
#ifndef NVDLA_BACKEND_REGISTERS_BARE_RUNNER_HPP
#define NVDLA_BACKEND_REGISTERS_BARE_RUNNER_HPP

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/inprocess/runner.hpp"
#include "backend/registers/bare_device.hpp"
#include "backend/registers/bare_engine.hpp"

namespace nvdla::detail {

class BareRunner final : public Runner {
 public:
  // Takes the device over; one that something runs on is reset. It was identified, and `hw` lives
  // as long. Throws kNoDevice, kBusy or kGone.
  BareRunner(std::shared_ptr<BareDevice> device, const nvdla_hw& hw);

  std::optional<Error> run(Job& job) override;

 private:
  [[noreturn]] void refuse_start(int error) const;
  std::optional<Error> outcome(const nvdla_job& job);
  void recover(const Job& job);

  std::shared_ptr<BareDevice> device_;
  const nvdla_hw& hw_;
  BareEngine engine_;
  std::string broken_;  // why nothing can run any more
  std::vector<std::uint64_t> bases_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_BARE_RUNNER_HPP
