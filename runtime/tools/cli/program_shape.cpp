// SPDX-License-Identifier: MIT
#include "tools/cli/program_shape.hpp"

#include <algorithm>

#include "backend/info.hpp"
#include "loadable/convert.hpp"
#include "loadable/loadable_impl.hpp"
#include "nvdla/error.hpp"

namespace nvdla::cli {
namespace {

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

// Calls use(slot, written) for all slots of a layer.
template <typename Use>
void for_each_slot(const loadable::ConvertedProgram& program, const nvdla_layer& layer,
                   const Use& use) {
  const bool conv = layer.conv.kernels != 0;
  const bool sdp = layer.kind <= NVDLA_LAYER_SDP_PDP;
  const bool pooled = layer.kind == NVDLA_LAYER_CONV_SDP_PDP || layer.kind == NVDLA_LAYER_SDP_PDP;
  if (conv) {
    use(layer.conv.input.slot, false);
    use(layer.conv.weights.slot, false);
  } else if (sdp) {
    use(layer.sdp.input.slot, false);
  }
  if (layer.sdp.x1.mode != NVDLA_OPERAND_LAYER) use(layer.sdp.x1.operand.slot, false);
  if (layer.sdp.x2.mode != NVDLA_OPERAND_LAYER) use(layer.sdp.x2.operand.slot, false);
  if (layer.sdp.y.mode != NVDLA_OPERAND_LAYER) use(layer.sdp.y.operand.slot, false);
  if (sdp && !pooled && layer.sdp.y.alu != NVDLA_ALU_EQUAL) use(layer.sdp.output.slot, true);
  if (pooled || layer.kind == NVDLA_LAYER_PDP) use(layer.pdp.output.slot, true);
  switch (layer.kind) {
    case NVDLA_LAYER_PDP:
      use(layer.pdp.input.slot, false);
      break;
    case NVDLA_LAYER_CDP:
      use(layer.cdp.input.slot, false);
      use(layer.cdp.output.slot, true);
      break;
    case NVDLA_LAYER_RUBIK:
      use(layer.rubik.input.slot, false);
      use(layer.rubik.output.slot, true);
      break;
    case NVDLA_LAYER_BDMA:
      for (std::uint32_t i = 0; i < layer.bdma.num_transfers; ++i) {
        const nvdla_transfer& transfer = program.transfers[layer.bdma.first_transfer + i];
        use(transfer.source.slot, false);
        use(transfer.destination.slot, true);
      }
      break;
    default:
      break;
  }
}

}  // namespace

ProgramShape program_shape(const Loadable& file, const Device& device) {
  const Loadable::Impl& impl = file.impl();
  const nvdla_hw& hw = *detail::find_configuration(device.info());
  ProgramShape shape;
  std::map<std::uint16_t, MemoryShape> memories;
  for (const auto& submit : impl.container.submits) {
    for (const std::uint16_t task : submit) {
      if (!std::holds_alternative<loadable::DlaTask>(impl.tasks[task].work)) continue;
      const auto program = loadable::convert_task(impl.container, impl.tasks[task], hw);
      for (std::size_t i = 0; i < program.layers.size(); ++i) {
        const auto number = static_cast<std::uint32_t>(shape.layers.size());
        shape.layers.push_back({program.names[i], units_of(program.layers[i].kind)});
        for_each_slot(program, program.layers[i], [&](std::uint32_t slot, bool written) {
          const std::uint16_t index = program.memories[slot];
          if (index == loadable::ConvertedProgram::kNoMemory) return;
          const loadable::MemoryEntry& entry = impl.container.memories[index];
          MemoryShape& memory = memories[index];
          memory.name = program.slot_names[slot];
          memory.bytes = entry.size;
          memory.sram = entry.domain == loadable::kDomainSram;
          memory.constant = !entry.contents.empty();
          (written ? memory.writers : memory.readers).insert(number);
        });
      }
    }
  }
  for (auto& [index, memory] : memories) shape.memories.push_back(std::move(memory));
  std::stable_sort(shape.memories.begin(), shape.memories.end(),
                   [](const MemoryShape& a, const MemoryShape& b) { return a.bytes > b.bytes; });
  return shape;
}

}  // namespace nvdla::cli
