// SPDX-License-Identifier: MIT
#include "tools/cli/replay_target.hpp"

#include <fmt/format.h>

#include "backend/name/device_name.hpp"
#include "backend/open/open_registers.hpp"
#include "backend/registers/identify.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/files/status.hpp"
#include "tools/replay/targets/bare_target.hpp"
#include "tools/replay/targets/model_target.hpp"

namespace nvdla::cli {

ReplayDevice::ReplayDevice(const std::string& device) {
  using Kind = detail::DeviceName::Kind;
  const detail::DeviceName name = detail::choose_device_name(device);
  switch (name.kind) {
    case Kind::kAuto:
      return;
    case Kind::kKernel:
      throw program::UsageError(
          "replay writes registers itself, which a kernel device does not allow; expected "
          "--device model:<configuration> (nvdla-lift plays the same files on the driver)");
    case Kind::kModel:
      hw_ = name.hw;
      threads_ = name.options.threads;
      memory_ = name.options.memory;
      return;
    case Kind::kSim:
    case Kind::kMmio:
      hw_ = name.hw;
      break;
  }
  // A device whose registers can be reached.
  bare_ = device_text(device);
}

std::unique_ptr<replay::Target> ReplayDevice::open(const nvdla_hw& hw, replay::Kind kind,
                                                   const model::Options& options) const {
  const bool separate = kind == replay::Kind::kDump || kind == replay::Kind::kRecord;
  if (bare_.empty())
    return std::make_unique<replay::ModelTarget>(
        hw, options, separate ? model::Memory::Spaces::kSeparate : model::Memory::Spaces::kShared);
  auto device = detail::open_bare(bare_);
  // A device without a name is not taken for what the file is for where registers do not tell.
  const nvdla_hw& found = detail::identify(*device, detail::parse_device_name(bare_).hw);
  if (std::string_view(found.name) != hw.name)
    throw program::UsageError(
        fmt::format("{} is {}; expected {}, which the file is for", bare_, found.name, hw.name));
  return std::make_unique<replay::BareTarget>(std::move(device), hw, separate);
}

}  // namespace nvdla::cli
