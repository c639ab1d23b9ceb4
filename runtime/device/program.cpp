// SPDX-License-Identifier: MIT
#include "nvdla/program.hpp"

#include <utility>

#include "backend/backend.hpp"
#include "backend/compiled_program.hpp"
#include "backend/info.hpp"
#include "device/program_accesses.hpp"

namespace nvdla {

Program::Program() noexcept = default;
Program::Program(std::shared_ptr<const detail::ProgramImpl> impl) noexcept
    : impl_(std::move(impl)) {}
Program::Program(const Program&) noexcept = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

std::uint32_t Program::layers() const noexcept { return impl_ == nullptr ? 0 : impl_->layers(); }
std::uint32_t Program::slots() const noexcept { return impl_ == nullptr ? 0 : impl_->slots(); }
bool Program::statistics() const noexcept { return impl_ != nullptr && impl_->statistics(); }

std::uint64_t Program::cycles(std::uint32_t layer) const noexcept {
  return impl_ == nullptr ? 0 : impl_->cycles(layer);
}

std::vector<detail::ProgramAccess> detail::program_accesses(const DeviceInfo& info,
                                                            const ProgramDesc& desc) {
  // No layer takes too long with the fastest clock that can be said.
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

}  // namespace nvdla
