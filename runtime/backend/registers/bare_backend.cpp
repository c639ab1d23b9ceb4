// SPDX-License-Identifier: MIT
#include <cstring>
#include <utility>

#include "backend/compiled_program.hpp"
#include "backend/inprocess/local_backend.hpp"
#include "backend/registers/bare_buffer.hpp"
#include "backend/registers/bare_runner.hpp"
#include "backend/registers/copy_layer.hpp"
#include "backend/registers/identify.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr std::uint32_t kBytes = 4096;
constexpr int kPoison = 0x5a;
constexpr int kSource = 0x33;

}  // namespace

void confirm(BareRunner& runner, const std::shared_ptr<BareDevice>& device, const nvdla_hw& hw) {
  const DeviceId id = new_device_id();
  const nvdla_layer layer = copy_layer(hw, 1, 1, 1);
  const nvdla_slot slots[] = {{kBytes, hw.atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_READ, 0},
                              {kBytes, hw.atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_WRITE, 0}};
  const auto program = std::make_shared<const CompiledProgram>(
      id, hw, ProgramDesc{.layers = {&layer, 1}, .slots = slots}, nullptr, device->clock_khz());
  const auto source = std::make_shared<BareBuffer>(id, device, kBytes, Memory::kDram);
  const auto target = std::make_shared<BareBuffer>(id, device, kBytes, Memory::kDram);
  std::memset(source->begin_access(MapMode::kWrite), kSource, kBytes);
  source->end_access(MapMode::kWrite);
  std::memset(target->begin_access(MapMode::kWrite), kPoison, kBytes);
  target->end_access(MapMode::kWrite);

  Job job(program, {{source, 0}, {target, 0}}, {});
  if (const std::optional<Error> error = runner.run(job)) {
    // Other configurations have other widths of addresses.
    if (error->code() == make_error_code(ErrorCode::kBusFault)) {
      throw_error(ErrorCode::kNoDevice, "{}: a copy of one element fails: {}: is it no {}?",
                  device->describe(), error->what(), hw.name);
    }
    throw Error(
        static_cast<ErrorCode>(error->code().value()),
        fmt::format("{}: a copy of one element fails: {}", device->describe(), error->what()));
  }
  const std::byte* const bytes = target->begin_access(MapMode::kRead);
  std::uint32_t atom = 0;
  while (atom < kBytes && bytes[atom] != std::byte{kPoison}) ++atom;
  target->end_access(MapMode::kRead);
  if (atom == 0) {
    throw_error(ErrorCode::kNoDevice,
                "{}: a copy of one element ends and nothing is written where the host looks: are "
                "addresses of memory the same for the device, and are caches coherent?",
                device->describe());
  }
  if (atom != hw.atom) {
    throw_error(ErrorCode::kNoDevice, "{}: writes atoms of {} bytes, {} has {}: is no {}",
                device->describe(), atom, hw.name, hw.atom, hw.name);
  }
}

std::shared_ptr<Backend> make_bare_backend(std::unique_ptr<BareDevice> device,
                                           std::string_view backend, const nvdla_hw* named,
                                           std::uint64_t sram_bytes) {
  const std::shared_ptr<BareDevice> shared = std::move(device);
  const nvdla_hw& hw = identify(*shared, named);
  auto runner = std::make_unique<BareRunner>(shared, hw);
  confirm(*runner, shared, hw);
  // Nobody waits in a simulation: a layer may take as many cycles as on silicon of 1 GHz.
  const std::uint32_t clock_khz = shared->counts_cycles() ? 0 : shared->clock_khz();
  LocalDevice local{
      .hw = &hw, .backend = backend, .sram_bytes = sram_bytes, .clock_khz = clock_khz};
  local.runner = std::move(runner);
  local.allocate = [shared](DeviceId id, std::uint64_t bytes, Memory memory) {
    return std::make_shared<BareBuffer>(id, shared, bytes, memory);
  };
  return make_local_backend(std::move(local));
}

}  // namespace nvdla::detail
