// SPDX-License-Identifier: MIT
//
// What CDMA does to the elements that it fetches: the pixel formats of image input, components put
// in the order R, G, B, A or Y, U, V, A, and the input converter.
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
  Precision precision;     // of a component in memory; what has 10 bits is handled as 16
  std::uint8_t bytes[2];   // of a pixel in each plane
  std::uint8_t order[4];   // which component, counted from the lowest address, each channel is
  std::uint8_t alpha_bit;  // packed formats: lowest bit of the two of alpha; else 255
  bool second_generation;  // has logic there

  std::string_view name() const noexcept;  // of the code, by the description of the registers
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

// The converter in 16 bits, where these hold what int8 goes through.
std::optional<ByteConverter> byte_converter(const InputConverter& converter) noexcept;

// Both for components of 8 bits in one plane, of which there are no more than 256 for a channel.
class BytePixels {
 public:
  // Results of int8 change by `flip`.
  BytePixels(const Kernels& kernels, const PixelFormat& format, const InputConverter& converter,
             Precision proc, std::byte flip = std::byte{0}) noexcept;

  static bool fits(const PixelFormat& format) noexcept {
    return format.planes == 1 && format.precision == Precision::kInt8;
  }
  // Whether no table is needed.
  bool vectors() const noexcept { return vectors_.has_value(); }
  // `count` pixels to elements of the processing precision, [pixel][channel]; of one component of
  // int8 in their place at most.
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
