// SPDX-License-Identifier: MIT
//
// Files in the place of /dev, /proc and /sys, with a PCI function whose registers are a file, too:
// what is written there stays to be seen.
#ifndef NVDLA_TESTS_MMIO_FAKE_SYSTEM_HPP
#define NVDLA_TESTS_MMIO_FAKE_SYSTEM_HPP

#include <fmt/format.h>
#include <linux/pci_regs.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "backend/registers/mmio/system.hpp"
#include "firmware/nvdla_hw.h"
#include "firmware/registers/nvdla_regs.h"
#include "unit/tools/temporary_folder.hpp"

namespace nvdla::mmio_test {

namespace fs = std::filesystem;

constexpr std::uint32_t kVersion = 0x00303031;
constexpr const char* kFunction = "0000:00:04.0";
// What is reserved in it, as an option.
inline const std::string kMemory = ",memory=1M@0x10000000";
constexpr const char* kIoMemory =
    "00000000-00000fff : Reserved\n"
    "00001000-0009fbff : System RAM\n"
    "00100000-0fffffff : System RAM\n"
    "  01000000-02000e50 : Kernel code\n"
    "10000000-13ffffff : Reserved\n"
    "14000000-1ffdefff : System RAM\n"
    "e0000000-febfffff : PCI Bus 0000:00\n"
    "  febc0000-febfffff : 0000:00:04.0\n";

class FakeSystem {
 public:
  FakeSystem() {
    write("/proc/iomem", kIoMemory);
    zeros("/dev/mem", 0x14000000);
  }

  detail::System system() const { return detail::System(folder_.path().string()); }
  fs::path path(const std::string& file) const { return folder_.path().string() + file; }
  void write(const std::string& file, std::string_view text) const {
    folder_.write(file.substr(1), text);
  }
  void link(const std::string& file, const std::string& target) const {
    fs::create_directories(path(file).parent_path());
    fs::create_symlink(target, path(file));
  }
  // A file of so many zeros.
  void zeros(const std::string& file, std::uint64_t bytes) const {
    write(file, "");
    fs::resize_file(path(file), bytes);
  }

  static std::string pci(const std::string& attribute) {
    return std::string("/sys/bus/pci/devices/") + kFunction + "/" + attribute;
  }
  // An nv_small that nothing drives, without a reset.
  void add_function() const {
    write(pci("vendor"), "0x1234\n");
    std::uint32_t index = 0;
    while (std::string_view(nvdla_hw_get(index)->name) != "nv_small") ++index;
    write(pci("device"), fmt::format("{:#x}\n", 0xd1a0 + index));
    write(pci("resource"),
          "0x00000000febc0000 0x00000000febfffff 0x0000000000040200\n"
          "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
    zeros(pci("config"), 256);
    put(pci("config"), PCI_COMMAND, std::uint16_t{PCI_COMMAND_MEMORY});
    zeros(pci("resource0"), NVDLA_REG_SPACE);
    put(pci("resource0"), NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_NVDLA_HW_VERSION, kVersion);
  }

  template <typename T>
  void put(const std::string& file, std::uint64_t at, T value) const {
    std::fstream stream(path(file), std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.write(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <typename T>
  T get(const std::string& file, std::uint64_t at) const {
    std::ifstream stream(path(file), std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    T value{};
    stream.read(reinterpret_cast<char*>(&value), sizeof(value));
    return value;
  }
  bool masters() const {
    return (get<std::uint16_t>(pci("config"), PCI_COMMAND) & PCI_COMMAND_MASTER) != 0;
  }

 private:
  replay::TemporaryFolder folder_;
};

}  // namespace nvdla::mmio_test

#endif  // NVDLA_TESTS_MMIO_FAKE_SYSTEM_HPP
