// SPDX-License-Identifier: MIT
//
// Runs jobs: the engine on one side, the model on the other, and nobody in between.
#ifndef NVDLA_BACKEND_MODEL_RUNNER_HPP
#define NVDLA_BACKEND_MODEL_RUNNER_HPP

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/local/job.hpp"
#include "backend/model/job_bus.hpp"
#include "firmware/engine/nvdla_engine.h"
#include "model/device.hpp"

namespace nvdla::detail {

// Not thread safe: belongs to one thread at a time.
class Runner {
 public:
  Runner(const nvdla_hw& hw, const model::Options& options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Runs `job` to its end; returns what is wrong with it. After a hang the device has been reset.
  std::optional<Error> run(Job& job);

 private:
  void start();
  void bind(const Job& job);
  // Lets engine and model go on until the engine is done with the job, or nothing can go on.
  void drive();
  std::optional<Error> outcome(const nvdla_job& job);

  const nvdla_hw& hw_;
  JobBus bus_;
  model::Device device_;
  std::unique_ptr<nvdla_engine> engine_;
  std::vector<std::uint64_t> bases_;
  std::vector<JobBus::Region> regions_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_MODEL_RUNNER_HPP
