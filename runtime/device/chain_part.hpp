// SPDX-License-Identifier: MIT
//
// A run of a compiled network is a chain of parts, one after the other: programs of the device, and
// operators of the CPU between them.
#ifndef NVDLA_DEVICE_CHAIN_PART_HPP
#define NVDLA_DEVICE_CHAIN_PART_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "backend/backend.hpp"
#include "device/layer_outputs.hpp"
#include "device/owned_program.hpp"
#include "nvdla/program.hpp"

namespace nvdla::cpu {
struct Operation;
}

namespace nvdla::detail {

// `ProgramPart` is a program with its descriptors.
struct ProgramPart : OwnedProgram {
  // Stands in `bound` for a slot that the program binds itself.
  static constexpr std::uint32_t kOwn = ~std::uint32_t{0};

  Program program;
  // For each slot of the program: the network's slot, and the name of its contents for errors.
  std::vector<std::uint32_t> bound;
  std::vector<std::string> slot_names;
  LayerNames layer_names;
  std::uint32_t first_layer = 0;  // index of the program's first layer in the network
};

// `CpuPart` is an operator that reads some slots of the network and writes one, which may be one of
// those that it reads.
struct CpuPart {
  using Bytes = std::span<const std::byte>;

  std::string name;
  std::vector<std::uint32_t> sources;
  std::uint32_t destination = 0;
  std::optional<LayerOutput> output;  // none if the output is not a cube
  std::function<void(std::span<const Bytes> sources, std::span<std::byte> destination)> run;
  std::optional<std::uint32_t> layer;  // its index, where the network counts it as a layer
  // The operation that `run` executes and the cubes that it reads, in the slots of `sources`; used
  // to save and to print the operator.
  std::shared_ptr<const cpu::Operation> operation;
  std::vector<LayerOutput> inputs;
};

using ChainPart = std::variant<ProgramPart, CpuPart>;

// Runs a CPU part on the buffers of the network's slots.
void run_on(const CpuPart& part, const std::function<const Buffer&(std::uint32_t slot)>& buffer);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_CHAIN_PART_HPP
