// SPDX-License-Identifier: MIT
//
// What a run of a compiled network is made of: programs of the device, and operators of the CPU
// between them, one after the other.
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

// A program, and what it was made of.
struct ProgramPart : OwnedProgram {
  // In place of a slot of the network: the program brings what lies there.
  static constexpr std::uint32_t kOwn = ~std::uint32_t{0};

  Program program;
  // By slot: the network's, and what errors call what lies there.
  std::vector<std::uint32_t> bound;
  std::vector<std::string> slot_names;
  LayerNames layer_names;
  std::uint32_t first_layer = 0;  // the network's number of the first one
};

// An operator from the contents of some slots of the network to that of another, which may be one
// of them.
struct CpuPart {
  using Bytes = std::span<const std::byte>;

  std::string name;
  std::vector<std::uint32_t> sources;
  std::uint32_t destination = 0;
  std::optional<LayerOutput> output;  // none if it is no cube
  std::function<void(std::span<const Bytes> sources, std::span<std::byte> destination)> run;
  std::optional<std::uint32_t> layer;  // its number, where the network counts it
  // The operation that `run` does and the cubes that it reads, for whoever saves or prints them.
  // These lie in the slots that `sources` names.
  std::shared_ptr<const cpu::Operation> operation;
  std::vector<LayerOutput> inputs;
};

using ChainPart = std::variant<ProgramPart, CpuPart>;

// Runs it on buffers, by slot of the network.
void run_on(const CpuPart& part, const std::function<const Buffer&(std::uint32_t slot)>& buffer);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_CHAIN_PART_HPP
