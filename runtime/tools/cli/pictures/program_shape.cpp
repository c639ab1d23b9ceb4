// SPDX-License-Identifier: MIT
#include "tools/cli/pictures/program_shape.hpp"

#include <algorithm>

#include "backend/info.hpp"
#include "loadable/read/convert.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "nvdla/types/error.hpp"
#include "support/layer_places.hpp"

namespace nvdla::cli {

std::vector<std::string> units_of(std::uint32_t kind) {
  std::vector<std::string> units;
  std::string_view names = layer_kind_name(kind);
  for (;;) {
    const std::size_t plus = names.find('+');
    units.emplace_back(names.substr(0, plus));
    if (plus == names.npos) return units;
    names.remove_prefix(plus + 1);
  }
}

ProgramShape program_shape(const Loadable& file, const Device& device) {
  const Loadable::Impl& impl = file.impl();
  const nvdla_hw& hw = *detail::find_configuration(device.info());
  ProgramShape shape;
  std::map<std::uint16_t, MemoryShape> memories;
  std::size_t steps = 0;
  for (const auto& submit : impl.container.submits) {
    for (const std::uint16_t task : submit) {
      if (!impl.tasks[task].of_hardware()) {
        steps += impl.tasks[task].cpu_operations();
        continue;
      }
      const auto program = loadable::convert_task(impl.container, impl.tasks[task], hw);
      for (std::size_t i = 0; i < program.layers.size(); ++i) {
        const auto number = static_cast<std::uint32_t>(shape.layers.size());
        shape.layers.push_back(
            {impl.step_name(steps++, program.names[i]), units_of(program.layers[i].kind)});
        const auto use = [&](const auto& place, bool written) {
          const std::uint16_t index = program.memories[place.slot];
          if (index == loadable::ConvertedProgram::kNoMemory) return;
          const loadable::MemoryEntry& entry = impl.container.memories[index];
          MemoryShape& memory = memories[index];
          memory.name = program.slot_names[place.slot];
          memory.bytes = entry.size;
          memory.sram = entry.domain == loadable::kDomainSram;
          memory.constant = !entry.contents.empty();
          (written ? memory.writers : memory.readers).insert(number);
        };
        detail::for_each_place(program.layers[i], program.transfers, use);
      }
    }
  }
  for (auto& [index, memory] : memories) shape.memories.push_back(std::move(memory));
  std::stable_sort(shape.memories.begin(), shape.memories.end(),
                   [](const MemoryShape& a, const MemoryShape& b) { return a.bytes > b.bytes; });
  return shape;
}

}  // namespace nvdla::cli
