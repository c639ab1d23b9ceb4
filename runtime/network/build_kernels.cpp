// SPDX-License-Identifier: MIT
//
// Building convolutions with kernels so large that not even one group of them fits the convolution
// buffer: some kernels at a time. What they give fills no atom, so each part goes to surfaces of
// its own in a scratch buffer, and a convolution of one position with weights of 0 and 1 puts the
// channels side by side, which is exact for integers.
#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "layout/cbuf.hpp"
#include "network/builder.hpp"

namespace nvdla::detail {
namespace {

// Operands of the channels first..end of `out`.
void keep_channels(OperatorNode& op, const Shape& out, std::uint32_t first, std::uint32_t end) {
  if (op.mode == NVDLA_OPERAND_LAYER) return;
  const std::size_t each =
      op.mode == NVDLA_OPERAND_ELEMENT ? std::size_t{out.height} * out.width : 1;
  for (std::vector<std::int32_t>* values : {&op.alu_values, &op.mul_values}) {
    if (values->empty()) continue;
    *values = {values->begin() + static_cast<std::ptrdiff_t>(first * each),
               values->begin() + static_cast<std::ptrdiff_t>(end * each)};
  }
}

void check_parts(const ConvNode& part, Precision result, std::uint32_t channels) {
  const char* reason = nullptr;
  if (part.sdp.processing == Precision::kFp16) reason = "fp16, which would lose the sign of zeros";
  if (result != part.sdp.processing) reason = "a result of another precision";
  if (!part.sdp.tensors().empty()) reason = "operands from a tensor";
  if (channels > kMaxSide) reason = "that many of them";
  if (reason != nullptr) {
    refuse(ErrorCode::kNotAvailable,
           "not even one group of kernels of {}x{}x{} (CHW) fits the convolution buffer, and they "
           "cannot be split with {}",
           part.conv.channels, part.conv.kernel_height, part.conv.kernel_width, reason);
  }
}

// Channel `sources[k]` is kernel k.
Kernels selection(const std::vector<std::uint32_t>& sources, std::uint32_t channels,
                  Precision precision) {
  const auto fill = [&](auto list) -> Kernels {
    list.resize(sources.size() * channels);
    for (std::size_t k = 0; k < sources.size(); ++k) list[k * channels + sources[k]] = 1;
    return list;
  };
  return precision == Precision::kInt8 ? fill(std::vector<std::int8_t>())
                                       : fill(std::vector<std::int16_t>());
}

}  // namespace

void Builder::pack_kernels(nvdla_conv& layer, const Kernels& all, std::uint32_t first,
                           Blob& blob) const {
  const WeightsDesc weights = weights_desc(layer);
  layer.weights.slot = blob.slot();
  layer.weights.offset = blob.add(weights_bytes(weights));
  std::visit(
      [&](const auto& list) {
        const std::size_t each = weights.elements() / weights.kernels;
        pack_weights(info_, weights, std::span(list).subspan(first * each, weights.elements()),
                     blob.at(layer.weights.offset));
      },
      all);
}

void Builder::add_kernel_parts(const LayerNode& node, const ConvNode& part, const nvdla_conv& conv,
                               const Kernels& kernels, std::uint32_t some) {
  const TensorDesc& out = descs_[node.output];
  const std::uint32_t lanes = out.elements_per_atom();
  const std::uint32_t parts = (conv.kernels + some - 1) / some;
  check_parts(part, out.precision, parts * lanes);
  Shape apart = out.shape;
  apart.channels = parts * lanes;
  const Scratch scratch = add_scratch(apart, out.precision);

  for (std::uint32_t i = 0; i < parts; ++i) {
    const std::uint32_t first = i * some, end = std::min(first + some, conv.kernels);
    Blob blob = make_blob();
    nvdla_conv layer = conv;
    layer.kernels = end - first;
    pack_kernels(layer, kernels, first, blob);
    SdpNode own = part.sdp;
    keep_channels(own.operators.x1, out.shape, first, end);
    keep_channels(own.operators.x2, out.shape, first, end);
    keep_channels(own.y, out.shape, first, end);
    Shape shape = out.shape;
    shape.channels = end - first;
    nvdla_sdp sdp = sdp_part(shape, out.precision, own, blob);
    sdp.output = scratch.surface;
    sdp.output.offset += std::uint64_t{i} * scratch.surface.surface_stride;
    add_blob(std::move(blob));
    add_bands(node, layer, sdp,
              {.name = fmt::format("{} kernels {}/{}", node.name, i + 1, parts),
               .macs = node.macs / conv.kernels * (end - first),
               .whole = false,
               .after = {}});
  }

  std::vector<std::uint32_t> sources;
  for (std::uint32_t k = 0; k < conv.kernels; ++k) sources.push_back(k / some * lanes + k % some);
  add_gather(node, scratch, sources);
}

void Builder::add_gather(const LayerNode& node, const Scratch& scratch,
                         const std::vector<std::uint32_t>& sources) {
  const Precision precision = descs_[node.output].precision;
  Blob blob = make_blob();
  TensorDesc input = scratch.desc;
  input.shape.batch = 1;  // one cube a layer
  input.batch_stride = 0;
  WeightsDesc weights;
  weights.kernels = static_cast<std::uint32_t>(sources.size());
  weights.channels = input.shape.channels;
  weights.precision = precision;
  nvdla_conv gather = make_conv(input, weights);
  gather.input = scratch.surface;
  pack_kernels(gather, selection(sources, weights.channels, precision), 0, blob);
  SdpNode pass;
  pass.processing = precision;
  const nvdla_sdp sdp = sdp_part(node, pass, blob);
  add_blob(std::move(blob));
  add_bands(node, gather, sdp,
            {.name = node.name + " gather",
             .macs = 0,
             .whole = false,
             .after = static_cast<std::uint32_t>(layers_.size() - 1)});
}

}  // namespace nvdla::detail
