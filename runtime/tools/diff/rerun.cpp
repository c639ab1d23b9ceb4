// SPDX-License-Identifier: MIT
#include "tools/diff/rerun.hpp"

#include <algorithm>
#include <utility>

#include "backend/record/dump_writer.hpp"
#include "backend/record/record_format.hpp"
#include "tools/diff/job_player.hpp"
#include "tools/diff/layer_registers.hpp"
#include "tools/diff/memory_image.hpp"
#include "tools/replay/areas.hpp"
#include "tools/replay/text.hpp"

namespace nvdla::compare {

using replay::Dump;
using replay::DumpBuffer;

std::vector<Dump> rerun(const std::vector<Dump>& jobs, std::string_view file,
                        replay::Target& target) {
  if (!jobs.front().registers.empty())
    throw replay::Error(file, 0,
                        "is a dump of the driver, of a job that was not seen to begin; expected a "
                        "record");
  std::vector<Dump> result;
  JobPlayer player(jobs.front(), file, target);
  for (const Dump& job : jobs) {
    Dump& after = result.emplace_back(job);
    player.load(job.buffers);
    const auto outcome =
        player.run(job, result.size(), 0, static_cast<std::uint32_t>(job.layers.size()));
    if (outcome.stuck) {
      after.header.result = detail::kJobHung;
      after.header.layer = *outcome.stuck;
      after.written.clear();
      break;
    }
    if (!outcome.reason.empty()) throw replay::Error(file, 0, outcome.reason);
    after.header.result = detail::kJobEndedWell;
    for (nvdla_dump_layer& layer : after.layers) layer.state = NVDLA_DUMP_ENDED;
    for (DumpBuffer& written : after.written)
      target.fetch(replay::ram_of(written.info.memory), written.info.address, written.bytes);
    // The next job begins with what the record has.
    player.load(job.written);
  }
  return result;
}

namespace {

using replay::Areas;
using replay::Dump;
using replay::DumpBuffer;

bool convolves(const Dump& job, std::uint32_t layer) {
  return (job.layers[layer].units >> NVDLA_UNIT_CDMA & 1) != 0;
}

// Does it take from the convolution buffer what an earlier one left there?
bool reuses(const Dump& job, std::uint32_t layer) {
  const LayerRegisters registers(job, layer);
  return registers.field("CDMA.D_MISC_CFG", "DATA_REUSE") != 0 ||
         registers.field("CDMA.D_MISC_CFG", "WEIGHT_REUSE") != 0;
}

// The layer, after those whose left-overs it needs.
std::vector<std::uint32_t> layers_for(const Dump& job, std::uint32_t layer) {
  std::vector<std::uint32_t> layers{layer};
  while (convolves(job, layers.back()) && reuses(job, layers.back())) {
    std::uint32_t before = layers.back();
    while (before > 0 && !convolves(job, before - 1)) --before;
    if (before == 0) break;
    layers.push_back(before - 1);
  }
  std::reverse(layers.begin(), layers.end());
  return layers;
}

template <typename Visit>
void for_accesses(const Dump& job, std::uint32_t layer, Visit visit) {
  const nvdla_dump_layer& of = job.layers[layer];
  for (std::uint32_t i = 0; i < of.num_accesses; ++i) visit(job.accesses[of.first_access + i]);
}

// Layers of a job with their registers and accesses, in tables of their own.
void copy_program(const Dump& from, const std::vector<std::uint32_t>& layers, Dump& to) {
  to.slots = from.slots;
  to.transfers = from.transfers;
  to.luts = from.luts;
  for (const std::uint32_t index : layers) {
    nvdla_dump_layer layer = from.layers[index];
    const auto writes = from.writes.begin() + layer.first_write;
    const auto accesses = from.accesses.begin() + layer.first_access;
    layer.first_write = static_cast<std::uint32_t>(to.writes.size());
    layer.first_access = static_cast<std::uint32_t>(to.accesses.size());
    to.writes.insert(to.writes.end(), writes, writes + layer.num_writes);
    to.accesses.insert(to.accesses.end(), accesses, accesses + layer.num_accesses);
    to.layers.push_back(layer);
    if (!from.layer_names.empty()) to.layer_names.push_back(from.layer_names[index]);
  }
}

DumpBuffer buffer_at(std::uint32_t memory, std::uint64_t address, std::uint64_t size) {
  return {{address, size, memory, 0}, std::vector<std::byte>(size)};
}

}  // namespace

Dump reduce(const std::vector<Dump>& jobs, std::size_t job, std::uint32_t layer,
            std::string_view file, replay::Target& target) {
  const Dump& from = jobs[job];
  const std::vector<std::uint32_t> layers = layers_for(from, layer);
  MemoryImage image;
  for (std::size_t i = 0; i < job; ++i) {
    image.begin(jobs[i]);
    image.end(jobs[i]);
  }
  image.begin(from);
  for (const std::uint32_t memory : {NVDLA_MEMORY_DRAM, NVDLA_MEMORY_SRAM})
    for (const auto& [address, bytes] : image.buffers(memory))
      target.load(replay::ram_of(memory), address, bytes);
  JobPlayer player(from, file, target);
  const auto outcome = player.run(from, job + 1, 0, layers.front());
  if (!outcome.reason.empty()) throw replay::Error(file, 0, outcome.reason);

  Dump to;
  to.header = from.header;
  to.header.layer = from.header.result == detail::kJobEndedWell
                        ? 0
                        : static_cast<std::uint32_t>(layers.size()) - 1;
  to.hw = from.hw;
  copy_program(from, layers, to);
  Areas touched, later;
  for (const std::uint32_t index : layers)
    for_accesses(from, index, [&](const auto& access) { touched.add(access); });
  for (std::uint32_t index = layer + 1; index < from.layers.size(); ++index)
    for_accesses(from, index, [&](const auto& access) {
      if (access.write != 0) later.add(access);
    });
  for (const std::uint32_t memory : {NVDLA_MEMORY_DRAM, NVDLA_MEMORY_SRAM})
    for (const auto& [first, last] : touched.of(memory)) {
      DumpBuffer buffer = buffer_at(memory, first, last - first + 1);
      target.fetch(replay::ram_of(memory), first, buffer.bytes);
      to.buffers.push_back(std::move(buffer));
    }
  image.end(from);
  for_accesses(from, layer, [&](const nvdla_dump_access& access) {
    if (access.write == 0 || from.written.empty()) return;
    later.visit_outside(access.memory, access.address, access.bytes,
                        [&](std::uint64_t address, std::uint64_t size) {
                          DumpBuffer written = buffer_at(access.memory, address, size);
                          const auto bytes = image.find(access.memory, address, size);
                          std::copy(bytes.begin(), bytes.end(), written.bytes.begin());
                          to.written.push_back(std::move(written));
                        });
  });
  return to;
}

std::vector<std::byte> record_bytes(const Dump& job) {
  detail::DumpWriter writer;
  const auto array = [&](std::uint32_t type, const auto& elements) {
    writer.array(type, std::span(elements.data(), elements.size()));
  };
  array(NVDLA_DUMP_LAYERS, job.layers);
  array(NVDLA_DUMP_WRITES, job.writes);
  array(NVDLA_DUMP_ACCESSES, job.accesses);
  array(NVDLA_DUMP_SLOTS, job.slots);
  array(NVDLA_DUMP_TRANSFERS, job.transfers);
  array(NVDLA_DUMP_LUTS, job.luts);
  if (!job.layer_names.empty()) writer.names(job.layer_names);
  for (const DumpBuffer& buffer : job.buffers)
    writer.memory(NVDLA_DUMP_BUFFER, buffer.info, buffer.bytes);
  for (const DumpBuffer& written : job.written)
    writer.memory(detail::kSectionWritten, written.info, written.bytes);
  return writer.finish(job.header);
}

}  // namespace nvdla::compare
