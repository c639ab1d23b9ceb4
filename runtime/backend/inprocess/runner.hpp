// SPDX-License-Identifier: MIT
//
// What runs jobs, one at a time: an engine and the device that it drives.
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

  // Runs `job` to its end, or to where it can stop once it is canceled; returns what is wrong with
  // it. After a hang the device has been reset.
  virtual std::optional<Error> run(Job& job) = 0;
};

// Did the engine give it up? Not if it stopped because it was canceled.
inline bool failed(const nvdla_job& job) noexcept {
  return job.result != NVDLA_JOB_OK && job.result != NVDLA_JOB_YIELDED;
}
// The failure of a job that the engine gave up; `why` says what is known of the device.
Error job_failure(const nvdla_job& job, std::string_view why);
// Of a job that ended and touched what is not its own.
Error bus_fault(const std::string& what, std::uint32_t dma, std::uint64_t address);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INPROCESS_RUNNER_HPP
