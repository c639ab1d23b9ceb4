// SPDX-License-Identifier: MIT
#include "backend/compiled_program.hpp"

#include <atomic>
#include <utility>

#include "support/check.hpp"

namespace nvdla::detail {
namespace {

std::uint64_t new_serial() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::uint32_t count(std::string_view what, std::size_t size) {
  if (size > UINT32_MAX) throw_invalid_argument("{} {} do not fit 32 bits", size, what);
  return static_cast<std::uint32_t>(size);
}

}  // namespace

CompiledProgram::CompiledProgram(DeviceId device, const nvdla_hw& hw, const ProgramDesc& desc,
                                 std::shared_ptr<BufferImpl> control, std::uint32_t clock_khz)
    : ProgramImpl(device), serial_(new_serial()), control_(std::move(control)) {
  nvdla_program_desc description = {};
  description.slots = desc.slots.data();
  description.luts = desc.luts.data();
  description.transfers = desc.transfers.data();
  description.control = reinterpret_cast<const u8*>(desc.control.data());
  description.control_bytes = count("bytes of control data", desc.control.size());
  description.num_layers = count("layers", desc.layers.size());
  description.num_slots = count("slots", desc.slots.size());
  description.num_luts = count("tables", desc.luts.size());
  description.num_transfers = count("transfers", desc.transfers.size());
  description.clock_khz = clock_khz;
  description.flags = desc.statistics ? NVDLA_PROGRAM_STATS : 0;

  const std::size_t bytes = nvdla_program_bytes(&description);
  memory_ = std::make_unique<std::uint64_t[]>(bytes / sizeof(std::uint64_t) + 1);
  nvdla_error error = {};
  const auto check = [&](int result) {
    if (result != 0) throw Error(ErrorCode::kInvalidProgram, error);
  };
  check(nvdla_program_begin(&program_, &hw, &description, memory_.get(), bytes, &error));
  for (const nvdla_layer& layer : desc.layers) check(nvdla_program_add(&program_, &layer, &error));
  check(nvdla_program_end(&program_, &error));
}

}  // namespace nvdla::detail
