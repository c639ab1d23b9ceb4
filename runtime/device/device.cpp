// SPDX-License-Identifier: MIT
#include "nvdla/device.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include "backend/backend.hpp"
#include "backend/name/device_name.hpp"
#include "backend/record/record_backend.hpp"
#include "device/buffers.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

void check_open(bool open) {
  if (!open) detail::throw_invalid_argument("the device handle is empty: it was moved from");
}

}  // namespace

void detail::check_memory(const DeviceInfo& info, Memory memory) {
  switch (memory) {
    case Memory::kDram:
      return;
    case Memory::kSram:
      if (info.has_sram) return;
      throw_error(ErrorCode::kNotAvailable, "{} has no secondary memory (SRAM)",
                  info.configuration);
  }
  throw_invalid_argument("memory {} is none of DRAM (0), SRAM (1)",
                         static_cast<std::uint32_t>(memory));
}

void check_device_name(std::string_view name) { detail::choose_device_name(name); }

Device::Device(std::shared_ptr<detail::Backend> impl)
    : impl_(std::move(impl)), queue_(detail::Handles::make<Queue>(impl_->create_queue())) {}

Device::Device(const Device&) noexcept = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(const Device&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;
Device::~Device() = default;

Device Device::open(std::string_view name) { return open(name, {}); }

Device Device::open(std::string_view name, const OpenOptions& options) {
  auto backend = detail::open_backend(name, options.note);
  const char* const variable = std::getenv("NVDLA_RECORD");
  if (!options.record.empty()) {
    backend = detail::make_record_backend(std::move(backend), std::string(options.record), false);
  } else if (variable != nullptr && *variable != '\0') {
    backend = detail::make_record_backend(std::move(backend), variable, true);
  }
  return Device(std::move(backend));
}

const DeviceInfo& Device::info() const noexcept {
  static const DeviceInfo kNothing;
  return impl_ == nullptr ? kNothing : impl_->info();
}

Buffer Device::allocate(std::uint64_t bytes, Memory memory) const {
  check_open(impl_ != nullptr);
  impl_->made().check("the device");
  if (bytes == 0) detail::throw_invalid_argument("a buffer of 0 bytes");
  detail::check_memory(impl_->info(), memory);
  return detail::Handles::make<Buffer>(impl_->allocate(bytes, memory));
}

Buffer detail::adopt_pages(const Device& device, const std::shared_ptr<HostPages>& pages,
                           Memory memory) {
  const std::shared_ptr<Backend>& backend = Handles::impl(device);
  check_open(backend != nullptr);
  backend->made().check("the device");
  check_memory(backend->info(), memory);
  return Handles::make<Buffer>(backend->adopt(pages, memory));
}

Program Device::create_program(const ProgramDesc& desc) const {
  check_open(impl_ != nullptr);
  impl_->made().check("the device");
  return detail::Handles::make<Program>(impl_->create_program(desc));
}

const Queue& Device::queue() const noexcept { return queue_; }

Queue Device::create_queue() const {
  check_open(impl_ != nullptr);
  impl_->made().check("the device");
  return detail::Handles::make<Queue>(impl_->create_queue());
}

Fence Device::submit(const Program& program, std::span<const Binding> bindings,
                     const SubmitOptions& options) const {
  return queue_.submit(program, bindings, options);
}

}  // namespace nvdla
