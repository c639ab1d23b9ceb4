// SPDX-License-Identifier: MIT
#include "program_check.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "program_runner.hpp"

namespace nvdla::fuzz {
namespace {

struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(bool condition, const char* what) {
  if (!condition) throw Broken(what);
}

class Compiled {
 public:
  explicit Compiled(const Made& made) {
    nvdla_program_desc desc{};
    desc.slots = made.slots.data();
    desc.luts = made.luts.data();
    desc.transfers = made.transfers.data();
    if (!made.control.empty()) {
      desc.control = made.control.data();
      desc.control_bytes = static_cast<u32>(made.control.size());
    }
    desc.num_slots = static_cast<u32>(made.slots.size()) + made.excess_slots;
    desc.num_luts = static_cast<u32>(made.luts.size()) + made.excess_luts;
    desc.num_transfers = static_cast<u32>(made.transfers.size()) + made.excess_transfers;
    desc.num_layers =
        static_cast<u32>(static_cast<std::int32_t>(made.layers.size()) + made.excess_layers);
    desc.flags = made.flags;
    desc.clock_khz = made.clock_khz;
    const std::size_t bytes = nvdla_program_bytes(&desc);
    memory_.resize((bytes + 7) / 8);
    const std::size_t given = bytes - std::min<std::size_t>(bytes, made.missing_bytes);
    ok_ = nvdla_program_begin(&program_, made.hw, &desc, memory_.data(), given, &error_) == 0;
    for (std::size_t i = 0; ok_ && i < made.layers.size(); ++i)
      ok_ = nvdla_program_add(&program_, &made.layers[i], &error_) == 0;
    ok_ = ok_ && nvdla_program_end(&program_, &error_) == 0;
    require(ok_ == (error_.rule == NVDLA_RULE_NONE), "a refusal and its error disagree");
    require(error_.rule < NVDLA_RULE_COUNT, "an error names no rule");
  }
  bool ok() const { return ok_; }
  const nvdla_program& program() const { return program_; }
  const nvdla_error& error() const { return error_; }

 private:
  std::vector<std::uint64_t> memory_;
  nvdla_program program_{};
  nvdla_error error_{};
  bool ok_ = false;
};

std::uint32_t needed(const nvdla_access& access) {
  if (access.dma == NVDLA_DMA_CDMA_WGS || access.dma == NVDLA_DMA_CDMA_WMB)
    return NVDLA_SLOT_CONTROL;
  return access.write != 0 ? NVDLA_SLOT_WRITE : NVDLA_SLOT_READ;
}

// The last byte that the program may touch in each slot.
std::vector<std::uint64_t> reach(const nvdla_program& program) {
  std::vector<std::uint64_t> end(program.num_slots);
  for (u32 i = 0; i < program.num_accesses; ++i) {
    const nvdla_access& access = program.accesses[i];
    require(access.slot < program.num_slots && access.begin < access.end, "a malformed access");
    require(access.end <= program.slots[access.slot].size, "an access beyond its slot");
    require((program.slots[access.slot].access & needed(access)) != 0,
            "an access that its slot does not allow");
    end[access.slot] = std::max(end[access.slot], access.end);
  }
  return end;
}

// A slot of exactly what is declared is enough, one byte less is not.
void check_slot_sizes(Made made, const nvdla_program& program) {
  auto end = reach(program);
  // Control data are what they are.
  for (std::size_t slot = 0; slot < end.size(); ++slot)
    if (made.slots[slot].access == NVDLA_SLOT_CONTROL) end[slot] = 0;
  for (std::size_t slot = 0; slot < end.size(); ++slot)
    if (end[slot] != 0) made.slots[slot].size = end[slot];
  require(Compiled(made).ok(), "slots of the declared extents are refused");
  for (std::size_t slot = 0; slot < end.size(); ++slot) {
    if (end[slot] < 2) continue;
    made.slots[slot].size -= 1;
    require(Compiled(made).error().rule == NVDLA_RULE_EXTENT,
            "a slot too small by one is accepted");
    made.slots[slot].size += 1;
  }
}

bool overlap(const nvdla_binding& a, std::uint64_t a_size, const nvdla_binding& b,
             std::uint64_t b_size) {
  return a.address < b.address + b_size && b.address < a.address + a_size;
}

// Said once more, with numbers that cannot overflow.
bool fits(const Made& made) {
  if (made.bindings.size() != made.slots.size()) return false;
  const auto end = static_cast<unsigned __int128>(1) << made.hw->address_bits;
  for (std::size_t i = 0; i < made.slots.size(); ++i) {
    const nvdla_slot& slot = made.slots[i];
    const nvdla_binding& binding = made.bindings[i];
    if (binding.size < slot.size || binding.memory != slot.memory ||
        (binding.access & slot.access) != slot.access || binding.address % slot.alignment != 0 ||
        static_cast<unsigned __int128>(binding.address) + slot.size > end)
      return false;
    if (slot.access == NVDLA_SLOT_CONTROL && binding.access != NVDLA_SLOT_CONTROL) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (made.slots[j].memory == slot.memory &&
          ((made.slots[j].access | slot.access) & NVDLA_SLOT_WRITE) != 0 &&
          overlap(binding, slot.size, made.bindings[j], made.slots[j].size))
        return false;
  }
  return true;
}

bool small(const nvdla_program& program, const Budget& budget) {
  std::uint64_t cycles = 0;
  std::uint64_t bytes = 0;
  for (u32 i = 0; i < program.num_layers; ++i) cycles += program.layers[i].cycles;
  for (u32 i = 0; i < program.num_accesses; ++i)
    bytes += program.accesses[i].end - program.accesses[i].begin;
  return cycles <= budget.cycles && bytes <= budget.bytes;
}

Checked check(const Made& made, const Budget& budget) {
  Checked checked;
  const Compiled compiled(made);
  checked.error = compiled.error();
  if (!compiled.ok()) return checked;
  check_slot_sizes(made, compiled.program());
  nvdla_error error{};
  const bool bound =
      nvdla_program_check_bindings(&compiled.program(), made.bindings.data(),
                                   static_cast<u32>(made.bindings.size()), &error) == 0;
  checked.binding_rule = error.rule;
  require(bound == (error.rule == NVDLA_RULE_NONE), "a refused binding and its error disagree");
  require(bound == fits(made),
          bound ? "buffers that do not fit are bound" : "buffers that fit are refused");
  if (!bound || !small(compiled.program(), budget)) return checked;
  checked.failure = run_program(compiled.program(), made.bindings, made.control);
  checked.ran = true;
  return checked;
}

}  // namespace

Checked check_program(const Made& made, const Budget& budget) {
  try {
    return check(made, budget);
  } catch (const Broken& broken) {
    Checked checked;
    checked.failure = broken.what();
    return checked;
  }
}

}  // namespace nvdla::fuzz
