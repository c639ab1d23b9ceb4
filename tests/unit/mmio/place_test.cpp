// SPDX-License-Identifier: MIT
//
// Registers at an address of /dev/mem, or of a device of UIO.
#include <gtest/gtest.h>

#include <memory>

#include "backend/info.hpp"
#include "backend/registers/identify.hpp"
#include "backend/registers/mmio/mmio_device.hpp"
#include "common/runtime/expect_error.hpp"
#include "fake_system.hpp"

namespace nvdla::mmio_test {
namespace {

using detail::MmioDevice;
using test::expect_error;

constexpr std::uint32_t kVersionOffset = NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_NVDLA_HW_VERSION;

class Places : public testing::Test {
 protected:
  std::unique_ptr<MmioDevice> open(const std::string& name) const {
    return std::make_unique<MmioDevice>(detail::parse_device_name(name), fake_.system());
  }
  FakeSystem fake_;
};

constexpr const char* kAddress = "mmio:0x4000000,memory=1M@0x10000000";

TEST_F(Places, AnAddressOfMemory) {
  fake_.write("/proc/iomem", "10000000-13ffffff : reserved\n");
  fake_.put("/dev/mem", 0x4000000 + kVersionOffset, kVersion);
  const auto device = open(kAddress);
  EXPECT_EQ(device->describe(), "mmio:0x4000000");
  EXPECT_EQ(device->configuration(), nullptr);
  EXPECT_EQ(&detail::identify(*device, detail::find_configuration("nv_small")),
            detail::find_configuration("nv_small"));
  EXPECT_FALSE(device->reset());
  device->write(0x1008, 0x77);
  EXPECT_EQ(fake_.get<std::uint32_t>("/dev/mem", 0x4001008), 0x77u);
  EXPECT_EQ(device->allocate(1, Memory::kDram)->address(), 0x10000000u);
  expect_error(ErrorCode::kBusy, "mmio:0x4001000: somebody else uses it now",
               [&] { open("mmio:0x4001000,memory=1M@0x10000000"); });
}

TEST_F(Places, AnAddressThatIsMemory) {
  expect_error(ErrorCode::kNoDevice, "mmio:0x100000: registers at 0x100000-0x13ffff would be in",
               [&] { open("mmio:0x100000,memory=1M@0x10000000"); });
  fake_.write("/proc/iomem", "10000000-13ffffff : Reserved\n");
  fs::remove(fake_.path("/dev/mem"));
  expect_error(ErrorCode::kNoDevice,
               "mmio:0x100000: /dev/mem cannot be opened: No such file or directory",
               [&] { open("mmio:0x100000,memory=1M@0x10000000"); });
}

class UioPlaces : public Places {
 protected:
  void add(const char* size, const char* offset) {
    fake_.write("/sys/class/uio/uio0/maps/map0/size", size);
    fake_.write("/sys/class/uio/uio0/maps/map0/offset", offset);
    fake_.zeros("/dev/uio0", 0x22000);
  }
  static constexpr const char* kName = "mmio:/dev/uio0,memory=1M@0x10000000";
};

TEST_F(UioPlaces, AMapOfADevice) {
  add("0x20000\n", "0x100\n");
  fake_.put("/dev/uio0", 0x100 + kVersionOffset, kVersion);
  fake_.write("/sys/class/uio/uio0/device/of_node/compatible",
              std::string_view("acme,npu\0nvidia,nvdla-nv-small\0", 31));
  const auto device = open(kName);
  EXPECT_EQ(device->configuration(), detail::find_configuration("nv_small"));
  EXPECT_EQ(&detail::identify(*device, nullptr), detail::find_configuration("nv_small"));
  device->write(0x1008, 0x77);
  EXPECT_EQ(fake_.get<std::uint32_t>("/dev/uio0", 0x1108), 0x77u);
  expect_error(ErrorCode::kGone, "there is no register 0x20000: the window has 0x20000 bytes",
               [&] { device->read(0x20000); });
  expect_error(ErrorCode::kBusy, "mmio:/dev/uio0: somebody else uses it now", [&] { open(kName); });
}

TEST_F(UioPlaces, OtherCompatiblesSayNothing) {
  add("0x20000", "0x0");
  EXPECT_EQ(open(kName)->configuration(), nullptr);
  fake_.write("/sys/class/uio/uio0/device/of_node/compatible",
              std::string_view("acme,npu\0acme,nv_small\0", 23));
  EXPECT_EQ(open(kName)->configuration(), nullptr);
}

TEST_F(UioPlaces, AMapThatIsNoWindow) {
  for (const char* size : {"", "0x800\n", "nonsense"}) {
    add(size, "0x0");
    expect_error(ErrorCode::kNoDevice, "mmio:/dev/uio0: its first map is no window of registers",
                 [&] { open(kName); });
  }
}

TEST_F(UioPlaces, NoDevice) {
  expect_error(ErrorCode::kNoDevice,
               "mmio:/dev/uio0: there is no /sys/class/uio/uio0: is its UIO driver loaded, and "
               "bound to it?",
               [&] { open(kName); });
}

// Nothing stops it when its memory is given back.
TEST_F(UioPlaces, NeedMemoryThatNobodyElseHas) {
  add("0x20000", "0x0");
  for (const char* name : {"mmio:/dev/uio0", "mmio:/dev/uio0,memory=8M"}) {
    expect_error(ErrorCode::kNoDevice,
                 "mmio:/dev/uio0: needs 'memory=<size>@<address>', memory that the kernel leaves "
                 "alone: nothing keeps this device from memory that is given back",
                 [&] { open(name); });
  }
}

// uio_pci_generic has no maps: its functions are opened as what they are.
TEST_F(UioPlaces, OfPci) {
  fake_.add_function();
  fake_.write("/sys/class/uio/uio0/name", "uio_pci_generic");
  fake_.link(FakeSystem::pci("subsystem"), "../../../bus/pci");
  fake_.link("/sys/class/uio/uio0/device", fake_.path(FakeSystem::pci("")).parent_path().string());
  const auto device = open(kName);
  EXPECT_EQ(device->configuration(), detail::find_configuration("nv_small"));
  device->write(0x1008, 0x77);
  EXPECT_TRUE(fake_.masters());
}

}  // namespace
}  // namespace nvdla::mmio_test
