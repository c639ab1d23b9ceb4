// SPDX-License-Identifier: MIT
//
// Whole networks through the public interface. ResNet-50 has its shortcuts, a multiplier and a bias
// for each kernel, and its poolings; oneDNN computes the same convolutions with the sums, and no
// pooling.
#include <memory>
#include <vector>

#include "compare/cases.hpp"
#include "compare/ours.hpp"
#include "network/resnet50.hpp"
#include "network/shapes.hpp"
#include "peer/convolution.hpp"

namespace nvdla::bench {
namespace {

// The convolutions of oneDNN, each from the result of the one before it.
class PeerResNet50 {
 public:
  PeerResNet50() {
    add({"conv1", 1, ResNet50::kInput.height, ResNet50::kInput.channels, 64, 7, 2, 3});
    constexpr std::uint32_t kBlocks[] = {3, 4, 6, 3};
    std::uint32_t side = 56, channels = 64, width = 64;
    // What the pooling would leave is made up.
    const Operation* at = nullptr;
    for (std::uint32_t stage = 0; stage < 4; ++stage, width *= 2)
      for (std::uint32_t i = 0; i < kBlocks[stage]; ++i) {
        const std::uint32_t stride = stage != 0 && i == 0 ? 2 : 1;
        const Operation* shortcut = at;
        if (i == 0)
          shortcut =
              add({"project", 1, side, channels, 4 * width, 1, stride, 0}, at, nullptr, false);
        at = add({"reduce", 1, side, channels, width, 1, stride, 0}, at);
        side /= stride;
        channels = 4 * width;
        at = add({"3x3", 1, side, width, width, 3, 1, 1}, at);
        at = add({"expand", 1, side, width, channels, 1, 1, 0}, at, shortcut);
      }
    add({"fc", 1, 1, channels, ResNet50::kClasses, 1, 1, 0}, nullptr, nullptr, false);
  }

  void run() const {
    for (const auto& layer : layers_) layer->run();
  }

 private:
  const Operation* add(const ConvShape& shape, const Operation* source = nullptr,
                       const Operation* sum = nullptr, bool relu = true) {
    PeerConvolution conv{.shape = shape};
    if (source == nullptr)
      conv.source =
          numbers_.integers(std::size_t{shape.channels} * shape.side * shape.side, -128, 127);
    conv.weights = numbers_.integers(
        std::size_t{shape.kernels} * shape.channels * shape.size * shape.size, -127, 127);
    conv.bias = numbers_.integers(shape.kernels, -32767, 32767);
    conv.scales = numbers_.integers(shape.kernels, 12288, 20480);
    for (float& scale : conv.scales) scale *= 0x1p-24F;
    conv.relu = relu;
    layers_.push_back(std::make_unique<Operation>(convolution(conv, source, sum)));
    return layers_.back().get();
  }

  std::vector<std::unique_ptr<Operation>> layers_;
  Numbers numbers_;
};

Case resnet50_case(Shortcut shortcut, unsigned threads) {
  ResNet50 network(shortcut);
  const std::vector<std::int8_t> image = network.image();
  const auto build = [&](unsigned count) {
    auto session = std::make_shared<Session>(network.network().build(model(count)));
    session->write("image", Layout::kNchw, image);
    return [session = std::move(session)] { session->run(); };
  };
  const auto peer = std::make_shared<PeerResNet50>();
  Case one;
  one.sides = {{"ours", build(threads)}, {"s8s8", [peer] { peer->run(); }}};
  if (threads > 1) one.sides.push_back({"ours, 1 thread", build(1)});
  one.macs = static_cast<double>(network.network().macs());
  return one;
}

}  // namespace

void add_network_cases(const Settings& settings) {
  for (const unsigned threads : {1U, 2U})
    for (const Shortcut shortcut : {Shortcut::kX, Shortcut::kY})
      add_case(settings,
               {"network", shortcut == Shortcut::kX ? "resnet50" : "resnet50 by Y", threads},
               [shortcut, threads] { return resnet50_case(shortcut, threads); });
}

}  // namespace nvdla::bench
