// SPDX-License-Identifier: MIT
#include "common/compiled.hpp"

#include <sstream>
#include <stdexcept>

namespace nvdla::test {
namespace {

// What is refused is named, and what is named is refused.
void expect_named(int result, const nvdla_error& error) {
  if (result != (error.rule == NVDLA_RULE_NONE ? 0 : -1))
    throw std::logic_error("the result and the error disagree: " + to_string(error));
}

}  // namespace

Program::Program(const nvdla_hw& hw, std::span<const nvdla_slot> slots, std::uint32_t num_layers,
                 std::uint32_t flags, std::uint32_t clock_khz, std::span<const nvdla_lut> luts,
                 std::span<const nvdla_transfer> transfers, std::span<const std::uint8_t> control)
    : control_(control.begin(), control.end()) {
  nvdla_program_desc desc{};
  desc.slots = slots.data();
  desc.num_slots = static_cast<std::uint32_t>(slots.size());
  desc.luts = luts.data();
  desc.num_luts = static_cast<std::uint32_t>(luts.size());
  desc.transfers = transfers.data();
  desc.num_transfers = static_cast<std::uint32_t>(transfers.size());
  desc.control = control_.data();
  desc.control_bytes = static_cast<std::uint32_t>(control_.size());
  desc.num_layers = num_layers;
  desc.flags = flags;
  desc.clock_khz = clock_khz;
  const std::size_t bytes = nvdla_program_bytes(&desc);
  memory_ = std::make_unique_for_overwrite<std::uint64_t[]>(bytes / 8);
  expect_named(nvdla_program_begin(&program_, &hw, &desc, memory_.get(), bytes, &error_), error_);
}

bool Program::add(const nvdla_layer& layer) {
  if (!ok()) return false;
  expect_named(nvdla_program_add(&program_, &layer, &error_), error_);
  return ok();
}

bool Program::end() {
  if (!ok()) return false;
  expect_named(nvdla_program_end(&program_, &error_), error_);
  return ok();
}

std::span<const nvdla_reg_write> Program::writes(std::uint32_t layer) const {
  return {program_.writes + image(layer).first_write, image(layer).num_writes};
}

std::span<const nvdla_reloc> Program::relocs(std::uint32_t layer) const {
  return {program_.relocs + image(layer).first_reloc, image(layer).num_relocs};
}

std::span<const nvdla_access> Program::accesses(std::uint32_t layer) const {
  return {program_.accesses + image(layer).first_access, image(layer).num_accesses};
}

std::map<std::uint32_t, std::uint32_t> Program::registers(
    std::uint32_t layer, std::span<const std::uint64_t> bases) const {
  const auto image_writes = writes(layer);
  std::map<std::uint32_t, std::uint32_t> values;
  for (const auto& write : image_writes) {
    if (!values.emplace(write.offset, write.value).second)
      throw std::logic_error("a register is written twice");
  }
  for (const auto& reloc : relocs(layer)) {
    const std::uint64_t address = bases[reloc.slot] + reloc.offset;
    values[image_writes[reloc.low].offset] = static_cast<std::uint32_t>(address);
    if (reloc.high != NVDLA_RELOC_NONE)
      values[image_writes[reloc.high].offset] = static_cast<std::uint32_t>(address >> 32);
  }
  return values;
}

std::string to_string(const nvdla_error& error) {
  std::ostringstream out;
  out << "rule " << error.rule << " object " << error.object << "[" << error.index << "] field "
      << error.field << " dma " << error.dma << " slot " << error.slot << " value " << error.value
      << " min " << error.min << " max " << error.max << " multiple " << error.multiple;
  return out.str();
}

}  // namespace nvdla::test
