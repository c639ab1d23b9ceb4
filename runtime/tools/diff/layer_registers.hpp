// SPDX-License-Identifier: MIT
//
// The registers of one layer of a dump, as they were written for it.
#ifndef NVDLA_TOOLS_DIFF_LAYER_REGISTERS_HPP
#define NVDLA_TOOLS_DIFF_LAYER_REGISTERS_HPP

#include <cstdint>
#include <map>
#include <string_view>

#include "tools/replay/dump.hpp"

namespace nvdla::compare {

class LayerRegisters {
 public:
  LayerRegisters(const replay::Dump& dump, std::uint32_t layer)
      : map_(static_cast<model::RegisterMap>(dump.hw->regmap)) {
    const nvdla_dump_layer& of = dump.layers[layer];
    for (std::uint32_t i = 0; i < of.num_writes; ++i) {
      const nvdla_dump_write& write = dump.writes[of.first_write + i];
      values_[write.offset] = write.value;
    }
  }

  // "SDP.D_DATA_CUBE_WIDTH"; 0 where it was not written or there is no such register.
  std::uint32_t value(std::string_view name) const {
    const model::RegisterInfo* const info = model::find_register(name);
    const auto address = info ? model::register_address(map_, *info) : std::nullopt;
    const auto found = address ? values_.find(*address) : values_.end();
    return found == values_.end() ? 0 : found->second;
  }

  std::uint32_t field(std::string_view name, std::string_view field_name) const {
    const model::RegisterInfo* const info = model::find_register(name);
    const model::FieldInfo* const field = info ? info->find_field(field_name) : nullptr;
    return field ? field->extract(map_, value(name)) : 0;
  }

 private:
  model::RegisterMap map_;
  std::map<std::uint32_t, std::uint32_t> values_;
};

}  // namespace nvdla::compare

#endif  // NVDLA_TOOLS_DIFF_LAYER_REGISTERS_HPP
