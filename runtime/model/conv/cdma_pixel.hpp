// SPDX-License-Identifier: MIT
//
// Models what CDMA does to the elements that it fetches: it unpacks the pixel formats of image
// input, orders the components as R, G, B, A or Y, U, V, A, and applies the input converter.
#ifndef NVDLA_MODEL_CONV_CDMA_PIXEL_HPP
#define NVDLA_MODEL_CONV_CDMA_PIXEL_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/core/surface.hpp"
#include "model/simd/kernels.hpp"

namespace nvdla::model {

struct PixelFormat {
  std::uint8_t code;  // PIXEL_FORMAT of CDMA.D_DATAIN_FORMAT
  std::uint8_t planes;
  std::uint8_t components;
  Precision precision;     // of a component in memory; 10 bits are handled as 16
  std::uint8_t bytes[2];   // of a pixel in each plane
  std::uint8_t order[4];   // which component, counted from the lowest address, each channel is
  std::uint8_t alpha_bit;  // packed formats: lowest bit of the two of alpha; else 255
  bool second_generation;  // supported by the second generation

  std::string_view name() const noexcept;  // from the description of the registers
  bool packed() const noexcept { return alpha_bit != 255; }
};

// Returns the format of a code; null for an unknown code.
const PixelFormat* pixel_format(std::uint32_t code) noexcept;

// Unpacks `count` pixels into 16-bit containers, [pixel][channel]; `planes` point to the first
// pixel.
void unpack_pixels(const PixelFormat& format, const std::byte* const planes[2], std::size_t count,
                   std::uint16_t* to) noexcept;

struct InputConverter {
  bool enabled = false;
  bool sign_extend = false;     // of the input
  std::int16_t offset[4] = {};  // of each channel
  std::int16_t scale = 1;
  unsigned truncate = 0;
};

// Converts one element of precision `in` to the processing precision.
std::uint16_t convert_element(const InputConverter& converter, std::uint16_t value,
                              unsigned channel, Precision in, Precision proc) noexcept;

// Returns the converter in 16-bit arithmetic, if that suffices for every int8 value.
std::optional<ByteConverter> byte_converter(const InputConverter& converter) noexcept;

// `BytePixels` unpacks and converts components of 8 bits in one plane, with tables of the 256
// values of each channel if needed.
class BytePixels {
 public:
  // Each byte of an int8 result is XORed with `flip`.
  BytePixels(const Kernels& kernels, const PixelFormat& format, const InputConverter& converter,
             Precision proc, std::byte flip = std::byte{0}) noexcept;

  static bool fits(const PixelFormat& format) noexcept {
    return format.planes == 1 && format.precision == Precision::kInt8;
  }
  // Returns true if vector code converts the pixels, without a table.
  bool vectors() const noexcept { return vectors_.has_value(); }
  // Converts `count` pixels to elements of the processing precision, [pixel][channel]. Only pixels
  // of one int8 component may be converted in place.
  void convert(const std::byte* pixels, std::size_t count, std::byte* to) const noexcept;

 private:
  template <typename Element, unsigned kComponents>
  void look_up(const std::byte* pixels, std::size_t count, std::byte* to) const noexcept;

  const Kernels& kernels_;
  const PixelFormat& format_;
  Precision proc_;
  std::optional<ByteConverter> vectors_;
  std::uint16_t values_[4][256];
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CDMA_PIXEL_HPP
