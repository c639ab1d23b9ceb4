// SPDX-License-Identifier: MIT
//
// What CDMA does to the elements that it fetches: the pixel formats of image input, components put
// in the order R, G, B, A or Y, U, V, A, and the input converter.
#ifndef NVDLA_MODEL_CDMA_PIXEL_HPP
#define NVDLA_MODEL_CDMA_PIXEL_HPP

#include <cstddef>
#include <cstdint>

#include "model/surface.hpp"

namespace nvdla::model {

struct PixelFormat {
  const char* name;
  std::uint8_t planes;
  std::uint8_t components;
  Precision precision;     // of a component in memory; what has 10 bits is handled as 16
  std::uint8_t bytes[2];   // of a pixel in each plane
  std::uint8_t order[4];   // which component, counted from the lowest address, each channel is
  std::uint8_t alpha_bit;  // packed formats: lowest bit of the two of alpha; else 255
  bool second_generation;  // has logic there

  bool packed() const noexcept { return alpha_bit != 255; }
};

// Null for codes that do not exist.
const PixelFormat* pixel_format(std::uint32_t code) noexcept;

// Takes `count` pixels apart into 16-bit containers, [pixel][channel]; `planes` point to the first
// pixel.
void unpack_pixels(const PixelFormat& format, const std::byte* const planes[2], std::size_t count,
                   std::uint16_t* to) noexcept;

struct InputConverter {
  bool enabled = false;
  bool sign_extend = false;     // of what comes in
  std::int16_t offset[4] = {};  // of each channel
  std::int16_t scale = 1;
  unsigned truncate = 0;
};

// One element of `in` bits to the bits of the processing precision.
std::uint16_t convert_element(const InputConverter& converter, std::uint16_t value,
                              unsigned channel, Precision in, Precision proc) noexcept;

// Both for components of 8 bits in one plane, of which there are no more than 256 for a channel.
class BytePixels {
 public:
  BytePixels(const PixelFormat& format, const InputConverter& converter, Precision proc) noexcept;

  static bool fits(const PixelFormat& format) noexcept {
    return format.planes == 1 && format.precision == Precision::kInt8;
  }
  // `count` pixels to elements of the processing precision, [pixel][channel].
  void convert(const std::byte* pixels, std::size_t count, std::byte* to) const noexcept;

 private:
  template <typename Element, unsigned kComponents>
  void look_up(const std::byte* pixels, std::size_t count, std::byte* to) const noexcept;

  const PixelFormat& format_;
  Precision proc_;
  std::uint16_t values_[4][256];
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CDMA_PIXEL_HPP
