// SPDX-License-Identifier: MIT
//
// Running programs layer by layer on copies of their buffers, and on another device beside.
#ifndef NVDLA_DEVICE_LAYER_STEPS_HPP
#define NVDLA_DEVICE_LAYER_STEPS_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "device/layer_outputs.hpp"
#include "nvdla/layers.hpp"
#include "nvdla/queue.hpp"

namespace nvdla::detail {

// A program as its owner runs it.
struct ProgramStep {
  ProgramDesc desc;
  std::span<const Binding> bindings;
  std::span<const std::string> slot_names;
  std::vector<std::string_view> layer_names;
  std::uint32_t first_layer = 0;  // the owner's number of the first one
  // What the owner knows of the elements in a slot.
  std::function<Quantization(std::uint32_t slot)> quantization;
};

// An operation of the CPU between programs, from the bytes of one buffer to those of another, which
// may be the same.
struct CpuStep {
  Buffer source, destination;
  std::string name;
  std::string tensor;                 // what lies in the destination
  std::optional<LayerOutput> output;  // slot has no meaning; none if it is no cube
  std::function<void(std::span<const std::byte> source, std::span<std::byte> destination)> run;
};

using LayerStep = std::variant<ProgramStep, CpuStep>;

class LayerRunner {
 public:
  // Copies what lies in `changed`, and in buffers that a program writes; others are read where they
  // are. `reference` may be nullptr. Throws kNotAvailable for a reference of another configuration.
  LayerRunner(const Device& device, const Device* reference, std::span<const LayerStep> steps,
              std::span<const Buffer> changed);
  ~LayerRunner();
  LayerRunner(const LayerRunner&) = delete;
  LayerRunner& operator=(const LayerRunner&) = delete;

  // Runs the steps up to the first difference. `visit` may be empty.
  std::optional<LayerDifference> run(const LayerVisitor& visit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_LAYER_STEPS_HPP
