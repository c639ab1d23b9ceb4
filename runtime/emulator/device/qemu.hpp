// SPDX-License-Identifier: MIT
//
// Runs QEMU as a child process that two inherited sockets connect to the device server.
#ifndef NVDLA_EMULATOR_DEVICE_QEMU_HPP
#define NVDLA_EMULATOR_DEVICE_QEMU_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/device/child.hpp"
#include "emulator/device/message.hpp"
#include "emulator/device/stream.hpp"

namespace nvdla::emulator {

// The way in which the guest's driver finds the device.
enum class Route {
  kPci,         // x86-64, behind x-pci-proxy-dev
  kAcpi,        // x86-64, a window that an ACPI table describes
  kDeviceTree,  // aarch64, a window that a device tree describes
  kUml,         // a kernel without QEMU, over vhost-user: uml.hpp
};

struct Machine {
  Route route = Route::kPci;
  std::string kernel;
  std::string initrd;  // may be empty
  std::string append;
  std::string memory = "512M";
  unsigned processors = 1;
  std::string plugin;       // QEMU plugin that maps the window: window_plugin.cpp
  std::string description;  // describes the window: an ACPI table or device tree
};

inline constexpr unsigned kSlot = 4;

// The addresses of a route's register window and of the guest's memory, and the size up to which
// that memory is contiguous.
struct Place {
  std::uint64_t window;
  std::uint64_t memory;
  std::uint64_t most_memory;
};
inline constexpr Place kAcpiPlace = {0xfed20000, 0, 0x80000000};
inline constexpr Place kDeviceTreePlace = {0xc000000, 0x40000000, 0x80000000};

// Returns the device's interrupt on a route, as set_irq_in of the qtest protocol names it: INTA of
// slot kSlot on q35, a free global system interrupt there, or a shared interrupt of virt's GIC.
std::string interrupt_line(Route route, unsigned processors);

// Returns the command line of a machine as this server needs it: with TCG, and memory in a
// descriptor that can be shared, `memory` for a window. The proxy allows one processor only,
// because QEMU 7.2 drops the access of a second one while the first waits for the device.
std::vector<std::string> command_line(const Machine& machine, int memory = -1);

// Creates the memory of a machine with a window; `size` is like 512M. Throws program::UsageError if
// it is not a size, or exceeds the maximum.
MemoryRange share_memory(const Place& place, const std::string& size);

class Qemu final : public Child {
 public:
  // Starts `command`, with the device and its sockets added: behind the proxy, or in the window of
  // `plugin` at `address`. Throws std::system_error.
  explicit Qemu(std::vector<std::string> command, const std::string& plugin = {},
                std::uint64_t address = 0);

  int device_socket() const noexcept { return device_.get(); }
  Descriptor take_qtest_socket() noexcept { return std::move(qtest_); }

 private:
  Descriptor device_;
  Descriptor qtest_;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_QEMU_HPP
