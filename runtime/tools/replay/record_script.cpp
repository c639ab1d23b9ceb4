// SPDX-License-Identifier: MIT
//
// Makes the script that replays a record: its jobs in order, each on the memory that the device
// had.
#include <fmt/format.h>

#include <memory>

#include "backend/record/record_format.hpp"
#include "tools/replay/dump.hpp"
#include "tools/replay/layer_script.hpp"

namespace nvdla::replay {
namespace {

// Returns an action on the range of a buffer, with its bytes and a name for messages.
template <typename Action>
Action action_of(const DumpBuffer& buffer, const std::shared_ptr<const Blob>& data,
                 std::string_view what) {
  Action action;
  action.ram = ram_of(buffer.info.memory);
  action.address = buffer.info.address;
  action.size = buffer.info.size;
  action.file.name = fmt::format("{} at {:#x}", what, buffer.info.address);
  action.file.data = data;
  return action;
}

std::shared_ptr<const Blob> blob_of(const DumpBuffer& buffer) {
  return std::make_shared<const Blob>(Blob{{0, buffer.bytes}});
}

}  // namespace

Script record_script(const std::vector<Dump>& jobs, std::string_view file) {
  Script script;
  script.kind = Kind::kRecord;
  script.file = file;
  script.map = static_cast<RegisterMap>(jobs.front().hw->regmap);
  LayerScript layers(jobs.front(), file, script.commands);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Dump& job = jobs[i];
    const auto line = static_cast<unsigned>(i + 1);
    for (const DumpBuffer& buffer : job.buffers)
      script.commands.push_back(
          {line, action_of<LoadMemory>(buffer, blob_of(buffer), "the buffer")});
    layers.job(job, line);
    for (std::uint32_t layer = 0; layer < job.layers.size(); ++layer) layers.layer(layer);
    // The next job begins with what the device had, whatever was computed here.
    for (const DumpBuffer& buffer : job.written) {
      const auto data = blob_of(buffer);
      script.commands.push_back(
          {line, action_of<CompareMemory>(buffer, data, "what layers wrote")});
      script.commands.push_back({line, action_of<LoadMemory>(buffer, data, "what layers wrote")});
    }
    if (job.header.result != detail::kJobEndedWell)
      script.end_note = fmt::format("all layers end here; on the device layer {} of job {} did not",
                                    job.header.layer, line);
  }
  return script;
}

}  // namespace nvdla::replay
