// SPDX-License-Identifier: MIT
#include "backend/open/open_registers.hpp"

#include <stdexcept>

#include "backend/name/device_name.hpp"
#include "backend/registers/bare_model.hpp"
#include "backend/registers/mmio/mmio_device.hpp"
#include "backend/registers/sim_device.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

std::unique_ptr<BareDevice> open_bare(std::string_view name) {
  const DeviceName parsed = parse_device_name(name);
  if (parsed.kind == DeviceName::Kind::kSim) return std::make_unique<SimDevice>(parsed);
  if (parsed.kind == DeviceName::Kind::kMmio) return std::make_unique<MmioDevice>(parsed);
  if (parsed.kind == DeviceName::Kind::kModel) {
    const model::Options options = {.quirks = model::silicon_quirks(*parsed.hw),
                                    .threads = parsed.options.threads,
                                    .memory = parsed.options.memory};
    try {
      return std::make_unique<BareModel>(std::string(name), *parsed.hw, options);
    } catch (const std::invalid_argument& error) {
      // Such as an environment variable of the model: there would be a device.
      refuse(ErrorCode::kInvalidArgument, "device '{}': {}", name, error.what());
    }
  }
  refuse(ErrorCode::kNoDevice,
         "device '{}': its registers cannot be reached from this process; expected 'model:...', "
         "'sim:...' or 'mmio:...'",
         name);
}

}  // namespace nvdla::detail
