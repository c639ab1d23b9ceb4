// SPDX-License-Identifier: MIT
//
// Inputs and outputs of a compiled network as the tensor list describes them.

#include "loadable/write/save_file.hpp"
#include "loadable/write/save_parts.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla::loadable {
namespace {

constexpr std::uint8_t kNchw = 1, kNhwc = 2, kCubes = 3;  // of data_format

std::uint8_t code(LoadableType type) { return static_cast<std::uint8_t>(type); }

LoadableType type_of(Precision precision) {
  if (precision == Precision::kInt8) return LoadableType::kInt8;
  return precision == Precision::kInt16 ? LoadableType::kInt16 : LoadableType::kFp16;
}

// The pixels that lines of such elements are.
std::uint8_t pixels_of(Precision precision) {
  if (precision == Precision::kInt8) return NVDLA_PIXEL_R8;
  return precision == Precision::kInt16 ? NVDLA_PIXEL_R16_I : NVDLA_PIXEL_R16_F;
}

void set_shape(const Shape& shape, TensorEntry& t) {
  t.n = static_cast<std::int32_t>(shape.batch);
  t.c = static_cast<std::int32_t>(shape.channels);
  t.h = static_cast<std::int32_t>(shape.height);
  t.w = static_cast<std::int32_t>(shape.width);
}

// A tensor that lies as pixels is described with the channels that it has; they have a sign.
void describe_pixels(const TensorDesc& desc, TensorEntry& t) {
  const bool one = desc.pixel == desc.element_bytes();
  t.data_type = code(type_of(desc.precision));
  t.data_format = one ? kNchw : kNhwc;
  t.data_category = kDataImage;
  if (one) {
    t.pixel_format = pixels_of(desc.precision);
  } else if (desc.precision == Precision::kInt8) {
    t.pixel_format = NVDLA_PIXEL_A8B8G8R8;
  } else {
    t.pixel_format =
        desc.precision == Precision::kInt16 ? NVDLA_PIXEL_A16B16G16R16 : NVDLA_PIXEL_A16B16G16R16_F;
  }
  set_shape(desc.shape, t);
  t.stride[0] = desc.pixel;
  t.stride[1] = desc.line_stride;
  if (desc.shape.batch > 1) t.stride[3] = desc.batch_stride;
}

void describe_cube(const TensorDesc& desc, TensorEntry& t) {
  t.data_type = code(type_of(desc.precision));
  t.data_format = desc.planar ? kNchw : kCubes;
  t.data_category = desc.planar ? kDataPlanar : kDataFeature;
  t.pixel_format = desc.planar ? pixels_of(desc.precision) : kFormatFeature;
  set_shape(desc.shape, t);
  t.stride[0] = desc.element_bytes();
  t.stride[1] = desc.line_stride;
  t.stride[2] = desc.surface_stride;
  if (desc.shape.batch > 1) t.stride[3] = desc.batch_stride;
}

// Convolutions that read it tell where a second plane lies. `is_signed` is how they read integers,
// whatever the format is called.
void describe_image(const ImageDesc& image, bool is_signed, TensorEntry& t) {
  const PixelLayout pixel = pixel_layout(image.format);
  if (pixel.precision == Precision::kFp16) {
    t.data_type = code(LoadableType::kFp16);
  } else if (pixel.precision == Precision::kInt16) {
    t.data_type = code(is_signed ? LoadableType::kInt16 : LoadableType::kUint16);
  } else {
    t.data_type = code(is_signed ? LoadableType::kInt8 : LoadableType::kUint8);
  }
  t.data_format = pixel.components == 1 ? kNchw : kNhwc;
  t.data_category = kDataImage;
  t.pixel_format = static_cast<std::uint8_t>(image.format);
  set_shape({.channels = pixel.components, .height = image.height, .width = image.width}, t);
  t.stride[0] = pixel.bytes[0];
  t.stride[1] = image.line_stride;
}

// Returns true if a convolution reads the pixels in that slot as integers with a sign.
bool reads_signed(const CompiledNetwork::Impl& net, std::uint32_t slot) {
  for (const detail::ChainPart& part : net.parts) {
    const auto* program = std::get_if<detail::ProgramPart>(&part);
    if (program == nullptr) continue;
    for (const nvdla_layer& layer : program->layers) {
      if (layer.conv.mode == NVDLA_CONV_IMAGE && program->bound[layer.conv.input.slot] == slot &&
          (layer.conv.flags & NVDLA_CONV_SIGNED_PIXELS) != 0)
        return true;
    }
  }
  return false;
}

}  // namespace

TensorEntry make_tensor(const CompiledNetwork::Impl& net, const CompiledNetwork::Impl::Port& port) {
  TensorEntry t;
  t.name = port.name;
  t.memory = slot_memory(port.slot);
  t.size = net.slots[port.slot].size;
  if (!port.image) {
    const TensorDesc desc = resolve(port.desc);
    desc.pixel != 0 ? describe_pixels(desc, t) : describe_cube(desc, t);
    t.quantization = port.quantization;
    return t;
  }
  describe_image(*port.image, reads_signed(net, port.slot), t);
  return t;
}

}  // namespace nvdla::loadable
