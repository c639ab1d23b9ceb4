// SPDX-License-Identifier: MIT
#include "tools/diff/rerun.hpp"

#include <fmt/format.h>

#include "backend/record/record_format.hpp"
#include "tools/diff/job_player.hpp"
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

}  // namespace nvdla::compare
