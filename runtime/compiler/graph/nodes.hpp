// SPDX-License-Identifier: MIT
//
// The layers that a graph is made of, each with everything but surfaces.
#ifndef NVDLA_COMPILER_GRAPH_NODES_HPP
#define NVDLA_COMPILER_GRAPH_NODES_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/graph/operators.hpp"
#include "host_ops/operation.hpp"
#include "nvdla/lowlevel/conv_weights.hpp"
#include "nvdla/lowlevel/deconvolution_phases.hpp"
#include "nvdla/operators/concatenation.hpp"
#include "nvdla/operators/convolution.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/precision.hpp"
#include "support/fp17.hpp"

namespace nvdla::detail {

// `SdpNode` is the single point processing of a layer.
struct SdpNode {
  OperatorPair operators;
  OperatorYNode y;
  Converter converter;
  ElementBounds bounds;
  Precision processing = Precision::kInt8;
  bool nan_to_zero = false;
  // Negative results become zero behind operator Y, in a result of fp16; integers have bounds.
  bool relu_behind_y = false;
  // Says what to change where the device has no operator Y, in the words of a layer that chose it.
  std::string without_y = {};
  // The layer looks elements up, and nothing else: the table of CDP that does the same, by its
  // index in the network, for devices whose SDP has none.
  std::optional<std::uint32_t> lut_of_cdp = {};

  // A comparison writes nothing.
  bool silent() const noexcept { return y.alu == NVDLA_ALU_EQUAL; }

  // Tensors that operators read.
  std::vector<std::uint32_t> tensors() const {
    std::vector<std::uint32_t> list;
    for (const OperatorNode* op :
         std::initializer_list<const OperatorNode*>{&operators.x1, &operators.x2, &y}) {
      if (op->tensor) list.push_back(*op->tensor);
    }
    return list;
  }
};

// KCRS; int16 holds the bits of fp16, too.
using Kernels = std::variant<std::vector<std::int8_t>, std::vector<std::int16_t>>;
// Graphs that are copies of each other share them.
using SharedKernels = std::shared_ptr<const Kernels>;

// `WinogradForm` is a convolution in Winograd mode.
struct WinogradForm {
  // Its paddings make whole tiles: the output has that many lines and columns, of which the first
  // ones are the layer's.
  nvdla_conv conv = {};
  WinogradDesc desc;
};

// `KernelBlock` is some kernels of a grouped convolution and the channels that they see.
struct KernelBlock {
  std::uint32_t first_kernel = 0, kernels = 0;
  std::uint32_t first_channel = 0, channels = 0;

  friend bool operator==(const KernelBlock&, const KernelBlock&) = default;
};

// `ConvForm` is the way in which a convolution is computed; passes choose it, each its part.
struct ConvForm {
  std::optional<WinogradForm> winograd;
  bool folded = false;             // in width, as its input lies
  std::uint32_t images = 1;        // of the batch, at once
  std::uint32_t kernel_lines = 0;  // of an image, side by side in an atom; else 0
  // So many layers compute the lines of the output, each every so many-th line; 1: one layer.
  std::uint32_t line_step = 1;
  std::vector<KernelBlock> blocks;  // of groups, one for each layer
  // Kernels of one layer where not even those of an atom fit the convolution buffer, else 0.
  std::uint32_t kernels_at_once = 0;
};

struct ConvNode {
  nvdla_conv conv = {};   // geometry, precisions and converter; direct, or of an image
  SharedKernels weights;  // as many channels as a group
  std::uint32_t groups = 1;
  SdpNode sdp;
  Convolution::Tuning tuning = {.batch = Rewrite::kNever};
  std::uint32_t winograd_truncate = 0;
  bool any_order = false;  // of products in sums of fp16
  ConvForm form = {};
};

struct DeconvNode {
  DeconvolutionDesc desc;
  std::uint32_t accumulator_shift = 0;
  bool nan_to_zero = false;  // NaN of the input; the kernels have none then
  std::int32_t zero_point = 0;
  SharedKernels weights;
  // Phase (y, x) has that of index y * stride_width + x: what a zero point adds depends on its
  // taps.
  std::vector<SdpNode> sdp;
};

// `Corner` is where a tensor begins inside of another.
struct Corner {
  std::uint32_t channel = 0, line = 0, column = 0;

  friend bool operator==(const Corner&, const Corner&) = default;
};

// `View` says that a tensor has no memory of its own, but lies inside of another.
struct View {
  std::uint32_t whole = 0;  // a tensor, which may be a view itself
  Corner corner;
};

struct ConcatNode {
  Axis axis = Axis::kChannels;
  std::vector<std::uint32_t> parts;  // tensors
  // A pass sets it: each part begins at a multiple of so many channels.
  std::uint32_t alignment = 1;
};

struct SliceNode {
  Corner corner;  // of the output in the input
};

struct PadNode {
  Corner corner;           // of the input in the output
  std::int32_t value = 0;  // an element: an integer, or the bits of fp16
};

// The same elements in the same order, in lines of another width.
struct ReshapeNode {};

// Returns the factor of an average's sums, as nvdla_pdp takes it, for kernel sizes of 1 to 8.
// Integers are cut off, as they always were; loadables leave them to whoever reads them.
inline std::uint32_t pool_reciprocal(std::uint32_t size, bool real) noexcept {
  return real ? arith::to_fp17(1.0 / size) : 0x10000 / size;
}

// A window of PDP has so many lines and columns at most.
inline constexpr std::uint32_t kMaxWindow = 8;

inline bool is_one_step(const nvdla_pdp& pdp) noexcept {
  return pdp.kernel_width <= kMaxWindow && pdp.kernel_height <= kMaxWindow;
}

struct PoolNode {
  // It has everything but surfaces and bands; its size and precision are those of the input.
  nvdla_pdp pdp = {};
  // A pass sets it: PDP may take its input on the fly, from the layer that makes it.
  bool flies = false;
};

struct NormNode {
  nvdla_cdp cdp = {};
  std::uint32_t lut = 0;  // index in the network
};

struct RubikNode {
  nvdla_rubik rubik = {};
};

struct CopyNode {};

// Each element becomes so many.
struct UpsampleNode {
  std::uint32_t scale_height = 1, scale_width = 1;
};

// `CpuNode` is an operation that the CPU does between two programs.
struct CpuNode {
  cpu::Operation operation;
  // The operation is an average that devices with int16 and operator Y compute in steps of sums,
  // with the same results: see add_sums_on_device().
  bool sums_on_device = false;
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_NODES_HPP
