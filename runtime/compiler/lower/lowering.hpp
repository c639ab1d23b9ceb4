// SPDX-License-Identifier: MIT
//
// Lowering turns each node of a graph into layers of a schedule. Passes have chosen before how
// convolutions are computed and where tensors lie; passes over the schedule cut it behind.
#ifndef NVDLA_COMPILER_LOWER_LOWERING_HPP
#define NVDLA_COMPILER_LOWER_LOWERING_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/graph.hpp"
#include "compiler/lower/constant_pool.hpp"
#include "compiler/lower/schedule.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

// Planes and their lines begin at multiples of so many bytes.
inline constexpr std::uint32_t kPlaneAlign = 64;
// The output and the operands of a convolution of several images lie at multiples of so many bytes.
inline constexpr std::uint32_t kBatchAlign = 64;

// `Scratch` is a cube between layers of one layer of the graph.
struct Scratch {
  TensorDesc desc;
  nvdla_surface surface = {};
};

// `Lowering` is where the functions below put layers, constants and intermediate tensors.
class Lowering {
 public:
  // Allocates the tensors of `graph`, which outlives it, as `info` does.
  Lowering(const Graph& graph, const DeviceInfo& info);

  const Graph& graph() const noexcept { return graph_; }
  const DeviceInfo& info() const noexcept { return info_; }
  const TensorDesc& desc(std::uint32_t tensor) const { return graph_.tensors[tensor].desc; }
  // Returns where a tensor lies: its own allocation, or a place in that of another.
  nvdla_surface surface(std::uint32_t tensor) const;
  // Returns an intermediate tensor, whose surfaces have room for that many lines at least.
  Scratch add_scratch(const Shape& shape, Precision precision, bool planar = false,
                      std::uint32_t lines = 0);
  // Marks an allocation as one that layers read, too.
  void mark_read(std::uint32_t allocation);

  // Returns a pool for the constants of the layer; its slot is the allocation that comes next,
  // which commit_constants() makes of it, unless it is empty.
  ConstantPool begin_constants() const;
  void commit_constants(ConstantPool pool, std::uint32_t alignment = 0);
  // The tables of compressed weights, which have an allocation of their own in each program.
  ConstantPool& control() noexcept { return control_; }

  // Appends a layer that reads the input and the operands of `node`, and so waits for those that
  // make them; what `operation` has besides is kept. The descriptor stands for all images of the
  // batch.
  void emit(const LayerNode& node, const nvdla_layer& layer, Operation operation);
  // Appends a layer that moves whatever images its transfers name.
  void emit_transfers(const LayerNode& node, const std::vector<nvdla_transfer>& transfers);
  void emit_cpu(const LayerNode& node, CpuWork work);
  // Returns the index of the last layer, or nothing if there is none.
  std::optional<std::uint32_t> last() const;

  // Lowers the layer `index` of the graph; all before it are lowered.
  void lower_layer(std::uint32_t index);
  Schedule take() &&;

 private:
  std::uint32_t allocate(std::string name, std::uint64_t bytes, std::uint32_t access,
                         Memory memory = Memory::kDram);
  void allocate_tensor(std::uint32_t index);
  void append(const LayerNode& node, const nvdla_layer& layer, Operation operation);
  // "layer 3 'conv2'", of the one that is lowered now.
  std::string this_layer() const;
  // Tensors that layers before have written in place of the output of `node`, as parts of it.
  std::vector<std::uint32_t> made_before(const LayerNode& node) const;

  const Graph& graph_;
  const DeviceInfo& info_;
  Schedule schedule_;
  ConstantPool control_{0};
  std::uint32_t index_ = 0;                       // the layer of the graph that is lowered now
  std::vector<std::vector<std::uint32_t>> ends_;  // the last layers of each layer of the graph
};

// Returns "output 'scores'", as the application knows a tensor, or the layer that makes it.
std::string place_of(const Graph& graph, std::uint32_t tensor);
// Returns the bytes of one cube of a packed tensor.
std::uint64_t cube_bytes(const TensorDesc& desc);

// Returns a layer of Rubik for a cube, or its first channels, without its surfaces and strides.
inline nvdla_layer rubik_layer(nvdla_rubik_mode mode, const TensorDesc& cube,
                               std::uint32_t channels) {
  nvdla_layer layer = {};
  layer.kind = NVDLA_LAYER_RUBIK;
  layer.rubik.mode = mode;
  layer.rubik.precision = static_cast<std::uint32_t>(cube.precision);
  layer.rubik.width = cube.shape.width;
  layer.rubik.height = cube.shape.height;
  layer.rubik.channels = channels;
  return layer;
}

// Lower one node each.
void lower(Lowering& lowering, const LayerNode& node, const SdpNode& part);
void lower(Lowering& lowering, const LayerNode& node, const ConvNode& part);
void lower(Lowering& lowering, const LayerNode& node, const DeconvNode& part);
void lower(Lowering& lowering, const LayerNode& node, const PoolNode& part);
void lower(Lowering& lowering, const LayerNode& node, const NormNode& part);
void lower(Lowering& lowering, const LayerNode& node, const RubikNode& part);
void lower(Lowering& lowering, const LayerNode& node, const CopyNode& part);
void lower(Lowering& lowering, const LayerNode& node, const ConcatNode& part);
void lower(Lowering& lowering, const LayerNode& node, const SliceNode& part);
void lower(Lowering& lowering, const LayerNode& node, const PadNode& part);
void lower(Lowering& lowering, const LayerNode& node, const ReshapeNode& part);
void lower(Lowering& lowering, const LayerNode& node, const UpsampleNode& part);
void lower(Lowering& lowering, const LayerNode& node, const CpuNode& part);
// Holds the results of `node` to their bounds, in a layer behind it.
void lower_bounds(Lowering& lowering, const LayerNode& node);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_LOWERING_HPP
