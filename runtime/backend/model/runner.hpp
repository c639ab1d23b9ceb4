// SPDX-License-Identifier: MIT
//
// Runs jobs on the model: the engine on one side, the model on the other, and nobody in between.
#ifndef NVDLA_BACKEND_MODEL_RUNNER_HPP
#define NVDLA_BACKEND_MODEL_RUNNER_HPP

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/inprocess/job.hpp"
#include "backend/inprocess/runner.hpp"
#include "backend/model/job_bus.hpp"
#include "firmware/engine/nvdla_engine.h"
#include "model/device.hpp"
#include "nvdla/device.hpp"

namespace nvdla::detail {

class ModelRunner final : public Runner {
 public:
  ModelRunner(const nvdla_hw& hw, const model::Options& options);
  ~ModelRunner() override;
  ModelRunner(const ModelRunner&) = delete;
  ModelRunner& operator=(const ModelRunner&) = delete;

  std::optional<Error> run(Job& job) override;

 private:
  void start();
  void bind(const Job& job);
  // Lets engine and model go on until the engine is done with the job, or nothing can go on.
  void drive(const Job& job);
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
