// SPDX-License-Identifier: MIT
//
// Operations that loadables leave to the CPU (EMU1): power and softmax, between two submissions.
#ifndef NVDLA_LOADABLE_READ_EMULATE_HPP
#define NVDLA_LOADABLE_READ_EMULATE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/layer_outputs.hpp"
#include "host_ops/operation.hpp"
#include "loadable/format/task.hpp"

namespace nvdla::loadable {

// An operation whose buffers were checked against the memories that they lie in.
struct EmuStep {
  EmuOperation operation;
  std::uint16_t source_memory = 0, destination_memory = 0;
  std::uint64_t source_offset = 0, destination_offset = 0;
};

// Throws kInvalidArgument, or kNotAvailable for a format that is not executed.
std::vector<EmuStep> resolve_emu(const Container& c, const Task& task);

// `source` and `destination` are the bytes of the memories; they may be the same.
void run_emu(const EmuStep& step, std::span<const std::byte> source,
             std::span<std::byte> destination);

// "power" or "softmax"
const char* emu_name(const EmuStep& step);

// The operation as networks have it, and a cube as it lies, whatever its strides are.
cpu::Operation emu_operation(const EmuOperation& operation);
TensorDesc emu_desc(const EmuBuffer& buffer);

// Returns where the result lies, in a memory of so many bytes; none if its lines lie otherwise than
// those of cubes do.
std::optional<detail::LayerOutput> emu_output(const EmuStep& step, std::uint64_t bytes);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_READ_EMULATE_HPP
