// SPDX-License-Identifier: MIT
//
// Programs for tests: the compiler's C interface with memory that is exactly
// as large as it asks for, so that a sanitizer sees what goes beyond.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "firmware/compile/nvdla_compile.h"
#include "model/core/register_info.hpp"

namespace nvdla::test {

class Program {
 public:
  Program(const nvdla_hw& hw, std::span<const nvdla_slot> slots, std::uint32_t num_layers,
          std::uint32_t flags = 0, std::uint32_t clock_khz = 0,
          std::span<const nvdla_lut> luts = {}, std::span<const nvdla_transfer> transfers = {},
          std::span<const std::uint8_t> control = {});

  // The first rule that was broken, by anything; nothing is done after it.
  const nvdla_error& error() const noexcept { return error_; }
  bool ok() const noexcept { return error_.rule == NVDLA_RULE_NONE; }

  bool add(const nvdla_layer& layer);
  bool end();

  const nvdla_program& get() const noexcept { return program_; }
  const nvdla_layer_image& image(std::uint32_t layer) const { return program_.layers[layer]; }
  std::span<const nvdla_reg_write> writes(std::uint32_t layer) const;
  std::span<const nvdla_reloc> relocs(std::uint32_t layer) const;
  std::span<const nvdla_access> accesses(std::uint32_t layer) const;

  // Byte address in the register space to value, with addresses bound.
  std::map<std::uint32_t, std::uint32_t> registers(std::uint32_t layer,
                                                   std::span<const std::uint64_t> bases) const;

 private:
  std::unique_ptr<std::uint64_t[]> memory_;
  std::vector<std::uint8_t> control_;
  nvdla_program program_{};
  nvdla_error error_{};
};

// For failed expectations: all of an error's numbers.
std::string to_string(const nvdla_error& error);

}  // namespace nvdla::test
