// SPDX-License-Identifier: MIT
//
// From the name of a device to its backend.
#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <stdexcept>

#include "backend/backend.hpp"
#include "backend/kernel/kernel_backend.hpp"
#include "backend/kernel/node.hpp"
#include "backend/model/model_backend.hpp"
#include "backend/name/device_name.hpp"
#include "backend/open/open_registers.hpp"
#include "backend/registers/bare_model.hpp"
#include "backend/registers/bare_runner.hpp"
#include "backend/registers/mmio/mmio_device.hpp"
#include "backend/registers/sim_device.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

using Note = std::function<void(std::string_view)>;

std::shared_ptr<Backend> open_kernel(const std::string& path) {
  if (!path.empty()) return make_kernel_backend(path);
  const auto devices = find_kernel_devices();
  if (devices.empty()) {
    throw_error(
        ErrorCode::kNoDevice,
        "there is no kernel device in /dev/accel and /dev/dri: is the driver nvdla loaded, and "
        "may this user open its files?");
  }
  return make_kernel_backend(devices.front());
}

// `name` is for the message only.
std::shared_ptr<Backend> open_model(std::string_view name, const nvdla_hw& hw,
                                    const ModelOptions& options) {
  try {
    return make_model_backend(hw, options);
  } catch (const std::invalid_argument& error) {
    // Such as an environment variable of the model: there would be a device.
    throw_error(ErrorCode::kInvalidArgument, "device '{}': {}", name, error.what());
  }
}

std::shared_ptr<Backend> open_any(const Note& note) {
  if (const auto devices = find_kernel_devices(); !devices.empty()) {
    return make_kernel_backend(devices.front());
  }
  const nvdla_hw& hw = default_configuration();
  if (note) note(fmt::format("no NVDLA found, using the device model of {}", hw.name));
  return open_model("model", hw, {});
}

}  // namespace

std::shared_ptr<Backend> open_backend(std::string_view name, const Note& note) {
  const DeviceName parsed = choose_device_name(name);
  switch (parsed.kind) {
    case DeviceName::Kind::kKernel:
      return open_kernel(parsed.path);
    case DeviceName::Kind::kModel:
      return open_model(name, *parsed.hw, parsed.options);
    case DeviceName::Kind::kSim:
      return make_bare_backend(std::make_unique<SimDevice>(parsed), "sim", parsed.hw, 0);
    case DeviceName::Kind::kMmio:
      return make_bare_backend(std::make_unique<MmioDevice>(parsed), "mmio", parsed.hw,
                               parsed.mmio.sram ? parsed.mmio.sram->size : 0);
    case DeviceName::Kind::kAuto:
      break;
  }
  return open_any(note);
}

DeviceId new_device_id() noexcept {
  static std::atomic<DeviceId> last{0};
  return ++last;
}

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
      throw_error(ErrorCode::kInvalidArgument, "device '{}': {}", name, error.what());
    }
  }
  throw_error(
      ErrorCode::kNoDevice,
      "device '{}': its registers cannot be reached from this process; expected 'model:...', "
      "'sim:...' or 'mmio:...'",
      name);
}

}  // namespace nvdla::detail
