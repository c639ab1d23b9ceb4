// SPDX-License-Identifier: MIT
//
/// @file
/// Deconvolution (transposed convolution) as convolutions without stride: output positions that are
/// alike modulo the strides see the same taps, so each such phase is a convolution with a kernel of
/// its own, the taps reversed. The results stand side by side as blocks of channels, which Rubik's
/// contract turns into positions.
///
/// @code{.unparsed}
///   out[k][oy][ox] = sum of in[c][y][x] * w[k][c][r][s]
///     over y * stride_height + r = oy + pad_top, x * stride_width + s = ox + pad_left
/// @endcode
///
/// Phase (Y, X) makes out[k][q * stride_height + Y][p * stride_width + X] for all q and p; it is
/// block Y * stride_width + X of a contract's input.
#ifndef NVDLA_LOWLEVEL_DECONVOLUTION_PHASES_HPP
#define NVDLA_LOWLEVEL_DECONVOLUTION_PHASES_HPP

#include <cstdint>
#include <span>
#include <vector>

#include "nvdla/lowlevel/weights.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {

/// The sizes of a deconvolution, in elements.
struct DeconvolutionDesc {
  Shape input;                      ///< Shape of the input.
  WeightsDesc weights;              ///< channels are the input's
  std::uint32_t stride_width = 1;   ///< Columns from one input element's results to the next.
  std::uint32_t stride_height = 1;  ///< Lines from one input element's results to the next.
  /// Lines of the whole result that are cut off at the top, fewer than the kernel has; so are
  /// columns.
  std::uint32_t pad_top = 0;
  std::uint32_t pad_bottom = 0;  ///< Lines cut off at the bottom.
  std::uint32_t pad_left = 0;    ///< Columns cut off on the left.
  std::uint32_t pad_right = 0;   ///< Columns cut off on the right.
  /// Lines without input appended at the bottom, fewer than the stride: sizes that a convolution
  /// with this stride would have reduced to the same.
  std::uint32_t extra_bottom = 0;
  std::uint32_t extra_right = 0;  ///< Columns without input appended on the right.
};

/// Kernels, height and width: (size - 1) * stride + kernel size - paddings + extra.
/// Throws kInvalidArgument for numbers that cannot be.
NVDLA_API Shape deconvolution_output(const DeconvolutionDesc& desc);

/// A convolution without stride: paddings are zeros, taps are in the order of a convolution.
struct DeconvolutionPhase {
  std::uint32_t kernel_height = 1;  ///< Lines of a kernel, 1..32.
  std::uint32_t kernel_width = 1;   ///< Columns of a kernel, 1..32.
  std::uint32_t pad_top = 0;        ///< Lines of padding above the input.
  std::uint32_t pad_bottom = 0;     ///< Lines of padding below the input.
  std::uint32_t pad_left = 0;       ///< Columns of padding left of the input.
  std::uint32_t pad_right = 0;      ///< Columns of padding right of the input.
  /// Lines of the input that it reads, from the first.
  std::uint32_t height = 1;
  std::uint32_t width = 1;  ///< Columns of the input that it reads, from the first.
};

/// Lines and columns that every phase makes: ceil(output size / stride). What exceeds the output in
/// the last phases is zeros or the result of more input than the output has.
NVDLA_API Shape deconvolution_phase_output(const DeconvolutionDesc& desc);
/// Returns phase (y, x), y < stride_height and x < stride_width, which makes every element whose
/// line is y modulo stride_height and whose column is x modulo stride_width. Throws
/// kInvalidArgument for any other.
NVDLA_API DeconvolutionPhase deconvolution_phase(const DeconvolutionDesc& desc, std::uint32_t y,
                                                 std::uint32_t x);
/// KCRS of the deconvolution -> KCRS of a phase.
NVDLA_API std::vector<std::int8_t> deconvolution_weights(const DeconvolutionDesc& desc,
                                                         std::uint32_t y, std::uint32_t x,
                                                         std::span<const std::int8_t> kcrs);
/// The same for elements of 16 bits.
NVDLA_API std::vector<std::int16_t> deconvolution_weights(const DeconvolutionDesc& desc,
                                                          std::uint32_t y, std::uint32_t x,
                                                          std::span<const std::int16_t> kcrs);

}  // namespace nvdla

#endif  // NVDLA_LOWLEVEL_DECONVOLUTION_PHASES_HPP
