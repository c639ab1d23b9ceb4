// SPDX-License-Identifier: MIT
//
// Opening devices by name, allocating and mapping memory.
#include "nvdla/device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "backend/info.hpp"
#include "backend/inprocess/address_space.hpp"
#include "backend/kernel/node.hpp"
#include "backend/model/job_bus.hpp"
#include "backend/model/model_buffer.hpp"
#include "backend/name/device_name.hpp"
#include "common/runtime/expect_error.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"
#include "support/handles.hpp"

namespace nvdla {
namespace {

using test::expect_error;

// NVDLA_DEVICE, or another, for one test; nullptr removes it.
class Variable {
 public:
  explicit Variable(const char* value, const char* name = "NVDLA_DEVICE") : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Variable() { set(old_.empty() ? nullptr : old_.c_str()); }

 private:
  void set(const char* value) {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }

  const char* name_;
  std::string old_;
};

TEST(Open, EveryConfiguration) {
  for (std::size_t i = 0; i < configuration_count(); ++i) {
    const std::string name(configuration_name(i));
    const Device device = Device::open("model:" + name);
    EXPECT_EQ(device.info().configuration, name);
    EXPECT_EQ(device.info().backend, "model");
    EXPECT_EQ(device.info().atom, configuration_info(name).atom);
  }
}

TEST(Open, ModelIsNvFull) { EXPECT_EQ(Device::open("model").info().configuration, "nv_full"); }

TEST(Open, KernelsThatThereAreNotAreNamed) {
  {
    const Variable variable("sse9", "NVDLA_KERNELS");
    expect_error(
        ErrorCode::kInvalidArgument,
        "device 'model:nv_small': NVDLA_KERNELS: no set of kernels is called 'sse9'; there "
        "are portable",
        [] { Device::open("model:nv_small"); });
  }
  const Variable variable("portable", "NVDLA_KERNELS");
  EXPECT_NO_THROW(Device::open("model:nv_small"));
}

TEST(Open, AutoReportsTheModelWhereAskedAndPrintsNothing) {
  const Variable variable(nullptr);
  testing::internal::CaptureStderr();
  std::vector<std::string> notes;
  const Device device =
      Device::open("auto", {.note = [&](std::string_view line) { notes.emplace_back(line); }});
  Device::open("auto");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(notes, std::vector<std::string>{"no NVDLA found, using the device model of nv_full"});
  EXPECT_EQ(device.info().configuration, "nv_full");
}

TEST(Open, AutoFollowsTheVariable) {
  const Variable variable("model:nv_small");
  testing::internal::CaptureStderr();
  EXPECT_EQ(Device::open().info().configuration, "nv_small");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Open, ANameGoesBeforeTheVariable) {
  const Variable variable("model:nv_small");
  EXPECT_EQ(Device::open("model:nv_full").info().configuration, "nv_full");
}

TEST(Open, RefusesUnknownNames) {
  for (const char* name : {"", "full", "nv_full", "models:nv_full", "Model"}) {
    expect_error(ErrorCode::kNoDevice,
                 "valid are 'auto', 'kernel' (the first kernel device), the path of one such as "
                 "/dev/accel/accel0, 'model' and 'model:<configuration>'",
                 [&] { Device::open(name); });
  }
}

TEST(Open, RefusesUnknownConfigurations) {
  expect_error(ErrorCode::kNoDevice, "no configuration is called 'nv_huge'; there are nv_full",
               [] { Device::open("model:nv_huge"); });
  expect_error(ErrorCode::kNoDevice, "no configuration is called ''",
               [] { Device::open("model:"); });
}

TEST(Open, TakesANumberOfThreads) {
  EXPECT_EQ(Device::open("model,threads=3").info().configuration, "nv_full");
  EXPECT_EQ(Device::open("model:nv_small,threads=1024").info().configuration, "nv_small");
  EXPECT_EQ(Device::open("model:nv_small,latency=100000,outstanding=4096").info().configuration,
            "nv_small");
  for (const char* option : {"",
                             "threads",
                             "threads=",
                             "threads=0",
                             "threads=1025",
                             "threads=-1",
                             "threads=2x",
                             "threads=99999999999",
                             "Threads=2",
                             "gating",
                             "gating=",
                             "gating=0",
                             "gating=off ",
                             "latency=0",
                             "latency=100001",
                             "latency=",
                             "fp16=",
                             "fp16=Fast",
                             "fp16",
                             "outstanding=0",
                             "outstanding=4097",
                             "outstanding=-1",
                             "latency=1000000000",
                             "bandwidth=",
                             "bandwidth=0",
                             "bandwidth=-1",
                             "bandwidth=0GB/s",
                             "bandwidth=65536.001",
                             "bandwidth=20GB",
                             "bandwidth=1.0001",
                             "clock=",
                             "clock=0",
                             "clock=1Ghz",
                             "sram=",
                             "sram=0",
                             "sram=4MB",
                             "sram=1M@0x1000",
                             "sram-latency=0",
                             "sram-latency=100001",
                             "sram-bandwidth=0",
                             "sram_bandwidth=1",
                             "revision=",
                             "revision=2017",
                             "revision=2020",
                             "revision=2019x"}) {
    for (const std::string before : {"", "threads=2,", "gating=off,"}) {
      const std::string name = "model:nv_small," + before + option;
      expect_error(ErrorCode::kNoDevice, "behind the comma, not '" + std::string(option) + "'",
                   [&] { Device::open(name); });
    }
  }
  // A wrong value names what is right of its option, a wrong option names all that there are.
  expect_error(ErrorCode::kNoDevice,
               "device 'model:nv_full,threads=2,sram=4Q': expected 'sram=<size>' behind the comma, "
               "not 'sram=4Q'",
               [] { Device::open("model:nv_full,threads=2,sram=4Q"); });
  expect_error(ErrorCode::kNoDevice,
               "device 'model,threads=2,': expected 'threads=<1 to 1024>', 'latency=<1 to 100000 "
               "cycles>', 'outstanding=<1 to 4096 requests>', 'bandwidth=<up to 65536 bytes a "
               "cycle, or such as 20GB/s>', 'clock=<rate>', 'sram=<size>', 'sram-latency=<1 to "
               "100000 cycles>', 'sram-bandwidth=<up to 65536 bytes a cycle, or such as 20GB/s>', "
               "'fp16=<exact or fast>', 'gating=<on or off>' or 'revision=<2018 or 2019>' behind "
               "the comma, not ''",
               [] { Device::open("model,threads=2,"); });
  expect_error(ErrorCode::kNoDevice, "no device is called 'models,threads=2'",
               [] { Device::open("models,threads=2"); });
}

cost::MemoryTiming timing(const std::string& options) {
  return detail::parse_device_name("model:nv_full," + options).options.memory;
}

TEST(Open, TakesTheTimingOfMemory) {
  const cost::MemoryTiming memory = timing(
      "latency=50,outstanding=16,bandwidth=20GB/s,clock=1GHz,sram=4MiB,sram-latency=7,"
      "sram-bandwidth=12.5");
  EXPECT_EQ(memory.latency, 50U);
  EXPECT_EQ(memory.write_latency, 50U);
  EXPECT_EQ(memory.outstanding, 16U);
  EXPECT_DOUBLE_EQ(memory.bandwidth, 20);
  EXPECT_EQ(memory.sram_latency, 7U);
  EXPECT_DOUBLE_EQ(memory.sram_bandwidth, 12.5);
  // In any order, and without a unit in cycles whatever the clock is.
  EXPECT_DOUBLE_EQ(timing("clock=800MHz,bandwidth=12.8GB/s").bandwidth, 16);
  EXPECT_DOUBLE_EQ(timing("bandwidth=12.8GB/s,clock=800000000").bandwidth, 16);
  EXPECT_DOUBLE_EQ(timing("bandwidth=64,clock=800MHz").bandwidth, 64);
  EXPECT_DOUBLE_EQ(timing("bandwidth=65536").bandwidth, 65536);
  // The secondary memory is as the interface and the primary are.
  EXPECT_DOUBLE_EQ(timing("latency=9,bandwidth=2").sram_bandwidth, 0);
  EXPECT_EQ(timing("latency=9").behind(cost::Interface::kSecondary).latency, 9U);
}

TEST(Open, RefusesTimingsThatMeanNothing) {
  expect_error(ErrorCode::kNoDevice,
               "device 'model:nv_full,bandwidth=20GB/s': 'bandwidth=20GB/s' needs 'clock=<rate>'; "
               "without a unit it is bytes a cycle",
               [] { Device::open("model:nv_full,bandwidth=20GB/s"); });
  expect_error(ErrorCode::kNoDevice, "'sram-bandwidth=1GB/s' needs 'clock=<rate>'",
               [] { Device::open("model:nv_full,sram-bandwidth=1GB/s,bandwidth=8"); });
  expect_error(ErrorCode::kNoDevice,
               "device 'model:nv_full,bandwidth=20GB/s,clock=1kHz': 'bandwidth=20GB/s' is 20000000 "
               "bytes a cycle, expected up to 65536",
               [] { Device::open("model:nv_full,bandwidth=20GB/s,clock=1kHz"); });
  for (const char* option : {"sram=4MiB", "sram-latency=5", "sram-bandwidth=8"})
    expect_error(ErrorCode::kNoDevice,
                 "device 'model:nv_small," + std::string(option) + "': '" + option +
                     "' is of configurations with a secondary memory interface, which nv_small "
                     "lacks",
                 [&] { Device::open("model:nv_small," + std::string(option)); });
}

// Buffers share the secondary memory, and what is freed can be taken again.
TEST(Open, LimitsTheSecondaryMemory) {
  const Device device = Device::open("model:nv_full,sram=64KiB");
  std::optional<Buffer> half(device.allocate(48 << 10, Memory::kSram));
  expect_error(ErrorCode::kNoMemory,
               "no room for 32768 bytes in secondary memory: 16384 of 65536 are free",
               [&] { static_cast<void>(device.allocate(32 << 10, Memory::kSram)); });
  EXPECT_EQ(device.allocate(32 << 10, Memory::kDram).size(), 32U << 10);
  half.reset();
  EXPECT_EQ(device.allocate(64 << 10, Memory::kSram).size(), 64U << 10);
  // Without the option there is no limit but the machine's.
  EXPECT_EQ(Device::open("model:nv_full").allocate(1 << 20, Memory::kSram).size(), 1U << 20);
}

TEST(Open, NamesAKernelDeviceThatIsMissing) {
  expect_error(ErrorCode::kNoDevice,
               "device '/dev/accel/accel99' cannot be opened: No such file or directory",
               [] { Device::open("/dev/accel/accel99"); });
}

TEST(Open, NamesAFileThatIsNoDeviceOfOurs) {
  expect_error(ErrorCode::kNoDevice,
               "device '/dev/null' belongs to the driver 'none of DRM', not to 'nvdla'",
               [] { Device::open("/dev/null"); });
}

// Who computes only about right says so.
TEST(Open, TellsFastFp16) {
  EXPECT_FALSE(Device::open("model").info().fast_fp16);
  EXPECT_FALSE(Device::open("model,fp16=exact").info().fast_fp16);
  EXPECT_TRUE(Device::open("model:nv_full,threads=1,fp16=fast").info().fast_fp16);
}

// The fault is of the second generation; who has logic without it says so.
TEST(Open, SwitchesWeightGatingOff) {
  for (std::size_t i = 0; i < configuration_count(); ++i) {
    const std::string name(configuration_name(i));
    const bool second = name != "nv_full";
    EXPECT_EQ(configuration_info(name).has_weight_gating, second) << name;
    EXPECT_EQ(Device::open("model:" + name).info().has_weight_gating, second) << name;
    EXPECT_EQ(Device::open("model:" + name + ",gating=on").info().has_weight_gating, second);
    const Device mended = Device::open("model:" + name + ",gating=off,threads=1");
    EXPECT_FALSE(mended.info().has_weight_gating) << name;
    EXPECT_EQ(mended.info().configuration, name);
  }
}

TEST(Open, KeepsTheBytesOfSecondaryMemory) {
  EXPECT_EQ(Device::open("model:nv_full").info().sram_bytes, 0U);
  EXPECT_EQ(Device::open("model:nv_full,sram=4MiB").info().sram_bytes, 4U << 20);
}

// A property of the logic that comes with any other, and of nv_small alone.
TEST(Open, KeepsTheRevision) {
  EXPECT_EQ(Device::open("model:nv_small").info().revision, 0u);
  for (const std::uint32_t revision : {2018u, 2019u}) {
    const std::string option = "revision=" + std::to_string(revision);
    EXPECT_EQ(Device::open("model:nv_small," + option).info().revision, revision);
    for (const std::string& both : {option + ",gating=off", "gating=off," + option}) {
      const DeviceInfo info = Device::open("model:nv_small," + both).info();
      EXPECT_EQ(info.revision, revision);
      EXPECT_FALSE(info.has_weight_gating);
      const nvdla_hw* const hw = detail::find_configuration(info);
      EXPECT_EQ(hw->revision, revision);
      EXPECT_EQ(hw->features & NVDLA_HW_WEIGHT_GATING, 0u);
    }
    for (const char* other : {"nv_full", "nv_large", "nv_small_256"}) {
      expect_error(ErrorCode::kNoDevice,
                   "'" + option + "' is of nv_small: the logic of " + other + " was published once",
                   [&] { Device::open("model:" + std::string(other) + "," + option); });
    }
    expect_error(ErrorCode::kNoDevice, "'" + option + "' needs 'config=<configuration>'",
                 [&] { check_device_name("sim:/s," + option); });
    check_device_name("sim:/s,config=nv_small," + option);
    check_device_name("mmio:00:04.0," + option + ",config=nv_small");
  }
}

TEST(CounterWorth, IsOfTheGenerationAndItsUnits) {
  const auto worth = [](const char* name, std::uint32_t counter) {
    return counter_worth(configuration_info(name), counter);
  };
  EXPECT_EQ(worth("nv_small", NVDLA_COUNTER_CACC_SATURATION), CounterWorth::kExact);
  EXPECT_EQ(worth("nv_small", NVDLA_COUNTER_CDMA_DATA_STALL), CounterWorth::kIndicative);
  EXPECT_EQ(worth("nv_small", NVDLA_COUNTER_PDP_RDMA_STALL), CounterWorth::kNotValid);
  EXPECT_EQ(worth("nv_full", NVDLA_COUNTER_PDP_RDMA_STALL), CounterWorth::kIndicative);
  // nv_large has the table that nv_small lacks.
  EXPECT_EQ(worth("nv_small", NVDLA_COUNTER_SDP_LUT_HYBRID), CounterWorth::kNotValid);
  EXPECT_EQ(worth("nv_large", NVDLA_COUNTER_SDP_LUT_HYBRID), CounterWorth::kIndicative);
  EXPECT_EQ(worth("nv_large", NVDLA_COUNTER_SDP_UNEQUAL), CounterWorth::kExact);
  expect_error(ErrorCode::kInvalidArgument, "no counter has the number 44; expected 0 to 43",
               [&] { worth("nv_full", NVDLA_COUNTER_COUNT); });
}

TEST(CounterWorth, IsWhatTheDocumentationSays) {
  std::string rows;
  for (std::uint32_t i = 0; i < NVDLA_COUNTER_COUNT; ++i) {
    rows += "| `" + std::string(counter_name(i)) + "` |";
    for (const char* name : {"nv_full", "nv_small"})
      rows +=
          " " + std::string(counter_worth_name(counter_worth(configuration_info(name), i))) + " |";
    rows += "\n";
  }
  std::ifstream file(NVDLA_SOURCE_DIR "/docs/seeing.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find("| counter | nv_full | nv_small |\n|---|---|---|\n" + rows + "\n"),
            std::string::npos)
      << rows;
}

TEST(Open, NamesTheVariableThatIsWrong) {
  const Variable variable("model:nv_wrong");
  expect_error(ErrorCode::kNoDevice, "NVDLA_DEVICE: device 'model:nv_wrong'",
               [] { Device::open("auto"); });
}

// What a name means does not depend on where it stands.
TEST(Open, TheVariableMaySayAuto) {
  const Variable variable("auto");
  std::string note;
  const Device device = Device::open("auto", {.note = [&](std::string_view line) { note = line; }});
  EXPECT_EQ(device.info().configuration, "nv_full");
  EXPECT_NE(note.find("no NVDLA found"), std::string::npos);
}

TEST(Open, KernelIsTheFirstKernelDevice) {
  const auto open_it = [](const char* name) { return [=] { Device::open(name); }; };
  if (!detail::find_kernel_devices().empty()) {
    EXPECT_EQ(Device::open("kernel").info().backend, "kernel");
    return;
  }
  expect_error(ErrorCode::kNoDevice, "there is no kernel device", open_it("kernel"));
  const Variable variable("kernel");
  expect_error(ErrorCode::kNoDevice, "there is no kernel device", open_it("auto"));
}

TEST(Open, AnyPathIsAKernelDevices) {
  expect_error(ErrorCode::kNoDevice, "device './accel0' cannot be opened",
               [] { Device::open("./accel0"); });
}

TEST(Open, NamesAreCheckedWithoutADevice) {
  const Variable variable(nullptr);
  for (const char* name : {"auto", "kernel", "/dev/accel/accel99", "model", "model:nv_small",
                           "model,threads=1", "model:nv_large,threads=7,threads=2"}) {
    EXPECT_NO_THROW(check_device_name(name)) << name;
  }
  expect_error(ErrorCode::kNoDevice, "no device is called ''", [] { check_device_name(""); });
  const Variable wrong("nv_full");
  EXPECT_NO_THROW(check_device_name("model"));
  expect_error(ErrorCode::kNoDevice, "NVDLA_DEVICE: no device is called 'nv_full'",
               [] { check_device_name("auto"); });
}

TEST(Info, FeaturesOfTheConfigurations) {
  const DeviceInfo full = configuration_info("nv_full");
  EXPECT_TRUE(full.has_int16 && full.has_fp16 && full.has_sram && full.has_bdma && full.has_lut);
  const DeviceInfo small = configuration_info("nv_small");
  EXPECT_FALSE(small.has_int16 || small.has_fp16 || small.has_sram || small.has_bdma ||
               small.has_sdp_y || small.has_lut);
  EXPECT_EQ(small.address_bits, 32U);
  EXPECT_EQ(small.atom, 8U);
}

TEST(Allocate, IsZeroedAndOfTheSizeAskedFor) {
  const Device device = Device::open("model:nv_small");
  for (const std::uint64_t size : {1, 100, 4096, 3 << 20}) {
    const Buffer buffer = device.allocate(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(buffer.memory(), Memory::kDram);
    const Map map = buffer.map(MapMode::kRead);
    ASSERT_EQ(map.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map.data()) % 64, 0U);
    for (const std::byte b : map.bytes()) ASSERT_EQ(b, std::byte{0});
  }
}

TEST(Allocate, RefusesNothing) {
  expect_error(ErrorCode::kInvalidArgument, "0 bytes",
               [] { Device::open("model:nv_small").allocate(0); });
}

TEST(Allocate, RefusesMoreThanThereAreAddresses) {
  expect_error(ErrorCode::kNoMemory, "address space",
               [] { Device::open("model:nv_small").allocate(std::uint64_t{1} << 32); });
  expect_error(ErrorCode::kNoMemory, "address space",
               [] { Device::open("model:nv_full").allocate(~std::uint64_t{0}); });
}

TEST(Allocate, RefusesSramWhereThereIsNone) {
  expect_error(ErrorCode::kNotAvailable, "nv_small has no secondary memory",
               [] { Device::open("model:nv_small").allocate(64, Memory::kSram); });
  EXPECT_EQ(Device::open("model:nv_full").allocate(64, Memory::kSram).memory(), Memory::kSram);
}

TEST(Allocate, RefusesUnknownMemory) {
  expect_error(ErrorCode::kInvalidArgument, "memory 7",
               [] { Device::open("model:nv_full").allocate(64, static_cast<Memory>(7)); });
}

TEST(Handles, EmptyOnes) {
  const Buffer buffer;
  EXPECT_FALSE(buffer);
  EXPECT_EQ(buffer.size(), 0U);
  expect_error(ErrorCode::kInvalidArgument, "empty", [&] { buffer.map(); });
  EXPECT_TRUE(Fence().done());
  EXPECT_TRUE(Fence().wait(std::chrono::seconds(0)));
  EXPECT_EQ(Program().layers(), 0U);
  Device device = Device::open("model:nv_small");
  const Device moved = std::move(device);
  expect_error(ErrorCode::kInvalidArgument, "moved", [&] { device.allocate(1); });
  EXPECT_EQ(device.info().atom, 0U);
  expect_error(ErrorCode::kInvalidArgument, "empty", [&] { device.submit({}, {}); });
}

TEST(Buffers, OutliveTheirDevice) {
  Buffer buffer;
  {
    const Device device = Device::open("model:nv_small");
    buffer = device.allocate(100);
  }
  buffer.map(MapMode::kWrite).bytes()[99] = std::byte{1};
  EXPECT_EQ(buffer.map(MapMode::kRead).bytes()[99], std::byte{1});
}

TEST(Maps, MoveAndOutliveTheHandle) {
  const Device device = Device::open("model:nv_small");
  Buffer buffer = device.allocate(64);
  Map one = buffer.map();
  buffer = Buffer();
  Map two = std::move(one);
  EXPECT_EQ(one.size(), 0U);
  two.as<std::int16_t>()[31] = 7;
  EXPECT_EQ(two.as<std::int16_t>().size(), 32U);
  one = device.allocate(8).map();
  two = std::move(one);
  EXPECT_EQ(two.size(), 8U);
}

TEST(Maps, WritingChangesTheGenerationReadingDoesNot) {
  const Device device = Device::open("model:nv_small");
  const Buffer buffer = device.allocate(64);
  const auto& impl = static_cast<detail::ModelBuffer&>(*detail::Handles::impl(buffer));
  const auto first = impl.generation();
  { const Map map = buffer.map(MapMode::kRead); }
  EXPECT_EQ(impl.generation(), first);
  {
    const Map map = buffer.map(MapMode::kWrite);
    EXPECT_NE(impl.generation(), first);
  }
  const auto second = impl.generation();
  { const Map map = buffer.map(MapMode::kReadWrite); }
  EXPECT_NE(impl.generation(), second);
  const Buffer other = device.allocate(64);
  EXPECT_NE(static_cast<detail::ModelBuffer&>(*detail::Handles::impl(other)).generation(),
            impl.generation());
}

TEST(Addresses, KeepAGuardAndAreUsedAgain) {
  detail::AddressSpace space(32);
  const auto a = space.take(5000);
  const auto b = space.take(1);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a % detail::AddressSpace::kAlignment, 0U);
  EXPECT_GE(*b, *a + 5000 + detail::AddressSpace::kGuard);
  // The rest of the space in one piece, then the hole that a leaves.
  const auto rest = space.take((std::uint64_t{1} << 32) - *b - 4096 - 2 * 4096);
  ASSERT_TRUE(rest);
  EXPECT_FALSE(space.take(1));
  space.give_back(*a);
  EXPECT_FALSE(space.take(8193));
  EXPECT_EQ(space.take(8192), a);
  EXPECT_FALSE(space.take(1));
}

TEST(Addresses, WideOnesHaveAHighWord) {
  detail::AddressSpace space(64);
  EXPECT_GE(*space.take(1), std::uint64_t{1} << 32);
  EXPECT_FALSE(space.take(~std::uint64_t{0}));
}

TEST(Bus, ShowsTheRegionsAndNothingElse) {
  using model::Ram;
  auto space = std::make_shared<detail::AddressSpace>(32);
  detail::ModelBuffer one(1, space, 256, Memory::kDram), two(1, space, 256, Memory::kDram);
  const auto region = [](detail::ModelBuffer& b, std::uint64_t from, std::uint64_t size, bool read,
                         bool write) {
    return detail::JobBus::Region{b.address() + from,
                                  b.address() + from + size,
                                  b.data() + from,
                                  &b,
                                  Ram::kPrimary,
                                  read,
                                  write};
  };
  detail::JobBus bus;
  const std::vector<detail::JobBus::Region> regions = {region(two, 64, 128, false, true),
                                                       region(one, 0, 256, true, false),
                                                       region(one, 32, 64, true, false)};
  bus.set(regions);
  EXPECT_EQ(bus.map(Ram::kPrimary, one.address(), 8, false).data, one.data());
  EXPECT_EQ(bus.map(Ram::kPrimary, one.address(), 8, false).size, 256U);
  // The nearest region ends before it, the one around it does not.
  EXPECT_EQ(bus.map(Ram::kPrimary, one.address() + 100, 8, false).size, 156U);
  EXPECT_EQ(bus.map(Ram::kPrimary, one.address() + 256, 8, false).size, 0U);
  EXPECT_EQ(bus.map(Ram::kPrimary, one.address() - 1, 8, false).size, 0U);
  EXPECT_EQ(bus.map(Ram::kPrimary, one.address(), 8, true).size, 0U);
  EXPECT_EQ(bus.map(Ram::kSecondary, one.address(), 8, false).size, 0U);
  EXPECT_EQ(bus.map(Ram::kPrimary, two.address() + 63, 8, true).size, 0U);
  EXPECT_EQ(bus.map(Ram::kPrimary, two.address() + 64, 8, true).data, two.data() + 64);
  EXPECT_EQ(bus.map(Ram::kPrimary, two.address() + 64, 8, false).size, 0U);
  EXPECT_EQ(bus.map(Ram::kPrimary, two.address() + 192, 8, true).size, 0U);

  EXPECT_EQ(bus.generation(Ram::kPrimary, one.address(), 256), one.generation());
  EXPECT_EQ(bus.generation(Ram::kPrimary, one.address(), 257), 0U);
  EXPECT_EQ(bus.generation(Ram::kPrimary, two.address(), 8), 0U);
  const auto before = two.generation();
  bus.written(Ram::kPrimary, two.address() + 64, 8);
  EXPECT_NE(two.generation(), before);
}

}  // namespace
}  // namespace nvdla
