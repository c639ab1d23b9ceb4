// SPDX-License-Identifier: MIT
//
// Lowering convolutions.
#ifndef NVDLA_COMPILER_LOWER_CONV_HPP
#define NVDLA_COMPILER_LOWER_CONV_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/lower/lowering.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// Returns the descriptor of a convolution in the form that passes have chosen, without its places.
nvdla_conv formed_conv(const ConvNode& part);

// `ConvLines` are every `step`-th line of the output of a convolution, and what makes them of every
// `step`-th line of the input.
struct ConvLines {
  nvdla_conv conv = {};
  std::uint32_t step = 1;
  std::uint32_t input_line = 0;   // first line read
  std::uint32_t output_line = 0;  // first line written
  std::uint32_t output_lines = 0;
};

// Returns the parts of a direct convolution, `step` of them or one for each line; none if one of
// them reads too little for a layer. The dilation in height is a multiple of `step`.
std::vector<ConvLines> cut_into_steps(const nvdla_conv& conv, std::uint32_t step);
// Returns the layer that computes some lines of `whole`.
nvdla_layer layer_of(const nvdla_layer& whole, const ConvLines& lines);
// Returns the descriptor of a convolution or, where it is computed in steps of lines, of the layer
// that reads the most lines.
nvdla_conv tallest_layer(const ConvNode& part);

// Emits a convolution, which may take more than the convolution buffer holds.
void emit_convolution(Lowering& lowering, const LayerNode& node, const nvdla_conv& conv,
                      const nvdla_sdp& sdp, Operation operation);

// Puts the packed stream into `pool`, and its tables, if it has any, into those of all layers;
// `conv` gets their places.
void place_weights(Lowering& lowering, const WeightsDesc& desc, std::span<const std::byte> stream,
                   nvdla_conv& conv, ConstantPool& pool);

// `SparseKernels` see `channels` of a cube only, kernel k from channel first[k] on; these do not
// fall.
struct SparseKernels {
  std::uint32_t channels = 1;
  std::vector<std::uint32_t> first;
};

// Returns kernels that see all channels.
SparseKernels dense_kernels(const nvdla_conv& conv);
// Returns the kernels of a convolution of groups.
SparseKernels grouped_kernels(const ConvNode& part);
// Returns blocks of `some` kernels, the last of which may have fewer; channels begin with an atom.
std::vector<KernelBlock> make_blocks(const DeviceInfo& info, const nvdla_conv& conv,
                                     const SparseKernels& sparse, std::uint32_t some);
// Returns the blocks in which such kernels take least. Each fills whole atoms, or has fewer kernels
// where these do not fit the convolution buffer. Where not even one kernel fits, whoever cuts the
// blocks in bands finds out.
std::vector<KernelBlock> choose_blocks(const DeviceInfo& info, const nvdla_conv& conv,
                                       const SparseKernels& sparse);
// Returns the layer of a block, without the place of its weights.
nvdla_conv conv_of(const DeviceInfo& info, const nvdla_conv& conv, const KernelBlock& block);
// Packs the kernels of a block, with zeros for the channels that they do not see.
void pack_block(const DeviceInfo& info, const nvdla_conv& layer, const KernelBlock& block,
                const SparseKernels& sparse, const Kernels& weights, std::span<std::byte> stream);
// Emits a layer for each block; those of several are called "name several 2/3". `sdp` has its
// operands in `pool`.
void add_sparse(Lowering& lowering, const LayerNode& node, const nvdla_conv& conv,
                const Kernels& weights, const SparseKernels& sparse,
                const std::vector<KernelBlock>& blocks, const nvdla_sdp& sdp, ConstantPool pool,
                const Operation& operation, std::string_view several);

// Emits a convolution of which not even the kernels of an atom fit the convolution buffer, a block
// of a few kernels at a time.
void add_kernel_parts(Lowering& lowering, const LayerNode& node, const ConvNode& part,
                      const nvdla_conv& conv, const Kernels& kernels, const SparseKernels& sparse,
                      const std::vector<KernelBlock>& blocks);

// Returns room for whole phases of a deconvolution: the last of them may reach beyond the output.
Shape deconvolution_room(const DeconvNode& part);

// Moves SDP to the kernels from `first` on, which begin with an atom: its operands and its output.
void move_kernels(const DeviceInfo& info, nvdla_sdp& sdp, std::uint32_t first);
// The same of a whole layer, with its weights and a pooling.
void move_kernels(const DeviceInfo& info, nvdla_layer& layer, std::uint32_t first);
// Moves operands and output of SDP to the columns from `first` on.
void move_columns(const DeviceInfo& info, nvdla_sdp& sdp, std::uint32_t first);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_CONV_HPP
