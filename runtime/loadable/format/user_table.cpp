// SPDX-License-Identifier: MIT
#include "loadable/format/user_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "support/check.hpp"

namespace nvdla::loadable {
namespace {

using detail::UserLayer;

// Numbers have 32 bits, lowest byte first; texts and lists begin with their length.
class TableWriter {
 public:
  void number(std::uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
  }
  void text(std::string_view value) {
    value = value.substr(0, kMaxUserText);
    number(static_cast<std::uint32_t>(value.size()));
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
  }
  void list(const std::vector<std::uint32_t>& values) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const std::uint32_t value : values) number(value);
  }
  void shape(const Shape& shape, Precision precision) {
    for (const std::uint32_t size : {shape.batch, shape.channels, shape.height, shape.width})
      number(size);
    number(static_cast<std::uint32_t>(precision));
  }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class TableReader {
 public:
  explicit TableReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint32_t number(std::string_view what) {
    std::uint32_t value = 0;
    int shift = 0;
    for (const std::byte byte : take(4, what)) {
      value |= static_cast<std::uint32_t>(byte) << shift;
      shift += 8;
    }
    return value;
  }
  std::uint32_t number(std::string_view what, std::uint32_t min, std::uint32_t max) {
    const std::uint32_t value = number(what);
    if (value < min || value > max)
      throw_in_blob(kUserBlob, "{}: {} is there; expected {} to {}", what, value, min, max);
    return value;
  }
  std::string text(std::string_view what) {
    std::string value;
    for (const std::byte byte : take(number(what, 0, kMaxUserText), what))
      value += static_cast<char>(byte);
    return value;
  }
  std::vector<std::uint32_t> list(std::string_view what) {
    std::vector<std::uint32_t> values(count(what));
    for (std::uint32_t& value : values) value = number(what);
    return values;
  }
  // Reads how many entries follow: each has 4 bytes or more.
  std::uint32_t count(std::string_view what) {
    const std::size_t most = std::min<std::size_t>(kMaxUserLayers, bytes_.size() / 4);
    return number(what, 0, static_cast<std::uint32_t>(most));
  }
  void shape(std::string_view what, Shape& shape, Precision& precision) {
    constexpr std::uint32_t kMaxSize = 1 << 24;
    for (std::uint32_t* size : {&shape.batch, &shape.channels, &shape.height, &shape.width})
      *size = number(what, 1, kMaxSize);
    precision = static_cast<Precision>(number(what, static_cast<std::uint32_t>(Precision::kInt8),
                                              static_cast<std::uint32_t>(Precision::kFp16)));
  }
  bool done() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t bytes, std::string_view what) {
    if (bytes_.size() < bytes)
      throw_in_blob(kUserBlob, "{}: {} bytes are left; it takes {}", what, bytes_.size(), bytes);
    const auto taken = bytes_.first(bytes);
    bytes_ = bytes_.subspan(bytes);
    return taken;
  }

  std::span<const std::byte> bytes_;
};

void check_source(std::uint32_t source, std::size_t layers, std::size_t inputs,
                  std::string_view what) {
  const std::uint32_t input = source & ~UserLayer::kInput;
  if (input != source ? input >= inputs : source >= layers)
    throw_in_blob(kUserBlob, "{}: no input or earlier layer has the number {:#x}", what, source);
}

UserLayer read_layer(TableReader& reader, std::string_view what) {
  UserLayer layer;
  layer.name = reader.text(what);
  layer.kind = reader.text(what);
  for (std::uint32_t* size :
       {&layer.kernel_height, &layer.kernel_width, &layer.stride_height, &layer.stride_width})
    *size = reader.number(what);
  reader.shape(what, layer.input, layer.input_precision);
  reader.shape(what, layer.output, layer.output_precision);
  layer.silent = reader.number(what, 0, 1) != 0;
  layer.sources = reader.list(what);
  layer.layers = reader.list(what);
  return layer;
}

}  // namespace

std::vector<std::byte> pack_user_table(const detail::UserNetwork& network,
                                       const std::vector<std::string>& names) {
  TableWriter writer;
  writer.number(static_cast<std::uint32_t>(names.size()));
  for (const std::string& name : names) writer.text(name);
  writer.number(static_cast<std::uint32_t>(network.layers.size()));
  for (const UserLayer& layer : network.layers) {
    writer.text(layer.name);
    writer.text(layer.kind);
    for (const std::uint32_t size :
         {layer.kernel_height, layer.kernel_width, layer.stride_height, layer.stride_width})
      writer.number(size);
    writer.shape(layer.input, layer.input_precision);
    writer.shape(layer.output, layer.output_precision);
    writer.number(layer.silent ? 1 : 0);
    writer.list(layer.sources);
    writer.list(layer.layers);
  }
  writer.list(network.outputs);
  return std::move(writer).take();
}

std::optional<UserTable> read_user_table(const Container& c) {
  const auto blob = std::find_if(c.blobs.begin(), c.blobs.end(),
                                 [](const Blob& b) { return b.name == kUserBlob; });
  // A later version is for later readers.
  if (blob == c.blobs.end() || blob->version.major_version != kUserVersion) return std::nullopt;
  const auto inputs = static_cast<std::size_t>(std::count_if(
      c.memories.begin(), c.memories.end(), [](const MemoryEntry& m) { return m.input(); }));
  TableReader reader(blob->data);
  UserTable table;
  const std::uint32_t steps = reader.count("the number of layers that run");
  for (std::uint32_t i = 0; i < steps; ++i) table.names.push_back(reader.text("a name"));
  const std::uint32_t layers = reader.count("the number of layers");
  for (std::uint32_t i = 0; i < layers; ++i) {
    const std::string what = fmt::format("layer {}", i);
    table.network.layers.push_back(read_layer(reader, what));
    const UserLayer& layer = table.network.layers.back();
    for (const std::uint32_t source : layer.sources) check_source(source, i, inputs, what);
    for (const std::uint32_t step : layer.layers)
      if (step >= steps)
        throw_in_blob(kUserBlob, "{}: no layer that runs has the number {}", what, step);
  }
  table.network.outputs = reader.list("the outputs");
  for (const std::uint32_t source : table.network.outputs)
    check_source(source, layers, inputs, "an output");
  if (!reader.done()) throw_in_blob(kUserBlob, "bytes follow its end");
  return table;
}

}  // namespace nvdla::loadable
