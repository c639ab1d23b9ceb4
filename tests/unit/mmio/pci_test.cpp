// SPDX-License-Identifier: MIT
//
// A PCI function by sysfs: what it takes to be driven, and what is written to it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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

constexpr std::uint32_t kMask = NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_INTR_MASK;
constexpr std::uint32_t kStatus = NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_INTR_STATUS;

class Pci : public testing::Test {
 protected:
  Pci() { fake_.add_function(); }

  std::unique_ptr<MmioDevice> open(const std::string& options = kMemory) const {
    return std::make_unique<MmioDevice>(
        detail::parse_device_name(std::string("mmio:") + kFunction + options), fake_.system());
  }
  void refused(const std::string& text, ErrorCode code = ErrorCode::kNoDevice) const {
    expect_error(code, std::string("mmio:") + kFunction + ": " + text, [&] { open(); });
  }
  std::uint32_t in_register(std::uint32_t offset) const {
    return fake_.get<std::uint32_t>(FakeSystem::pci("resource0"), offset);
  }
  void set_register(std::uint32_t offset, std::uint32_t value) const {
    fake_.put(FakeSystem::pci("resource0"), offset, value);
  }
  void bind(const std::string& driver) const {
    fake_.link(FakeSystem::pci("driver"), "../../../../bus/pci/drivers/" + driver);
  }

  FakeSystem fake_;
};

TEST_F(Pci, IsIdentifiedByItsIdAndRegisters) {
  const auto device = open();
  EXPECT_EQ(device->describe(), "mmio:0000:00:04.0");
  EXPECT_EQ(device->configuration(), detail::find_configuration("nv_small"));
  EXPECT_EQ(&detail::identify(*device, nullptr), detail::find_configuration("nv_small"));
  expect_error(ErrorCode::kNoDevice, "mmio:0000:00:04.0: is nv_small, not nv_large",
               [&] { detail::identify(*device, detail::find_configuration("nv_large")); });
  EXPECT_FALSE(fake_.masters());
}

TEST_F(Pci, OfAnotherMakerSaysNothingOfItsConfiguration) {
  fake_.write(FakeSystem::pci("vendor"), "0x10ee\n");
  EXPECT_EQ(open()->configuration(), nullptr);
  fake_.write(FakeSystem::pci("vendor"), "0x1234\n");
  for (const char* device : {"0xd19f", "0xd1ff", "0x0000", ""}) {
    fake_.write(FakeSystem::pci("device"), device);
    EXPECT_EQ(open()->configuration(), nullptr) << device;
  }
}

TEST_F(Pci, IsNotReachedByAVfioThatIsNone) {
  bind("vfio-pci");
  fake_.link(FakeSystem::pci("iommu_group"), "../../../../kernel/iommu_groups/7");
  refused(
      "the driver 'vfio-pci' has it, and not without an IOMMU, as there is no "
      "/dev/vfio/noiommu-7: load the module vfio with enable_unsafe_noiommu_mode=1, or unbind the "
      "driver");
  fake_.write("/dev/vfio/noiommu-7", "");
  refused("/dev/vfio/vfio cannot be opened: No such file or directory");
  fake_.write("/dev/vfio/vfio", "");
  refused("VFIO does not take the group: Inappropriate ioctl for device");
}

TEST_F(Pci, IsWhatItsNameSaysUnlessItIsAnother) {
  const nvdla_hw* const small = detail::find_configuration("nv_small");
  const auto named = [&](const std::string& options) {
    return open(kMemory + options)->configuration();
  };
  EXPECT_EQ(named(",config=nv_small,gating=off"), &detail::without_weight_gating(*small));
  EXPECT_EQ(named(",config=nv_large"), small);
  fake_.write(FakeSystem::pci("vendor"), "0x10ee\n");
  EXPECT_EQ(named(",config=nv_large"), detail::find_configuration("nv_large"));
}

// The first write is the one that matters.
TEST_F(Pci, MastersTheBusWhileItIsDriven) {
  {
    const auto device = open();
    set_register(kStatus, 5);
    EXPECT_EQ(device->read(kStatus), 5u);
    EXPECT_FALSE(fake_.masters());
    device->write(kMask, 0x1234);
    EXPECT_TRUE(fake_.masters());
    EXPECT_EQ(in_register(kMask), 0x1234u);
  }
  EXPECT_FALSE(fake_.masters());
  // It cannot be reset: no interrupt, and memory decoding as it was.
  EXPECT_EQ(in_register(kMask), ~0u);
  EXPECT_EQ(fake_.get<std::uint16_t>(FakeSystem::pci("config"), PCI_COMMAND), PCI_COMMAND_MEMORY);
}

TEST_F(Pci, IsResetByTheKernelWhereItCanBe) {
  fake_.write(FakeSystem::pci("reset"), "0");
  {
    const auto device = open();
    EXPECT_TRUE(device->reset());
    EXPECT_EQ(fake_.get<char>(FakeSystem::pci("reset"), 0), '1');
    fake_.write(FakeSystem::pci("reset"), "0");
    device->write(kMask, 0x1234);
  }
  EXPECT_EQ(fake_.get<char>(FakeSystem::pci("reset"), 0), '1');
  EXPECT_EQ(in_register(kMask), 0x1234u);
  fs::remove(fake_.path(FakeSystem::pci("reset")));
  EXPECT_FALSE(open()->reset());
}

// Not even configuration space.
TEST_F(Pci, NothingIsWrittenToWhatIsNoNvdla) {
  for (const std::uint32_t word : {~0u, 0u, 0x31303000u, 0x00303032u}) {
    set_register(NVDLA_NV_SMALL_GLB_BASE + NVDLA_GLB_S_NVDLA_HW_VERSION, word);
    set_register(NVDLA_NV_FULL_GLB_BASE + NVDLA_GLB_S_NVDLA_HW_VERSION, word);
    {
      const auto device = open();
      const auto no = [&](const auto& call) {
        expect_error(ErrorCode::kNoDevice, "mmio:0000:00:04.0: no NVDLA: offsets 0x0 and 0x1000",
                     call);
      };
      no([&] { device->write(kMask, 1); });
      no([&] { device->reset(); });
      no([&] { device->wait_interrupt(device->now()); });
    }
    EXPECT_EQ(in_register(kMask), 0u);
    EXPECT_FALSE(fake_.masters());
  }
}

TEST_F(Pci, NothingIsWrittenWithoutMemory) {
  fake_.write("/proc/meminfo", "HugePages_Free: 0\nHugepagesize: 2048 kB\n");
  for (const char* options : {"", ",memory=1M@0x4000000"}) {
    const auto device = open(options);
    EXPECT_THROW(device->write(kMask, 1), Error);
    EXPECT_EQ(in_register(kMask), 0u);
    EXPECT_FALSE(fake_.masters());
  }
  EXPECT_EQ(in_register(kMask), 0u);
}

TEST_F(Pci, IsPolledWithoutADriver) {
  const auto device = open();
  device->write(kMask, 6);
  set_register(kStatus, 2);
  EXPECT_FALSE(device->wait_interrupt(device->now() + std::chrono::milliseconds(1)));
  set_register(kStatus, 8);
  EXPECT_TRUE(device->wait_interrupt(device->now()));
}

// What uio_pci_generic does: it silences the function and counts.
TEST_F(Pci, ItsInterruptIsHeardByUio) {
  bind("uio_pci_generic");
  fs::create_directories(fake_.path(FakeSystem::pci("uio/uio3")));
  fs::create_directories(fake_.path("/dev"));
  ASSERT_EQ(::mkfifo(fake_.path("/dev/uio3").c_str(), 0600), 0);
  const auto device = open();
  const auto wait = [&](int ms) {
    return device->wait_interrupt(device->now() + std::chrono::milliseconds(ms));
  };
  // Registers are not asked.
  set_register(kStatus, 8);
  fake_.put(FakeSystem::pci("config"), PCI_COMMAND,
            std::uint16_t{PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_DISABLE});
  EXPECT_FALSE(wait(1));
  EXPECT_EQ(fake_.get<std::uint16_t>(FakeSystem::pci("config"), PCI_COMMAND), PCI_COMMAND_MEMORY);
  // A report of before is no level.
  const detail::Descriptor end(::open(fake_.path("/dev/uio3").c_str(), O_WRONLY));
  const std::uint32_t count = 1;
  ASSERT_EQ(::write(end.get(), &count, sizeof(count)), 4);
  EXPECT_FALSE(wait(1));
}

TEST_F(Pci, ADriverThatMadeNoFileIsNamed) {
  bind("uio_pci_generic");
  refused("the driver 'uio_pci_generic' has it, and made no /dev/uio");
}

TEST_F(Pci, IsLeftToItsDriver) {
  bind("nvdla");
  refused(
      "the driver 'nvdla' has it, which the device 'kernel' uses: unbind it, as 'echo "
      "0000:00:04.0 > /sys/bus/pci/devices/0000:00:04.0/driver/unbind' does");
}

TEST_F(Pci, IsForOneUserOnly) {
  const auto device = open();
  refused("somebody else uses it now", ErrorCode::kBusy);
}

TEST_F(Pci, IsNotReachedThroughAnIommu) {
  fake_.link(FakeSystem::pci("iommu_group"), "../../../../kernel/iommu_groups/7");
  fake_.write("/sys/kernel/iommu_groups/7/type", "identity\n");
  EXPECT_NO_THROW(open());
  fake_.write("/sys/kernel/iommu_groups/7/type", "DMA-FQ\n");
  refused(
      "an IOMMU translates its addresses: write 'identity' to /sys/kernel/iommu_groups/7/type, or "
      "boot with iommu.passthrough=1");
}

TEST_F(Pci, IsWokenAndLeftAsItWas) {
  fake_.write(FakeSystem::pci("power_state"), "D3hot\n");
  refused("it cannot be enabled: No such file or directory");
  fake_.write(FakeSystem::pci("enable"), "0");
  {
    const auto device = open();
    EXPECT_EQ(fake_.get<char>(FakeSystem::pci("enable"), 0), '1');
  }
  EXPECT_EQ(fake_.get<char>(FakeSystem::pci("enable"), 0), '0');
}

TEST_F(Pci, BarsThatAreNoWindow) {
  for (const char* resource : {"", "nonsense", "0x0 0x0 0x0\n", "0xfebc0000 0xfebdffff 0x40200\n",
                               "0xc000 0x4ffff 0x101\n"}) {
    fake_.write(FakeSystem::pci("resource"), resource);
    refused("its first BAR is no window of registers of 256 KiB");
  }
}

TEST_F(Pci, IsMissed) {
  fs::remove_all(fake_.path(FakeSystem::pci("")));
  refused("there is no PCI function 0000:00:04.0: 'lspci -D' lists what there is");
}

TEST_F(Pci, ReservedMemoryWithinReach) {
  const auto device = open(",memory=1M@0x10000000,sram=64K@0x13000000");
  const auto memory = device->allocate(5, Memory::kDram);
  EXPECT_EQ(memory->address(), 0x10000000u);
  EXPECT_EQ(memory->size(), 5u);
  EXPECT_EQ(device->allocate(1, Memory::kSram)->address(), 0x13000000u);
  EXPECT_EQ(device->allocate_at(0x10000000, 1, Memory::kDram), nullptr);
  EXPECT_EQ(device->allocate_at(0x10002000, 1, std::nullopt)->address(), 0x10002000u);
  EXPECT_EQ(device->allocate_at(0x13001000, 1, Memory::kSram)->address(), 0x13001000u);
  EXPECT_EQ(device->allocate_at(0x13001000, 1, Memory::kDram), nullptr);
  expect_error(ErrorCode::kNoMemory,
               "mmio:0000:00:04.0: no 1048576 bytes in one piece: the largest that is free has "
               "1044480",
               [&] { device->allocate(1 << 20, Memory::kDram); });
}

TEST_F(Pci, MemoryThatItDoesNotReach) {
  const auto far = open(",memory=1M@0xfff80000");
  expect_error(ErrorCode::kNoDevice,
               "mmio:0000:00:04.0: memory at 0xfff80000-0x10007ffff is beyond the 32 bits of its "
               "addresses",
               [&] { far->allocate(1, Memory::kDram); });
  expect_error(ErrorCode::kNotAvailable,
               "mmio:0000:00:04.0: nothing says where the memory behind the second interface is: "
               "add ',sram=<size>@<address>'",
               [&] { far->allocate(1, Memory::kSram); });
  EXPECT_EQ(far->allocate_at(0, 1, Memory::kSram), nullptr);
}

TEST_F(Pci, HasNoRegistersBehindTheWindow) {
  const auto device = open();
  EXPECT_NO_THROW(device->read(NVDLA_REG_SPACE - 4));
  expect_error(ErrorCode::kGone,
               "mmio:0000:00:04.0: there is no register 0x40000: the window has 0x40000 bytes",
               [&] { device->read(NVDLA_REG_SPACE); });
}

}  // namespace
}  // namespace nvdla::mmio_test
