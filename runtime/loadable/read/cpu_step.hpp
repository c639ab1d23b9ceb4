// SPDX-License-Identifier: MIT
//
// Steps of the CPU in a task, of the standard form or of our own, with their cubes checked against
// the memories that these lie in.
#ifndef NVDLA_LOADABLE_READ_CPU_STEP_HPP
#define NVDLA_LOADABLE_READ_CPU_STEP_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/layer_outputs.hpp"
#include "firmware/nvdla_hw.h"
#include "host_ops/operation.hpp"
#include "loadable/format/task.hpp"

namespace nvdla::loadable {

struct CpuStep {
  // Bytes begin..end of a memory.
  struct Range {
    std::uint16_t memory = 0;
    std::uint64_t begin = 0, end = 0;
  };

  std::string name;  // "softmax", "argmax"
  std::vector<Range> sources;
  Range destination;
  // None if its lines lie otherwise than those of cubes do.
  std::optional<detail::LayerOutput> output;
  // The operation that `run` does and the cubes that it reads, for whoever prints them. Their slots
  // are not set.
  std::shared_ptr<const cpu::Operation> operation;
  std::vector<detail::LayerOutput> inputs;
  // Takes the memories of the sources and the destination, from their first bytes on.
  std::function<void(std::span<const std::span<const std::byte>> sources,
                     std::span<std::byte> destination)>
      run;
};

// The steps of a task that is none of the hardware. Throws kInvalidArgument, or kNotAvailable for
// what is not executed, or is not made for `hw`.
std::vector<CpuStep> resolve_cpu(const Container& c, const Task& task, const nvdla_hw& hw);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_READ_CPU_STEP_HPP
