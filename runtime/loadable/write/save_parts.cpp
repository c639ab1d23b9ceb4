// SPDX-License-Identifier: MIT
#include "loadable/write/save_parts.hpp"

#include <string_view>

#include "support/check.hpp"

namespace nvdla::loadable {

CvtParam PartMaker::converter(const nvdla_convert& c) {
  // Converters have 16 bits of scale.
  return {.scale = static_cast<std::int16_t>(c.scale),
          .truncate = byte(c.truncate),
          .enable = 1,
          .offset = c.offset};
}

DataCube PartMaker::size(std::uint32_t width, std::uint32_t height, std::uint32_t channels) {
  DataCube cube;
  cube.width = static_cast<std::uint16_t>(width);
  cube.height = static_cast<std::uint16_t>(height);
  cube.channel = static_cast<std::uint16_t>(channels);
  return cube;
}

PartMaker::PartMaker(const detail::ProgramPart& part, const nvdla_hw& hw)
    : part_(part), hw_(hw), compiled_(0, hw, part.desc()) {}

void PartMaker::lacks(std::uint32_t i, std::string_view what) const {
  detail::throw_error(ErrorCode::kNotAvailable, "{}: {}",
                      detail::layer_text(part_.first_layer + i, (*part_.layer_names)[i]), what);
}

std::uint32_t PartMaker::value(std::uint32_t layer, const RegField& field) const {
  const auto found = compiled_value(compiled_.program(), layer, field, hw_);
  if (found) return *found;
  detail::throw_invalid_argument("layer {} sets no register {:#x} of unit {}", layer, field.reg,
                                 field.unit);
}

std::uint8_t PartMaker::memory(std::uint32_t slot) const {
  return part_.slots[slot].memory == NVDLA_MEMORY_SRAM ? kCubeSram : kCubeDram;
}

DataCube PartMaker::cube(const nvdla_surface& s, std::uint32_t width, std::uint32_t height,
                         std::uint32_t channels) const {
  DataCube cube = size(width, height, channels);
  cube.type = memory(s.slot);
  cube.address = slot_address(s.slot);
  cube.offset = static_cast<std::uint32_t>(s.offset);
  cube.size = static_cast<std::uint32_t>(part_.slots[s.slot].size - s.offset);
  cube.line_stride = s.line_stride;
  cube.surf_stride = s.surface_stride;
  return cube;
}

DataCube PartMaker::table(const nvdla_span& span) const {
  DataCube cube;
  cube.type = memory(span.slot);
  cube.address = slot_address(span.slot);
  cube.offset = static_cast<std::uint32_t>(span.offset);
  cube.size = span.bytes;
  return cube;
}

}  // namespace nvdla::loadable
