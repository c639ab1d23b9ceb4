// SPDX-License-Identifier: MIT
#include "loadable/format/dimg.hpp"

#include <fmt/format.h>

#include "loadable/format/packed.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "support/check.hpp"

namespace nvdla::loadable {
namespace {

// The pixel format of feature cubes in atoms of 8 bytes.
constexpr std::uint32_t kSmallFeature = 37;

struct Kind {
  std::uint32_t code;
  std::uint32_t bytes;
  std::uint32_t atom;
};

// The codes that are found in golden files, which are older than cubes of small atoms and the code
// for those.
Kind kind_of(const LoadableTensor& tensor) {
  switch (tensor.type) {
    case LoadableType::kInt8:
      if (tensor.pixel_format == kSmallFeature) return {41, 1, 8};
      return {40, 1, 32};
    case LoadableType::kInt16:
      return {41, 2, 32};
    case LoadableType::kFp16:
      return {42, 2, 32};
    default:
      throw Error(ErrorCode::kNotAvailable,
                  fmt::format("tensor '{}' of type {} has no DIMG form", tensor.name,
                              static_cast<std::uint32_t>(tensor.type)));
  }
}

}  // namespace

std::vector<std::byte> make_dimg(const LoadableTensor& t, std::span<const std::byte> buffer) {
  if (t.planar || t.pixel != 0 || t.image() || t.shape.batch != 1) {
    throw Error(ErrorCode::kNotAvailable,
                fmt::format("tensor '{}' is {}: a DIMG holds one feature cube", t.name,
                            t.shape.batch != 1 ? "a batch"
                            : t.planar         ? "planes"
                            : t.pixel != 0     ? "pixels"
                                               : "an image"));
  }
  const Kind kind = kind_of(t);
  const std::uint32_t lanes = kind.atom / kind.bytes;
  std::vector<std::byte> out = {std::byte{'D'}, std::byte{'I'}, std::byte{'M'}, std::byte{'G'}};
  Packer pack{out};
  std::uint32_t header[] = {0,
                            kind.code,
                            t.shape.width,
                            t.shape.height,
                            t.shape.channels,
                            t.line_stride,
                            t.surface_stride,
                            static_cast<std::uint32_t>(t.bytes)};
  for (std::uint32_t& word : header) pack("", word);
  for (std::uint32_t c = 0; c < t.shape.channels; ++c) {
    for (std::uint32_t y = 0; y < t.shape.height; ++y) {
      for (std::uint32_t x = 0; x < t.shape.width; ++x) {
        const std::uint64_t at = t.offset + std::uint64_t{c / lanes} * t.surface_stride +
                                 std::uint64_t{y} * t.line_stride + std::uint64_t{x} * kind.atom +
                                 std::uint64_t{c % lanes} * kind.bytes;
        if (at + kind.bytes > buffer.size()) {
          detail::throw_invalid_argument(
              "tensor '{}': element {}, {}, {} lies outside its {} bytes", t.name, c, y, x,
              buffer.size());
        }
        const auto element = buffer.subspan(static_cast<std::size_t>(at), kind.bytes);
        out.insert(out.end(), element.begin(), element.end());
      }
    }
  }
  return out;
}

}  // namespace nvdla::loadable
