// SPDX-License-Identifier: MIT
#include "tools/cli/layer_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "nvdla/lowlevel/images.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/types/error.hpp"
#include "tools/cli/input/npy.hpp"
#include "tools/files/files.hpp"
#include "tools/files/status.hpp"

namespace nvdla::cli {
namespace {

const char* npy_type(Precision precision) {
  switch (precision) {
    case Precision::kInt8:
      return "i1";
    case Precision::kInt16:
      return "i2";
    case Precision::kFp16:
      break;
  }
  return "f2";
}

const char* precision_text(Precision precision) {
  switch (precision) {
    case Precision::kInt8:
      return "int8";
    case Precision::kInt16:
      return "int16";
    case Precision::kFp16:
      break;
  }
  return "fp16";
}

template <typename T>
std::vector<std::byte> elements_as(const TensorDesc& desc, std::span<const std::byte> cube) {
  std::vector<T> elements(static_cast<std::size_t>(desc.shape.elements()));
  unpack(desc, Layout::kNchw, cube, elements);
  const auto bytes = std::as_bytes(std::span(elements));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> elements_of(const TensorDesc& desc, std::span<const std::byte> cube) {
  switch (desc.precision) {
    case Precision::kInt8:
      return elements_as<std::int8_t>(desc, cube);
    case Precision::kInt16:
      return elements_as<std::int16_t>(desc, cube);
    case Precision::kFp16:
      break;
  }
  return elements_as<std::uint16_t>(desc, cube);
}

std::array<std::uint32_t, 4> sizes(const Shape& s) {
  return {s.batch, s.channels, s.height, s.width};
}

// Returns `text` as a file name that every file system accepts.
std::string file_name(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string name(text.substr(0, kLongest));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '+' && c != '-' && c != '_')
      c = '_';
  }
  // "conv 0 + sdp 1" is conv_0+sdp_1.
  constexpr std::string_view kAnd = "_+_";
  for (std::size_t at; (at = name.find(kAnd)) != name.npos;) name.replace(at, kAnd.size(), "+");
  return name;
}

// Returns the units of "conv+sdp+pdp" except the last.
std::vector<std::string> on_the_fly(std::string_view kind) {
  std::vector<std::string> units;
  for (std::size_t plus; (plus = kind.find('+')) != kind.npos; kind.remove_prefix(plus + 1))
    units.emplace_back(kind.substr(0, plus));
  return units;
}

}  // namespace

LayerFiles::LayerFiles(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directory(folder_, error);
  if (!error && !std::filesystem::is_directory(folder_, error))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error) {
    throw program::OutputError(
        fmt::format("--dump-layers {}: no folder can be made there: {}", folder_, error.message()));
  }
}

std::string LayerFiles::write(std::string_view name, std::string_view type,
                              std::span<const std::uint32_t> shape,
                              std::span<const std::byte> elements) {
  const std::string file = fmt::format("{:03}-{}.npy", count_++, file_name(name));
  program::write_file(folder_ + "/" + file, npy_file(type, shape, elements));
  written_.insert(file);
  return file;
}

std::vector<std::string> LayerFiles::others() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (entry->path().extension() == ".npy" && !written_.contains(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void LayerFiles::add_input(const Request& request, const LoadableTensor& t) {
  const Map map = request.buffer(t.name).map(MapMode::kRead);
  const auto bytes = map.bytes().subspan(static_cast<std::size_t>(t.offset));
  Json entry = {{"name", t.name}};
  if (t.image()) {
    const ImageDesc image = request.network().image(t.name);
    const PixelLayout pixel = pixel_layout(image.format);
    entry["pixel_format"] = pixel_format_name(image.format);
    for (std::uint32_t plane = 0; plane < pixel.planes; ++plane) {
      const std::size_t line = std::size_t{image.width} * pixel.bytes[plane];
      const std::uint64_t start = plane == 0 ? 0 : image.offset_uv;
      const std::uint32_t stride = plane == 0 ? image.line_stride : image.line_stride_uv;
      std::vector<std::byte> pixels;
      for (std::uint32_t y = 0; y < image.height; ++y) {
        const auto at = bytes.subspan(static_cast<std::size_t>(start + std::uint64_t{y} * stride));
        pixels.insert(pixels.end(), at.begin(), at.begin() + static_cast<std::ptrdiff_t>(line));
      }
      const std::array shape = {image.height, image.width, pixel.bytes[plane]};
      entry["files"].push_back(write(fmt::format("input_{}", t.name), "u1", shape, pixels));
      entry["shapes"].push_back(shape);
    }
  } else {
    const TensorDesc desc = request.network().desc(t.name);
    entry["file"] = write(fmt::format("input_{}", t.name), npy_type(desc.precision),
                          sizes(desc.shape), elements_of(desc, bytes));
    entry["precision"] = precision_text(desc.precision);
    entry["shape"] = sizes(desc.shape);
  }
  inputs_.push_back(std::move(entry));
}

void LayerFiles::add(const LayerTensor& tensor) {
  const TensorDesc& d = tensor.desc;
  Json entry;
  entry["file"] =
      write(tensor.layer_name, npy_type(d.precision), sizes(d.shape), elements_of(d, tensor.bytes));
  if (tensor.layer != LayerTensor::kNoLayer) entry["layer"] = tensor.layer;
  entry["layer_name"] = tensor.layer_name;
  entry["unit"] = tensor.unit;
  entry["on_the_fly"] = on_the_fly(tensor.kind);
  entry["tensor"] = tensor.name;
  entry["precision"] = precision_text(d.precision);
  entry["shape"] = sizes(d.shape);
  entry["scale"] = tensor.quantization.scale;
  entry["zero_point"] = tensor.quantization.zero_point;
  entry["memory"] = {{"offset", tensor.offset},        {"atom", d.atom},
                     {"line_stride", d.line_stride},   {"surface_stride", d.surface_stride},
                     {"batch_stride", d.batch_stride}, {"planar", d.planar}};
  tensors_.push_back(std::move(entry));
}

void LayerFiles::write_index(const Request& request, const Device& device, bool ended) {
  Json layers = Json::array();
  for (std::uint32_t i = 0; i < request.network().layers(); ++i)
    layers.push_back(request.network().layer_name(i));
  const Json index = {
      {"configuration", device.info().configuration},
      {"device", device.info().backend},
      {"layout", "NCHW"},
      {"note",
       "A tensor is what the last unit of a layer writes. What the units before it (on_the_fly) "
       "give goes from unit to unit and never reaches memory: it is in no file. Loadables do not "
       "say the scale of tensors: it is 1."},
      {"complete", !ended},
      {"layers", std::move(layers)},
      {"inputs", inputs_},
      {"tensors", tensors_}};
  const std::string text = index.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  program::write_file(folder_ + "/index.json", std::as_bytes(std::span(text)));
}

}  // namespace nvdla::cli
