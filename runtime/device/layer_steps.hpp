// SPDX-License-Identifier: MIT
//
// Runs programs layer by layer on copies of their buffers, and on a reference device beside it.
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

#include "device/chain_part.hpp"
#include "nvdla/device.hpp"
#include "nvdla/layer_tensors.hpp"
#include "nvdla/queue.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::detail {

// A program with the bindings of its owner.
struct ProgramStep {
  const ProgramPart* part = nullptr;
  std::vector<Binding> bindings = {};  // by its slots
  // Returns the quantization of the elements in a slot, as the owner knows it.
  std::function<Quantization(std::uint32_t slot)> quantization = {};
};

// An operator of the CPU between programs.
struct CpuStep {
  const CpuPart* part = nullptr;
  std::span<const Binding> bindings = {};  // by slots of the owner
  std::string tensor = {};                 // name of the destination's tensor
  Quantization quantization = {};
};

using LayerStep = std::variant<ProgramStep, CpuStep>;

class LayerRunner {
 public:
  // Copies the buffers in `changed` and those that a program writes; reads the others in place.
  // `reference` may be nullptr. Throws kNotAvailable for a reference of another configuration.
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

// The functions below compare the results of two devices for one layer.

// Compares the elements of `tensor` with those at the same place of the reference.
std::optional<LayerDifference> compare_elements(const LayerTensor& tensor,
                                                std::span<const std::byte> expected);
// Compares all bytes of a buffer whose elements are equal.
std::optional<LayerDifference> compare_bytes(const LayerTensor& tensor,
                                             std::span<const std::byte> expected);
// Returns how the verdicts of a comparison layer differ, if they do.
std::optional<LayerDifference> compare_verdicts(const LayerTensor& tensor,
                                                const nvdla_layer_stats& found,
                                                const nvdla_layer_stats& expected);

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_LAYER_STEPS_HPP
