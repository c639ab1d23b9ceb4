// SPDX-License-Identifier: MIT
//
// `BareEngine` runs the engine of firmware/ on a bare device: it implements the engine's hardware
// operations and the loop that drives a job to its end. The engine is C, so an exception of the
// device is kept until the engine returns; the device then counts as lost until the next start.
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
  // `device` and `hw` outlive the engine.
  BareEngine(BareDevice& device, const nvdla_hw& hw);
  BareEngine(const BareEngine&) = delete;
  BareEngine& operator=(const BareEngine&) = delete;

  // Takes the device over, with a reset if needed. Returns 0 or an enum nvdla_start_error.
  int start();

  struct Patience {
    // A limit on the host's clock, since the device's own may stand still.
    std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();
    // The interval at which registers are polled whatever the interrupt line shows; 0: only when
    // the line is up.
    BareDevice::Time look{0};
  };
  // Runs `job` to its end. Aborts it once `patience` is over, after which the device has to be
  // started again. Yields once `stop` returns true. Throws kGone if the engine accepts no job.
  bool run(nvdla_job& job, const Patience& patience, const std::function<bool()>& stop = {});

  // Returns the units that are enabled: "CDMA, SDP"; empty if none is.
  std::string busy_units();

  // Returns the exception that the device threw since it was started, if any.
  const std::optional<Error>& lost() const noexcept { return lost_; }

  // Returns the result of `call`, or `otherwise` if the device is lost.
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
  static const nvdla_hw_ops kHwOps;

  BareDevice& device_;
  const nvdla_hw& hw_;
  std::unique_ptr<nvdla_engine> engine_;
  std::optional<Error> lost_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_BARE_ENGINE_HPP
