// SPDX-License-Identifier: MIT
//
// The engine of firmware/ on a bare device: its port, and the loop that drives a job to its end.
// What the device throws is remembered, as the engine in between is C; until the next start the
// device then counts as gone.
#ifndef NVDLA_BACKEND_REGISTERS_BARE_ENGINE_HPP
#define NVDLA_BACKEND_REGISTERS_BARE_ENGINE_HPP

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/registers/bare_device.hpp"
#include "firmware/engine/nvdla_engine.h"
#include "nvdla/types/error.hpp"

namespace nvdla::detail {

class BareEngine {
 public:
  // Both outlive it.
  BareEngine(BareDevice& device, const nvdla_hw& hw);
  BareEngine(const BareEngine&) = delete;
  BareEngine& operator=(const BareEngine&) = delete;

  // Takes the device over, which it may have to be reset for: 0, or enum nvdla_start_error.
  int start();

  struct Patience {
    // Of the host's time, for a device whose own may stand still.
    std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();
    // Registers are looked at so often, whatever the interrupt line says; 0: only when it is up.
    BareDevice::Time look{0};
  };
  // Runs `job` until it has ended, in time; else it is aborted, and the device has to be started
  // again. Once `stop` says so it yields. Throws kGone if the engine takes no job.
  bool run(nvdla_job& job, const Patience& patience, const std::function<bool()>& stop = {});

  // Units that are enabled: "CDMA, SDP"; empty if none is.
  std::string busy_units();

  // What the device threw since it was started.
  const std::optional<Error>& lost() const noexcept { return lost_; }

  // What `call` returns, or `otherwise` if the device is gone.
  template <typename Result, typename Call>
  Result guarded(Result otherwise, const Call& call) noexcept {
    if (lost_) return otherwise;
    try {
      return call();
    } catch (const Error& error) {
      lost_ = error;
    } catch (const std::exception& error) {
      lost_ = Error(ErrorCode::kGone, error.what());
    }
    return otherwise;
  }

 private:
  static const nvdla_hw_ops kPort;

  BareDevice& device_;
  const nvdla_hw& hw_;
  std::unique_ptr<nvdla_engine> engine_;
  std::optional<Error> lost_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_BARE_ENGINE_HPP
