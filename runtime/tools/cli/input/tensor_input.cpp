// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "nvdla/lowlevel/images.hpp"
#include "nvdla/types/error.hpp"
#include "nvdla/types/half.hpp"
#include "tools/cli/input/npy.hpp"
#include "tools/cli/input/tensors.hpp"
#include "tools/files/picture.hpp"
#include "tools/files/status.hpp"

namespace nvdla::cli {
namespace {

using program::Picture;
using program::UsageError;

// Bytes of the pixels of an image without gaps, in each plane.
std::pair<std::size_t, std::size_t> plane_bytes(const LoadableTensor& t) {
  const PixelLayout pixel = pixel_layout(static_cast<nvdla_pixel_format>(t.pixel_format));
  const std::size_t pixels = std::size_t{t.shape.width} * t.shape.height;
  return {pixels * pixel.bytes[0], pixels * pixel.bytes[1]};
}

// Components of a pixel of bytes, lowest address first; none for other formats.
std::string_view byte_order(std::uint32_t format) {
  switch (format) {
    case NVDLA_PIXEL_R8:
      return "R";
    case NVDLA_PIXEL_A8B8G8R8:
    case NVDLA_PIXEL_X8B8G8R8:
      return "RGBA";
    case NVDLA_PIXEL_A8R8G8B8:
    case NVDLA_PIXEL_X8R8G8B8:
      return "BGRA";
    case NVDLA_PIXEL_B8G8R8A8:
    case NVDLA_PIXEL_B8G8R8X8:
      return "ARGB";
    case NVDLA_PIXEL_R8G8B8A8:
    case NVDLA_PIXEL_R8G8B8X8:
      return "ABGR";
    default:
      return {};
  }
}

Picture picture_for(const LoadableTensor& t, const std::string& path,
                    const std::vector<std::uint8_t>& file, std::uint32_t channels,
                    const std::string& resize) {
  // Before anything is decoded: a small file may hold many pixels.
  const program::PictureSize size = program::picture_size(path, file);
  const bool fits = size.width == t.shape.width && size.height == t.shape.height;
  if (!fits && resize.empty()) {
    throw UsageError(fmt::format("{}: {}x{} pixels, input '{}' takes {}x{}", path, size.width,
                                 size.height, t.name, t.shape.width, t.shape.height));
  }
  Picture picture = program::decode_picture(path, file, channels);
  return fits ? std::move(picture)
              : program::resize_picture(picture, t.shape.width, t.shape.height,
                                        program::parse_resize(resize));
}

// Pixels as they are, and opaque.
void write_image(Request& request, const LoadableTensor& t, const std::string& path,
                 const std::vector<std::uint8_t>& file, const std::string& resize) {
  const std::string_view order = byte_order(t.pixel_format);
  if (order.empty()) {
    const auto [first, second] = plane_bytes(t);
    throw UsageError(
        fmt::format("{}: input '{}' takes pixels of format {}: give them as a raw file of {} bytes",
                    path, t.name, pixel_format_name(t.pixel_format), first + second));
  }
  const Picture picture = picture_for(t, path, file, order.size() == 1 ? 1 : 3, resize);
  std::vector<std::byte> plane;
  for (std::size_t at = 0; at < picture.pixels.size(); at += picture.channels) {
    for (const char component : order) {
      const std::size_t colour = std::string_view("RGB").find(component);
      plane.push_back(colour == std::string_view::npos
                          ? std::byte{255}
                          : static_cast<std::byte>(picture.pixels[at + colour]));
    }
  }
  request.write_pixels(t.name, plane);
}

// Pixels 0..255 as elements: fp16 and int16 as they are, int8 less 128.
void write_picture(Request& request, const LoadableTensor& t, const std::string& path,
                   const std::vector<std::uint8_t>& file, const std::string& resize) {
  if (t.image()) {
    write_image(request, t, path, file, resize);
    return;
  }
  const std::uint32_t channels = t.shape.channels;
  if (channels != 1 && channels != 3) {
    throw UsageError(fmt::format("{}: a picture has 1 or 3 channels, input '{}' is {}", path,
                                 t.name, shape_text(t)));
  }
  const Picture picture = picture_for(t, path, file, channels, resize);
  if (t.type == LoadableType::kInt8) {
    std::vector<std::int8_t> elements;
    for (const std::uint8_t p : picture.pixels) {
      elements.push_back(static_cast<std::int8_t>(p - 128));
    }
    request.write(t.name, Layout::kNhwc, elements);
  } else if (t.type == LoadableType::kInt16) {
    request.write(t.name, Layout::kNhwc,
                  std::vector<std::int16_t>(picture.pixels.begin(), picture.pixels.end()));
  } else {
    std::vector<std::uint16_t> elements;
    for (const std::uint8_t p : picture.pixels) elements.push_back(to_half(p));
    request.write(t.name, Layout::kNhwc, elements);
  }
}

template <typename T>
std::vector<T> elements_of(const std::vector<std::uint8_t>& file) {
  std::vector<T> elements(file.size() / sizeof(T));
  std::memcpy(elements.data(), file.data(), elements.size() * sizeof(T));
  return elements;
}

std::size_t element_bytes(LoadableType type) {
  if (type == LoadableType::kFloat) return 4;
  return type == LoadableType::kInt8 || type == LoadableType::kUint8 ? 1 : 2;
}

// Elements or pixels without gaps, or the bytes as they are in memory.
void write_raw(Request& request, const LoadableTensor& t, const std::string& path,
               const std::vector<std::uint8_t>& file) {
  std::uint64_t packed = t.shape.elements() * element_bytes(t.type);
  if (t.image()) {
    const auto [first, second] = plane_bytes(t);
    packed = first + second;
    if (file.size() == packed) {
      const auto bytes = std::as_bytes(std::span(file));
      request.write_pixels(t.name, bytes.first(first), bytes.subspan(first));
      return;
    }
  } else if (file.size() == packed) {
    if (t.type == LoadableType::kInt8) {
      request.write(t.name, Layout::kNchw, elements_of<std::int8_t>(file));
    } else if (t.type == LoadableType::kInt16) {
      request.write(t.name, Layout::kNchw, elements_of<std::int16_t>(file));
    } else {
      request.write(t.name, Layout::kNchw, elements_of<std::uint16_t>(file));
    }
    return;
  }
  if (file.size() != t.bytes) {
    throw UsageError(fmt::format(
        "{}: {} bytes, input '{}' ({}) takes {} ({}) or {} (as in memory); PNG, JPEG, PGM and "
        "NumPy's .npy are recognised by how they begin",
        path, file.size(), t.name, shape_text(t), packed,
        t.image() ? "pixels by plane, line, column" : "elements by channel, line, column",
        t.bytes));
  }
  const Map map = request.buffer(t.name).map(MapMode::kReadWrite);
  std::memcpy(map.data() + t.offset, file.data(), file.size());
}

// Reals are quantised as the file says, integers of the input's type are taken as they are.
void write_array(Request& request, const LoadableTensor& t, const std::string& path,
                 const std::vector<std::uint8_t>& file) {
  const NpyArray array = read_npy(path, file);
  const auto sides = [](std::vector<std::uint64_t> all) {
    std::erase(all, 1U);
    return all;
  };
  if (t.image()) {
    throw UsageError(fmt::format("{}: input '{}' is pixels, {}: an array is none", path, t.name,
                                 pixel_format_name(t.pixel_format)));
  }
  const auto& [channels, height, width, batch] = t.shape;
  const bool of_model =
      t.model_sizes && sides(array.shape) == sides({t.model_sizes->begin(), t.model_sizes->end()});
  const bool first = sides(array.shape) == sides({batch, channels, height, width});
  if (!of_model && !first && sides(array.shape) != sides({batch, height, width, channels})) {
    throw UsageError(
        fmt::format("{}: an array of {}, input '{}' takes {}x{}x{}x{} (NCHW) or the same as NHWC",
                    path, fmt::join(array.shape, "x"), t.name, batch, channels, height, width));
  }
  const Layout layout = of_model ? t.model_layout : first ? Layout::kNchw : Layout::kNhwc;
  const std::vector<std::uint8_t> elements(array.elements.begin(), array.elements.end());
  if (array.is_real()) {
    check_reals(t, path);
    request.write(t.name, layout, array.floats());
  } else if (t.type == LoadableType::kInt8 && array.type == "i1") {
    request.write(t.name, layout, elements_of<std::int8_t>(elements));
  } else if (t.type == LoadableType::kInt16 && array.type == "i2") {
    request.write(t.name, layout, elements_of<std::int16_t>(elements));
  } else {
    throw UsageError(fmt::format("{}: an array of {}, input '{}' ({}) takes f2, f4, f8{}", path,
                                 array.type, t.name, shape_text(t),
                                 t.type == LoadableType::kInt8    ? " or i1"
                                 : t.type == LoadableType::kInt16 ? " or i2"
                                                                  : ""));
  }
}

// Elements without gaps as reals of 32 bits.
void write_reals(Request& request, const LoadableTensor& t, const std::string& path,
                 const std::vector<std::uint8_t>& file) {
  check_reals(t, path);
  if (t.image() || file.size() != t.shape.elements() * sizeof(float)) {
    throw UsageError(fmt::format(
        "{}: {} bytes, input '{}' ({}) takes {}", path, file.size(), t.name, shape_text(t),
        t.image() ? "pixels, not reals"
                  : fmt::format("{} as reals of 32 bits", t.shape.elements() * sizeof(float))));
  }
  request.write(t.name, Layout::kNchw, elements_of<float>(file));
}

}  // namespace

void write_input(Request& request, const LoadableTensor& t, const std::string& path,
                 const std::vector<std::uint8_t>& file, const std::string& resize) {
  if (program::is_picture(file)) {
    write_picture(request, t, path, file, resize);
  } else if (is_npy(file)) {
    write_array(request, t, path, file);
  } else if (path.ends_with(".f32")) {
    write_reals(request, t, path, file);
  } else {
    write_raw(request, t, path, file);
  }
}

}  // namespace nvdla::cli
