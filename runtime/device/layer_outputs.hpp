// SPDX-License-Identifier: MIT
//
// Derives the tensors that a program's layers write from their descriptors.
#ifndef NVDLA_DEVICE_LAYER_OUTPUTS_HPP
#define NVDLA_DEVICE_LAYER_OUTPUTS_HPP

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "nvdla/program.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla::detail {

// A tensor, or the part of one, that a layer writes.
struct LayerOutput {
  std::string_view unit;
  std::uint32_t slot = 0;
  std::uint64_t offset = 0;
  TensorDesc desc;  // resolved
};

// Returns the outputs of a layer in the order in which it writes them; none for a comparison, whose
// verdict is a counter. `atom` is the device's.
std::vector<LayerOutput> layer_outputs(const ProgramDesc& program, std::uint32_t layer,
                                       std::uint32_t atom);

// `WrittenBytes` collects the bytes that layers write, by slot.
class WrittenBytes {
 public:
  void add(const LayerOutput& output);
  bool any_of(const LayerOutput& output) const;
  bool contains(std::uint32_t slot, std::uint64_t at) const;

 private:
  std::map<std::uint32_t, std::vector<bool>> slots_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_LAYER_OUTPUTS_HPP
