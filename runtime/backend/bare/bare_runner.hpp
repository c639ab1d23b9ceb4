// SPDX-License-Identifier: MIT
//
// Runs jobs on a bare device: the engine, its registers, and a clock.
#ifndef NVDLA_BACKEND_BARE_BARE_RUNNER_HPP
#define NVDLA_BACKEND_BARE_BARE_RUNNER_HPP

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/bare/bare_device.hpp"
#include "backend/local/runner.hpp"

namespace nvdla::detail {

class BareRunner final : public Runner {
 public:
  // Takes the device over; one that something runs on is reset. It was identified, and `hw` lives
  // as long. Throws kNoDevice, kBusy or kGone.
  BareRunner(std::shared_ptr<BareDevice> device, const nvdla_hw& hw);

  std::optional<Error> run(Job& job) override;

 private:
  static const nvdla_port kPort;

  // What throws is remembered, as the engine in between is C; the device is gone from then on.
  template <typename Result, typename Call>
  Result guarded(Result otherwise, const Call& call) noexcept;
  // 0, or enum nvdla_start_error.
  int start();
  [[noreturn]] void refuse_start(int error) const;
  void drive();
  std::string busy_units();
  std::optional<Error> outcome(const nvdla_job& job);
  void recover(const Job& job);

  std::shared_ptr<BareDevice> device_;
  const nvdla_hw& hw_;
  std::unique_ptr<nvdla_engine> engine_;
  std::optional<Error> lost_;  // what the device threw
  std::string broken_;         // why nothing can run any more
  std::vector<std::uint64_t> bases_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_BARE_BARE_RUNNER_HPP
