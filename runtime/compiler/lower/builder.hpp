// SPDX-License-Identifier: MIT
//
// From a network to a compiled one: slots and buffers, packed constants, descriptors, waits. What
// is common to all layers is in build.cpp, each kind of layer in a file of its own.
#ifndef NVDLA_COMPILER_LOWER_BUILDER_HPP
#define NVDLA_COMPILER_LOWER_BUILDER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "compiler/graph/bounds.hpp"
#include "compiler/graph/network_impl.hpp"
#include "compiler/passes/memory_plan.hpp"
#include "compiler/passes/part_plan.hpp"
#include "compiler/passes/program_cuts.hpp"
#include "device/compiled_impl.hpp"
#include "device/program_accesses.hpp"

namespace nvdla::detail {

// What a convolution of several cubes writes and its operands lie at multiples of this.
inline constexpr std::uint32_t kBatchAlign = 64;
// Planes and their lines, in bytes.
inline constexpr std::uint32_t kPlaneAlign = 64;

// Constants of one layer: streams one after another.
class ConstantPool {
 public:
  explicit ConstantPool(std::uint32_t slot) : slot_(slot) {}

  std::uint32_t slot() const noexcept { return slot_; }
  // Room for a stream, aligned to the widest that any of them asks for; returns its offset.
  std::uint64_t add(std::uint64_t bytes);
  // From the stream at `offset` on; valid until the next add().
  std::span<std::byte> at(std::uint64_t offset) {
    return std::span(bytes_).subspan(static_cast<std::size_t>(offset));
  }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // Takes back what was added since there were so many.
  void cut(std::size_t bytes) { bytes_.resize(bytes); }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::uint32_t slot_;
  std::vector<std::byte> bytes_;
};

// Kernels that see `channels` of a cube only, kernel k from channel first[k] on; these do not fall.
struct SparseKernels {
  std::uint32_t channels = 1;
  std::vector<std::uint32_t> first;
};

class Builder {
 public:
  Builder(const Network::Impl& net, const Device& device, CompiledNetwork::Impl& compiled)
      : net_(net), info_(device.info()), device_(device), compiled_(compiled) {}

  void build(const BuildOptions& options, const ProgramLimits& limits);

 private:
  void add_tensor(std::uint32_t tensor);
  // Its cube, with room for what its producer writes beyond it.
  TensorDesc tensor_desc(std::uint32_t tensor) const;
  std::uint32_t batch_stride(std::uint32_t tensor, std::uint64_t bytes) const;
  // A allocation of its own; `name` says in errors what it is. Layers name it as if it were a slot
  // until place_allocations() has found one for it.
  std::uint32_t add_allocation(std::string name, std::uint64_t bytes, std::uint32_t access,
                               Memory memory = Memory::kDram);
  // Plans memory for the schedule as it is cut now.
  void place_allocations(const MemoryPlanOptions& options);
  void allocate_constants();
  // "output 'scores'", as the application knows it, or the layer that makes it.
  std::string place_of(std::uint32_t tensor) const;
  // "layer 3 'conv2'", of the one that is being added.
  std::string this_layer() const { return layer_text(this_layer_, net_.layers[this_layer_].name); }
  // The constants of a layer, for the allocation that comes next, which commit_constants() makes of
  // them.
  ConstantPool begin_constants() const {
    return ConstantPool(static_cast<std::uint32_t>(allocations_.size()));
  }
  void commit_constants(ConstantPool blob);

  // Runs `call`; what the device cannot do is said of the layer. What the compiler refuses comes
  // later and names the layer itself.
  template <typename Call>
  auto in_layer(std::uint32_t index, const Call& call) const {
    return at_place(layer_text(index, net_.layers[index].name), index, call);
  }

  // The packed stream into `blob`, and its tables, if it has any; says it in `conv`.
  void place_weights(const WeightsDesc& desc, std::span<const std::byte> stream, nvdla_conv& conv,
                     ConstantPool& blob);
  // All layers of the program that a layer of the network becomes.
  void add_layer(std::uint32_t index);
  void add_part(const LayerNode& node, const SdpNode& sdp);
  void add_part(const LayerNode& node, const ConvNode& conv);
  void add_part(const LayerNode& node, const DeconvNode& deconv);
  void add_part(const LayerNode& node, const PoolNode& pool);
  void add_part(const LayerNode& node, const NormNode& norm);
  void add_part(const LayerNode& node, const RubikNode& rubik);
  void add_part(const LayerNode& node, const CopyNode& copy);
  void add_part(const LayerNode& node, const ConcatNode& concat);
  void add_part(const LayerNode& node, const SliceNode& slice);
  void add_part(const LayerNode& node, const PadNode& pad);
  void add_part(const LayerNode& node, const ReshapeNode& reshape);
  void add_part(const LayerNode& node, const UpsampleNode& upsample);
  void add_part(const LayerNode& node, const CpuNode& cpu);
  // Tensors that layers before have written in place of this one, as parts of it.
  std::vector<std::uint32_t> made_before(const LayerNode& node) const;

  // `layer`, which says everything of the first cube of a batch, for each cube, or for as many as
  // a convolution takes at once: surfaces with a batch stride move on by it, weights stay where the
  // buffer holds them all. It waits for those whose tensors it reads.
  void commit(const LayerNode& node, const nvdla_layer& layer, const std::string& name,
              std::uint64_t macs);
  // The layer as it is.
  void commit_one(const LayerNode& node, nvdla_layer layer, const std::string& name,
                  std::uint64_t macs);
  void wait_for(nvdla_layer& layer, std::uint32_t tensor) const;
  // For a layer of the program; who waits for a later one that ends with the same unit does
  // already.
  void wait_for_end(nvdla_layer& layer, std::uint32_t end) const;

  // A cube between layers of one layer of the network.
  struct Scratch {
    TensorDesc desc;
    nvdla_surface surface = {};
  };
  Scratch add_scratch(const Shape& shape, Precision precision, bool planar = false);
  // Some channels of a cube, the first of several with an atom.
  struct Run {
    std::uint32_t first = 0, channels = 0;
  };

  // A comparison of `shape` with lanes beyond the last channel that differ in nothing: the
  // operators for it, and what stands for the tensor on the other side, once layer `after` ran.
  struct Compared {
    SdpNode sdp;
    std::optional<nvdla_surface> other;
    std::optional<std::uint32_t> after;
  };
  Compared compare_channels(const LayerNode& node, const SdpNode& part, const Shape& shape,
                            bool flying);
  nvdla_surface add_masked_copy(const LayerNode& node, std::uint32_t tensor);
  static void place_other(const Compared& compared, nvdla_sdp& sdp);

  // The convolution that the input `tensor` is folded for, if any.
  const nvdla_conv* folded_for(std::uint32_t tensor) const;
  // A convolution of a cube as it is done without tiles: folded where its input is.
  nvdla_conv direct_form(const LayerNode& node, const ConvNode& part) const;
  // How many cubes of its batch a convolution takes at once. Throws if the layer insists on several
  // and cannot have them, saying what is in the way.
  std::uint32_t plan_cubes(const LayerNode& node, const ConvNode& part) const;
  bool read_as_run(std::uint32_t tensor) const;
  // What plan_cubes() said of the layer that makes `tensor`.
  std::uint32_t cubes_at_once(std::uint32_t tensor) const;
  void place_image(std::uint32_t tensor, nvdla_conv& conv) const;
  // What is special about a convolution of a layer that is several.
  struct ConvRole {
    std::string name;
    std::uint64_t macs = 0;
    bool whole = true;                   // its output is the layer's
    std::optional<std::uint32_t> after;  // a layer of the program that it waits for
  };
  // A convolution, in as many bands of lines as the convolution buffer makes necessary.
  void add_bands(const LayerNode& node, const nvdla_conv& conv, const nvdla_sdp& sdp,
                 const ConvRole& role);
  // A convolution of groups, `conv` but for its groups: some of them at a time.
  void add_groups(const LayerNode& node, const ConvNode& part, const nvdla_conv& conv);
  // A convolution of such kernels, in as many layers as takes least; those of several are called
  // "name several 2/3". `sdp` has its operands in `blob`.
  void add_sparse(const LayerNode& node, const nvdla_conv& conv, const Kernels& weights,
                  const SparseKernels& sparse, const nvdla_sdp& sdp, ConstantPool blob,
                  const ConvRole& role, std::string_view several);
  // `layer.kernels` of them from `first` on.
  void pack_kernels(nvdla_conv& layer, const Kernels& all, std::uint32_t first,
                    ConstantPool& blob) const;
  // The output of `node` from its channel `first` on, a multiple of an atom's: channels of the cube
  // that the layers before have left in `from`, side by side. A convolution does it, or Rubik where
  // that would not be exact.
  void add_gather(const LayerNode& node, const Scratch& from, const std::vector<Run>& runs,
                  std::uint32_t first, const std::string& name);
  void add_plane_gather(const LayerNode& node, const Scratch& from, const std::vector<Run>& runs,
                        const nvdla_surface& to, const std::string& name);
  // A convolution of which not even one kernel group fits: `some` kernels at a time.
  void add_kernel_parts(const LayerNode& node, const ConvNode& part, const nvdla_conv& conv,
                        const Kernels& kernels, std::uint32_t some);
  static Shape deconvolution_room(const DeconvNode& part);
  void add_contract(const LayerNode& node, const DeconvNode& part, const Scratch& scratch,
                    std::uint32_t block);
  void add_copies(const LayerNode& node, const DeconvNode& part, const Scratch& scratch,
                  std::uint32_t surfaces, bool point);
  // A pooling from memory, in as many pieces as it takes; it may follow the layer before.
  void add_pooling(const LayerNode& node, const nvdla_pdp& pdp, const std::string& name,
                   bool follows);
  // Whether what holds its results to their bounds is a layer of its own, which add_bounds() adds.
  bool is_held_apart(const LayerNode& node) const;
  void add_bounds(const LayerNode& node);
  // A pooling that can follow on the fly becomes part of the one layer that `node` is.
  void fuse_pooling(const LayerNode& node, nvdla_layer& layer, std::string& name);
  // The pooling that can, as far as it decides, or nothing.
  const LayerNode* flying_pooling(const LayerNode& node) const;
  // The pooling that alone reads the output of `node`, or nothing.
  const LayerNode* only_pooling(const LayerNode& node) const;

  // SDP that copies `shape` of `tensor`, or of what follows from it: that waits for it.
  void add_copy(std::uint32_t tensor, const nvdla_surface& from, const Shape& shape,
                const nvdla_surface& to, const std::string& name);
  void add_border(const LayerNode& node, const PadNode& pad);
  // Another shape by Rubik; descriptors say how both cubes are taken to have planes without gaps.
  void add_by_planes(const LayerNode& node, const TensorDesc& from, const TensorDesc& to);
  nvdla_surface surface(std::uint32_t tensor) const;
  // SDP with its operators and its output, without an input; operands go into `blob`.
  nvdla_sdp sdp_part(const LayerNode& node, const SdpNode& sdp, ConstantPool& blob) const;
  // The same for an output of that shape and precision, wherever it lies.
  nvdla_sdp sdp_part(const Shape& out, Precision precision, const SdpNode& sdp,
                     ConstantPool& blob) const;
  void check_run(const OperatorNode& op) const;
  template <typename X>
  void place_operands(const OperatorNode& op, const Shape& out, Precision processing,
                      ConstantPool& blob, X& x) const;
  void place_y(const OperatorYNode& op, const Shape& out, Precision processing, ConstantPool& blob,
               nvdla_sdp_y& y) const;
  void place(const OperatorNode& op, const Shape& out, Precision processing, ConstantPool& blob,
             nvdla_sdp_x& x) const;

  CompiledNetwork::Impl::Port make_port(const IoTensor& node) const;
  // The program of some layers, and what the CPU does.
  ProgramPart program_part(const Schedule::Segment& run) const;
  void add_control(std::span<nvdla_layer* const> compressed, ProgramPart& part) const;
  CpuPart cpu_part(std::uint32_t layer) const;
  void create_program(ProgramPart& part, bool statistics) const;
  void create_parts(bool statistics);
  // What layers and the CPU may touch.
  std::vector<ProgramAccess> accesses() const;
  // What the compiler refuses, in the words of the network.
  Error named(const Error& error, const ProgramPart& part) const;

  const Network::Impl& net_;
  const DeviceInfo& info_;
  const Device& device_;
  CompiledNetwork::Impl& compiled_;
  bool fold_inputs_ = true;
  std::uint32_t this_layer_ = 0;  // of the network
  // Residents that are tensors come first: the index of one is that of the other.
  std::vector<TensorDesc> descs_;
  std::optional<PartPlan> parts_;
  std::vector<Allocation> allocations_;
  MemoryPlan plan_;
  Schedule schedule_;  // as it names allocations
  Schedule placed_;    // as it names slots
  std::vector<nvdla_layer>& layers_ = schedule_.layers;
  std::vector<nvdla_transfer>& transfers_ = schedule_.transfers;
  std::vector<std::uint32_t> cubes_;              // by layer of the network: of a batch, at once
  std::vector<bool> fused_;                       // by layer of the network: part of the one before
  std::vector<std::vector<std::uint32_t>> ends_;  // of the program, by layer of the network
  ConstantPool control_{0};  // tables of compressed weights; in each program their slot comes last
};

// Network::compile(), with other limits than those of programs.
CompiledNetwork compile(const Network::Impl& net, const Device& device, const BuildOptions& options,
                        const ProgramLimits& limits);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_BUILDER_HPP
