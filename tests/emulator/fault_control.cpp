// SPDX-License-Identifier: MIT
#include "fault_control.hpp"

#include <fcntl.h>
#include <linux/pci_regs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "tools/emulator/fault_capability.h"

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

}  // namespace

FaultControl::FaultControl() {
  for (const auto& entry : fs::directory_iterator("/sys/bus/pci/devices")) {
    if (text(entry.path() / "vendor") == "0x1234" &&
        text(entry.path() / "device").rfind("0xd1a", 0) == 0)
      directory_ = entry.path().string();
  }
  if (directory_.empty()) throw std::runtime_error("no emulated NVDLA on the PCI bus");
  config_ = ::open((directory_ + "/config").c_str(), O_RDWR | O_CLOEXEC);
  if (config_ < 0) fail("configuration space");
}

FaultControl::~FaultControl() {
  if (config_ >= 0) ::close(config_);
}

std::uint32_t FaultControl::read(std::uint32_t address, unsigned bytes) const {
  std::uint32_t value = 0;
  if (::pread(config_, &value, bytes, address) != static_cast<ssize_t>(bytes))
    fail("reading configuration space");
  return value;
}

void FaultControl::write(std::uint32_t address, std::uint32_t value, unsigned bytes) const {
  if (::pwrite(config_, &value, bytes, address) != static_cast<ssize_t>(bytes))
    fail("writing configuration space");
}

std::uint32_t FaultControl::get(std::uint32_t offset) const {
  return read(NVDLA_FAULT_CAPABILITY + offset, 4);
}

void FaultControl::set(std::uint32_t offset, std::uint32_t value) const {
  write(NVDLA_FAULT_CAPABILITY + offset, value, 4);
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

void FaultControl::rescan() { put("/sys/bus/pci/rescan", "1"); }

void FaultControl::rebind() {
  unbind();
  const fs::path reset = fs::path(directory_) / "reset";
  if (fs::exists(reset)) put(reset, "1");
  bind();
}

}  // namespace nvdla::emulator_test
