// SPDX-License-Identifier: MIT
#include "model/conv/cdma_pixel.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "model/core/register_info.hpp"
#include "support/float.hpp"

namespace nvdla::model {
namespace {

constexpr auto k8 = Precision::kInt8;
constexpr auto k16 = Precision::kInt16;
constexpr auto kF16 = Precision::kFp16;
constexpr std::uint8_t kNone = 255;

#define FORMAT(name, ...) \
  { NVDLA_CDMA_D_DATAIN_FORMAT_PIXEL_FORMAT_##name, __VA_ARGS__ }

// A name lists components from the most significant end: memory order is the name read backwards.
constexpr PixelFormat kFormats[] = {
    FORMAT(T_R8, 1, 1, k8, {1, 0}, {0}, kNone, true),
    FORMAT(T_R10, 1, 1, k16, {2, 0}, {0}, kNone, false),
    FORMAT(T_R12, 1, 1, k16, {2, 0}, {0}, kNone, false),
    FORMAT(T_R16, 1, 1, k16, {2, 0}, {0}, kNone, false),
    FORMAT(T_R16_I, 1, 1, k16, {2, 0}, {0}, kNone, false),
    FORMAT(T_R16_F, 1, 1, kF16, {2, 0}, {0}, kNone, false),
    FORMAT(T_A16B16G16R16, 1, 4, k16, {8, 0}, {0, 1, 2, 3}, kNone, false),
    FORMAT(T_X16B16G16R16, 1, 4, k16, {8, 0}, {0, 1, 2, 3}, kNone, false),
    FORMAT(T_A16B16G16R16_F, 1, 4, kF16, {8, 0}, {0, 1, 2, 3}, kNone, false),
    FORMAT(T_A16Y16U16V16, 1, 4, k16, {8, 0}, {2, 1, 0, 3}, kNone, false),
    FORMAT(T_V16U16Y16A16, 1, 4, k16, {8, 0}, {1, 2, 3, 0}, kNone, false),
    FORMAT(T_A16Y16U16V16_F, 1, 4, kF16, {8, 0}, {2, 1, 0, 3}, kNone, false),
    FORMAT(T_A8B8G8R8, 1, 4, k8, {4, 0}, {0, 1, 2, 3}, kNone, true),
    FORMAT(T_A8R8G8B8, 1, 4, k8, {4, 0}, {2, 1, 0, 3}, kNone, true),
    FORMAT(T_B8G8R8A8, 1, 4, k8, {4, 0}, {1, 2, 3, 0}, kNone, true),
    FORMAT(T_R8G8B8A8, 1, 4, k8, {4, 0}, {3, 2, 1, 0}, kNone, true),
    FORMAT(T_X8B8G8R8, 1, 4, k8, {4, 0}, {0, 1, 2, 3}, kNone, true),
    FORMAT(T_X8R8G8B8, 1, 4, k8, {4, 0}, {2, 1, 0, 3}, kNone, true),
    FORMAT(T_B8G8R8X8, 1, 4, k8, {4, 0}, {1, 2, 3, 0}, kNone, true),
    FORMAT(T_R8G8B8X8, 1, 4, k8, {4, 0}, {3, 2, 1, 0}, kNone, true),
    FORMAT(T_A2B10G10R10, 1, 4, k16, {4, 0}, {0, 1, 2, 3}, 30, false),
    FORMAT(T_A2R10G10B10, 1, 4, k16, {4, 0}, {2, 1, 0, 3}, 30, false),
    FORMAT(T_B10G10R10A2, 1, 4, k16, {4, 0}, {1, 2, 3, 0}, 0, false),
    FORMAT(T_R10G10B10A2, 1, 4, k16, {4, 0}, {3, 2, 1, 0}, 0, false),
    FORMAT(T_A2Y10U10V10, 1, 4, k16, {4, 0}, {2, 1, 0, 3}, 30, false),
    FORMAT(T_V10U10Y10A2, 1, 4, k16, {4, 0}, {1, 2, 3, 0}, 0, false),
    FORMAT(T_A8Y8U8V8, 1, 4, k8, {4, 0}, {2, 1, 0, 3}, kNone, true),
    FORMAT(T_V8U8Y8A8, 1, 4, k8, {4, 0}, {1, 2, 3, 0}, kNone, true),
    FORMAT(T_Y8___U8V8_N444, 2, 3, k8, {1, 2}, {0, 2, 1}, kNone, true),
    FORMAT(T_Y8___V8U8_N444, 2, 3, k8, {1, 2}, {0, 1, 2}, kNone, true),
    FORMAT(T_Y10___U10V10_N444, 2, 3, k16, {2, 4}, {0, 2, 1}, kNone, false),
    FORMAT(T_Y10___V10U10_N444, 2, 3, k16, {2, 4}, {0, 1, 2}, kNone, false),
    FORMAT(T_Y12___U12V12_N444, 2, 3, k16, {2, 4}, {0, 2, 1}, kNone, false),
    FORMAT(T_Y12___V12U12_N444, 2, 3, k16, {2, 4}, {0, 1, 2}, kNone, false),
    FORMAT(T_Y16___U16V16_N444, 2, 3, k16, {2, 4}, {0, 2, 1}, kNone, false),
    FORMAT(T_Y16___V16U16_N444, 2, 3, k16, {2, 4}, {0, 1, 2}, kNone, false),
};

#undef FORMAT

constexpr bool rows_are_in_order_of_codes() {
  for (std::size_t i = 0; i < std::size(kFormats); ++i)
    if (kFormats[i].code != i) return false;
  return true;
}
static_assert(rows_are_in_order_of_codes());

// The component at `index` from the lowest address of a pixel.
std::uint16_t component(const PixelFormat& format, const std::byte* pixel,
                        unsigned index) noexcept {
  if (format.packed()) {
    std::uint32_t word;
    std::memcpy(&word, pixel, sizeof(word));
    const bool alpha_first = format.alpha_bit == 0;
    if (index == (alpha_first ? 0u : 3u))
      return static_cast<std::uint16_t>((word >> format.alpha_bit & 3) << 14);
    const unsigned low = alpha_first ? 2 + (index - 1) * 10 : index * 10;
    return static_cast<std::uint16_t>((word >> low & 0x3ff) << 6);
  }
  if (format.precision == k8) return std::to_integer<std::uint16_t>(pixel[index]);
  std::uint16_t value;
  std::memcpy(&value, pixel + std::size_t{index} * 2, sizeof(value));
  return value;
}

}  // namespace

std::string_view PixelFormat::name() const noexcept {
  static const FieldInfo* const kField =
      find_register("CDMA.D_DATAIN_FORMAT")->find_field("PIXEL_FORMAT");
  return kField->enums[code].name;
}

const PixelFormat* pixel_format(std::uint32_t code) noexcept {
  return code < std::size(kFormats) ? &kFormats[code] : nullptr;
}

void unpack_pixels(const PixelFormat& format, const std::byte* const planes[2], std::size_t count,
                   std::uint16_t* to) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* pixel = planes[0] + i * format.bytes[0];
    if (format.planes == 1) {
      for (unsigned c = 0; c < format.components; ++c)
        *to++ = component(format, pixel, format.order[c]);
      continue;
    }
    *to++ = component(format, pixel, 0);
    const std::byte* pair = planes[1] + i * format.bytes[1];
    *to++ = component(format, pair, format.order[1] - 1u);
    *to++ = component(format, pair, format.order[2] - 1u);
  }
}

std::uint16_t convert_element(const InputConverter& converter, std::uint16_t value,
                              unsigned channel, Precision in, Precision proc) noexcept {
  if (!converter.enabled || in == Precision::kFp16) return value;
  std::int64_t x = value;
  if (converter.sign_extend)
    x = in == Precision::kInt8 ? static_cast<std::int8_t>(value) : static_cast<std::int16_t>(value);
  const std::int64_t product = (x - converter.offset[channel]) * converter.scale;
  const std::int64_t half =
      converter.truncate == 0 ? 0 : std::int64_t{1} << (converter.truncate - 1);
  const std::int64_t magnitude = ((product < 0 ? -product : product) + half) >> converter.truncate;
  const auto wide = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(product < 0 ? -magnitude : magnitude, -65536, 65535));
  switch (proc) {
    case Precision::kInt8:
      return static_cast<std::uint16_t>(std::clamp(wide, -128, 127));
    case Precision::kInt16:
      return static_cast<std::uint16_t>(std::clamp(wide, -32768, 32767));
    case Precision::kFp16:
      break;
  }
  return fp::int_to_fp16(wide);
}

std::optional<ByteConverter> byte_converter(const InputConverter& converter) noexcept {
  constexpr int kMost = INT16_MAX;
  constexpr unsigned kBits = 15;
  ByteConverter bytes{converter.sign_extend, {0, 1, 2, 3}, {}, 1, 1 << (kBits - 1), 0};
  if (!converter.enabled) {
    // A byte stays what it is: twice the difference, halved.
    bytes.sign_extend = true;
    bytes.lift = 2;
    return bytes;
  }
  if (converter.scale <= 0 || converter.truncate > kBits) return std::nullopt;
  int factor = converter.scale;
  unsigned missing = kBits - converter.truncate;
  for (; missing != 0 && 2 * factor <= kMost; --missing) factor *= 2;
  const int lift = 1 << missing;
  const int low = converter.sign_extend ? -128 : 0, high = low + 255;
  for (unsigned c = 0; c < 4; ++c) {
    const int offset = converter.offset[c];
    if (std::max(std::abs(low - offset), std::abs(high - offset)) > kMost / lift)
      return std::nullopt;
    bytes.offsets[c] = converter.offset[c];
  }
  bytes.lift = static_cast<std::int16_t>(lift);
  bytes.factor = static_cast<std::int16_t>(factor);
  return bytes;
}

BytePixels::BytePixels(const Kernels& kernels, const PixelFormat& format,
                       const InputConverter& converter, Precision proc, std::byte flip) noexcept
    : kernels_(kernels), format_(format), proc_(proc) {
  if (kernels.convert_bytes != nullptr && proc == Precision::kInt8) {
    vectors_ = byte_converter(converter);
    if (vectors_) {
      vectors_->flip = std::to_integer<std::uint8_t>(flip);
      // All bytes of a single component are of its channel.
      for (unsigned i = 0; i < 4; ++i) {
        if (format.components == 4) vectors_->order[i] = format.order[i];
        if (format.components == 1) vectors_->offsets[i] = vectors_->offsets[0];
      }
      return;
    }
  }
  for (unsigned c = 0; c < format.components; ++c)
    for (unsigned byte = 0; byte < 256; ++byte)
      values_[c][byte] = static_cast<std::uint16_t>(
          convert_element(converter, static_cast<std::uint16_t>(byte), c, Precision::kInt8, proc) ^
          std::to_integer<unsigned>(flip));
}

template <typename Element, unsigned kComponents>
void BytePixels::look_up(const std::byte* pixels, std::size_t count, std::byte* to) const noexcept {
  std::uint8_t order[kComponents];
  std::copy_n(format_.order, kComponents, order);
  for (std::size_t i = 0; i < count; ++i, pixels += kComponents) {
    Element elements[kComponents];
    for (unsigned c = 0; c < kComponents; ++c)
      elements[c] = static_cast<Element>(values_[c][std::to_integer<unsigned>(pixels[order[c]])]);
    std::memcpy(to, elements, sizeof(elements));
    to += sizeof(elements);
  }
}

void BytePixels::convert(const std::byte* pixels, std::size_t count, std::byte* to) const noexcept {
  if (vectors_)
    return kernels_.convert_bytes(*vectors_, reinterpret_cast<const std::uint8_t*>(pixels),
                                  count * format_.components, reinterpret_cast<std::uint8_t*>(to));
  const bool bytes = proc_ == Precision::kInt8;
  if (format_.components == 1)
    return bytes ? look_up<std::uint8_t, 1>(pixels, count, to)
                 : look_up<std::uint16_t, 1>(pixels, count, to);
  return bytes ? look_up<std::uint8_t, 4>(pixels, count, to)
               : look_up<std::uint16_t, 4>(pixels, count, to);
}

}  // namespace nvdla::model
