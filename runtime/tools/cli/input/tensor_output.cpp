// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>

#include "loadable/format/dimg.hpp"
#include "nvdla/types/half.hpp"
#include "tools/cli/input/npy.hpp"
#include "tools/cli/input/tensors.hpp"
#include "tools/files/picture.hpp"
#include "tools/files/status.hpp"

namespace nvdla::cli {
namespace {

using program::Picture;
using program::UsageError;

// Returns the extension of a file name in lower case: ".png".
std::string extension(const std::string& path) {
  std::string end = std::filesystem::path(path).extension().string();
  std::transform(end.begin(), end.end(), end.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end;
}

template <typename T>
std::vector<std::byte> raw_elements(const Request& request, const LoadableTensor& t,
                                    Layout layout = Layout::kNchw) {
  std::vector<T> elements(static_cast<std::size_t>(t.shape.elements()));
  request.read(t.name, layout, elements);
  const auto bytes = std::as_bytes(std::span(elements));
  return {bytes.begin(), bytes.end()};
}

// Returns an array with the sizes and in the order of the model, if the file states these, else in
// NCHW. Its elements are floats if the file has a quantization.
std::vector<std::byte> array_of(const Request& request, const LoadableTensor& t) {
  std::vector<std::uint32_t> shape = {t.shape.batch, t.shape.channels, t.shape.height,
                                      t.shape.width};
  if (t.model_sizes) shape.assign(t.model_sizes->begin(), t.model_sizes->end());
  const Layout layout = t.model_layout;
  if (t.quantization || t.type == LoadableType::kFp16)
    return npy_file("f4", shape, raw_elements<float>(request, t, layout));
  if (t.type == LoadableType::kInt8)
    return npy_file("i1", shape, raw_elements<std::int8_t>(request, t, layout));
  return npy_file("i2", shape, raw_elements<std::int16_t>(request, t, layout));
}

// Channels of an output that is written as a picture lie below one another.
std::uint64_t lines_of(const LoadableTensor& t) {
  return std::uint64_t{t.shape.height} * t.shape.channels * std::max(t.shape.batch, 1U);
}

// Numbers of int8 plus 128, the inverse of how pictures are read: one channel is grey, three are
// colours where `colours` are possible, others lie below one another.
Picture picture_of(const Request& request, const LoadableTensor& t, bool colours) {
  const bool three = colours && t.shape.channels == 3 && t.shape.batch <= 1;
  Picture picture{t.shape.width,
                  three ? t.shape.height : static_cast<std::uint32_t>(lines_of(t)),
                  three ? 3U : 1U,
                  {}};
  std::vector<std::int8_t> elements(static_cast<std::size_t>(t.shape.elements()));
  request.read(t.name, three ? Layout::kNhwc : Layout::kNchw, elements);
  for (const std::int8_t element : elements) {
    picture.pixels.push_back(static_cast<std::uint8_t>(element + 128));
  }
  return picture;
}

// libpng writes no more lines than this.
constexpr std::uint64_t kMaxLines = 1000000;

}  // namespace

const char* type_name(LoadableType type) {
  constexpr const char* kNames[] = {"unknown", "float", "fp16", "int16", "int8", "uint8", "uint16"};
  return kNames[static_cast<std::uint32_t>(type)];
}

std::string shape_text(const LoadableTensor& t) {
  return fmt::format("{}x{}x{} {}", t.shape.channels, t.shape.height, t.shape.width,
                     type_name(t.type));
}

void check_reals(const LoadableTensor& t, const std::string& path) {
  if (t.quantization || t.type == LoadableType::kFp16) return;
  throw UsageError(
      fmt::format("{}: the loadable does not say what the integers of '{}' ({}) stand for", path,
                  t.name, shape_text(t)));
}

// Returns the value of each element as a number, by channel, line, column.
std::vector<double> values_of(const Request& request, const LoadableTensor& t) {
  const std::size_t count = static_cast<std::size_t>(t.shape.elements());
  std::vector<double> values;
  if (t.type == LoadableType::kInt8) {
    std::vector<std::int8_t> elements(count);
    request.read(t.name, Layout::kNchw, elements);
    values.assign(elements.begin(), elements.end());
  } else if (t.type == LoadableType::kInt16) {
    std::vector<std::int16_t> elements(count);
    request.read(t.name, Layout::kNchw, elements);
    values.assign(elements.begin(), elements.end());
  } else {
    std::vector<std::uint16_t> elements(count);
    request.read(t.name, Layout::kNchw, elements);
    for (const std::uint16_t half : elements) values.push_back(from_half(half));
  }
  return values;
}

void check_output_form(const LoadableTensor& t, const std::string& path) {
  // Formats that other programs write and this one does not: it refuses the name rather than
  // writing other bytes under it.
  constexpr std::array kOthers = {".bmp", ".csv", ".gif", ".h5",  ".jpeg", ".jpg", ".json", ".npz",
                                  ".pbm", ".pnm", ".ppm", ".tif", ".tiff", ".txt", ".webp"};
  const std::string end = extension(path);
  if (std::find(kOthers.begin(), kOthers.end(), end) != kOthers.end()) {
    throw UsageError(
        fmt::format("{}: outputs are not written as '{}'; expected .png, .pgm, .npy, .f32 (reals), "
                    ".dimg, .mem (as in memory) or another name for raw elements",
                    path, end));
  }
  if (end == ".f32") check_reals(t, path);
  if (end != ".png" && end != ".pgm") return;
  if (t.type != LoadableType::kInt8) {
    throw UsageError(fmt::format("{}: only int8 outputs can be a picture; '{}' is {}", path, t.name,
                                 shape_text(t)));
  }
  if (lines_of(t) > kMaxLines) {
    throw UsageError(
        fmt::format("{}: '{}', {}, would be a picture of {} lines; expected at most {}", path,
                    t.name, shape_text(t), lines_of(t), kMaxLines));
  }
}

std::vector<std::byte> output_bytes(const Request& request, const LoadableTensor& t,
                                    const std::string& path) {
  const std::string end = extension(path);
  if (end == ".png") return program::encode_png(picture_of(request, t, true));
  if (end == ".pgm") return program::encode_pgm(picture_of(request, t, false));
  if (end == ".npy") return array_of(request, t);
  if (end == ".f32") return raw_elements<float>(request, t);
  if (end == ".dimg") {
    const Map map = request.buffer(t.name).map(MapMode::kRead);
    return loadable::make_dimg(t, map.bytes());
  }
  if (end == ".mem") {
    const Map map = request.buffer(t.name).map(MapMode::kRead);
    const auto bytes =
        map.bytes().subspan(static_cast<std::size_t>(t.offset), static_cast<std::size_t>(t.bytes));
    return {bytes.begin(), bytes.end()};
  }
  if (t.type == LoadableType::kInt8) return raw_elements<std::int8_t>(request, t);
  if (t.type == LoadableType::kInt16) return raw_elements<std::int16_t>(request, t);
  return raw_elements<std::uint16_t>(request, t);
}

}  // namespace nvdla::cli
