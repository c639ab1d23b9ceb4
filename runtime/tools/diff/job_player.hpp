// SPDX-License-Identifier: MIT
//
// Runs layers of a record on a target, as many as are asked for at a time.
#ifndef NVDLA_TOOLS_DIFF_JOB_PLAYER_HPP
#define NVDLA_TOOLS_DIFF_JOB_PLAYER_HPP

#include <string_view>
#include <vector>

#include "tools/replay/layer_script.hpp"
#include "tools/replay/player.hpp"

namespace nvdla::compare {

class JobPlayer {
 public:
  // `first` is a job of the device that all of them are of.
  JobPlayer(const replay::Dump& first, std::string_view file, replay::Target& target)
      : target_(target), layers_(first, file, script_.commands) {
    script_.kind = replay::Kind::kRecord;
    script_.file = file;
    script_.map = static_cast<replay::RegisterMap>(first.hw->regmap);
  }

  void load(const std::vector<replay::DumpBuffer>& buffers) {
    for (const replay::DumpBuffer& buffer : buffers)
      target_.load(replay::ram_of(buffer.info.memory), buffer.info.address, buffer.bytes);
  }

  // Layers begin to end - 1 of the job with that number.
  replay::Outcome run(const replay::Dump& job, std::size_t number, std::uint32_t begin,
                      std::uint32_t end) {
    layers_.job(job, static_cast<unsigned>(number));
    for (std::uint32_t layer = begin; layer < end; ++layer) layers_.layer(layer);
    replay::Outcome outcome = replay::play(script_, target_);
    script_.commands.clear();
    return outcome;
  }

 private:
  replay::Target& target_;
  replay::Script script_;
  replay::LayerScript layers_;
};

}  // namespace nvdla::compare

#endif  // NVDLA_TOOLS_DIFF_JOB_PLAYER_HPP
