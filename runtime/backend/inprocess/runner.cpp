// SPDX-License-Identifier: MIT
#include "backend/inprocess/runner.hpp"

#include "support/check.hpp"

namespace nvdla::detail {

Error job_failure(const nvdla_job& job, std::string_view why) {
  nvdla_error detail = {};
  detail.object = NVDLA_OBJECT_LAYER;
  detail.index = job.layer;
  if (job.result == NVDLA_JOB_BROKEN) {
    return Error(ErrorCode::kGone, "the program's image is broken", detail);
  }
  if (job.result == NVDLA_JOB_GONE) return Error(ErrorCode::kGone, why, detail);
  const nvdla_layer_image& layer = job.program->layers[job.layer];
  return Error(
      ErrorCode::kHang,
      fmt::format("layer {} ({}) does not end: {}", job.layer, layer_kind_name(layer.kind), why),
      detail);
}

Error bus_fault(const std::string& what, std::uint32_t dma, std::uint64_t address) {
  nvdla_error detail = {};
  detail.object = NVDLA_OBJECT_PROGRAM;
  detail.dma = dma;
  detail.value = static_cast<std::int64_t>(address);
  return Error(ErrorCode::kBusFault,
               "the device touched memory outside of the job's buffers: " + what, detail);
}

}  // namespace nvdla::detail
