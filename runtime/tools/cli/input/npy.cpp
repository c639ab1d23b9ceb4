// SPDX-License-Identifier: MIT
#include "tools/cli/input/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <regex>
#include <string>

#include "nvdla/types/half.hpp"
#include "tools/files/status.hpp"

namespace nvdla::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr char kNative = std::endian::native == std::endian::big ? '>' : '<';

template <typename... Args>
[[noreturn]] void throw_error(const std::string& path, fmt::format_string<Args...> format,
                              Args&&... args) {
  throw program::UsageError(path + ": " + fmt::format(format, std::forward<Args>(args)...));
}

template <typename T, typename Convert>
std::vector<float> converted(std::span<const std::uint8_t> bytes, const Convert& convert) {
  std::vector<float> floats;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof value);
    floats.push_back(convert(value));
  }
  return floats;
}

// The text between the prefix and the elements, which begin at `first`.
std::string header_of(const std::string& path, std::span<const std::uint8_t> file,
                      std::size_t& first) {
  // Version 1 has two bytes for the length, later ones four.
  const std::size_t prefix = kMagic.size() + 2;
  const std::size_t width = file.size() > kMagic.size() && file[kMagic.size()] == 1 ? 2 : 4;
  if (file.size() < prefix + width) throw_error(path, "{} bytes are no NumPy array", file.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < width; ++i) bytes |= std::size_t{file[prefix + i]} << 8 * i;
  first = prefix + width + bytes;
  if (first > file.size())
    throw_error(path, "a header of {} bytes in a file of {}", bytes, file.size());
  const auto text = file.subspan(prefix + width, bytes);
  return {text.begin(), text.end()};
}

std::vector<std::uint64_t> shape_of(const std::string& path, const std::string& text) {
  std::vector<std::uint64_t> shape;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    std::uint32_t side = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), side);
    if (error != std::errc()) throw_error(path, "its shape ({}) has a side beyond 32 bits", text);
    shape.push_back(side);
    at = end;
  }
  return shape;
}

}  // namespace

std::vector<std::byte> npy_file(std::string_view type, std::span<const std::uint32_t> shape,
                                std::span<const std::byte> elements) {
  const char order = type.ends_with('1') ? '|' : kNative;
  std::string sizes;
  for (const std::uint32_t size : shape) sizes += fmt::format("{}, ", size);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   order, type, sizes);
  // Elements begin at a multiple of 64.
  constexpr std::size_t kPrefix = 10, kAlign = 64;
  header.append((kAlign - (kPrefix + header.size() + 1) % kAlign) % kAlign, ' ');
  header += '\n';
  std::string text(kMagic);
  for (const std::size_t number :
       {std::size_t{1}, std::size_t{0}, header.size() & 0xff, header.size() >> 8})
    text += static_cast<char>(number);
  text += header;
  const auto bytes = std::as_bytes(std::span(text));
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  file.insert(file.end(), elements.begin(), elements.end());
  return file;
}

std::vector<float> NpyArray::floats() const {
  if (type == "f2") return converted<std::uint16_t>(elements, from_half);
  if (type == "f4") return converted<float>(elements, [](float x) { return x; });
  return converted<double>(elements, [](double x) { return static_cast<float>(x); });
}

std::vector<float> NpyArray::numbers(const std::string& path) const {
  if (is_real()) return floats();
  const auto same = [](auto x) { return static_cast<float>(x); };
  if (type == "u1") return converted<std::uint8_t>(elements, same);
  if (type == "i1") return converted<std::int8_t>(elements, same);
  if (type == "u2") return converted<std::uint16_t>(elements, same);
  if (type == "i2") return converted<std::int16_t>(elements, same);
  if (type == "i4") return converted<std::int32_t>(elements, same);
  if (type == "i8") return converted<std::int64_t>(elements, same);
  throw_error(path, "an array of {}; expected f2, f4, f8, u1, u2, i1, i2, i4 or i8", type);
}

bool is_npy(std::span<const std::uint8_t> file) {
  return file.size() >= kMagic.size() &&
         std::equal(kMagic.begin(), kMagic.end(), file.begin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

NpyArray read_npy(const std::string& path, std::span<const std::uint8_t> file) {
  static const std::regex kType("'descr': *'([<>|=])([a-z][0-9]+)'"),
      kFortran("'fortran_order': *(True|False)"), kShape("'shape': *\\(([0-9, ]*)\\)");
  std::size_t first = 0;
  const std::string header = header_of(path, file, first);
  std::smatch type, fortran, shape;
  if (!std::regex_search(header, type, kType) || !std::regex_search(header, fortran, kFortran) ||
      !std::regex_search(header, shape, kShape)) {
    throw_error(path, "its header is of no array of plain numbers");
  }
  NpyArray array;
  array.type = type[2];
  const char order = *type[1].first;
  if (order != kNative && order != '|' && order != '=')
    throw_error(path, "its bytes are in the other order; array.astype('{}{}') turns them", kNative,
                array.type);
  if (fortran[1] == "True")
    throw_error(path, "its first index is the fastest; numpy.ascontiguousarray() turns it");
  array.shape = shape_of(path, shape[1]);
  array.elements = file.subspan(first);
  // If a side does not divide the bytes that are left, the file is too short or too long.
  std::uint64_t left = array.elements.size();
  for (const std::uint64_t side : array.shape)
    left = side != 0 && left % side == 0 ? left / side : 0;
  if (left == 0 || std::to_string(left) != array.type.substr(1))
    throw_error(path, "{} bytes behind its header are no array ({}) of {}", array.elements.size(),
                shape[1].str(), array.type);
  return array;
}

}  // namespace nvdla::cli
