// SPDX-License-Identifier: MIT
#include "common/layers/conv_pixels.hpp"

#include <algorithm>
#include <cctype>

#include "model/core/register_info.hpp"

namespace nvdla::test {
namespace {

// Lowest address or bit first.
std::vector<Component> components(const std::string& word) {
  std::vector<Component> result;
  for (std::size_t i = 0; i < word.size();) {
    const char letter = word[i++];
    unsigned bits = 0;
    while (i < word.size() && std::isdigit(static_cast<unsigned char>(word[i])) != 0)
      bits = bits * 10 + static_cast<unsigned>(word[i++] - '0');
    const std::string order = "RGBAYUVX";
    result.push_back({static_cast<unsigned>(order.find(letter)) % 4, bits});
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace

std::string pixel_format_name(unsigned code) {
  const model::RegisterInfo* const info = model::find_register("CDMA.D_DATAIN_FORMAT");
  return std::string(info->find_field("PIXEL_FORMAT")->enums[code].name);
}

std::vector<Plane> planes(const std::string& format) {
  std::string name = format.substr(2);
  for (const char* suffix : {"_N444", "_I", "_F"}) {
    const auto at = name.rfind(suffix);
    if (at != std::string::npos) name.resize(at);
  }
  std::vector<Plane> result;
  const auto split = name.find("___");
  for (const std::string& word :
       split == std::string::npos
           ? std::vector<std::string>{name}
           : std::vector<std::string>{name.substr(0, split), name.substr(split + 3)}) {
    Plane plane{components(word), 0, false};
    for (const Component& part : plane.parts) plane.packed |= part.bits == 2;
    for (const Component& part : plane.parts) plane.bytes += part.bits == 8 ? 1 : 2;
    if (plane.packed) plane.bytes = 4;
    result.push_back(plane);
  }
  return result;
}

std::uint64_t load_word(const std::vector<std::byte>& memory, std::uint64_t at, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i)
    value |= std::to_integer<std::uint64_t>(memory.at(at + i)) << (8 * i);
  return value;
}

std::uint16_t pixel_channel(const std::vector<Plane>& format,
                            const std::vector<std::byte> memory[2], const std::uint64_t line[2],
                            const std::uint64_t at[2], unsigned channel) {
  for (std::size_t p = 0; p < format.size(); ++p) {
    unsigned bit = 0;
    const std::uint64_t word = load_word(memory[p], line[p] + at[p], format[p].bytes);
    for (const Component& part : format[p].parts) {
      const unsigned size = format[p].packed ? part.bits : part.bits == 8 ? 8 : 16;
      if (part.channel == channel) {
        const auto value = static_cast<std::uint16_t>(word >> bit & ((1u << size) - 1));
        return format[p].packed ? static_cast<std::uint16_t>(value << (16 - size)) : value;
      }
      bit += size;
    }
  }
  return 0;
}

}  // namespace nvdla::test
