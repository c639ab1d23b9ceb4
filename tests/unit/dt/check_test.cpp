// SPDX-License-Identifier: MIT
//
// Each fault of a device tree is found, alone, at its node and property.
#include "tools/dt/check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "backend/compatible.hpp"
#include "board.hpp"
#include "tools/files/status.hpp"

namespace nvdla::test {
namespace {

using dt::CheckReport;
using dt::Finding;

std::string text_of(const CheckReport& report) {
  std::string text;
  for (const Finding& finding : report.findings)
    text += finding.node + ": " + finding.property + ": " + finding.text + "\n";
  return text;
}

struct Fault {
  const char* name;
  std::function<void(Board&)> plant;
  std::string finding;  // how it begins
  int findings = 1;
};

constexpr const char* kNode = Board::kNode;

std::function<void(Board&)> put(const char* path, const char* name, const std::string& value) {
  return [=](Board& board) { board.set(path, name, value); };
}
std::function<void(Board&)> drop(const char* path, const char* name) {
  return [=](Board& board) { board.remove(path, name); };
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {"a_name_that_is_almost_right", put(kNode, "compatible", strings({"nvidia,nvdla-nvfull"})),
       "/soc/npu@c000000: compatible: the driver takes no \"nvidia,nvdla-nvfull\"; did you mean "
       "\"nvidia,nvdla-nv-full\"?\n"},
      {"a_name_of_another_driver", put(kNode, "compatible", strings({"nvidia,tegra194-nvdla"})),
       "/soc/npu@c000000: compatible: the driver takes no \"nvidia,tegra194-nvdla\"; expected one "
       "of nvidia,nvdla-nv-full, nvidia,nvdla-nv-large, "},
      {"two_configurations",
       put(kNode, "compatible", strings({"nvidia,nvdla-nv-full", "nvidia,nvdla-nv-large"})),
       "/soc/npu@c000000: compatible: 2 strings stand for configurations; expected one\n"},
      {"two_systems",
       put(kNode, "compatible", strings({"acme,a-nvdla", "acme,b-nvdla", "nvidia,nvdla-nv-full"})),
       "/soc/npu@c000000: compatible: 3 strings; expected the system on chip's own and the "
       "configuration's\n"},
      {"a_system_behind_the_configuration",
       put(kNode, "compatible", strings({"nvidia,nvdla-nv-full", "acme,a-nvdla"})),
       "/soc/npu@c000000: compatible: \"acme,a-nvdla\" behind the configuration; expected the "
       "system on chip's own name before it\n"},
      {"disabled", put(kNode, "status", strings({"disabled"})),
       "/soc/npu@c000000: status: not \"okay\"; expected that"},
      {"disabled_above", put("/soc", "status", strings({"disabled"})),
       "/soc: status: not \"okay\"; expected that"},
      {"a_bus_that_linux_does_not_know", drop("/soc", "compatible"),
       "/soc: compatible: missing; expected \"simple-bus\""},
      {"no_registers", drop(kNode, "reg"), "/soc/npu@c000000: reg: missing; expected"},
      {"registers_in_other_cells", put(kNode, "reg", cells({0, 0xc000000, 0, 0x20000, 0})),
       "/soc/npu@c000000: reg: has 20 bytes; expected 8: 1 cell of address and 1 of size, as /soc "
       "says\n"},
      {"registers_of_odd_bytes", put(kNode, "reg", "abc"),
       "/soc/npu@c000000: reg: has 3 bytes; expected 8"},
      {"two_windows", put(kNode, "reg", cells({0xc000000, 0x20000, 0xd000000, 0x20000})),
       "/soc/npu@c000000: reg: has 2 areas; expected one\n"},
      {"a_small_window", put(kNode, "reg", cells({0xc000000, 0x10000})),
       "/soc/npu@c000000: reg: 0x10000 bytes; expected at least 0x20000"},
      {"an_empty_window", put(kNode, "reg", cells({0xc000000, 0})),
       "/soc/npu@c000000: reg: 0x0 bytes from 0xc000000; expected an area"},
      {"a_window_between_pages", put(kNode, "reg", cells({0xc000010, 0x20000})),
       "/soc/npu@c000000: reg: 0x10c000010 as a processor sees it; expected a multiple of 0x1000\n"},
      {"a_window_beyond_the_ranges", put(kNode, "reg", cells({0x1fff0000, 0x20000})),
       "/soc/npu@c000000: reg: 0x20000 bytes from 0x1fff0000 are not within the ranges of /soc"},
      {"a_window_over_memory", put("/soc", "ranges", cells({0, 0, 0x78000000, 0x20000000})),
       "/soc/npu@c000000: reg: 0x20000 bytes from 0x84000000 are memory by /memory@80000000"},
      {"no_ranges", drop("/soc", "ranges"), "/soc: ranges: missing; expected"},
      {"ranges_in_other_cells", put("/soc", "ranges", cells({0, 0, 1, 0, 0x20000000})),
       "/soc: ranges: has 20 bytes; expected entries"},
      {"no_cells", drop("/soc", "#address-cells"), "/soc: #address-cells: with #size-cells no"},
      {"cells_as_of_pci", put("/soc", "#address-cells", cells({3})),
       "/soc: #address-cells: with #size-cells no numbers of 1 or 2 cells"},
      {"no_interrupt", drop(kNode, "interrupts"), "/soc/npu@c000000: interrupts: missing"},
      {"an_interrupt_of_two_cells", put(kNode, "interrupts", cells({112, 4})),
       "/soc/npu@c000000: interrupts: has 8 bytes; expected 12: 3 cells, as /gic@8000000 says\n"},
      {"two_interrupts", put(kNode, "interrupts", cells({0, 112, 4, 0, 113, 4})),
       "/soc/npu@c000000: interrupts: has 2 lines; expected one\n"},
      {"an_interrupt_of_one_processor", put(kNode, "interrupts", cells({1, 9, 4})),
       "/soc/npu@c000000: interrupts: the first number is 1; expected 0 (GIC_SPI)"},
      {"an_interrupt_that_no_gic_has", put(kNode, "interrupts", cells({0, 1020, 4})),
       "/soc/npu@c000000: interrupts: line 1020; expected less than 988"},
      {"an_edge", put(kNode, "interrupts", cells({0, 112, 1})),
       "/soc/npu@c000000: interrupts: the last number is 1; expected 4 (IRQ_TYPE_LEVEL_HIGH)"},
      {"nobody_takes_interrupts", drop("/", "interrupt-parent"),
       "/soc/npu@c000000: interrupts: nobody takes them"},
      {"an_interrupt_parent_that_is_not_there", put(kNode, "interrupt-parent", cells({99})),
       "/soc/npu@c000000: interrupt-parent: no node has this phandle"},
      {"an_interrupt_parent_that_is_none",
       [](Board& board) {
         board.set("/crg", "#interrupt-cells", cells({1}));
         board.set(kNode, "interrupt-parent", cells({Board::kCrg}));
       },
       "/soc/npu@c000000: interrupts: /crg takes none; expected a node with interrupt-controller\n"},
      {"an_interrupt_controller_without_cells", put("/gic@8000000", "#interrupt-cells", ""),
       "/gic@8000000: #interrupt-cells: no number of cells; expected 1 to 8\n"},
      {"an_interrupt_parent_in_a_circle",
       [](Board& board) {
         board.remove("/gic@8000000", "#interrupt-cells");
         board.set("/gic@8000000", "interrupt-parent", cells({Board::kGic}));
       },
       "/soc/npu@c000000: interrupts: nobody takes them"},
      {"an_interrupt_controller_that_is_disabled",
       put("/gic@8000000", "status", strings({"disabled"})),
       "/soc/npu@c000000: interrupts: /gic@8000000 is disabled"},
      {"extended_without_numbers",
       [](Board& board) {
         board.remove(kNode, "interrupts");
         board.set(kNode, "interrupts-extended", cells({Board::kPlic}));
       },
       "/soc/npu@c000000: interrupts-extended: entry 0: 0 numbers after the phandle of /plic; "
       "expected 1, its #interrupt-cells\n"},
      {"a_clock_that_is_not_there", put(kNode, "clocks", cells({Board::kCrg, 3, 99, 4})),
       "/soc/npu@c000000: clocks: entry 1: no node has the phandle 0x63"},
      {"a_clock_that_is_none", put(kNode, "clocks", cells({Board::kCrg, 3, Board::kGic})),
       "/soc/npu@c000000: clocks: entry 1: /gic@8000000 has no #clock-cells"},
      {"a_clock_without_its_number", put(kNode, "clocks", cells({Board::kCrg, 3, Board::kCrg})),
       "/soc/npu@c000000: clocks: entry 1: 0 numbers after the phandle of /crg; expected 1"},
      {"three_clocks",
       put(kNode, "clocks", cells({Board::kCrg, 3, Board::kCrg, 4, Board::kCrg, 5})),
       "/soc/npu@c000000: clocks: has more than 2 entries"},
      {"clocks_of_odd_bytes", put(kNode, "clocks", "12345"),
       "/soc/npu@c000000: clocks: has 5 bytes; expected a phandle"},
      {"one_name_for_two_clocks", put(kNode, "clock-names", strings({"core"})),
       "/soc/npu@c000000: clock-names: 1 name for 2 clocks; expected a name for each\n"},
      {"clock_names_that_do_not_end", put(kNode, "clock-names", "core"),
       "/soc/npu@c000000: clock-names: no strings for 2 clocks"},
      {"a_clock_of_another_name", put(kNode, "clock-names", strings({"core", "apb"})),
       "/soc/npu@c000000: clock-names: \"apb\"; expected \"core\" or \"csb\"\n"},
      {"no_clock_of_the_core", put(kNode, "clock-names", strings({"csb", "csb"})),
       "/soc/npu@c000000: clock-names: \"core\" is there 0 times; expected once"},
      {"clock_names_without_clocks", drop(kNode, "clocks"),
       "/soc/npu@c000000: clock-names: there are no clocks"},
      {"a_frequency_of_two_cells", put(kNode, "clock-frequency", cells({0, 600000000})),
       "/soc/npu@c000000: clock-frequency: has 8 bytes; expected the clock of the core in Hz"},
      {"a_frequency_in_mhz", [](Board& board) {
         board.set(kNode, "clock-frequency", cells({600}));
         board.remove(kNode, "clocks");
         board.remove(kNode, "clock-names");
       },
       "/soc/npu@c000000: clock-frequency: 600; expected the clock of the core in Hz"},
      {"two_clocks_and_a_reset_that_are_disabled", put("/crg", "status", strings({"disabled"})),
       "/soc/npu@c000000: clocks: entry 0: /crg is disabled", 3},
      {"a_reset_without_its_number", put(kNode, "resets", cells({Board::kCrg})),
       "/soc/npu@c000000: resets: entry 0: 0 numbers"},
      {"a_power_domain_that_is_none", put(kNode, "power-domains", cells({Board::kCrg, 1})),
       "/soc/npu@c000000: power-domains: entry 0: /crg has no #power-domain-cells"},
      {"an_iommu_that_is_none", [](Board& board) {
         board.set(kNode, "iommus", cells({Board::kCrg, 1}));
         board.remove(kNode, "memory-region");
       },
       "/soc/npu@c000000: iommus: entry 0: /crg has no #iommu-cells"},
      {"coherence_with_a_value", put(kNode, "dma-coherent", cells({1})),
       "/soc/npu@c000000: dma-coherent: has 4 bytes; expected none"},
      {"coherent_and_not", put(kNode, "dma-noncoherent", ""),
       "/soc/npu@c000000: dma-coherent: and dma-noncoherent"},
      {"memory_that_nobody_reserved", put(kNode, "memory-region", cells({Board::kCrg})),
       "/soc/npu@c000000: memory-region: /crg is not reserved"},
      {"memory_of_two_nodes",
       put(kNode, "memory-region", cells({Board::kRegionPhandle, Board::kRegionPhandle})),
       "/soc/npu@c000000: memory-region: has more than 1 entry"},
      {"reserved_memory_that_counts_otherwise",
       put("/reserved-memory", "#size-cells", cells({1})),
       "/reserved-memory: #address-cells: with #size-cells not as of the root"},
      {"reserved_memory_without_ranges", drop("/reserved-memory", "ranges"),
       "/reserved-memory: ranges: missing; expected an empty one\n"},
      {"memory_that_stays_mapped", drop(Board::kRegion, "no-map"),
       "/reserved-memory/npu@b0000000: no-map: missing, and reusable; expected no-map"},
      {"memory_that_is_both", put(Board::kRegion, "reusable", ""),
       "/reserved-memory/npu@b0000000: reusable: with no-map; expected no-map"},
      {"a_pool_without_its_name",
       [](Board& board) {
         board.remove(Board::kRegion, "no-map");
         board.set(Board::kRegion, "reusable", "");
       },
       "/reserved-memory/npu@b0000000: compatible: not \"shared-dma-pool\""},
      {"memory_of_half_a_page", put(Board::kRegion, "reg", cells({0, 0xb0000000, 0, 0x800})),
       "/reserved-memory/npu@b0000000: reg: 0x800 bytes from 0xb0000000; expected whole pages"},
      {"memory_without_a_place", drop(Board::kRegion, "reg"),
       "/reserved-memory/npu@b0000000: reg: missing"},
      {"memory_that_is_not_reached",
       [](Board& board) {
         board.set(kNode, "compatible", strings({"nvidia,nvdla-nv-small-256-full"}));
         board.set(Board::kRegion, "reg", cells({1, 0, 0, 0x10000}));
       },
       "/reserved-memory/npu@b0000000: reg: 0x10000 bytes from 0x100000000; expected memory below "
       "0x100000000: nv_small_256_full has 32 address bits\n"},
      {"memory_behind_an_iommu",
       [](Board& board) {
         board.set("/crg", "#iommu-cells", cells({0}));
         board.set(kNode, "iommus", cells({Board::kCrg}));
       },
       "/soc/npu@c000000: memory-region: not usable behind an IOMMU"},
      {"memory_that_the_bus_moves",
       put("/soc", "dma-ranges", cells({0, 0, 0x80000000, 0x40000000})),
       "/soc/npu@c000000: memory-region: /soc gives memory other addresses (dma-ranges)"},
      {"sram_without_an_interface", put(kNode, "compatible", strings({"nvidia,nvdla-nv-small"})),
       "/soc/npu@c000000: sram: nv_small has no second memory interface"},
      {"sram_that_is_none", put(kNode, "sram", cells({Board::kCrg})),
       "/soc/npu@c000000: sram: /crg is no memory"},
      {"sram_without_cells", drop(Board::kSram, "#size-cells"),
       "/soc/sram@10000000: #size-cells: expected <1>"},
      {"sram_without_ranges", drop(Board::kSram, "ranges"),
       "/soc/sram@10000000: ranges: missing; expected <0 ADDRESS SIZE>\n"},
      {"sram_without_a_place", drop(Board::kSram, "reg"), "/soc/sram@10000000: reg: missing"},
      {"a_property_that_is_almost_right", put(kNode, "clock-freqency", cells({1})),
       "/soc/npu@c000000: clock-freqency: the binding knows no such property; did you mean "
       "'clock-frequency'?\n"},
      {"a_property_of_another_binding", put(kNode, "nvidia,bpmp", cells({1})),
       "/soc/npu@c000000: nvidia,bpmp: the binding knows no such property; expected none\n"},
      {"two_devices_in_one_place",
       [](Board& board) {
         for (const char* name : {"compatible", "reg", "interrupts", "clocks", "resets"})
           board.set("/soc/npu@c010000", name, board.value(kNode, name));
         board.set("/soc/npu@c010000", "reg", cells({0xc010000, 0x20000}));
       },
       "/soc/npu@c010000: reg: overlaps that of /soc/npu@c000000"},
  };
  return kFaults;
}

class DtFault : public testing::TestWithParam<Fault> {};

TEST_P(DtFault, IsFoundAlone) {
  Board board;
  GetParam().plant(board);
  const CheckReport report = dt::check(board.tree());
  EXPECT_FALSE(report.passed());
  const std::string text = text_of(report);
  EXPECT_TRUE(text.starts_with(GetParam().finding)) << text;
  const auto wrong = std::count_if(report.findings.begin(), report.findings.end(),
                                   [](const Finding& finding) { return !finding.note; });
  EXPECT_EQ(wrong, GetParam().findings) << text;
}

INSTANTIATE_TEST_SUITE_P(All, DtFault, testing::ValuesIn(faults()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(DtCheck, ABoardThatIsRightPasses) {
  const CheckReport report = dt::check(Board().tree());
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(text_of(report), "");
  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_EQ(report.devices[0].node, kNode);
  EXPECT_EQ(report.devices[0].configuration, "nv_full");
  EXPECT_EQ(report.devices[0].place, "0x10c000000");
  EXPECT_EQ(report.devices[0].interrupt, "<0 112 4> of /gic@8000000");
}

TEST(DtCheck, OtherFormsThatAreRight) {
  Board board;
  board.remove(kNode, "interrupts");
  board.set(kNode, "interrupts-extended", cells({Board::kPlic, 7}));
  board.set(kNode, "status", strings({"okay"}));
  board.set(kNode, "pinctrl-0", cells({1}));
  board.set(kNode, "assigned-clock-rates", cells({600000000}));
  // The driver goes by the names.
  board.set(kNode, "clock-names", strings({"csb", "core"}));
  board.remove(Board::kRegion, "no-map");
  board.set(Board::kRegion, "reusable", "");
  board.set(Board::kRegion, "compatible", strings({"shared-dma-pool"}));
  board.remove(Board::kRegion, "reg");
  board.set(Board::kRegion, "size", cells({0, 0x4000000}));
  board.set("/soc", "dma-ranges", cells({0, 0, 0, 0x40000000}));
  const CheckReport report = dt::check(board.tree());
  EXPECT_EQ(text_of(report), "");
  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_EQ(report.devices[0].interrupt, "<7> of /plic");
}

TEST(DtCheck, NotesDoNotFail) {
  Board board;
  for (const char* name : {"clocks", "clock-names", "clock-frequency", "resets"})
    board.remove(kNode, name);
  CheckReport report = dt::check(board.tree());
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(text_of(report),
            "/soc/npu@c000000: clocks: missing, and clock-frequency: layers get the time of a slow "
            "clock\n"
            "/soc/npu@c000000: resets: missing: a device that hangs stays unusable\n");
  board.set(kNode, "clock-frequency", cells({600000}));
  report = dt::check(board.tree());
  EXPECT_TRUE(report.passed());
  EXPECT_NE(text_of(report).find("600000 Hz is very slow; was it meant in kHz?"),
            std::string::npos);
}

TEST(DtCheck, EveryConfigurationHasAName) {
  for (u32 i = 0; i < nvdla_hw_count(); ++i) {
    const std::string name = nvdla_hw_get(i)->name;
    Board board;
    const std::string generic = detail::compatible_of(*nvdla_hw_get(i));
    EXPECT_EQ(generic.find('_'), generic.npos) << name;
    board.remove(kNode, "sram");
    for (const auto& all : {strings({generic.c_str()}), strings({"acme,npu", generic.c_str()})}) {
      board.set(kNode, "compatible", all);
      const CheckReport report = dt::check(board.tree());
      EXPECT_EQ(text_of(report), "") << name;
      ASSERT_EQ(report.devices.size(), 1U) << name;
      EXPECT_EQ(report.devices[0].configuration, name);
    }
  }
}

TEST(DtCheck, NamesOfBeforeAreDeprecated) {
  const auto report_of = [](const std::string& name) {
    Board board;
    board.set(kNode, "compatible", strings({name.c_str()}));
    board.remove(kNode, "sram");
    return dt::check(board.tree());
  };
  for (u32 i = 0; i < nvdla_hw_count(); ++i) {
    const nvdla_hw& hw = *nvdla_hw_get(i);
    const CheckReport report = report_of(std::string("nvidia,") + hw.name);
    EXPECT_TRUE(report.passed());
    EXPECT_EQ(report.devices.at(0).configuration, hw.name);
    EXPECT_EQ(text_of(report), fmt::format("/soc/npu@c000000: compatible: \"nvidia,{}\" is "
                                           "deprecated; expected \"{}\", which drivers of later "
                                           "kernels take\n",
                                           hw.name, detail::compatible_of(hw)));
  }
  EXPECT_EQ(report_of("nvidia,nvdla_os_initial").devices.at(0).configuration, "nv_full");
}

TEST(DtCheck, ATreeWithoutADeviceDoesNotPass) {
  EXPECT_FALSE(dt::check(dt::Tree("empty")).passed());
  EXPECT_TRUE(dt::check(dt::Tree("empty")).findings.empty());
}

TEST(DtCheck, OverlaysAndCrowdsAreRefused) {
  const auto refused = [](const dt::Tree& tree) -> std::string {
    try {
      dt::check(tree);
    } catch (const program::UsageError& error) {
      return error.what();
    }
    return "";
  };
  dt::Tree overlay("npu.dtbo");
  overlay.add(overlay.add(dt::Tree::kRoot, "fragment@0"), "__overlay__");
  EXPECT_EQ(refused(overlay),
            "npu.dtbo: is an overlay; expected the tree that it was applied to (fdtoverlay)");
  dt::Tree crowd("crowd");
  for (int i = 0; i < 65; ++i)
    crowd.add_property(crowd.add(dt::Tree::kRoot, "npu"), "compatible",
                       strings({"nvidia,nvdla-nv-small"}));
  EXPECT_EQ(refused(crowd), "crowd: more than 64 nodes of NVDLA");
}

// Of what comes out of a blob a terminal shows nothing but letters.
TEST(DtCheck, NamesAreMadeFitForTerminals) {
  Board board;
  board.set(kNode, "bad\x1b[2Jname", "");
  EXPECT_EQ(text_of(dt::check(board.tree())),
            "/soc/npu@c000000: bad?[2Jname: the binding knows no such property; expected none\n");
}

}  // namespace
}  // namespace nvdla::test
