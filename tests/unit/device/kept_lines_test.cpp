// SPDX-License-Identifier: MIT
//
// Lines that stay in the convolution buffer for the next layer, through descriptors and the model.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/runtime/reference.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla {
namespace {

// Four lines of one position in three surfaces without gaps: three lines stay and move up, and the
// last one is fetched again. Each kernel passes a channel.
TEST(KeptLines, OneMoreLineOfOnePosition) {
  for (const char* configuration : {"nv_full", "nv_small"}) {
    const Device device = Device::open(std::string("model:") + configuration);
    const DeviceInfo& info = device.info();
    const std::uint32_t channels = 3 * info.atom;
    const TensorDesc cube = packed_tensor(info, {channels, 4, 1}, Precision::kInt8);
    const WeightsDesc weights{.kernels = channels, .channels = channels};
    std::vector<std::int8_t> identity(weights.elements());
    for (std::size_t k = 0; k < channels; ++k) identity[k * channels + k] = 1;

    enum Slot : std::uint32_t { kInput, kWeights, kFirst, kSecond };
    const std::uint64_t bytes = std::uint64_t{channels} * 4;
    const Binding buffers[] = {Binding(device.allocate(bytes)),
                               Binding(device.allocate(weights_bytes(weights))),
                               Binding(device.allocate(bytes)), Binding(device.allocate(bytes))};
    const auto values = test::random_values<std::int8_t>(bytes, 4, -128, 127);
    pack(cube, Layout::kNchw, values, buffers[kInput].buffer.map(MapMode::kWrite).bytes());
    pack_weights(info, weights, identity, buffers[kWeights].buffer.map(MapMode::kWrite).bytes());

    nvdla_conv conv = make_conv(cube, weights);
    conv.input = tensor_surface(cube, kInput);
    conv.weights.slot = kWeights;
    choose_banks(info, conv);
    conv.release = 1;
    nvdla_sdp sdp = make_sdp();
    sdp.output = tensor_surface(cube, kFirst);
    const nvdla_layer first = make_layer(conv, sdp);
    conv.release = 0;
    conv.flags = NVDLA_CONV_REUSE_DATA;
    sdp.output = tensor_surface(cube, kSecond);
    const nvdla_layer layers[] = {first, make_layer(conv, sdp)};
    std::vector<nvdla_slot> slots;
    for (const Binding& binding : buffers) {
      slots.push_back(make_slot(info, binding.buffer.size(), NVDLA_SLOT_READ | NVDLA_SLOT_WRITE));
    }
    ProgramDesc desc;
    desc.layers = layers;
    desc.slots = slots;
    device.submit(device.create_program(desc), buffers).wait();

    std::vector<std::int8_t> found(bytes);
    unpack(cube, Layout::kNchw, buffers[kSecond].buffer.map(MapMode::kRead).bytes(), found);
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t y = 0; y < 4; ++y) {
        ASSERT_EQ(found[c * 4 + y], values[c * 4 + (y < 3 ? y + 1 : 3)])
            << configuration << ": channel " << c << ", line " << y;
      }
    }
  }
}

}  // namespace
}  // namespace nvdla
