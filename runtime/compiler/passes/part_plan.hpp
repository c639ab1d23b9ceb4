// SPDX-License-Identifier: MIT
//
// Which tensors lie in others, so that nothing is moved: parts of concatenations and what is inside
// of a padding, which are written where they belong, and slices, which are read where they are.
#ifndef NVDLA_COMPILER_PASSES_PART_PLAN_HPP
#define NVDLA_COMPILER_PASSES_PART_PLAN_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/graph/network_impl.hpp"
#include "nvdla/device.hpp"

namespace nvdla::detail {

// The first channel, line and column of each part.
std::vector<Corner> part_corners(const Network::Impl& net, const ConcatNode& node);
// Whether channels of a tensor begin with an atom there.
bool begins_atom(const DeviceInfo& info, const TensorNode& tensor, const Corner& corner);
// Whether those of all parts do.
bool parts_fill_atoms(const Network::Impl& net, const DeviceInfo& info, const ConcatNode& node);
// The place that begins so far inside of `whole`, whose strides `desc` has.
nvdla_surface inside(const nvdla_surface& whole, const Corner& corner, const TensorDesc& desc);

class PartPlan {
 public:
  struct Part {
    std::uint32_t whole = 0;
    Corner corner;
  };

  // `net` and `info` outlive it. Throws what a layer of the network insists on and cannot have.
  PartPlan(const Network::Impl& net, const DeviceInfo& info);

  const std::optional<Part>& of(std::uint32_t tensor) const { return part_of_[tensor]; }
  // The tensor that it lies in.
  std::uint32_t root(std::uint32_t tensor) const;
  // It is read, or a part of it.
  bool is_read(std::uint32_t tensor) const;
  bool lies_there(std::uint32_t part, std::uint32_t whole, const Corner& corner) const;

 private:
  void try_part(std::uint32_t tensor, std::uint32_t whole, const Corner& corner);
  void try_slice(const LayerNode& layer, const Corner& corner);
  void keep_unless_crossed(std::uint32_t tensor, const Part& part);
  bool is_output(std::uint32_t tensor) const;
  bool can_be_inside(std::uint32_t tensor, std::uint32_t whole) const;
  bool can_be_part(std::uint32_t tensor, std::uint32_t whole) const;
  // It has whole surfaces of its root.
  bool in_surfaces(std::uint32_t tensor) const;
  bool crosses(std::uint32_t read, std::uint32_t written) const;
  bool crosses_itself(const LayerNode& layer) const;

  const Network::Impl& net_;
  const DeviceInfo& info_;
  std::vector<std::optional<Part>> part_of_;  // by tensor
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_PART_PLAN_HPP
