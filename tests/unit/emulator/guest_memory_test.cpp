// SPDX-License-Identifier: MIT
//
// Guest memory as the device's bus: what is mapped, what is refused, what is logged.
#include "emulator/device/guest_memory.hpp"

#include <fstream>
#include <sstream>

#include "fakes.hpp"
#include "tools/files/status.hpp"

namespace nvdla::emulator {
namespace {

using model::Ram;

class GuestMemoryTest : public testing::Test {
 protected:
  // 16 KiB of file as [0x0, 0x1000) and, from its second page on, [0x100000, 0x102000).
  void announce(GuestMemory& memory) {
    std::vector<MemoryRange> ranges;
    ranges.push_back(file_.range(0, 0x1000));
    ranges.push_back(file_.range(0x100000, 0x2000, 0x1000));
    memory.replace(std::move(ranges));
    memory.set_bus_master(true);
  }
  std::string error(MemoryRange range) {
    std::vector<MemoryRange> ranges;
    ranges.push_back(std::move(range));
    try {
      memory_.replace(std::move(ranges));
    } catch (const ProtocolError& problem) {
      return problem.what();
    }
    return "accepted";
  }

  SharedMemory file_{0x4000};
  Counters counters_;
  GuestMemory memory_{counters_};
};

TEST_F(GuestMemoryTest, ReachesTheFile) {
  announce(memory_);
  const model::Mapping mapping = memory_.map(Ram::kPrimary, 0x101234, 8, true);
  ASSERT_EQ(mapping.size, 8u);
  std::memset(mapping.data, 0x77, 8);
  EXPECT_EQ(file_.data()[0x2234], std::byte{0x77});
  file_.data()[0x10] = std::byte{0x42};
  EXPECT_EQ(*memory_.map(Ram::kPrimary, 0x10, 1, false).data, std::byte{0x42});
  EXPECT_EQ(memory_.generation(Ram::kPrimary, 0, 16), 0u);
}

TEST_F(GuestMemoryTest, EndsAtTheRangesEnd) {
  announce(memory_);
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0xff0, 0x100, false).size, 0x10u);
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0x101fff, 0x100, false).size, 1u);
  EXPECT_EQ(counters_.dma_refused, 0u);
}

TEST_F(GuestMemoryTest, RefusesWhatLiesOutside) {
  announce(memory_);
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0x1000, 1, false).size, 0u);
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0xfffff, 1, true).size, 0u);
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0x102000, 1, true).size, 0u);
  EXPECT_EQ(memory_.map(Ram::kPrimary, ~std::uint64_t{0}, 1, true).size, 0u);
  EXPECT_EQ(memory_.map(Ram::kSecondary, 0x0, 1, false).size, 0u) << "the card has no SRAM";
  EXPECT_EQ(counters_.dma_refused, 5u);
}

TEST_F(GuestMemoryTest, GivesEachInterfaceItsMemory) {
  GuestMemory memory(counters_, nullptr, MemoryWindow{0x100800, 0x400});
  announce(memory);
  EXPECT_EQ(memory.map(Ram::kSecondary, 0x1007ff, 16, true).size, 0u);
  const model::Mapping sram = memory.map(Ram::kSecondary, 0x100800, 0x2000, true);
  ASSERT_EQ(sram.size, 0x400u);
  *sram.data = std::byte{0x77};
  EXPECT_EQ(file_.data()[0x1800], std::byte{0x77});
  EXPECT_EQ(memory.map(Ram::kSecondary, 0x100bff, 16, false).size, 1u);
  EXPECT_EQ(memory.map(Ram::kSecondary, 0x100c00, 16, false).size, 0u);

  EXPECT_EQ(memory.map(Ram::kPrimary, 0x1007f0, 0x2000, true).size, 0x10u);
  EXPECT_EQ(memory.map(Ram::kPrimary, 0x100800, 1, false).size, 0u);
  EXPECT_EQ(memory.map(Ram::kPrimary, 0x100bff, 1, false).size, 0u);
  EXPECT_EQ(memory.map(Ram::kPrimary, 0x100c00, 0x2000, false).size, 0x1400u);
  EXPECT_EQ(counters_.dma_refused, 4u);
  memory.set_bus_master(false);
  EXPECT_EQ(memory.map(Ram::kSecondary, 0x100800, 1, false).size, 0u);
}

TEST_F(GuestMemoryTest, WindowsAreWrittenAsTheKernelDoes) {
  EXPECT_EQ(parse_window("1M@0x14000000"), (MemoryWindow{0x14000000, 0x100000}));
  EXPECT_EQ(parse_window("4096@8192"), (MemoryWindow{8192, 4096}));
  EXPECT_EQ(parse_window("0x10K@0"), (MemoryWindow{0, 0x4000}));
  EXPECT_EQ(parse_window("1@0xffffffffffffffff"), (MemoryWindow{~std::uint64_t{0}, 1}));
  for (const char* wrong :
       {"", "1M", "@", "1M@", "@4096", "0@0", "1X@0", "1M@4K", "1M@0x", "-1@0", "1M@4096 ",
        "2@0xffffffffffffffff", "0x10000000000G@0", "0x10000000000000000@0"}) {
    EXPECT_EQ(parse_window(wrong), std::nullopt) << wrong;
  }
}

TEST_F(GuestMemoryTest, TakesBusMastering) {
  announce(memory_);
  memory_.set_bus_master(false);
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0x10, 1, false).size, 0u);
  memory_.set_bus_master(true);
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0x10, 1, false).size, 1u);
}

TEST_F(GuestMemoryTest, ReplacesAllRanges) {
  announce(memory_);
  std::vector<MemoryRange> ranges;
  ranges.push_back(file_.range(0x200000, 0x1000));
  memory_.replace(std::move(ranges));
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0x10, 1, false).size, 0u);
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0x200010, 1, false).size, 1u);
  memory_.replace({});
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0x200010, 1, false).size, 0u);
}

TEST_F(GuestMemoryTest, MapsOffsetsInsideAPage) {
  EXPECT_EQ(error(file_.range(0x5000, 0x100, 0x1234)), "accepted");
  memory_.set_bus_master(true);
  file_.data()[0x1244] = std::byte{0x99};
  EXPECT_EQ(*memory_.map(Ram::kPrimary, 0x5010, 1, false).data, std::byte{0x99});
}

TEST_F(GuestMemoryTest, RefusesRangesBeyondTheirFile) {
  EXPECT_EQ(error(file_.range(0x1000, 0x4001)),
            "memory 0x1000: 0x4001 bytes at 0x0 of a file of 0x4000");
  EXPECT_EQ(error(file_.range(0x1000, 0x1000, 0x5000)),
            "memory 0x1000: 0x1000 bytes at 0x5000 of a file of 0x4000");
  EXPECT_EQ(error(file_.range(0x1000, ~std::uint64_t{0} - 0x1000, 0x1000)),
            "memory 0x1000: 0xffffffffffffefff bytes at 0x1000 of a file of 0x4000");
}

TEST_F(GuestMemoryTest, RefusesWhatCannotBeMapped) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor other(ends[1]);
  const std::string problem = error({0x1000, 0x1000, 0, Descriptor(ends[0])});
  EXPECT_EQ(problem.rfind("memory 0x1000: cannot map 0x1000 bytes: ", 0), 0u) << problem;
}

TEST_F(GuestMemoryTest, OverwritesWhatTheDeviceWrote) {
  announce(memory_);
  memory_.set_pattern(std::byte{0xa5});
  memory_.written(Ram::kPrimary, 0xffe, 2);
  memory_.written(Ram::kPrimary, 0x50000, 16);  // refused: nothing to overwrite
  memory_.set_pattern(std::nullopt);
  memory_.written(Ram::kPrimary, 0x0, 2);
  EXPECT_EQ(file_.data()[0xffd], std::byte{0});
  EXPECT_EQ(file_.data()[0xffe], std::byte{0xa5});
  EXPECT_EQ(file_.data()[0xfff], std::byte{0xa5});
  EXPECT_EQ(file_.data()[0x1000], std::byte{0});
  EXPECT_EQ(file_.data()[0x0], std::byte{0});
}

TEST_F(GuestMemoryTest, AStaleViewSeesWhatIsCleaned) {
  announce(memory_);
  memory_.use_stale_view({});
  const auto device = [&](std::uint64_t address) {
    return *memory_.map(Ram::kPrimary, address, 1, false).data;
  };
  EXPECT_EQ(device(0x100010), StaleView::kNeverCleaned);
  file_.data()[0x1010] = std::byte{0x11};
  file_.data()[0x1011] = std::byte{0x11};
  EXPECT_EQ(device(0x100010), StaleView::kNeverCleaned);
  memory_.sync(NVDLA_FAULT_SYNC_CLEAN, 0x100010, 1);
  EXPECT_EQ(device(0x100010), std::byte{0x11});
  EXPECT_EQ(device(0x100011), StaleView::kNeverCleaned) << "not one byte more";
  file_.data()[0x1010] = std::byte{0x22};
  EXPECT_EQ(device(0x100010), std::byte{0x11});

  // Over pages, and up to where memory ends.
  std::memset(file_.data() + 0x1000, 0x33, 0x2000);
  memory_.sync(NVDLA_FAULT_SYNC_CLEAN, 0x100800, 0x10000);
  EXPECT_EQ(device(0x1007ff), StaleView::kNeverCleaned);
  EXPECT_EQ(device(0x100800), std::byte{0x33});
  EXPECT_EQ(device(0x101fff), std::byte{0x33});
  EXPECT_EQ(memory_.map(Ram::kPrimary, 0x100ff0, 0x20, false).size, 0x10u) << "pages apart";
}

TEST_F(GuestMemoryTest, TheGuestSeesWhatIsInvalidated) {
  announce(memory_);
  memory_.use_stale_view({});
  *memory_.map(Ram::kPrimary, 0x100010, 1, true).data = std::byte{0x44};
  memory_.set_pattern(std::byte{0xa5});
  memory_.written(Ram::kPrimary, 0x100011, 1);
  EXPECT_EQ(file_.data()[0x1010], std::byte{0});
  // It survives that QEMU announces its memory again.
  announce(memory_);
  memory_.sync(NVDLA_FAULT_SYNC_INVALIDATE, 0x100010, 2);
  EXPECT_EQ(file_.data()[0x1010], std::byte{0x44});
  EXPECT_EQ(file_.data()[0x1011], std::byte{0xa5});
  EXPECT_EQ(file_.data()[0x1012], std::byte{0});
}

TEST_F(GuestMemoryTest, WhatIsUncachedIsTheSameForBoth) {
  announce(memory_);
  memory_.use_stale_view({{0x101000, 0x1000}});
  const auto shared = [&](std::uint64_t address, std::size_t offset) {
    *memory_.map(Ram::kPrimary, address, 1, true).data = std::byte{0x55};
    return file_.data()[offset] == std::byte{0x55};
  };
  EXPECT_FALSE(shared(0x100fff, 0x1fff));
  EXPECT_TRUE(shared(0x101000, 0x2000));
  memory_.sync(NVDLA_FAULT_SYNC_UNCACHED, 0x100000, 1);
  EXPECT_TRUE(shared(0x100fff, 0x1fff));
  file_.data()[0x1ffe] = std::byte{0x66};
  memory_.sync(NVDLA_FAULT_SYNC_INVALIDATE, 0x100ffe, 1);
  EXPECT_EQ(file_.data()[0x1ffe], std::byte{0x66}) << "no cache, no line to drop";
  memory_.sync(NVDLA_FAULT_SYNC_CACHED, 0x100000, 0x1000);
  file_.data()[0x1fff] = std::byte{0};
  EXPECT_FALSE(shared(0x100fff, 0x1fff));
}

TEST_F(GuestMemoryTest, CoherentMemoryNeedsNoSync) {
  announce(memory_);
  file_.data()[0x10] = std::byte{0x42};
  memory_.sync(NVDLA_FAULT_SYNC_INVALIDATE, 0x10, 1);
  EXPECT_EQ(file_.data()[0x10], std::byte{0x42});
}

TEST_F(GuestMemoryTest, LogsAccesses) {
  std::string path = testing::TempDir() + "nvdla-dma-log-XXXXXX";
  const Descriptor own(::mkstemp(path.data()));
  {
    DmaLog log(path);
    GuestMemory memory(counters_, &log);
    announce(memory);
    memory.client(NVDLA_DMA_CDMA_DATA);
    memory.map(Ram::kPrimary, 0x100, 16, false);
    memory.map(Ram::kPrimary, 0x110, 16, false);
    memory.map(Ram::kPrimary, 0x180, 8, false);
    memory.client(NVDLA_DMA_SDP_WDMA);
    memory.map(Ram::kPrimary, 0x188, 8, true);
    memory.end_of_step();
    memory.end_of_step();  // in which nothing was touched
    memory.map(Ram::kPrimary, 0x190, 8, true);
    memory.map(Ram::kSecondary, 0x198, 8, true);
  }
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  ::unlink(path.c_str());
  EXPECT_EQ(text.str(),
            "# sequence step client R|W memory address bytes ok|refused\n"
            "0 0 cdma_data R DRAM 0x100 32 ok\n"
            "1 0 cdma_data R DRAM 0x180 8 ok\n"
            "2 0 sdp_wdma W DRAM 0x188 8 ok\n"
            "3 1 sdp_wdma W DRAM 0x190 8 ok\n"
            "4 1 sdp_wdma W SRAM 0x198 8 refused\n");
}

TEST_F(GuestMemoryTest, SaysWhyThereIsNoLog) {
  try {
    DmaLog log("/nonexistent/log");
    FAIL();
  } catch (const program::OutputError& problem) {
    EXPECT_STREQ(problem.what(), "/nonexistent/log: cannot be created: No such file or directory");
  }
}

TEST_F(GuestMemoryTest, ALogThatIsLostIsAnError) {
  DmaLog log("/dev/full");
  log.record(NVDLA_DMA_SDP_WDMA, true, model::Ram::kPrimary, 0x100, 8, false);
  EXPECT_THROW(log.close(), program::OutputError);
}

}  // namespace
}  // namespace nvdla::emulator
