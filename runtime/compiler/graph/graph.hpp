// SPDX-License-Identifier: MIT
//
// The graph of a network: a list of tensors and a list of layers, each layer behind those whose
// tensors it reads. Network adds to it, and passes of the compiler make another one of it.
#ifndef NVDLA_COMPILER_GRAPH_GRAPH_HPP
#define NVDLA_COMPILER_GRAPH_GRAPH_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/graph/nodes.hpp"
#include "nvdla/network.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla::detail {

struct TensorNode {
  Shape shape;
  Precision precision = Precision::kInt8;
  std::optional<ImageDesc> image;         // pixels, not a cube
  std::optional<std::uint32_t> producer;  // layer; inputs have none
  bool read = false;                      // by a layer
  bool planar = false;
  Memory memory = Memory::kDram;
  std::optional<Quantization> quantization;
  // Passes set these.
  std::uint32_t gaps = 0;  // channels of the shape that lie between parts and mean nothing
  std::optional<View> view;
  std::optional<nvdla_conv> folded_for;  // the convolution as whose input it lies folded in width
  std::uint32_t pixel = 0;               // bytes of a pixel where it lies as pixels; else 0
  TensorDesc desc;                       // how it lies in memory; of an image only what it is
};

// `IoTensor` is a tensor that the application writes or reads.
struct IoTensor {
  std::string name;
  std::uint32_t tensor = 0;
  Quantization quantization;
};

// A layer that writes nothing has this for its output.
inline constexpr std::uint32_t kNoTensor = ~std::uint32_t{0};

struct LayerNode {
  std::string name;
  std::uint32_t input = 0;
  std::uint32_t output = kNoTensor;
  std::variant<SdpNode, ConvNode, DeconvNode, PoolNode, NormNode, RubikNode, CopyNode, ConcatNode,
               SliceNode, PadNode, ReshapeNode, UpsampleNode, CpuNode>
      part;
  std::vector<std::uint32_t> operands;  // further tensors that it reads
  std::uint64_t macs = 0;               // of all cubes of the batch
  // A pass sets it: the later layer that does the work of this one, too, and reads its input in
  // place of its output. Layers that are absorbed by one layer lie one behind the other before it.
  std::optional<std::uint32_t> absorbed_by = {};
};

// `LiveLayers` is a range of those layers that no other has absorbed. (clang 14 compiles no view of
// the standard library that would do.)
template <typename Layer>
class LiveLayers {
 public:
  class Iterator {
   public:
    using value_type = LayerNode;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(Layer* at, Layer* end) : at_(at), end_(end) { skip_absorbed(); }

    Layer& operator*() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      skip_absorbed();
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void skip_absorbed() {
      while (at_ != end_ && at_->absorbed_by) ++at_;
    }

    Layer* at_ = nullptr;
    Layer* end_ = nullptr;
  };

  LiveLayers(Layer* layers, std::size_t count) : begin_(layers), end_(layers + count) {}
  Iterator begin() const { return {begin_, end_}; }
  Iterator end() const { return {end_, end_}; }

 private:
  Layer* begin_;
  Layer* end_;
};

struct Graph {
  std::vector<TensorNode> tensors;
  std::vector<IoTensor> inputs;
  std::vector<IoTensor> outputs;
  std::vector<LayerNode> layers;
  std::vector<nvdla_lut> luts;

  // Returns the layers that nothing has absorbed.
  LiveLayers<const LayerNode> live_layers() const { return {layers.data(), layers.size()}; }
  LiveLayers<LayerNode> live_layers() { return {layers.data(), layers.size()}; }
  static bool is_live(const LayerNode& layer) noexcept { return !layer.absorbed_by; }

  // Returns "input 'image'", or "the output of layer 3 'conv'".
  std::string tensor_name(std::uint32_t index) const;
};

// Returns what the output of `layer` stands for if that follows from its input: layers that move,
// choose or average elements keep it.
std::optional<Quantization> kept_quantization(const Graph& graph, const LayerNode& layer);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_GRAPH_HPP
