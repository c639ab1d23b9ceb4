// SPDX-License-Identifier: MIT
//
// Building convolutions: weights packed, banks chosen, bands of lines where they do not fit.
#include "core/builder.hpp"
#include "core/cbuf.hpp"
#include "core/check.hpp"
#include "nvdla/weights.hpp"

namespace nvdla::detail {

// A convolution, in as many bands of lines as the convolution buffer makes necessary.
void Builder::add_part(const LayerNode& node, const ConvNode& part) {
  Blob blob = make_blob();
  nvdla_conv conv = part.conv;
  WeightsDesc weights;
  weights.kernels = conv.kernels;
  weights.channels = conv.channels;
  weights.kernel_height = conv.kernel_height;
  weights.kernel_width = conv.kernel_width;
  conv.batch = 1;  // one cube a layer
  conv.input = surface(node.input);
  conv.weights.slot = blob.slot();
  conv.weights.offset = blob.add(weights_bytes(weights));
  pack_weights(info_, weights, part.weights, blob.at(conv.weights.offset));
  const nvdla_sdp sdp = sdp_part(node, part.sdp, blob);
  add_blob(blob);

  const std::vector<Band> bands = split_lines(info_, conv);
  const Shape& out = descs_[node.output].shape;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const Band& band = bands[i];
    nvdla_layer layer = make_layer(band.conv, sdp);
    layer.conv.input.offset += std::uint64_t{band.input_line} * layer.conv.input.line_stride;
    layer.sdp.output.offset += std::uint64_t{band.output_line} * layer.sdp.output.line_stride;
    for (nvdla_sdp_x* x : {&layer.sdp.x1, &layer.sdp.x2}) {
      // 0 unless there is one operand for each element.
      x->operand.offset += std::uint64_t{band.output_line} * x->operand.line_stride;
    }
    commit(node, layer,
           bands.size() == 1 ? node.name : fmt::format("{} {}/{}", node.name, i + 1, bands.size()),
           node.macs / out.height * band.output_lines);
  }
}

}  // namespace nvdla::detail
