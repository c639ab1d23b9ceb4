// SPDX-License-Identifier: MIT
#include "tools/diff/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "backend/record/record_format.hpp"
#include "nvdla/types/error.hpp"
#include "support/check.hpp"
#include "support/printable.hpp"
#include "tools/diff/element.hpp"
#include "tools/diff/memory_image.hpp"
#include "tools/replay/areas.hpp"

namespace nvdla::compare {
namespace {

using replay::Areas;
using replay::Dump;

template <typename T>
std::span<const T> part(const std::vector<T>& all, std::uint32_t first, std::uint32_t count) {
  return std::span(all).subspan(first, count);
}

std::span<const nvdla_dump_access> accesses_of(const Dump& job, std::uint32_t layer) {
  return part(job.accesses, job.layers[layer].first_access, job.layers[layer].num_accesses);
}

// A dump of the driver has memory as it was found, a record as it was before and after.
bool is_found(const Dump& job) { return !job.registers.empty(); }

bool is_address(model::RegisterMap map, std::uint32_t offset) {
  const model::RegisterInfo* const info = model::register_at(map, offset);
  return info != nullptr && !info->fields.empty() &&
         info->fields[0].kind == model::FieldKind::kAddress;
}

// Compares one job of two runs.
class JobComparison {
 public:
  JobComparison(const Dump& a, const Dump& b, std::size_t number) : a_(a), b_(b), job_(number) {}

  // `before` and `after` are of A, then of B.
  std::optional<Difference> compare(std::array<MemoryImage, 2>& before,
                                    std::array<MemoryImage, 2>& after) {
    if (auto found = compare_size()) return found;
    const auto count = static_cast<std::uint32_t>(a_.layers.size());
    if (is_found(a_) || is_found(b_))
      for (std::uint32_t i = 0; i < count; ++i) add_writes(i, written_);
    const std::optional<std::uint32_t> stuck = stuck_layer();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (auto found = compare_program(i)) return found;
      if (auto found = compare_input(i, before)) return found;
      if (stuck == i) return compare_end(i);
      if (auto found = compare_output(i, after)) return found;
      add_writes(i, written_);
    }
    if (a_.header.result != b_.header.result) return compare_end(std::nullopt);
    return compare_registers();
  }

 private:
  // A run on another device of this process has no names of its own.
  std::string name_of(std::uint32_t layer) const {
    const auto& names = a_.layer_names.empty() ? b_.layer_names : a_.layer_names;
    return names.empty() ? "" : names[layer];
  }

  Difference make(std::optional<std::uint32_t> layer, std::string what, std::string a,
                  std::string b) const {
    Difference difference;
    difference.job = job_;
    difference.layer = layer;
    if (layer) {
      difference.kind = layer_kind_name(a_.layers[*layer].kind);
      difference.name = name_of(*layer);
    }
    difference.what = std::move(what);
    difference.a = std::move(a);
    difference.b = std::move(b);
    return difference;
  }

  template <typename T>
  std::optional<Difference> unless_equal(std::optional<std::uint32_t> layer, std::string_view what,
                                         const T& a, const T& b) const {
    if (a == b) return std::nullopt;
    return make(layer, std::string(what), fmt::format("{}", a), fmt::format("{}", b));
  }

  std::optional<Difference> compare_size() const {
    if (auto found = unless_equal({}, "the number of layers", a_.layers.size(), b_.layers.size()))
      return found;
    if (auto found = unless_equal({}, "the number of slots", a_.slots.size(), b_.slots.size()))
      return found;
    for (std::size_t i = 0; i < a_.slots.size(); ++i)
      if (auto found = unless_equal({}, fmt::format("the bytes of slot {}", i), a_.slots[i].size,
                                    b_.slots[i].size))
        return found;
    return std::nullopt;
  }

  // Finds the slot of A that contains `address`, and returns the same place in B's slot.
  std::optional<std::uint64_t> in_b(std::uint32_t memory, std::uint64_t address) const {
    for (std::size_t i = 0; i < a_.slots.size(); ++i) {
      const nvdla_dump_slot& slot = a_.slots[i];
      if (slot.memory == memory && address >= slot.address && address - slot.address < slot.size)
        return b_.slots[i].address + (address - slot.address);
    }
    return std::nullopt;
  }

  std::optional<Difference> compare_program(std::uint32_t layer) const {
    const nvdla_dump_layer &of_a = a_.layers[layer], &of_b = b_.layers[layer];
    if (of_a.kind != of_b.kind)
      return make(layer, "the kind of layer", std::string(layer_kind_name(of_a.kind)),
                  std::string(layer_kind_name(of_b.kind)));
    if (auto found = compare_writes(layer)) return found;
    if (auto found = unless_equal(layer, "the number of memory accesses", of_a.num_accesses,
                                  of_b.num_accesses))
      return found;
    for (std::uint32_t i = 0; i < of_a.num_accesses; ++i)
      if (auto found = compare_access(layer, i)) return found;
    if (auto found =
            unless_equal(layer, "the number of transfers", of_a.num_transfers, of_b.num_transfers))
      return found;
    if (of_a.num_transfers != 0 &&
        std::memcmp(&a_.transfers[of_a.first_transfer], &b_.transfers[of_b.first_transfer],
                    of_a.num_transfers * sizeof(nvdla_transfer)) != 0)
      return make(layer, "its transfers", "one", "another");
    if ((of_a.lut != 0) != (of_b.lut != 0) ||
        (of_a.lut != 0 &&
         std::memcmp(&a_.luts[of_a.lut - 1], &b_.luts[of_b.lut - 1], sizeof(nvdla_lut)) != 0))
      return make(layer, "its look-up table", of_a.lut != 0 ? "one" : "none",
                  of_b.lut == 0 ? "none" : "another");
    return std::nullopt;
  }

  std::optional<Difference> compare_writes(std::uint32_t layer) const {
    const nvdla_dump_layer &of_a = a_.layers[layer], &of_b = b_.layers[layer];
    const auto map = static_cast<model::RegisterMap>(a_.hw->regmap);
    if (auto found =
            unless_equal(layer, "the number of registers", of_a.num_writes, of_b.num_writes))
      return found;
    for (std::uint32_t i = 0; i < of_a.num_writes; ++i) {
      const nvdla_dump_write& in_a = a_.writes[of_a.first_write + i];
      const nvdla_dump_write& in_b = b_.writes[of_b.first_write + i];
      if (in_a.offset != in_b.offset)
        return make(layer, fmt::format("register write {}", i),
                    model::register_name(map, in_a.offset), model::register_name(map, in_b.offset));
      // Addresses may differ; compare_access() checks that they refer to the same memory.
      if (in_a.value == in_b.value || is_address(map, in_a.offset)) continue;
      return register_difference(layer, map, in_a.offset, in_a.value, in_b.value);
    }
    return std::nullopt;
  }

  // Reports the first field that differs.
  Difference register_difference(std::optional<std::uint32_t> layer, model::RegisterMap map,
                                 std::uint32_t offset, std::uint32_t a, std::uint32_t b) const {
    std::string name = model::register_name(map, offset);
    const model::RegisterInfo* const info = model::register_at(map, offset);
    for (const model::FieldInfo& field : info ? info->fields : std::span<const model::FieldInfo>())
      if (((a ^ b) & field.mask(map)) != 0 && field.width[map] != 0)
        return make(layer, fmt::format("{}.{}", name, field.name),
                    fmt::format("{} ({:#010x})", field.extract(map, a), a),
                    fmt::format("{} ({:#010x})", field.extract(map, b), b));
    return make(layer, std::move(name), fmt::format("{:#010x}", a), fmt::format("{:#010x}", b));
  }

  std::optional<Difference> compare_access(std::uint32_t layer, std::uint32_t index) const {
    const nvdla_dump_access& of_a = accesses_of(a_, layer)[index];
    const nvdla_dump_access& of_b = accesses_of(b_, layer)[index];
    const auto what = [&](const nvdla_dump_access& access) {
      return fmt::format("{} bytes of {} at {:#x}", access.bytes, dma_name(access.dma),
                         access.address);
    };
    const bool same = of_a.bytes == of_b.bytes && of_a.dma == of_b.dma &&
                      of_a.write == of_b.write && of_a.memory == of_b.memory &&
                      in_b(of_a.memory, of_a.address).value_or(of_b.address) == of_b.address;
    if (same) return std::nullopt;
    return make(layer, "what it touches", what(of_a), what(of_b));
  }

  // Bytes of an access that differ outside of `without`, which is of A.
  std::optional<Difference> compare_bytes(std::uint32_t layer, std::uint32_t index,
                                          std::array<MemoryImage, 2>& images,
                                          const Areas& without) const {
    const nvdla_dump_access& of_a = accesses_of(a_, layer)[index];
    const nvdla_dump_access& of_b = accesses_of(b_, layer)[index];
    const auto bytes_a = images[0].find(of_a.memory, of_a.address, of_a.bytes);
    const auto bytes_b = images[1].find(of_b.memory, of_b.address, of_b.bytes);
    if (bytes_a.empty() || bytes_b.empty() ||
        std::memcmp(bytes_a.data(), bytes_b.data(), bytes_a.size()) == 0)
      return std::nullopt;
    std::uint64_t count = 0, compared = 0;
    std::optional<std::uint64_t> first;
    without.visit_outside(of_a.memory, of_a.address, of_a.bytes,
                          [&](std::uint64_t address, std::uint64_t size) {
                            compared += size;
                            for (std::uint64_t i = address - of_a.address; size-- > 0; ++i) {
                              if (bytes_a[i] == bytes_b[i]) continue;
                              ++count;
                              if (!first) first = of_a.address + i;
                            }
                          });
    if (!first) return std::nullopt;
    const Element element = element_at(a_, layer, of_a, *first);
    const std::uint64_t at = element.address - of_a.address;
    Difference difference = make(
        layer, fmt::format("{} {}, at {:#x}", dma_name(of_a.dma), element.place, element.address),
        value_text(element, bytes_a.subspan(at)), value_text(element, bytes_b.subspan(at)));
    difference.note = fmt::format("{} of {} bytes differ", count, compared);
    return difference;
  }

  // Compares the data that the layer reads, except those that layers of this job wrote before.
  std::optional<Difference> compare_input(std::uint32_t layer,
                                          std::array<MemoryImage, 2>& before) const {
    for (std::uint32_t i = 0; i < a_.layers[layer].num_accesses; ++i)
      if (accesses_of(a_, layer)[i].write == 0)
        if (auto found = compare_bytes(layer, i, before, written_)) {
          found->what = "input: " + found->what;
          return found;
        }
    return std::nullopt;
  }

  bool ended(std::uint32_t layer) const {
    return a_.layers[layer].state == NVDLA_DUMP_ENDED && b_.layers[layer].state == NVDLA_DUMP_ENDED;
  }

  // Compares the data that the layer wrote and no later layer overwrote.
  std::optional<Difference> compare_output(std::uint32_t layer,
                                           std::array<MemoryImage, 2>& after) const {
    if (!ended(layer)) return std::nullopt;
    std::optional<Areas> later;
    for (std::uint32_t i = 0; i < a_.layers[layer].num_accesses; ++i) {
      if (accesses_of(a_, layer)[i].write == 0) continue;
      static const Areas kNone;
      if (!compare_bytes(layer, i, after, kNone)) continue;
      if (!later) {
        later.emplace();
        for (std::uint32_t next = layer + 1; next < a_.layers.size(); ++next)
          add_writes(next, *later);
      }
      if (auto found = compare_bytes(layer, i, after, *later)) {
        found->what = "output: " + found->what;
        found->output = true;
        return found;
      }
    }
    return std::nullopt;
  }

  void add_writes(std::uint32_t layer, Areas& areas) const {
    for (const nvdla_dump_access& access : accesses_of(a_, layer))
      if (access.write != 0) areas.add(access);
  }

  // The layer that did not end in one of them.
  std::optional<std::uint32_t> stuck_layer() const {
    const auto of = [](const Dump& job) -> std::optional<std::uint32_t> {
      if (job.header.result != detail::kJobHung) return std::nullopt;
      return job.header.layer;
    };
    const auto a = of(a_), b = of(b_);
    if (a == b) return std::nullopt;
    return std::min(a.value_or(~0u), b.value_or(~0u));
  }

  std::optional<Difference> compare_end(std::optional<std::uint32_t> layer) const {
    const auto word = [&](const Dump& job) -> std::string {
      if (job.header.result == detail::kJobEndedWell) return "well";
      if (job.header.result != detail::kJobHung) return "by a failure";
      return layer && job.header.layer > *layer ? "well" : "not at all";
    };
    return make(layer, "how it ends", word(a_), word(b_));
  }

  // Compares the registers that the driver found in the device.
  std::optional<Difference> compare_registers() const {
    const auto map = static_cast<model::RegisterMap>(a_.hw->regmap);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> of_b;
    for (const nvdla_dump_register& reg : b_.registers) of_b[{reg.offset, reg.group}] = reg.value;
    for (const nvdla_dump_register& reg : a_.registers) {
      const auto found = of_b.find({reg.offset, reg.group});
      if (found == of_b.end() || found->second == reg.value || is_address(map, reg.offset))
        continue;
      Difference difference =
          register_difference(std::nullopt, map, reg.offset, reg.value, found->second);
      difference.what = fmt::format("group {} of {}", reg.group, difference.what);
      return difference;
    }
    return std::nullopt;
  }

  const Dump& a_;
  const Dump& b_;
  std::size_t job_;
  Areas written_;  // bytes written by the layers so far; in a driver's dump, by any layer
};

}  // namespace

std::optional<Difference> first_difference(const std::vector<Dump>& a, const std::vector<Dump>& b) {
  Difference whole;
  if (a.front().hw != b.front().hw) {
    whole.what = "the configuration";
    whole.a = a.front().hw->name;
    whole.b = b.front().hw->name;
    return whole;
  }
  std::array<MemoryImage, 2> before, after;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const Dump* const jobs[] = {&a[i], &b[i]};
    for (std::size_t run = 0; run < 2; ++run) {
      before[run].begin(*jobs[run]);
      after[run].begin(*jobs[run]);
      after[run].end(*jobs[run]);
    }
    if (auto found = JobComparison(a[i], b[i], i).compare(before, after)) return found;
    for (std::size_t run = 0; run < 2; ++run) before[run].end(*jobs[run]);
  }
  if (a.size() == b.size()) return std::nullopt;
  whole.job = std::min(a.size(), b.size());
  whole.what = "the number of jobs";
  whole.a = fmt::format("{}", a.size());
  whole.b = fmt::format("{}", b.size());
  return whole;
}

std::string text(const Difference& difference) {
  std::string where = fmt::format("job {}", difference.job + 1);
  if (difference.layer)
    where += fmt::format(", {} ({})",
                         detail::layer_text(*difference.layer, detail::printable(difference.name)),
                         difference.kind);
  return fmt::format("{}: {}: {} in A, {} in B{}{}", where, difference.what, difference.a,
                     difference.b, difference.note.empty() ? "" : "; ", difference.note);
}

}  // namespace nvdla::compare
