// SPDX-License-Identifier: MIT
#include "emulator/device/qemu.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "emulator/device/guest_memory.hpp"
#include "emulator/device/platform.hpp"
#include "tools/files/status.hpp"

namespace nvdla::emulator {
namespace {

// {ours, the child's}; both close on exec until the child says otherwise.
std::pair<Descriptor, Descriptor> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

std::string interrupt_line(Route route, unsigned processors) {
  switch (route) {
    case Route::kPci:
      return "ioapic unnamed-gpio-in 20";
    case Route::kAcpi:
      return "ioapic unnamed-gpio-in 17";
    case Route::kDeviceTree:
      // QEMU numbers what has no place of its own: the GIC comes after the processors.
      return fmt::format("/machine/unattached/device[{}] unnamed-gpio-in 112", processors);
    case Route::kUml:
      break;
  }
  return {};
}

std::vector<std::string> command_line(const Machine& machine, int memory) {
  const bool arm = machine.route == Route::kDeviceTree;
  std::vector<std::string> command = {
      arm ? "qemu-system-aarch64" : "qemu-system-x86_64",
      "-machine",
      arm ? "virt,gic-version=3,memory-backend=ram0" : "q35,memory-backend=ram0",
      "-accel",
      "tcg,thread=multi",
      "-cpu",
      arm ? "cortex-a72" : "max",
      "-smp",
      fmt::format("{}", machine.processors),
      "-m",
      machine.memory,
      "-object",
      machine.route == Route::kPci
          ? fmt::format("memory-backend-memfd,id=ram0,size={},share=on", machine.memory)
          : fmt::format("memory-backend-file,id=ram0,size={},share=on,mem-path=/proc/{}/fd/{}",
                        machine.memory, ::getpid(), memory),
      "-nodefaults",
      "-no-user-config",
      "-display",
      "none",
      "-no-reboot",
      "-serial",
      "stdio",
      "-kernel",
      machine.kernel,
      "-append",
      machine.append};
  if (machine.route == Route::kAcpi)
    command.insert(command.end(), {"-acpitable", "file=" + machine.description});
  if (arm) command.insert(command.end(), {"-dtb", machine.description});
  if (!machine.initrd.empty()) command.insert(command.end(), {"-initrd", machine.initrd});
  return command;
}

MemoryRange share_memory(const Place& place, const std::string& size) {
  const auto window = parse_window(fmt::format("{}@{:#x}", size, place.memory));
  if (!window || window->size > place.most_memory)
    throw program::UsageError(
        fmt::format("memory of {}: expected a size such as 512M, at most {} MiB on this route",
                    size, place.most_memory >> 20));
  Descriptor file(::memfd_create("guest", MFD_CLOEXEC));
  if (file.get() < 0 || ::ftruncate(file.get(), static_cast<off_t>(window->size)) != 0)
    throw std::system_error(errno, std::generic_category(), "memory of the guest");
  return {window->address, window->size, 0, std::move(file)};
}

Qemu::Qemu(std::vector<std::string> command, const std::string& plugin, std::uint64_t address) {
  auto [device, device_child] = socket_pair();
  auto [qtest, qtest_child] = socket_pair();
  device_ = std::move(device);
  qtest_ = std::move(qtest);
  // The name of the character device must be exactly `qtest`.
  command.insert(command.end(),
                 {"-chardev", fmt::format("socket,id=qtest,fd={}", qtest_child.get()), "-qtest",
                  "chardev:qtest", "-qtest-log", "/dev/null"});
  if (plugin.empty()) {
    command.insert(command.end(), {"-device", fmt::format("x-pci-proxy-dev,id=dla0,fd={},addr={}",
                                                          device_child.get(), kSlot)});
  } else {
    command.insert(command.end(),
                   {"-plugin", fmt::format("{},fd={},address={:#x},size={:#x}", plugin,
                                           device_child.get(), address, kPlatformBytes)});
  }
  start(std::move(command), std::array{device_child.get(), qtest_child.get()});
}

}  // namespace nvdla::emulator
