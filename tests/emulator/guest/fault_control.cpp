// SPDX-License-Identifier: MIT
#include "fault_control.hpp"

#include <fcntl.h>
#include <linux/pci_regs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "emulator/device/fault_capability.h"
#include "emulator/device/platform.hpp"

namespace nvdla::emulator_test {
namespace {

namespace fs = std::filesystem;

std::string text(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

// The function of the device server; empty where the device is on no PCI bus.
std::string pci_function() {
  std::string directory;
  for (const auto& entry : fs::directory_iterator("/sys/bus/pci/devices")) {
    if (text(entry.path() / "vendor") == "0x1234" &&
        text(entry.path() / "device").rfind("0xd1a", 0) == 0)
      directory = entry.path().string();
  }
  return directory;
}

// The one that the driver has.
std::string platform_device() {
  const fs::path driver = "/sys/bus/platform/drivers/nvdla";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(driver, ignored)) {
    if (entry.is_symlink() && fs::exists(entry.path() / "driver"))
      return fs::canonical(entry.path()).string();
  }
  throw std::runtime_error("no emulated NVDLA, neither on the PCI bus nor a platform device");
}

constexpr std::size_t kConfigBytes = 0x1000;

// Where it is on the machine that emulate.sh starts.
std::byte* map_window() {
#ifdef __aarch64__
  constexpr off_t kWindow = 0xc000000;
#else
  constexpr off_t kWindow = 0xfed20000;
#endif
  const int memory = ::open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
  if (memory < 0) fail("/dev/mem");
  void* address = ::mmap(nullptr, kConfigBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory,
                         kWindow + static_cast<off_t>(emulator::kPlatformConfig));
  const int error = errno;
  ::close(memory);
  errno = error;
  if (address == MAP_FAILED) fail("mapping the configuration space");
  return static_cast<std::byte*>(address);
}

}  // namespace

FaultControl::FaultControl() : directory_(pci_function()) {
  if (directory_.empty()) {
    directory_ = platform_device();
    window_ = map_window();
    return;
  }
  config_ = ::open((directory_ + "/config").c_str(), O_RDWR | O_CLOEXEC);
  if (config_ < 0) fail("configuration space");
}

FaultControl::~FaultControl() {
  if (config_ >= 0) ::close(config_);
  if (window_ != nullptr) ::munmap(window_, kConfigBytes);
}

std::uint32_t FaultControl::read(std::uint32_t address, unsigned bytes) const {
  std::uint32_t value = 0;
  if (window_ != nullptr) {
    value = *reinterpret_cast<volatile std::uint32_t*>(window_ + address);
    return bytes == 2 ? value & 0xffff : value;
  }
  if (::pread(config_, &value, bytes, address) != static_cast<ssize_t>(bytes))
    fail("reading configuration space");
  return value;
}

void FaultControl::write(std::uint32_t address, std::uint32_t value, unsigned bytes) const {
  if (window_ != nullptr) {
    // The upper half of the command register is the status, whose bits are cleared by ones.
    *reinterpret_cast<volatile std::uint32_t*>(window_ + address) = value;
    return;
  }
  if (::pwrite(config_, &value, bytes, address) != static_cast<ssize_t>(bytes))
    fail("writing configuration space");
}

std::uint32_t FaultControl::get(std::uint32_t offset) const {
  return read(NVDLA_FAULT_CAPABILITY + offset, 4);
}

void FaultControl::set(std::uint32_t offset, std::uint32_t value) const {
  write(NVDLA_FAULT_CAPABILITY + offset, value, 4);
}

void FaultControl::block(std::uint32_t layer) const {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while ((get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_BLOCKED) != 0) {
    if (std::chrono::steady_clock::now() > until)
      throw std::runtime_error("a layer is blocked already, and nobody resets the device");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  set(NVDLA_FAULT_BLOCK, layer);
}

void FaultControl::clear() const {
  for (const std::uint32_t offset :
       {NVDLA_FAULT_GONE, NVDLA_FAULT_SWALLOW_INTERRUPTS, NVDLA_FAULT_SWALLOW_COMPLETIONS,
        NVDLA_FAULT_BLOCK, NVDLA_FAULT_LATE_MS, NVDLA_FAULT_DELAY_US, NVDLA_FAULT_ONES_READS,
        NVDLA_FAULT_ONES_MS, NVDLA_FAULT_GARBAGE_READS, NVDLA_FAULT_STORM_HZ, NVDLA_FAULT_RESET,
        NVDLA_FAULT_RESET_MS})
    set(offset, 0);
}

std::string FaultControl::attribute(const std::string& name) const {
  return text(fs::path(directory_) / name);
}

void FaultControl::put_attribute(const std::string& name, const std::string& line) const {
  put(fs::path(directory_) / name, line);
}

void FaultControl::put(const std::string& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!written)
    throw std::system_error(error, std::generic_category(), "writing " + line + " to " + path);
}

void FaultControl::set_bus_master(bool on) const {
  const std::uint32_t command = read(PCI_COMMAND, 2) & ~std::uint32_t{PCI_COMMAND_MASTER};
  write(PCI_COMMAND, command | (on ? PCI_COMMAND_MASTER : 0), 2);
}

bool FaultControl::bus_master() const { return (read(PCI_COMMAND, 2) & PCI_COMMAND_MASTER) != 0; }

void FaultControl::unbind() {
  driver_ = fs::canonical(fs::path(directory_) / "driver").string();
  put(fs::path(driver_) / "unbind", fs::path(directory_).filename().string());
}

void FaultControl::bind() const {
  put(fs::path(driver_) / "bind", fs::path(directory_).filename().string());
}

void FaultControl::remove() const { put(fs::path(directory_) / "remove", "1"); }

void FaultControl::rescan() {
  put("/sys/bus/pci/rescan", "1");
  // The function is a new one, and the driver claims no PCI id.
  const fs::path function = pci_function();
  put(function / "driver_override", "nvdla");
  put("/sys/bus/pci/drivers_probe", function.filename().string());
}

void FaultControl::rebind() {
  unbind();
  const fs::path reset = fs::path(directory_) / "reset";
  if (fs::exists(reset)) put(reset, "1");
  bind();
}

}  // namespace nvdla::emulator_test
