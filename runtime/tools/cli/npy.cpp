// SPDX-License-Identifier: MIT
#include "tools/cli/npy.hpp"

#include <fmt/format.h>

#include <bit>
#include <string>

namespace nvdla::cli {

std::vector<std::byte> npy_file(std::string_view type, std::span<const std::uint32_t> shape,
                                std::span<const std::byte> elements) {
  const char order = type.ends_with('1')                       ? '|'
                     : std::endian::native == std::endian::big ? '>'
                                                               : '<';
  std::string sizes;
  for (const std::uint32_t size : shape) sizes += fmt::format("{}, ", size);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   order, type, sizes);
  // Elements begin at a multiple of 64.
  constexpr std::size_t kPrefix = 10, kAlign = 64;
  header.append((kAlign - (kPrefix + header.size() + 1) % kAlign) % kAlign, ' ');
  header += '\n';
  std::string text = "\x93NUMPY";
  for (const std::size_t number :
       {std::size_t{1}, std::size_t{0}, header.size() & 0xff, header.size() >> 8})
    text += static_cast<char>(number);
  text += header;
  const auto bytes = std::as_bytes(std::span(text));
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  file.insert(file.end(), elements.begin(), elements.end());
  return file;
}

}  // namespace nvdla::cli
