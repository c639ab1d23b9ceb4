// SPDX-License-Identifier: MIT
//
// "mmio:..." as a name.
#include <gtest/gtest.h>

#include "backend/name/device_name.hpp"
#include "common/runtime/expect_error.hpp"
#include "nvdla/device.hpp"

namespace nvdla::mmio_test {
namespace {

using detail::MemoryWindow;
using detail::MmioName;
using detail::parse_device_name;
using test::expect_error;

TEST(MmioNames, OfPciFunctions) {
  for (const char* name : {"mmio:0000:00:04.0", "mmio:00:04.0"}) {
    const detail::DeviceName parsed = parse_device_name(name);
    EXPECT_EQ(parsed.kind, detail::DeviceName::Kind::kMmio);
    EXPECT_EQ(parsed.mmio.form, MmioName::Form::kPci);
    EXPECT_EQ(parsed.mmio.place, "0000:00:04.0");
    EXPECT_EQ(parsed.hw, nullptr);
    EXPECT_FALSE(parsed.mmio.memory);
    EXPECT_FALSE(parsed.mmio.poll);
  }
  EXPECT_EQ(parse_device_name("mmio:ABCD:ef:1f.7").mmio.place, "abcd:ef:1f.7");
}

TEST(MmioNames, OfUioAndAddresses) {
  const MmioName uio = parse_device_name("mmio:/dev/uio12,memory=1M@0x1000").mmio;
  EXPECT_EQ(uio.form, MmioName::Form::kUio);
  EXPECT_EQ(uio.place, "/dev/uio12");
  EXPECT_EQ(uio.memory, (MemoryWindow{0x1000, 1 << 20}));
  const MmioName address = parse_device_name("mmio:0x10040000,memory=1M@0x90000000").mmio;
  EXPECT_EQ(address.form, MmioName::Form::kPhysical);
  EXPECT_EQ(address.address, 0x10040000u);
  EXPECT_EQ(address.place, "0x10040000");
}

TEST(MmioNames, TakeOptions) {
  const detail::DeviceName all = parse_device_name(
      "mmio:00:04.0,gating=off,memory=8M,sram=64K@0x14000000,clock=600000,interrupt=poll,"
      "config=nv_small");
  EXPECT_STREQ(all.hw->name, "nv_small");
  EXPECT_EQ(all.hw->features & NVDLA_HW_WEIGHT_GATING, 0u);
  EXPECT_EQ(all.mmio.pool, 8u << 20);
  EXPECT_EQ(all.mmio.sram, (MemoryWindow{0x14000000, 64 << 10}));
  EXPECT_EQ(all.mmio.clock_khz, 600000u);
  EXPECT_TRUE(all.mmio.poll);
  // The last one counts.
  const MmioName last = parse_device_name("mmio:00:04.0,memory=8M,memory=4K@0,interrupt=on").mmio;
  EXPECT_EQ(last.pool, 0u);
  EXPECT_EQ(last.memory, (MemoryWindow{0, 4096}));
}

TEST(MmioNames, AreChecked) {
  for (const char* place :
       {"", "x", "0000:00:04", "0000:00:04.8", "00:20.0", "000:00:04.0", "00:04.00", "0000:0g:04.0",
        "/dev/uio", "/dev/uiox", "/dev/mem", "0x10040004", "0x1004000g", "4K", "-4096"}) {
    const std::string name = std::string("mmio:") + place;
    expect_error(ErrorCode::kNoDevice,
                 "device '" + name +
                     "': expected a PCI function such as 0000:00:04.0, a device of UIO such as "
                     "/dev/uio0 or the address of a page such as 0x10040000 behind 'mmio:'",
                 [&] { check_device_name(name); });
  }
  for (const char* option :
       {"", "memory", "memory=", "memory=0", "memory=1M@", "memory=100", "memory=1M@0x100",
        "memory=100@0", "sram=1M", "sram=", "clock=", "clock=0", "clock=1x", "clock=-1",
        "interrupt=", "interrupt=off", "poll", "stall=1", "gating=0"}) {
    expect_error(ErrorCode::kNoDevice, std::string("behind the comma, not '") + option + "'",
                 [&] { check_device_name(std::string("mmio:00:04.0,") + option); });
  }
  expect_error(ErrorCode::kNoDevice,
               "device 'mmio:00:04.0,stall=1': expected 'config=<configuration>', 'gating=<on or "
               "off>', 'revision=<2018 or 2019>', 'memory=<size, or size@address>', "
               "'sram=<size@address>', 'clock=<rate>' or 'interrupt=<on or poll>' behind the "
               "comma, not 'stall=1'",
               [] { check_device_name("mmio:00:04.0,stall=1"); });
  expect_error(ErrorCode::kNoDevice,
               "device 'mmio:00:04.0,sram=1M': expected 'sram=<size@address>' behind the comma, "
               "not 'sram=1M'",
               [] { check_device_name("mmio:00:04.0,sram=1M"); });
  expect_error(ErrorCode::kNoDevice, "no configuration is called 'nv_huge'; there are nv_full",
               [] { check_device_name("mmio:00:04.0,config=nv_huge"); });
  expect_error(ErrorCode::kNoDevice, "'gating=off' needs 'config=<configuration>'",
               [] { check_device_name("mmio:00:04.0,gating=off"); });
}

// Nothing stops these devices when their memory is given back.
TEST(MmioNames, AskForMemoryThatNobodyElseHas) {
  for (const char* name : {"mmio:0x10040000", "mmio:0x10040000,memory=8M"}) {
    expect_error(ErrorCode::kNoDevice,
                 std::string("device '") + name +
                     "': needs 'memory=<size>@<address>', memory that the kernel leaves alone: "
                     "nothing keeps this device from memory that is given back",
                 [&] { check_device_name(name); });
  }
}

}  // namespace
}  // namespace nvdla::mmio_test
