// SPDX-License-Identifier: MIT
//
// What /proc/iomem says of addresses.
#include "backend/registers/mmio/io_memory.hpp"

#include <gtest/gtest.h>

#include "common/runtime/expect_error.hpp"
#include "fake_system.hpp"

namespace nvdla::mmio_test {
namespace {

using detail::IoMemory;
using detail::MemoryWindow;
using test::expect_error;

TEST(IoMemories, KeepRegistersOutOfMemory) {
  const FakeSystem fake;
  const IoMemory memory(fake.system(), "mmio:x");
  memory.check_registers({0xfebc0000, 0x40000}, "mmio:x");
  memory.check_registers({0x10000000, 0x1000}, "mmio:x");
  memory.check_registers({0x40000000, 0x1000}, "mmio:x");
  for (const MemoryWindow window : {MemoryWindow{0x100000, 0x1000}, MemoryWindow{0xff000, 0x1001},
                                    MemoryWindow{0xfffffff, 1}, MemoryWindow{0, 0x20000000}}) {
    expect_error(ErrorCode::kNoDevice, "would be in memory, System RAM at",
                 [&] { memory.check_registers(window, "mmio:x"); });
  }
  expect_error(ErrorCode::kNoDevice,
               "mmio:x: registers at 0x100000-0x13ffff would be in memory, System RAM at "
               "0x100000-0xfffffff: is the address right?",
               [&] {
                 memory.check_registers({0x100000, 0x40000}, "mmio:x");
               });
}

TEST(IoMemories, GiveNothingThatSomebodyHas) {
  const FakeSystem fake;
  const IoMemory memory(fake.system(), "mmio:x");
  memory.check_memory({0x10000000, 0x4000000}, "mmio:x");
  memory.check_memory({0x40000000, 0x1000}, "mmio:x");
  expect_error(
      ErrorCode::kNoDevice,
      "mmio:x: memory at 0x13fff000-0x14000fff is in use, it is the kernel's System RAM at "
      "0x14000000-0x1ffdefff: keep it free, as memmap=0x2000$0x13fff000 on the kernel's "
      "command line (x86) or a node of reserved-memory with no-map in the device tree do",
      [&] {
        memory.check_memory({0x13fff000, 0x2000}, "mmio:x");
      });
  expect_error(ErrorCode::kNoDevice,
               "mmio:x: memory at 0xfebc0000-0xfebc0fff is in use, 'PCI Bus 0000:00' has "
               "0xe0000000-0xfebfffff",
               [&] {
                 memory.check_memory({0xfebc0000, 0x1000}, "mmio:x");
               });
}

// As a user without rights sees it, and in a place without /proc.
TEST(IoMemories, SayThatNothingIsSaid) {
  const FakeSystem fake;
  fake.write("/proc/iomem",
             "00000000-00000000 : Reserved\n"
             "00000000-00000000 : System RAM\n");
  expect_error(ErrorCode::kNoDevice,
               "mmio:x: /proc/iomem shows no addresses, so what is in use cannot be told: only "
               "root sees them",
               [&] { IoMemory(fake.system(), "mmio:x"); });
  fs::remove(fake.path("/proc/iomem"));
  expect_error(ErrorCode::kNoDevice, "mmio:x: /proc/iomem cannot be read",
               [&] { IoMemory(fake.system(), "mmio:x"); });
}

TEST(IoMemories, ReadTheLastAddressOfAll) {
  const FakeSystem fake;
  fake.write("/proc/iomem", "0-ffffffffffffffff : System RAM\nnonsense\n5-4 : System RAM\n7 : x\n");
  const IoMemory memory(fake.system(), "mmio:x");
  expect_error(ErrorCode::kNoDevice, "System RAM", [&] {
    memory.check_registers({0xfffffffffffff000, 0x1000}, "mmio:x");
  });
}

}  // namespace
}  // namespace nvdla::mmio_test
