// SPDX-License-Identifier: MIT
//
// Makes the script that replays a dump of the driver.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "firmware/engine/nvdla_engine.h"
#include "tools/replay/areas.hpp"
#include "tools/replay/dump.hpp"
#include "tools/replay/layer_script.hpp"

namespace nvdla::replay {
namespace {

constexpr std::uint32_t kBases[][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;

class Scripter {
 public:
  Scripter(const Dump& dump, std::string_view file) : dump_(dump), file_(file) {}

  Script script() {
    script_.kind = Kind::kDump;
    script_.file = file_;
    script_.map = static_cast<RegisterMap>(dump_.hw->regmap);
    const bool gone = dump_.header.result == NVDLA_JOB_GONE;
    if (dump_.layers.empty())
      script_.nothing =
          fmt::format("the dump holds {}; expected one of the parameter dump=full",
                      gone ? "no registers, as the device was gone, and no job" : "registers only");
    else
      script_.end_note = fmt::format("all layers end here; {}", end_on_the_device());
    if (gone && dump_.registers.empty())
      script_.warnings.push_back(
          "the device answered all ones: the dump has no registers, so none are compared");
    if (dump_.header.result == NVDLA_JOB_BROKEN) find_stray();
    compare_registers();
    load_memory();
    LayerScript layers(dump_, file_, script_.commands);
    layers.job(dump_, 0);
    const std::uint32_t count = static_cast<std::uint32_t>(dump_.layers.size());
    if (can_compare()) {
      for (std::uint32_t i = 0; i < count; ++i)
        if (ended(i)) layers.layer(i);
      compare_memory();
    } else {
      find_kept();
    }
    for (std::uint32_t i = 0; i < count; ++i)
      if ((!ended(i) || again_[i]) && i != stray_) layers.layer(i);
    return std::move(script_);
  }

 private:
  std::string end_on_the_device() const {
    const std::uint32_t layer = dump_.header.layer;
    switch (dump_.header.result) {
      case NVDLA_JOB_GONE:
        return fmt::format("the device was gone in layer {}", layer);
      case NVDLA_JOB_BROKEN:
        return fmt::format("the driver did not write layer {} to the device", layer);
      default:
        return fmt::format("on the device layer {} did not", layer);
    }
  }

  // The driver writes no layer that would reach registers of a unit that is not its own. The
  // compiler makes none: something has changed the program since.
  void find_stray() {
    const std::uint32_t index = dump_.header.layer;
    if (index >= dump_.layers.size()) return;
    const nvdla_dump_layer& layer = dump_.layers[index];
    std::set<std::uint32_t> own;
    for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; ++unit)
      if (layer.units >> unit & 1) own.insert(kBases[script_.map][unit]);
    for (std::uint32_t i = 0; i < layer.num_writes; ++i) {
      const nvdla_dump_write& write = dump_.writes[layer.first_write + i];
      if (own.count(write.offset & ~(NVDLA_UNIT_WINDOW - 1u)) != 0) continue;
      script_.failures.push_back(
          fmt::format("layer {}: the driver was to write {:#010x} to {:#x}, a register of none of "
                      "the layer's units: its program was changed after it was checked",
                      index, write.value, write.offset));
      stray_ = index;
      return;
    }
  }

  bool ended(std::uint32_t layer) const { return dump_.layers[layer].state == NVDLA_DUMP_ENDED; }
  bool started(std::uint32_t layer) const {
    return dump_.layers[layer].state >= NVDLA_DUMP_ENABLED;
  }

  template <typename Visit>
  void for_accesses(std::uint32_t layer, Visit visit) const {
    const nvdla_dump_layer& of = dump_.layers[layer];
    for (std::uint32_t i = 0; i < of.num_accesses; ++i) visit(dump_.accesses[of.first_access + i]);
  }

  // Compares the registers in the device's groups with what was written for the layers.
  void compare_registers() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> held;
    for (const nvdla_dump_register& reg : dump_.registers)
      held[{reg.offset, reg.group}] = reg.value;
    for (std::size_t i = 0; i < dump_.layers.size(); ++i) {
      const nvdla_dump_layer& layer = dump_.layers[i];
      if (layer.state != NVDLA_DUMP_PROGRAMMED && layer.state != NVDLA_DUMP_ENABLED) continue;
      std::map<std::uint32_t, std::uint32_t> last;
      for (std::uint32_t j = 0; j < layer.num_writes; ++j) {
        const nvdla_dump_write& write = dump_.writes[layer.first_write + j];
        last[write.offset] = write.value;
      }
      for (const auto& [offset, value] : last) {
        const model::RegisterInfo* info = model::register_at(script_.map, offset);
        if (!info || info->scope != model::Scope::kGroup) continue;
        const auto found = held.find({offset, layer.groups >> info->unit & 1});
        if (found == held.end()) continue;
        const std::uint32_t mask = info->read[script_.map] & info->write[script_.map];
        ++script_.registers_compared;
        if ((found->second ^ value) & mask)
          script_.failures.push_back(fmt::format(
              "layer {}: {:#010x} was written to {}, the device held {:#010x} in group {}", i,
              value, model::register_name(script_.map, offset), found->second,
              found->first.second));
      }
    }
  }

  void load_memory() {
    for (const DumpBuffer& buffer : dump_.buffers) {
      if (buffer.bytes.size() < buffer.info.size) {
        complete_ = false;
        script_.warnings.push_back(
            fmt::format("of the buffer at {:#x} the dump has {} of {} bytes; the others are zero "
                        "here",
                        buffer.info.address, buffer.bytes.size(), buffer.info.size));
      }
      if (buffer.bytes.empty()) continue;
      LoadMemory load;
      load.ram = ram_of(buffer.info.memory);
      load.address = buffer.info.address;
      load.size = buffer.bytes.size();
      load.file = blob({{0, buffer.bytes}}, buffer);
      script_.commands.push_back({0, std::move(load)});
    }
  }

  static BlobFile blob(Blob data, const DumpBuffer& buffer) {
    BlobFile file;
    file.name = fmt::format("the buffer at {:#x}", buffer.info.address);
    file.data = std::make_shared<const Blob>(std::move(data));
    return file;
  }

  // Returns true if the inputs of all layers that ended are unchanged: neither the layer itself nor
  // a later one may have written there.
  bool can_compare() {
    if (!complete_) return false;
    Areas written;
    for (std::uint32_t i = static_cast<std::uint32_t>(dump_.layers.size()); i-- > 0;) {
      if (!started(i)) continue;
      bool intact = true;
      for_accesses(i, [&](const auto& access) {
        if (access.write) written.add(access);
      });
      for_accesses(i, [&](const auto& access) {
        if (!access.write && written.touch(access)) intact = false;
      });
      if (ended(i) && !intact) {
        script_.warnings.push_back(
            fmt::format("what layer {} has read was written since: layers that had ended are not "
                        "run again, nor is memory compared",
                        i));
        return false;
      }
    }
    return true;
  }

  // Compares all dumped memory, except what layers that were running may have written in part.
  void compare_memory() {
    Areas unknown;
    for (std::uint32_t i = 0; i < dump_.layers.size(); ++i)
      if (started(i) && !ended(i))
        for_accesses(i, [&](const auto& access) {
          if (access.write) unknown.add(access);
        });
    for (const DumpBuffer& buffer : dump_.buffers) {
      Blob known;
      const std::uint64_t begin = buffer.info.address, size = buffer.bytes.size();
      if (size != 0)
        unknown.visit_outside(
            buffer.info.memory, begin, size, [&](std::uint64_t address, std::uint64_t part) {
              const auto from = buffer.bytes.begin() + static_cast<std::ptrdiff_t>(address - begin);
              known.push_back({address - begin, {from, from + static_cast<std::ptrdiff_t>(part)}});
            });
      if (known.empty()) continue;
      CompareMemory compare;
      compare.ram = ram_of(buffer.info.memory);
      compare.address = begin;
      compare.size = size;
      compare.file = blob(std::move(known), buffer);
      script_.commands.push_back({0, std::move(compare)});
    }
  }

  // Does the layer take from the convolution buffer what an earlier one left there?
  bool reuses(std::uint32_t layer) const {
    const nvdla_dump_layer& of = dump_.layers[layer];
    const std::uint32_t offset = kBases[script_.map][NVDLA_UNIT_CDMA] + NVDLA_CDMA_D_MISC_CFG;
    for (std::uint32_t i = 0; i < of.num_writes; ++i) {
      const nvdla_dump_write& write = dump_.writes[of.first_write + i];
      if (write.offset == offset && (write.value & (NVDLA_CDMA_D_MISC_CFG_DATA_REUSE_MASK |
                                                    NVDLA_CDMA_D_MISC_CFG_WEIGHT_REUSE_MASK)))
        return true;
    }
    return false;
  }

  // Marks the convolutions that one which had not ended goes on from.
  void find_kept() {
    const auto count = static_cast<std::uint32_t>(dump_.layers.size());
    const auto convolves = [&](std::uint32_t i) {
      return (dump_.layers[i].units >> NVDLA_UNIT_CDMA & 1) != 0;
    };
    std::uint32_t next = 0;
    while (next < count && (ended(next) || !convolves(next))) ++next;
    if (next == count || !reuses(next)) return;
    for (std::uint32_t i = next; i-- > 0;) {
      if (!convolves(i)) continue;
      again_[i] = true;
      if (reuses(i)) continue;
      script_.warnings.push_back(
          fmt::format("layer {} goes on from what layer {} left in the convolution buffer: "
                      "convolutions from there on are run again on the memory of the dump",
                      next, i));
      return;
    }
  }

  const Dump& dump_;
  std::string_view file_;
  Script script_;
  bool complete_ = true;
  std::optional<std::uint32_t> stray_;  // the layer that cannot be written
  std::vector<bool> again_ = std::vector<bool>(dump_.layers.size());  // though they had ended
};

}  // namespace

Script dump_script(const Dump& dump, std::string_view file) {
  return Scripter(dump, file).script();
}

}  // namespace nvdla::replay
