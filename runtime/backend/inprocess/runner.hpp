// SPDX-License-Identifier: MIT
//
// A runner executes jobs, one at a time: it owns an engine and the device that the engine drives.
#ifndef NVDLA_BACKEND_INPROCESS_RUNNER_HPP
#define NVDLA_BACKEND_INPROCESS_RUNNER_HPP

#include <optional>
#include <string>
#include <string_view>

#include "backend/inprocess/job.hpp"
#include "firmware/engine/nvdla_engine.h"

namespace nvdla::detail {

// Not thread safe: belongs to one thread at a time.
class Runner {
 public:
  virtual ~Runner() = default;

  // Runs `job` to its end or, once it is canceled, to where it can stop. Returns the job's error,
  // if any. After a hang, the runner has reset the device.
  virtual std::optional<Error> run(Job& job) = 0;
};

// Returns true if the engine gave the job up. A job that stopped because it was canceled did not
// fail.
inline bool failed(const nvdla_job& job) noexcept {
  return job.result != NVDLA_JOB_OK && job.result != NVDLA_JOB_YIELDED;
}
// Returns the error of a job that the engine gave up; `why` describes the state of the device.
Error job_failure(const nvdla_job& job, std::string_view why);
// Returns the error of a job that ended, but accessed memory that is not its own.
Error bus_fault(const std::string& what, std::uint32_t dma, std::uint64_t address);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INPROCESS_RUNNER_HPP
