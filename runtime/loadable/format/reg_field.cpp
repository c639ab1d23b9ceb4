// SPDX-License-Identifier: MIT
#include "loadable/format/reg_field.hpp"

namespace nvdla::loadable {
namespace {

constexpr std::uint32_t kBases[NVDLA_REGMAP_COUNT][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;

}  // namespace

std::optional<std::uint32_t> compiled_value(const nvdla_program& program, std::uint32_t layer,
                                            const RegField& field, const nvdla_hw& hw) {
  const nvdla_layer_image& image = program.layers[layer];
  const std::uint32_t offset = kBases[hw.regmap][field.unit] + field.reg;
  for (std::uint32_t i = 0; i < image.num_writes; ++i) {
    const nvdla_reg_write& write = program.writes[image.first_write + i];
    if (write.offset == offset) return (write.value & field.mask) >> field.shift;
  }
  return std::nullopt;
}

}  // namespace nvdla::loadable
