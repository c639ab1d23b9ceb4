// SPDX-License-Identifier: MIT
//
// The reader of loadables against any bytes: what is taken is also converted and compiled for
// every configuration, and where its memories are small, opened on a device.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "loadable/loadable_impl.hpp"
#include "nvdla/error.hpp"
#include "nvdla/loadable.hpp"

namespace {

constexpr std::uint64_t kSmall = 1 << 20;

bool small(const nvdla::loadable::Container& container) {
  std::uint64_t bytes = 0;
  for (const auto& memory : container.memories) {
    if (memory.size > kSmall) return false;
    bytes += memory.size;
  }
  return bytes <= kSmall;
}

// Where tensors lie is the file's word, too.
void pack_inputs(nvdla::LoadedNetwork network, const nvdla::Loadable& file) {
  for (std::uint32_t i = 0; i < file.inputs(); ++i) {
    const nvdla::LoadableTensor tensor = file.input(i);
    try {
      if (tensor.image()) {
        const nvdla::ImageDesc desc = network.image(tensor.name);
        const nvdla::PixelLayout pixel = nvdla::pixel_layout(desc.format);
        const std::size_t pixels = std::size_t{desc.width} * desc.height;
        if (pixels > kSmall) continue;
        network.write_pixels(tensor.name, std::vector<std::byte>(pixels * pixel.bytes[0]),
                             std::vector<std::byte>(pixels * pixel.bytes[1]));
      } else if (tensor.shape.elements() <= kSmall) {
        // As what it is, if the file says what that stands for.
        if (tensor.quantization) {
          network.write(tensor.name, nvdla::Layout::kNchw,
                        std::vector<float>(tensor.shape.elements(), 0.25F));
        }
        network.write(tensor.name, nvdla::Layout::kNchw,
                      std::vector<std::int8_t>(tensor.shape.elements()));
      }
    } catch (const nvdla::Error&) {
      // One that does not lie in its buffer, or of another type.
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = nvdla::Loadable::load(std::as_bytes(std::span(data, size)));
    file.impl().made_for();
    if (small(file.impl().container)) {
      pack_inputs(file.open(nvdla::Device::open("model:nv_full")), file);
    }
  } catch (const nvdla::Error&) {
    // Any input may be refused; nothing else may happen.
  }
  return 0;
}
