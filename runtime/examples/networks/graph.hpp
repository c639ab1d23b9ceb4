// SPDX-License-Identifier: MIT
//
// A graph describes a network without its numbers: layers, shapes and connections. Both the
// library's network and the reference that it is compared with are made from it.
#ifndef NVDLA_EXAMPLES_NETWORKS_GRAPH_HPP
#define NVDLA_EXAMPLES_NETWORKS_GRAPH_HPP

#include <cstdint>
#include <nvdla/nvdla.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace networks {

using nvdla::Shape;

// The result of a layer, as the index of the layer in the graph.
using Value = std::uint32_t;
inline constexpr Value kNoValue = UINT32_MAX;

// Swish, x / (1 + e^-x), and the sigmoid, 1 / (1 + e^-x), are tables of SDP. A hard sigmoid, x / 6
// + 1 / 2, is limited below by 0 and above by the saturation of int8.
enum class Activation { kNone, kRelu, kLeaky, kSwish, kSigmoid, kHardSigmoid };

// A convolution with its batch normalisation or bias, the shortcut of a residual block, and the
// activation, which the hardware computes together.
struct Conv {
  std::uint32_t kernels = 1;
  std::uint32_t height = 1, width = 1;  // of a kernel
  std::uint32_t stride = 1;
  std::uint32_t pad = 0;  // on each side
  Activation activation = Activation::kRelu;
  Value shortcut = kNoValue;  // added before the activation
  std::uint32_t groups = 1;
};

// A deconvolution that doubles lines and columns: kernels of 2 x 2 side by side, no activation.
struct Double {
  std::uint32_t kernels = 1;
};

// A window of `size` x `size`. Padding counts as zero in an average.
struct Pool {
  nvdla_pool method = NVDLA_POOL_MAX;
  std::uint32_t size = 2, stride = 2;
  std::uint32_t pad = 0;      // above and on the left
  std::uint32_t pad_end = 0;  // below and on the right
};

// Local response normalisation across channels.
struct Lrn {
  std::uint32_t size = 5;
  double alpha = 1e-4, beta = 0.75, k = 1;

  bool operator==(const Lrn&) const = default;
};

// Batch normalisation and ReLU that no convolution comes before.
struct Norm {};

// Concatenates along channels.
struct Concat {};

// Multiplies each channel of the first input by the channel's element in the second one, which has
// one position and is the result of a sigmoid.
struct Scale {};

// Selects channels from `first` on, as many as the result has.
struct Slice {
  std::uint32_t first = 0;
};

// The product of two results as matrices, whose rows are positions and whose columns are channels.
struct Product {
  bool transposed = false;  // the second matrix is transposed
};

// Softmax along channels, at each position.
struct Softmax {};
struct LayerNorm {
  static constexpr double kEpsilon = 1e-5;
};

// Elements x become unit * gelu(x / unit).
struct Gelu {
  static constexpr double kUnit = 16;
};

struct Image {};

struct Layer {
  std::string name;
  std::vector<Value> inputs;
  std::variant<Image, Conv, Double, Pool, Lrn, Norm, Concat, Scale, Slice, Product, Softmax,
               LayerNorm, Gelu>
      what;
  Shape shape;  // of the result
};

// `Graph` has layers in an order in which they can run; the last layer's result is that of the
// network.
class Graph {
 public:
  explicit Graph(const Shape& image) { layers_.push_back({"image", {}, Image{}, image}); }

  static constexpr Value image() { return 0; }
  Value conv(Value input, const std::string& name, const Conv& conv);
  Value doubled(Value input, const std::string& name, std::uint32_t kernels);
  // Adds a fully connected layer: a kernel as large as the input for each result.
  Value full(Value input, const std::string& name, std::uint32_t results,
             Activation activation = Activation::kRelu);
  Value pool(Value input, const std::string& name, const Pool& pool);
  Value max_pool(Value input, const std::string& name, std::uint32_t size, std::uint32_t stride,
                 std::uint32_t pad = 0, std::uint32_t pad_end = 0);
  // Averages adjacent windows.
  Value average(Value input, const std::string& name, std::uint32_t size);
  Value lrn(Value input, const std::string& name, const Lrn& lrn);
  Value norm(Value input, const std::string& name);
  Value concat(std::span<const Value> parts, const std::string& name);
  Value scale(Value input, Value factors, const std::string& name);
  Value slice(Value input, const std::string& name, std::uint32_t first, std::uint32_t channels);
  Value product(Value a, Value b, const std::string& name, bool transposed);
  Value softmax(Value input, const std::string& name);
  Value layer_norm(Value input, const std::string& name);
  Value gelu(Value input, const std::string& name);
  // Adds a layer of another graph, with inputs that are results of this one.
  Value add(Layer layer);

  const std::vector<Layer>& layers() const { return layers_; }
  const Shape& shape(Value value) const { return layers_[value].shape; }
  // Returns the shape of a layer's first input.
  const Shape& input_shape(const Layer& layer) const { return shape(layer.inputs.at(0)); }
  // Returns the number of weights that each element of a result is a sum over.
  std::uint64_t taps(const Layer& layer) const;
  std::uint64_t weights() const;
  // Returns the multiply-accumulates of a run.
  std::uint64_t macs() const;

 private:
  std::vector<Layer> layers_;
};

// Returns the activation that SDP applies to a layer's sums or elements.
Activation activation_of(const Layer& layer);
bool has_table(Activation activation);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_GRAPH_HPP
