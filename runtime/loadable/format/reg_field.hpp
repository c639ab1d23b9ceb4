// SPDX-License-Identifier: MIT
//
// Register fields, by which a loadable's numbers and the compiler's are compared.
#ifndef NVDLA_LOADABLE_FORMAT_REG_FIELD_HPP
#define NVDLA_LOADABLE_FORMAT_REG_FIELD_HPP

#include <cstdint>
#include <optional>

#include "firmware/compile/nvdla_compile.h"
#include "firmware/nvdla_hw.h"
#include "firmware/registers/nvdla_regs.h"

namespace nvdla::loadable {

struct RegField {
  std::uint32_t unit = 0;  // enum nvdla_unit
  std::uint32_t reg = 0;   // offset in the unit
  std::uint32_t mask = 0;
  std::uint32_t shift = 0;
};

// A RegField by its names in the register description.
#define NVDLA_REG_FIELD(unit, name, field)                                            \
  ::nvdla::loadable::RegField {                                                       \
    NVDLA_UNIT_##unit, NVDLA_##unit##_##name, NVDLA_##unit##_##name##_##field##_MASK, \
        NVDLA_##unit##_##name##_##field##_SHIFT                                       \
  }

// Returns what a program writes there for a layer; nothing if it writes no such register.
std::optional<std::uint32_t> compiled_value(const nvdla_program& program, std::uint32_t layer,
                                            const RegField& field, const nvdla_hw& hw);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_REG_FIELD_HPP
