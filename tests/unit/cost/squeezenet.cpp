// SPDX-License-Identifier: MIT
//
// SqueezeNet 1.1 as it was cut into layers for nv_small when it was simulated: large inputs in
// bands of lines, the kernels of the last layer in parts.
#include <algorithm>
#include <stdexcept>

#include "measured.hpp"

namespace nvdla::test {
namespace {

constexpr std::uint64_t kBankBytes = 512 * 8;

struct Squeezed {
  unsigned width = 0, height = 0, channels = 0, kernels = 0;
  unsigned kernel = 1, out_width = 0, out_height = 0;
  bool keeps_data = false, keeps_weights = false;
};

class SqueezeNet {
 public:
  SqueezeNet() {
    // Four bands of 28 or 29 lines of results with the lines that they share.
    const unsigned lines[] = {57, 56, 56, 58}, results[] = {28, 28, 28, 29};
    for (unsigned i = 0; i < 4; ++i)
      convolve({.width = 227,
                .height = lines[i],
                .channels = 3,
                .kernels = 64,
                .kernel = 3,
                .out_width = 113,
                .out_height = results[i],
                .keeps_weights = i != 0});
    pool(113, 64, 3, 2);
    fire(56, 64, 16, 2, 64, 1);
    fire(56, 128, 16, 4, 64, 1);
    pool(56, 128, 3, 2);
    fire(28, 128, 32, 1, 128, 1);
    fire(28, 256, 32, 2, 128, 1);
    pool(28, 256, 3, 2);
    fire(14, 256, 48, 1, 192, 1);
    fire(14, 384, 48, 1, 192, 1);
    fire(14, 384, 64, 1, 256, 2);
    fire(14, 512, 64, 2, 256, 2);
    for (unsigned done = 0; done < 1000; done += 48) {
      const unsigned kernels = std::min(48U, 1000 - done);
      convolve(square(14, 512, kernels, 1, done != 0));
      MeasuredLayer& layer = layers_.back();
      layer.pooled = true;
      layer.sdp.writes_cube = false;
      layer.pdp = pooling(14, kernels, 7, 7);
    }
    pool(2, 1000, 2, 2);
  }

  const std::vector<MeasuredLayer>& layers() const { return layers_; }

 private:
  static Squeezed square(unsigned side, unsigned channels, unsigned kernels, unsigned kernel,
                         bool keeps_data = false) {
    return {.width = side,
            .height = side,
            .channels = channels,
            .kernels = kernels,
            .kernel = kernel,
            .out_width = side,
            .out_height = side,
            .keeps_data = keeps_data};
  }

  void convolve(const Squeezed& of) {
    MeasuredLayer& layer = layers_.emplace_back();
    cost::ConvGeometry& conv = layer.conv;
    conv.width = of.width;
    conv.height = of.height;
    conv.channels = conv.weight_channels = conv.winograd_channels = of.channels;
    conv.kernels = of.kernels;
    conv.kernel_width = conv.kernel_height = of.kernel;
    conv.out_width = of.out_width;
    conv.out_height = of.out_height;
    conv.weight_bytes = std::uint64_t{of.kernels} * of.kernel * of.kernel * of.channels;
    conv.weight_banks = static_cast<std::uint32_t>(cost::ceil_div(conv.weight_bytes, kBankBytes));
    conv.fetches_data = !of.keeps_data;
    conv.fetches_weights = !of.keeps_weights;
    cost::SdpGeometry& sdp = layer.sdp;
    sdp.width = of.out_width;
    sdp.height = of.out_height;
    sdp.channels = of.kernels;
    // A bias for each kernel.
    sdp.x1 = true;
    sdp.operands[0] = {.read = true, .two_bytes = true};
  }

  static cost::PdpGeometry pooling(unsigned side, unsigned channels, unsigned kernel,
                                   unsigned stride) {
    cost::PdpGeometry pdp;
    pdp.width = pdp.height = side;
    pdp.channels = channels;
    pdp.kernel_width = pdp.kernel_height = kernel;
    pdp.stride_width = pdp.stride_height = stride;
    // A window takes what is left over at the edges, too.
    pdp.out_width = pdp.out_height =
        static_cast<std::uint32_t>(cost::ceil_div(side - kernel, stride)) + 1;
    return pdp;
  }

  void pool(unsigned side, unsigned channels, unsigned kernel, unsigned stride) {
    MeasuredLayer& layer = layers_.emplace_back();
    layer.kind = MeasuredLayer::Kind::kPdp;
    layer.pdp = pooling(side, channels, kernel, stride);
    layer.pdp.reads_cube = true;
  }

  // Kernels of 1 x 1 that squeeze, in bands, and of 1 x 1 and 3 x 3 that expand, the latter in
  // parts.
  void fire(unsigned side, unsigned channels, unsigned squeeze, unsigned bands, unsigned expand,
            unsigned parts) {
    for (unsigned i = 0; i < bands; ++i) {
      Squeezed band = square(side, channels, squeeze, 1);
      band.height = band.out_height = side / bands;
      band.keeps_weights = i != 0;
      convolve(band);
    }
    convolve(square(side, squeeze, expand, 1));
    for (unsigned i = 0; i < parts; ++i) convolve(square(side, squeeze, expand / parts, 3, i != 0));
  }

  std::vector<MeasuredLayer> layers_;
};

}  // namespace

std::vector<MeasuredRow> read_squeezenet(const std::filesystem::path& path) {
  std::vector<MeasuredRow> rows;
  const SqueezeNet network;
  const auto table = read_table(path);
  if (table.size() != network.layers().size())
    throw std::runtime_error(path.string() + ": " + std::to_string(table.size()) +
                             " layers, expected " + std::to_string(network.layers().size()));
  for (std::size_t i = 0; i < table.size(); ++i) {
    MeasuredRow& row = rows.emplace_back();
    row.configuration = "nv_small";
    row.revision = 2019;
    row.name = table[i].at("layer");
    row.group = "SqueezeNet";
    row.cycles = std::stoull(table[i].at("simulated"));
    row.layers.push_back(network.layers()[i]);
    const bool pools = row.name.find("pdp") != row.name.npos;
    const MeasuredLayer& layer = row.layers[0];
    if (pools != (layer.pooled || layer.kind == MeasuredLayer::Kind::kPdp))
      throw std::runtime_error(path.string() + ": '" + row.name + "' is another layer");
  }
  return rows;
}

}  // namespace nvdla::test
