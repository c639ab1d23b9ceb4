// SPDX-License-Identifier: MIT
#include "tools/replay/layer_script.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/replay/text.hpp"

namespace nvdla::replay {
namespace {

constexpr std::uint32_t kBases[][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;

nvdla_layer_image image_of(const nvdla_dump_layer& layer) {
  nvdla_layer_image image = {};
  image.kind = layer.kind;
  image.units = layer.units;
  image.lut = layer.lut;
  image.first_write = layer.first_write;
  image.num_writes = layer.num_writes;
  image.first_transfer = layer.first_transfer;
  image.num_transfers = layer.num_transfers;
  return image;
}

}  // namespace

LayerScript::LayerScript(const Dump& dump, std::string_view file, std::vector<Command>& commands)
    : file_(file), commands_(commands), hw_(*dump.hw) {
  if (dump.header.flags & NVDLA_DUMP_WEIGHT_GATING)
    hw_.features |= NVDLA_HW_WEIGHT_GATING;
  else
    hw_.features &= ~NVDLA_HW_WEIGHT_GATING;
  ops_.reg_read = [](void* context, u32 offset) -> u32 {
    return static_cast<LayerScript*>(context)->read(offset);
  };
  ops_.reg_write = [](void* context, u32 offset, u32 value) {
    auto* const self = static_cast<LayerScript*>(context);
    self->add<WriteRegister>() = {offset, value};
  };
  ops_.dma_barrier = [](void*) {};
  ops_.relax = [](void*) {};
  ops_.now_ns = [](void*) -> u64 { return 0; };
  nvdla_engine_init(&engine_, &hw_, &ops_, this);
  if (const int error = nvdla_engine_start(&engine_))
    throw Error(file_, 0, fmt::format("the engine does not start: error {}", -error));
}

void LayerScript::job(const Dump& dump, unsigned line) {
  dump_ = &dump;
  line_ = line;
  writes_.clear();
  slots_.clear();
  bases_.clear();
  for (const nvdla_dump_write& write : dump.writes) writes_.push_back({write.offset, write.value});
  for (const nvdla_dump_slot& slot : dump.slots) {
    slots_.push_back({slot.size, 1, slot.memory, slot.access, 0});
    bases_.push_back(slot.address);
  }
  transfers_ = dump.transfers;
  luts_ = dump.luts;
  // The engine forms addresses in tables that may be empty: there is something to point to.
  writes_.reserve(1);
  slots_.reserve(1);
  transfers_.reserve(1);
  luts_.reserve(1);
  relocs_.reserve(1);
}

void LayerScript::layer(std::uint32_t index) {
  nvdla_layer_image image = image_of(dump_->layers[index]);
  nvdla_program program = {};
  program.hw = &hw_;
  program.layers = &image;
  program.num_layers = 1;
  program.writes = writes_.data();
  program.relocs = relocs_.data();
  program.num_writes = static_cast<std::uint32_t>(writes_.size());
  program.slots = slots_.data();
  program.num_slots = static_cast<std::uint32_t>(slots_.size());
  program.luts = luts_.data();
  program.num_luts = static_cast<std::uint32_t>(luts_.size());
  program.transfers = transfers_.data();
  program.num_transfers = static_cast<std::uint32_t>(transfers_.size());
  if (dump_->header.flags & NVDLA_DUMP_STATS) program.flags = NVDLA_PROGRAM_STATS;
  nvdla_layer_stats stats;
  nvdla_job job = {};
  job.program = &program;
  job.bases = bases_.data();
  job.stats = &stats;
  job.stats_stride = sizeof(stats);
  // Names the tables; programs have numbers from 1 on.
  job.serial = std::max<std::uint64_t>(dump_->header.program, 1);

  if (nvdla_engine_submit(&engine_, &job)) throw_error(index, "is none that the driver makes");
  if (job.result == NVDLA_JOB_BROKEN) throw_error(index, "writes a register of none of its units");
  const bool guilty = dump_->header.result == NVDLA_JOB_HANG && index == dump_->header.layer;
  add<EndLayer>() = {index, guilty};
  nvdla_engine_interrupt(&engine_, NVDLA_IRQ_LAST);
  if (nvdla_engine_done(&engine_) == nullptr || job.result != NVDLA_JOB_OK)
    throw_error(index, "does not end in the engine");
}

void LayerScript::throw_error(std::uint32_t layer, std::string_view what) const {
  throw Error(file_, 0, fmt::format("layer {} {}; expected what was submitted", layer, what));
}

// Returns the registers of an idle device.
std::uint32_t LayerScript::read(std::uint32_t offset) const {
  const auto& bases = kBases[hw_.regmap];
  if (offset == bases[NVDLA_UNIT_GLB] + NVDLA_GLB_S_NVDLA_HW_VERSION) return 0x00303031;
  if (offset == bases[NVDLA_UNIT_CDMA] + NVDLA_CDMA_S_CBUF_FLUSH_STATUS)
    return NVDLA_CDMA_S_CBUF_FLUSH_STATUS_FLUSH_DONE_MASK;
  if (bases[NVDLA_UNIT_BDMA] != NVDLA_NO_REG &&
      offset == bases[NVDLA_UNIT_BDMA] + NVDLA_BDMA_STATUS)
    return 20;  // free slots
  return 0;
}

}  // namespace nvdla::replay
