// SPDX-License-Identifier: MIT
//
/// @file
/// Convolution layers, with the SDP that always follows.
#ifndef NVDLA_OPERATORS_CONVOLUTION_HPP
#define NVDLA_OPERATORS_CONVOLUTION_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "nvdla/operators/sdp_operators.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {

/// Kernels, whose type is what the layer works in: int8, int16, bits of fp16, or reals that are
/// rounded to fp16.
using KernelSpan = std::variant<std::span<const std::int8_t>, std::span<const std::int16_t>,
                                std::span<const std::uint16_t>, std::span<const float>>;

/// The cases in which a layer is rewritten into one that may be faster.
enum class Rewrite {
  kNever,   ///< The layer stays as it is.
  kAuto,    ///< It is rewritten where that is possible and predicted to be faster.
  kAlways,  ///< It is rewritten, or an error says what is in the way.
};

/// Arithmetic states what results depend on besides the geometry and the operands of a layer. As it
/// stands sums are not shifted, and NaN stays NaN.
struct Arithmetic {
  /// Right shift of the accumulator before everything else, 0..16; 0 in fp16.
  std::uint32_t accumulator_shift = 0;
  /// fp16: NaN of the input and of the kernels reads as zero. What pads is not changed.
  bool nan_to_zero = false;
  /// fp16: sums that are NaN, and NaN of operands, read as zero.
  bool nan_sums_to_zero = false;
  /// fp16: the products of a sum may be added in any order, so that forms are tried which are
  /// faster and round sums otherwise: pixels (Convolution::Tuning::pixels).
  /// BuildOptions::allow_rounding lets all layers.
  bool any_order = false;
  /// Right shift of transformed data in integer Winograd, 0..2: trades their low bits for range. A
  /// convolution that Convolution::Tuning::winograd does not rewrite has no use for it.
  std::uint32_t winograd_truncate = 0;
};

/// A conversion of the input before the arithmetic: (x - offset) * scale >> shift, halves away from
/// zero, saturated to what the layer works in. For images and for integer tensors in fp16 layers.
struct InputConverter {
  std::int16_t offset = 0;  ///< Number that is subtracted from each element first.
  /// Offsets of an image or of int8 that lies as pixels, in place of `offset`: one for each
  /// component, in the order R G B A or Y U V.
  std::span<const std::int16_t> mean = {};
  std::int16_t scale = 1;      ///< Factor of the difference.
  std::uint32_t shift = 0;     ///< 0..34
  bool signed_pixels = false;  ///< components are signed whatever the pixel format says
};

/// Everything is copied when the layer is added.
///
/// The input is a tensor of the kernels' precision, an int16 tensor with fp16 kernels, or an image
/// (Network::image()): int8 and int16 components with any kernels, fp16 ones with fp16 kernels.
///
/// An input of the network in int8, of one to four channels, may have fp16 kernels, too, if no
/// other layer reads it and sums may be added in any order (Arithmetic::any_order). It always lies
/// as pixels (Tuning::pixels), of one component or of four; those beyond its channels are 0 before
/// the input converter, and may have kernels.
struct Convolution {
  /// Forms of the layer that the compiler should try: they cost more or less time, and results stay
  /// the same but for what Winograd rounds.
  struct Tuning {
    /// Width folding (folding.hpp) of an input of the network that only this layer reads. Results
    /// do not change, but where the input lies: CompiledNetwork::desc() tells.
    Rewrite folding = Rewrite::kNever;
    /// An input of the network that only this layer reads, of up to four channels, lies as pixels
    /// (TensorDesc::pixel), which a line of the kernel takes in one step. Results do not change,
    /// but where the input lies: CompiledNetwork::desc() tells. In fp16 sums are added in another
    /// order, which Arithmetic::any_order has to allow. kAuto does it where the layer is predicted
    /// to take fewer cycles.
    Rewrite pixels = Rewrite::kAuto;
    /// Winograd for kernels that the stride folds to 3x3. It computes in other steps than a direct
    /// convolution: fp16 results are rounded elsewhere. Integers are exact as long as transformed
    /// data (sums of four inputs) fit 8 or 16 bits, and transformed weights (conv_weights.hpp) fit
    /// exactly. BuildOptions::allow_rounding makes kAuto of all that is kNever.
    Rewrite winograd = Rewrite::kNever;
    /// Several cubes of a batch in one layer, on devices that have it (DeviceInfo::has_batch):
    /// weights are fetched once for all of them. Of tensors without Winograd, whose operands are
    /// the same for every cube, with a result of the precision that the layer works in; a pooling
    /// then does not follow on the fly. Results do not change, but where the output lies: its
    /// strides are multiples of 64 bytes, CompiledNetwork::desc() tells.
    Rewrite batch = Rewrite::kAuto;
    /// Bands of lines that take turns with each other and with those of neighbouring layers, so
    /// that one is fetched while another is computed. Of tensors, one cube at a time, on devices
    /// without the fault of DeviceInfo::has_weight_gating. Results do not change.
    Rewrite interleaving = Rewrite::kAuto;
    /// Kernel lines side by side in one step of an image: 1, 2 or 4; 0 takes as many as fit.
    std::uint32_t post_extension = 0;
  };

  /// Name of the layer in errors, reports and pictures; it may stay empty.
  std::string_view name = {};
  std::uint32_t kernels = 1;  ///< Kernels, the channels of the result.
  /// Equal parts of the channels and of the kernels: kernels of the first group see the channels of
  /// the first group only. As many groups as channels is a depthwise convolution. Of tensors,
  /// without folding, Winograd and several cubes at once. Groups are worked on as many at a time as
  /// takes least: kernels "name groups 2/8" have zeros for the other channels of their atoms, so in
  /// fp16 a NaN may reach kernels of the groups beside its own.
  std::uint32_t groups = 1;
  std::uint32_t kernel_height = 1;    ///< Lines of a kernel, 1..32.
  std::uint32_t kernel_width = 1;     ///< Columns of a kernel, 1..32.
  std::uint32_t stride_height = 1;    ///< Lines from one output to the next, 1..8.
  std::uint32_t stride_width = 1;     ///< Columns from one output to the next, 1..8.
  std::uint32_t dilation_height = 1;  ///< Lines from one tap of a kernel to the next, 1..32.
  std::uint32_t dilation_width = 1;   ///< Columns from one tap of a kernel to the next, 1..32.
  std::uint32_t pad_top = 0;          ///< Lines of padding above the input.
  std::uint32_t pad_bottom = 0;       ///< Lines of padding below the input.
  std::uint32_t pad_left = 0;         ///< Columns of padding left of the input.
  std::uint32_t pad_right = 0;        ///< Columns of padding right of the input.
  /// Element that padding has, in the precision that the layer works in (fp16: its bits), after the
  /// input converter; normally the zero point.
  std::int32_t pad_value = 0;
  /// KCRS, with the channels of a group. Kernels of an image may have fewer channels than the image
  /// has components; the others are ignored.
  KernelSpan weights = {};
  /// Conversion of the input before the arithmetic, of images and of integer tensors in fp16
  /// layers.
  InputConverter input = {};
  /// One per kernel or none, added to the accumulator exactly: X1 adds the high halves, X2 the low
  /// ones, or X1 alone where all fit 16 bits (shifted left alike). Excludes operators that then
  /// have no place: kInvalidArgument says which.
  std::span<const std::int32_t> bias = {};
  /// The same of fp16 layers: rounded to fp16, added by X1.
  std::span<const float> bias_reals = {};
  /// Negative results become zero, in the last operator: Y where there is one, whose ALU does it if
  /// it is free; else the bounds below, or of fp16 a further layer "NAME clamp", do it behind Y.
  bool relu = false;
  /// Shifts of sums, and what becomes of NaN.
  Arithmetic arithmetic = {};
  /// The first SDP operator, after the bias.
  Operator x1 = {};
  Operator x2 = {};  ///< The second SDP operator, after X1.
  OperatorY y = {};  ///< The third SDP operator, after X2, on devices that have it.
  /// int32 -> the result; not of fp16 layers, whose results are rounded.
  Converter output = {};
  /// Least and greatest element of an integer result.
  ElementBounds bounds = {};
  /// Precision of the result; absent: the one that the layer works in. int8 layers make int8 or
  /// int16, int16 layers int16 or fp16, fp16 layers fp16 or int16.
  std::optional<Precision> precision = {};
  /// Forms that the compiler should try.
  Tuning tuning = {};
};

}  // namespace nvdla

#endif  // NVDLA_OPERATORS_CONVOLUTION_HPP
