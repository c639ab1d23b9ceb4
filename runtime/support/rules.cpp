// SPDX-License-Identifier: MIT
#include "support/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "nvdla/types/error.hpp"
#include "support/fields.hpp"

namespace nvdla {
namespace {

struct Rule {
  std::uint32_t rule;
  std::string_view name;
  // Arguments: field, value, min, max, multiple, of (what the multiple is), nearest, slot ("slot 3"
  // or its name), dma, feature. `field` ends with a blank unless it is empty.
  std::string_view text;
};

constexpr Rule kRules[] = {
    {NVDLA_RULE_NONE, "none", "no error"},
    {NVDLA_RULE_RANGE, "range", "{field}{value} is not in {min}..{max}; nearest valid: {nearest}"},
    {NVDLA_RULE_MULTIPLE, "multiple",
     "{field}{value} is not a multiple of {of}; nearest valid: {nearest}"},
    {NVDLA_RULE_ZERO, "zero", "{field}{value} must be 0: it is not used here"},
    {NVDLA_RULE_CHOICE, "choice",
     "{field}{value} is no value of this field, or not together with the others{range}"},
    {NVDLA_RULE_FLAGS, "flags", "{field}{value:#x} has flags outside {max:#x}"},
    {NVDLA_RULE_FEATURE, "feature", "{field}needs {feature}, which {lacking}"},
    {NVDLA_RULE_WAIT_ORDER, "wait_order",
     "{field}waits for layer {value}, which is not an earlier one"},
    {NVDLA_RULE_LIMIT, "limit", "{field}{value} exceed the limit of {max}"},
    {NVDLA_RULE_SLOT_INDEX, "slot_index", "{field}{value} is not declared; slots are 0..{max}"},
    {NVDLA_RULE_SLOT_ACCESS, "slot_access",
     "{field}{slot} does not allow {access}, which {dma} needs"},
    {NVDLA_RULE_SLOT_ALIGNMENT, "slot_alignment",
     "{field}{value} is not a power of two of at least {min}"},
    {NVDLA_RULE_EXTENT, "extent",
     "{field}{dma} would touch bytes {min}..{value} of {slot}, which has {max}"},
    {NVDLA_RULE_ADDRESS, "address",
     "{field}the last byte, at {value:#x}, is beyond an address of {max} bits"},
    {NVDLA_RULE_OVERLAP, "overlap",
     "{field}{dma} would write {slot} from byte {value} on, over bytes {min}..{max} that the "
     "layer reads: "
     "only exactly in place is allowed"},
    {NVDLA_RULE_PADDING, "padding",
     "{field}{value} must be less than the dilated kernel: at most {max}"},
    {NVDLA_RULE_KERNEL_FITS, "kernel_fits",
     "{field}padded input of {value} is smaller than the dilated kernel of {min}"},
    {NVDLA_RULE_EXACT_DIVISION, "exact_division",
     "{field}{value} columns or lines are left over behind the last window, {max} of them padding: "
     "input may not be; pad more, or change the stride {multiple}"},
    {NVDLA_RULE_BANK_SUM, "bank_sum",
     "{field}data and weight banks together, {value}, exceed {max}"},
    {NVDLA_RULE_DATA_BANKS, "data_banks",
     "{field}{value} do not hold all input lines: {min} are needed{left}"},
    {NVDLA_RULE_WEIGHT_BANKS, "weight_banks",
     "{field}{value} do not hold a kernel group: {min} are needed{left}"},
    {NVDLA_RULE_KEEP_WEIGHTS, "keep_weights",
     "{field}{value} do not hold all weights, which are to be kept: {min} are needed{left}"},
    {NVDLA_RULE_GRAIN, "grain", "{field}{value} lines a fetch exceed {max}"},
    {NVDLA_RULE_REUSE_NOTHING, "reuse_nothing",
     "{field}what flag {value:#x} reuses was not kept by the previous convolution of the program"},
    {NVDLA_RULE_REUSE_DIFFERS, "reuse_differs",
     "{field}{value} differs from {min}, with which the kept data were loaded"},
    {NVDLA_RULE_REUSE_LINES, "reuse_lines",
     "{field}{value} lines were kept, the layer takes {min}..{max}"},
    {NVDLA_RULE_PRECISIONS, "precisions",
     "{field}{in} input, {proc} processing and {out} output do not work together"},
    {NVDLA_RULE_OPERAND, "operand",
     "{field}{value}: an operand is there that no part uses, or a part lacks its operand"},
    {NVDLA_RULE_OPERAND_1X1, "operand_1x1",
     "{field}operands per element of a 1x1 cube: use operands per channel"},
    {NVDLA_RULE_LUT_RANGE, "lut_range",
     "{field}{value} does not fit the other settings of the table, or is no finite number{range}"},
    {NVDLA_RULE_LUT_NAMED, "lut_named",
     "{field}a layer names a table exactly if it uses one: found {value}"},
    {NVDLA_RULE_CYCLES, "cycles",
     "{field}takes {value} cycles in the worst case, {max} are allowed: split the layer"},
    {NVDLA_RULE_STRIDE, "stride",
     "{field}{value} is smaller than what it steps over; nearest valid: {min}"},
    {NVDLA_RULE_PROGRAM_SIZE, "program_size",
     "{field}the program takes {value} bytes, {max} are allowed"},
    {NVDLA_RULE_COMPRESSED, "compressed",
     "{field}{value} bytes: compressed weights and their tables make it {min}"},
    {NVDLA_RULE_BANDS, "bands", "{field}bands do not add up: {value}, expected {min}..{max}"},
    {NVDLA_RULE_BINDING_SIZE, "binding_size", "buffer has {value} bytes, {min} are needed"},
    {NVDLA_RULE_BINDING_MEMORY, "binding_memory", "buffer is in {memory}, it must be in {wanted}"},
    {NVDLA_RULE_BINDING_ALIGNMENT, "binding_alignment",
     "address {value:#x} is not aligned to {multiple}"},
    {NVDLA_RULE_BINDING_MISSING, "binding_missing",
     "{value} buffers are bound, the program has {min} slots"},
    {NVDLA_RULE_BINDING_OVERLAP, "binding_overlap",
     "from address {value:#x} on it shares bytes with {slot} at {min:#x}..{max:#x}, and one of "
     "them is written"},
    {NVDLA_RULE_OUTPUT_SIZE, "output_size",
     "{field}an output size of {value} exceeds {max}: split the layer"},
    {NVDLA_RULE_KERNEL_BYTES, "kernel_bytes",
     "{field}one kernel takes {value} bytes, {max} are allowed"},
    {NVDLA_RULE_TRANSFER_MEMORY, "transfer_memory",
     "{field}the transfer writes memory {value}, the first one of its layer writes memory {min}"},
    {NVDLA_RULE_SAME_MEMORY, "same_memory",
     "{field}memory {value} is not that of the first plane or of the weights, {min}"},
    {NVDLA_RULE_WINOGRAD_TILES, "winograd_tiles",
     "{field}with it the padded input is {value}; it must be a multiple of {multiple} in "
     "{min}..{max}"},
    {NVDLA_RULE_CONTROL_SIZE, "control_size",
     "{field}a control slot of {value} bytes, but {min} bytes of control data"},
    {NVDLA_RULE_CONTROL_SLOT, "control_slot",
     "{field}slot {value} is for control data, as is slot {min}: there is one at most"},
    {NVDLA_RULE_GROUP_SIZE, "group_size",
     "{field}kernel group {max} has {value} bytes by its word, {min} by its mask bits"},
    {NVDLA_RULE_GROUP_EMPTY, "group_empty",
     "{field}kernel group {value} has no weight that is not zero: do not compress"},
    {NVDLA_RULE_MASK_PADDING, "mask_padding",
     "{field}byte {value} of the mask has bits behind that of the last weight: they must be 0"},
    {NVDLA_RULE_MASK_BANK, "mask_bank",
     "{field}mask bits of {value} bytes do not fit the last bank, which takes {max}"},
    {NVDLA_RULE_BINDING_CONTROL, "binding_control",
     "the program brings the contents of this slot: nothing is bound to it"},
    {NVDLA_RULE_RESIDENT_WEIGHTS, "resident_weights",
     "{field}{value} do not hold all weights, and this device loses what is freed before the next "
     "convolution starts: {min} are needed{left}; give the layer more banks or fewer kernels, or "
     "switch the property off where the logic has no such fault (gating=off, weight_gating=0)"},
    {NVDLA_RULE_TIED_CYCLES, "tied_cycles",
     "{field}reuses what layers from {min} on left in the convolution buffer, so nobody else may "
     "run in between: together they take {value} cycles in the worst case, {max} are allowed: "
     "fetch again instead of reusing"},
};
// A test checks that the table has every rule; until a new rule is added, it has a generic text.

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kRules); ++i) {
    if (kRules[i].rule != i) return false;
  }
  return true;
}
static_assert(in_order(), "the table is indexed by rule");

// Returns the nearest valid value. Rounds up to the next multiple, because strides and sizes that
// are too small would break another rule, or down where that exceeds the range.
std::int64_t nearest(const nvdla_error& e) {
  if (e.rule == NVDLA_RULE_RANGE) return std::clamp(e.value, std::min(e.min, e.max), e.max);
  if (e.multiple <= 0 || e.value < 0 || e.value > INT64_MAX - e.multiple) return e.min;
  const std::int64_t up = (e.value + e.multiple - 1) / e.multiple * e.multiple;
  return e.max > 0 && up > e.max ? up - e.multiple : up;
}

// "the atom (32)" where the multiple is one.
std::string multiple_text(const nvdla_error& e, std::string_view field) {
  const bool of_atom = e.object == NVDLA_OBJECT_LAYER &&
                       (field.ends_with("stride") || field.ends_with("offset")) &&
                       (e.multiple == 8 || e.multiple == 16 || e.multiple == 32);
  return of_atom ? fmt::format("the atom ({})", e.multiple) : fmt::format("{}", e.multiple);
}

std::string access_text(std::int64_t access) {
  if (access == NVDLA_SLOT_READ) return "reading";
  if (access == NVDLA_SLOT_WRITE) return "writing";
  return fmt::format("access {:#x}", access);
}

// Formats the number of banks that are left, with the advice to split the layer if they are too
// few.
std::string banks_left(const nvdla_error& e) {
  if (e.max <= 0) return "";
  if (e.min > e.max) return fmt::format(", only {} are left: split the layer", e.max);
  return fmt::format(", {} are left", e.max);
}

std::string precision_text(std::int64_t precision) {
  switch (precision) {
    case NVDLA_PRECISION_INT8:
      return "int8";
    case NVDLA_PRECISION_INT16:
      return "int16";
    case NVDLA_PRECISION_FP16:
      return "fp16";
    default:
      return fmt::format("precision {}", precision);
  }
}

std::string memory_text(std::int64_t memory) {
  switch (memory) {
    case NVDLA_MEMORY_DRAM:
      return "DRAM (0)";
    case NVDLA_MEMORY_SRAM:
      return "SRAM (1)";
    default:
      return fmt::format("memory {}", memory);
  }
}

std::string slot_text(std::uint32_t slot, std::span<const std::string> names) {
  return slot < names.size() ? names[slot] : fmt::format("slot {}", slot);
}

// "layer 3 'conv2' (conv)"; the first part of a layer's field names the unit.
std::string place(const nvdla_error& e, const detail::RuleNames& names, std::string_view unit) {
  switch (e.object) {
    case NVDLA_OBJECT_LAYER: {
      std::string text = fmt::format("layer {}", e.index);
      if (!names.layer.empty()) text += fmt::format(" '{}'", names.layer);
      if (!unit.empty()) text += fmt::format(" ({})", unit);
      return text;
    }
    case NVDLA_OBJECT_SLOT:
      return slot_text(e.index, names.slots);
    case NVDLA_OBJECT_LUT:
      return names.object.empty() ? fmt::format("LUT {}", e.index) : std::string(names.object);
    case NVDLA_OBJECT_TRANSFER:
      return names.object.empty() ? fmt::format("transfer {}", e.index) : std::string(names.object);
    case NVDLA_OBJECT_BINDING:
      return "binding of " + slot_text(e.index, names.slots);
    default:
      return names.object.empty() ? "program" : std::string(names.object);
  }
}

}  // namespace

std::string detail::rule_text(const nvdla_error& e, const RuleNames& names) {
  std::string field = field_text(e.object, e.field);
  std::string unit;
  if (e.object == NVDLA_OBJECT_LAYER) {
    if (const auto dot = field.find('.'); dot != std::string::npos) {
      unit = field.substr(0, dot);
      field.erase(0, dot + 1);
    }
  }
  if (!names.field.empty()) field = names.field;
  if (!names.slots.empty()) {
    if (const auto at = field.rfind(".slot"); at != std::string::npos) field.erase(at);
    if (e.object == NVDLA_OBJECT_PROGRAM && e.field == NVDLA_PART_SLOTS)
      field = "buffers for tensors and constants";
  }
  const std::string of = multiple_text(e, field);
  if (!field.empty()) field += ' ';
  if (e.rule >= std::size(kRules)) {
    return fmt::format("{}: {}breaks rule {}, which this version has no text for (value {})",
                       place(e, names, unit), field, e.rule, e.value);
  }
  const std::string range =
      e.min < e.max ? fmt::format("; valid: {}..{}", e.min, e.max) : std::string();
  const std::string lacking = names.configuration.empty()
                                  ? std::string("is not there")
                                  : fmt::format("{} does not have", names.configuration);
  const std::string text = fmt::format(
      fmt::runtime(kRules[e.rule].text), fmt::arg("field", field), fmt::arg("value", e.value),
      fmt::arg("min", e.min), fmt::arg("max", e.max), fmt::arg("multiple", e.multiple),
      fmt::arg("of", of), fmt::arg("nearest", nearest(e)),
      fmt::arg("slot", slot_text(e.slot, names.slots)), fmt::arg("memory", memory_text(e.value)),
      fmt::arg("wanted", memory_text(e.min)), fmt::arg("dma", dma_name(e.dma)),
      fmt::arg("feature", feature_name(e.value)), fmt::arg("lacking", lacking),
      fmt::arg("access", access_text(e.value)), fmt::arg("range", range),
      fmt::arg("left", banks_left(e)), fmt::arg("in", precision_text(e.value)),
      fmt::arg("proc", precision_text(e.min)), fmt::arg("out", precision_text(e.max)));
  return place(e, names, unit) + ": " + text;
}

std::string_view rule_name(std::uint32_t rule) noexcept {
  return rule < std::size(kRules) ? kRules[rule].name : std::string_view();
}

}  // namespace nvdla
