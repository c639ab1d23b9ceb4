// SPDX-License-Identifier: MIT
//
// Elements of ONNX tensors.
#include "import/onnx/tensor.hpp"

#include <onnx/onnx_pb.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "import/graph/refusal.hpp"
#include "support/printable.hpp"

namespace nvdla::import::onnx_file {
namespace {

using detail::printable;

std::uint64_t parse_number(const std::string& text, const char* key, const std::string& what) {
  std::uint64_t value = 0;
  if (text.empty() || text.size() > 18)
    throw_invalid_model("{}: {} '{}' is no size", what, key, printable(text));
  for (const char c : text) {
    if (c < '0' || c > '9')
      throw_invalid_model("{}: {} '{}' is no size", what, key, printable(text));
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

// Returns the file of external data, which lies in the model's folder or below, also where links
// lead.
std::filesystem::path external_file(const ModelPlace& place, const std::string& location,
                                    const std::string& what) {
  namespace fs = std::filesystem;
  if (place.folder.empty())
    throw_invalid_model("{}: its data is in the file '{}', and a model in memory has no folder",
                        what, printable(location));
  std::error_code error;
  const fs::path folder = fs::canonical(place.folder, error);
  if (error) throw_invalid_model("{}: cannot find the folder '{}'", what, printable(place.folder));
  const fs::path relative(location);
  const fs::path file = fs::weakly_canonical(folder / relative, error);
  const auto inside = error ? fs::path("..") : file.lexically_relative(folder);
  if (location.empty() || relative.is_absolute() || inside.empty() || *inside.begin() == "..")
    throw_invalid_model("{}: its data is in '{}', which is outside of the model's folder", what,
                        printable(location));
  if (!fs::is_regular_file(file, error))
    throw_invalid_model("{}: its data is in '{}', which is no file in the model's folder", what,
                        printable(location));
  return file;
}

std::vector<std::byte> read_external(const ::onnx::TensorProto& proto, const ModelPlace& place,
                                     std::uint64_t bytes, const std::string& what) {
  std::string location, offset = "0", length;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = entry.value();
    if (entry.key() == "length") length = entry.value();
  }
  const auto path = external_file(place, location, what);
  const std::uint64_t start = parse_number(offset, "offset", what);
  if (!length.empty() && parse_number(length, "length", what) != bytes)
    throw_invalid_model("{}: its data has {} bytes in '{}', expected {}", what, length,
                        printable(location), bytes);
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error || start > size || bytes > size - start)
    throw_invalid_model("{}: bytes {} to {} are beyond the end of '{}', which has {}", what, start,
                        start + bytes, printable(location), error ? 0 : size);
  std::vector<std::byte> data(bytes);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(start));
  file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(bytes));
  if (!file) throw_invalid_model("{}: cannot read '{}'", what, printable(location));
  return data;
}

// Copies elements of a typed field, each cut to the bytes of `type`.
template <typename T, typename Field>
std::vector<std::byte> copy_field(const Field& field) {
  std::vector<std::byte> data(static_cast<std::size_t>(field.size()) * sizeof(T));
  std::size_t at = 0;
  for (const auto& element : field) {
    const T value = static_cast<T>(element);
    std::memcpy(data.data() + at, &value, sizeof value);
    at += sizeof value;
  }
  return data;
}

std::vector<std::byte> typed_data(const ::onnx::TensorProto& proto, Type type) {
  switch (type) {
    case Type::kFloat:
      return copy_field<float>(proto.float_data());
    case Type::kDouble:
      return copy_field<double>(proto.double_data());
    case Type::kInt64:
      return copy_field<std::int64_t>(proto.int64_data());
    case Type::kUint32:
      return copy_field<std::uint32_t>(proto.uint64_data());
    case Type::kUint64:
      return copy_field<std::uint64_t>(proto.uint64_data());
    case Type::kInt32:
      return copy_field<std::int32_t>(proto.int32_data());
    case Type::kInt8:
    case Type::kUint8:
      return copy_field<std::uint8_t>(proto.int32_data());
    case Type::kBool: {
      auto data = copy_field<std::uint8_t>(proto.int32_data());
      for (std::byte& b : data) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
      return data;
    }
    default:
      return copy_field<std::uint16_t>(proto.int32_data());
  }
}

}  // namespace

Type type_of(int number) noexcept {
  if (number < 1 || number > 16) return Type::kUnknown;
  const auto type = static_cast<Type>(number);
  return type_name(type) == "unknown" ? Type::kUnknown : type;
}

Constant read_tensor(const ::onnx::TensorProto& proto, const ModelPlace& place,
                     const std::string& what) {
  const Type type = type_of(proto.data_type());
  if (type == Type::kString || type == Type::kUnknown)
    throw_invalid_model("{}: its elements are {}; expected numbers", what,
                        type == Type::kString ? std::string("strings")
                                              : fmt::format("of type {}", proto.data_type()));
  Dims dims;
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t size : proto.dims()) {
    if (size < 0) throw_invalid_model("{}: size {} is negative", what, size);
    dims.push_back(size);
    if (size == 0) {
      empty = true;
    } else if (size > kMaxElements / count) {
      throw_invalid_model("{}: {} are too many elements", what, dims_text(dims));
    } else {
      count *= size;
    }
  }
  if (dims.size() > 32) throw_invalid_model("{}: {} axes, expected at most 32", what, dims.size());
  const std::uint64_t bytes = empty ? 0 : static_cast<std::uint64_t>(count) * type_bytes(type);
  std::vector<std::byte> data;
  if (proto.has_data_location() && proto.data_location() == ::onnx::TensorProto::EXTERNAL) {
    data = read_external(proto, place, bytes, what);
  } else if (proto.has_raw_data()) {
    const std::string& raw = proto.raw_data();
    const auto* begin = reinterpret_cast<const std::byte*>(raw.data());
    data.assign(begin, begin + raw.size());
    if (type == Type::kBool)
      for (std::byte& b : data) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
  } else {
    data = typed_data(proto, type);
  }
  if (data.size() != bytes)
    throw_invalid_model("{}: {} bytes of elements, and {} {} are {}", what, data.size(),
                        dims_text(dims), type_name(type), bytes);
  return {type, std::move(dims), std::move(data)};
}

Constant read_tensor(std::span<const std::byte> bytes, const ModelPlace& place,
                     const std::string& what) {
  ::onnx::TensorProto proto;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw_invalid_model("{}: it is no ONNX tensor, or it is truncated", what);
  return read_tensor(proto, place, what);
}

}  // namespace nvdla::import::onnx_file
