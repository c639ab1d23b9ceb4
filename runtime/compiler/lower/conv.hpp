// SPDX-License-Identifier: MIT
//
// Lowering convolutions.
#ifndef NVDLA_COMPILER_LOWER_CONV_HPP
#define NVDLA_COMPILER_LOWER_CONV_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/lower/lowering.hpp"

namespace nvdla::detail {

// Returns the descriptor of a convolution in the form that passes have chosen, without its places.
nvdla_conv formed_conv(const ConvNode& part);

// Emits a convolution, which may take more than the convolution buffer holds.
void emit_convolution(Lowering& lowering, const LayerNode& node, const nvdla_conv& conv,
                      const nvdla_sdp& sdp, Operation operation);

// Puts the packed stream into `pool`, and its tables, if it has any, into those of all layers;
// `conv` gets their places.
void place_weights(Lowering& lowering, const WeightsDesc& desc, std::span<const std::byte> stream,
                   nvdla_conv& conv, ConstantPool& pool);

// Emits a convolution of which not even one kernel group fits, some kernels at a time.
void add_kernel_parts(Lowering& lowering, const LayerNode& node, const ConvNode& part,
                      const nvdla_conv& conv, const Kernels& kernels);

// `SparseKernels` see `channels` of a cube only, kernel k from channel first[k] on; these do not
// fall.
struct SparseKernels {
  std::uint32_t channels = 1;
  std::vector<std::uint32_t> first;
};

// Returns the kernels of a convolution of groups.
SparseKernels grouped_kernels(const ConvNode& part);
// Returns the blocks in which such kernels take least; the smallest ones where not even they fit
// the convolution buffer, which whoever cuts them in bands finds out.
std::vector<KernelBlock> choose_blocks(const DeviceInfo& info, const nvdla_conv& conv,
                                       const SparseKernels& sparse);
// Emits a layer for each block; those of several are called "name several 2/3". `sdp` has its
// operands in `pool`.
void add_sparse(Lowering& lowering, const LayerNode& node, const nvdla_conv& conv,
                const Kernels& weights, const SparseKernels& sparse,
                const std::vector<KernelBlock>& blocks, const nvdla_sdp& sdp, ConstantPool pool,
                const Operation& operation, std::string_view several);

// Returns room for whole phases of a deconvolution: the last of them may reach beyond the output.
Shape deconvolution_room(const DeconvNode& part);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_CONV_HPP
