// SPDX-License-Identifier: MIT
//
// Headers and names of the version before still work: this file includes each, and no new one.
#include <gtest/gtest.h>

#include <type_traits>

#include "nvdla/compress.hpp"
#include "nvdla/concatenation.hpp"
#include "nvdla/conv_weights.hpp"
#include "nvdla/convolution.hpp"
#include "nvdla/cpu_operators.hpp"
#include "nvdla/deconvolution.hpp"
#include "nvdla/deconvolution_phases.hpp"
#include "nvdla/error.hpp"
#include "nvdla/export.hpp"
#include "nvdla/folding.hpp"
#include "nvdla/fully_connected.hpp"
#include "nvdla/functions.hpp"
#include "nvdla/half.hpp"
#include "nvdla/image.hpp"
#include "nvdla/layer.hpp"
#include "nvdla/layers.hpp"
#include "nvdla/lut.hpp"
#include "nvdla/memory_use.hpp"
#include "nvdla/normalization.hpp"
#include "nvdla/operators.hpp"
#include "nvdla/pointwise.hpp"
#include "nvdla/pooling.hpp"
#include "nvdla/quantized.hpp"
#include "nvdla/quantized_elements.hpp"
#include "nvdla/reshape.hpp"
#include "nvdla/session.hpp"
#include "nvdla/slicing.hpp"
#include "nvdla/tensor.hpp"
#include "nvdla/weights.hpp"

namespace nvdla {
namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(OldHeaders, HaveWhatTheyHad) {
  EXPECT_TRUE((std::is_same_v<Session, Request>));
  EXPECT_EQ(sizeof(BufferUse), sizeof(MemoryUse::buffers[0]));
  EXPECT_EQ(configuration_info("nv_small").atom, 8U);
  EXPECT_EQ(requantize(0.5).shift, Converter(requantize(0.5)).shift);
  EXPECT_EQ(Shape(packed_tensor(configuration_info("nv_small"), {8, 2, 2}).shape).channels, 8U);
  EXPECT_EQ(to_half(1), 0x3c00);
  EXPECT_EQ(pixel_layout(ImageDesc().format).components, 1U);
  EXPECT_EQ(WeightsDesc().elements(), 1U);
  EXPECT_EQ(make_layer(make_sdp()).kind, NVDLA_LAYER_SDP);
  EXPECT_EQ(static_cast<int>(Memory::kDram), static_cast<int>(NVDLA_MEMORY_DRAM));
}
#pragma GCC diagnostic pop

}  // namespace
}  // namespace nvdla
