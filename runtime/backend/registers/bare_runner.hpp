// SPDX-License-Identifier: MIT
//
// Runs jobs on a bare device.
#ifndef NVDLA_BACKEND_REGISTERS_BARE_RUNNER_HPP
#define NVDLA_BACKEND_REGISTERS_BARE_RUNNER_HPP

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
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

// Has the device copy one element: what it writes must be one memory atom of `hw`. With a wrong
// configuration no proof about memory would hold. Throws kNoDevice, and what the job fails with.
void confirm(BareRunner& runner, const std::shared_ptr<BareDevice>& device, const nvdla_hw& hw);

// `backend` is DeviceInfo::backend and lives as long as the program, `sram_bytes` that of the info.
std::shared_ptr<Backend> make_bare_backend(std::unique_ptr<BareDevice> device,
                                           std::string_view backend, const nvdla_hw* named,
                                           std::uint64_t sram_bytes);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_BARE_RUNNER_HPP
