// SPDX-License-Identifier: MIT
//
// From the layers of dumps to the register accesses that the driver's own engine makes for them.
#ifndef NVDLA_TOOLS_REPLAY_LAYER_SCRIPT_HPP
#define NVDLA_TOOLS_REPLAY_LAYER_SCRIPT_HPP

#include <cstdint>
#include <string_view>
#include <vector>

#include "firmware/engine/nvdla_engine.h"
#include "tools/replay/dump.hpp"
#include "tools/replay/script.hpp"

namespace nvdla::replay {

// Has the engine program one layer after the other, on a device that is done at once, and writes
// down what it writes.
class LayerScript {
 public:
  // Takes over the device that `dump` is of. Throws Error.
  LayerScript(const Dump& dump, std::string_view file, std::vector<Command>& commands);
  LayerScript(const LayerScript&) = delete;
  LayerScript& operator=(const LayerScript&) = delete;

  // Layers are this job's from here on; its commands are of this line. It stays where it is.
  void job(const Dump& dump, unsigned line);
  void layer(std::uint32_t index);

 private:
  [[noreturn]] void throw_error(std::uint32_t layer, std::string_view what) const;
  std::uint32_t read(std::uint32_t offset) const;
  // One more command, of this line.
  template <typename Kind>
  Kind& add() {
    Command& command = commands_.emplace_back();
    command.line = line_;
    return command.action.emplace<Kind>();
  }

  std::string_view file_;
  std::vector<Command>& commands_;
  nvdla_hw hw_;
  const Dump* dump_ = nullptr;
  unsigned line_ = 0;
  nvdla_hw_ops ops_ = {};
  nvdla_engine engine_;
  std::vector<nvdla_reg_write> writes_;
  std::vector<nvdla_slot> slots_;
  std::vector<u64> bases_;
  std::vector<nvdla_transfer> transfers_;
  std::vector<nvdla_lut> luts_;
  std::vector<nvdla_reloc> relocs_;  // none: the writes hold the addresses already
};

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_LAYER_SCRIPT_HPP
