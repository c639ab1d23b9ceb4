// SPDX-License-Identifier: MIT
#include "device/program_accesses.hpp"

#include "backend/compiled_program.hpp"
#include "backend/info.hpp"

namespace nvdla::detail {

std::vector<ProgramAccess> program_accesses(const DeviceInfo& info, const ProgramDesc& desc) {
  // With a clock as fast as can be said no layer takes too long.
  const CompiledProgram compiled(new_device_id(), *find_configuration(info), desc, nullptr,
                                 UINT32_MAX);
  const nvdla_program& program = compiled.program();
  std::vector<ProgramAccess> accesses;
  for (std::uint32_t i = 0; i < program.num_layers; ++i) {
    const nvdla_layer_image& layer = program.layers[i];
    for (std::uint32_t a = 0; a < layer.num_accesses; ++a) {
      const nvdla_access& access = program.accesses[layer.first_access + a];
      if (compiled.is_control(access.slot)) continue;
      accesses.push_back({i, access.slot, access.begin, access.end});
    }
  }
  return accesses;
}

}  // namespace nvdla::detail
