// SPDX-License-Identifier: MIT
//
// What cannot be a node is refused, by the option that says it. What can is dtc's to judge, in
// dtc_test.py.
#include "tools/dt/node.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tools/files/status.hpp"

namespace nvdla::test {
namespace {

using dt::NodeRequest;
using dt::Region;

NodeRequest good() {
  NodeRequest request;
  request.hw = nvdla_hw_find("nv_full");
  request.registers.address = 0xc000000;
  request.interrupt = {0, 112, 4};
  return request;
}

struct Refusal {
  const char* name;
  std::function<void(NodeRequest&)> change;
  std::string text;
};

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> kRefusals = {
      {"registers_between_pages", [](NodeRequest& r) { r.registers.address = 0xc000800; },
       "--address 0x20000@0xc000800: expected whole pages of 0x1000, one at least"},
      {"registers_that_wrap", [](NodeRequest& r) { r.registers.address = ~0xfffULL; },
       "--address 0x20000@0xfffffffffffff000: does not fit 2 cells of address and 2 of size"},
      {"registers_beyond_one_cell",
       [](NodeRequest& r) {
         r.registers.address = 0x100000000;
         r.address_cells = 1;
       },
       "--address 0x20000@0x100000000: does not fit 1 cell of address and 2 of size; expected "
       "less, or --address-cells and --size-cells as the tree has them"},
      {"no_interrupt", [](NodeRequest& r) { r.interrupt.clear(); },
       "--interrupt: expected one number at least"},
      {"a_label_of_the_interrupt", [](NodeRequest& r) { r.interrupt_parent = "&gic"; },
       "--interrupt-parent: '&gic' is no label; expected letters, digits and _"},
      {"a_label_of_a_clock", [](NodeRequest& r) { r.clocks = {{"3crg"}}; },
       "--clock: '3crg' is no label"},
      {"three_clocks",
       [](NodeRequest& r) {
         r.clocks = {{"a"}, {"b"}, {"c"}};
       },
       "--clock: 3 of them; expected 2 at most, of the core and of the configuration bus"},
      {"a_label_of_a_reset", [](NodeRequest& r) { r.resets = {{""}}; }, "--reset: '' is no label"},
      {"a_clock_that_is_too_fast", [](NodeRequest& r) { r.clock_khz = 4294968; },
       "--clock-rate 4294968kHz: expected at most 4294967kHz"},
      {"sram_without_an_interface",
       [](NodeRequest& r) {
         r.hw = nvdla_hw_find("nv_small");
         r.sram = Region{0x1000, 0x1000};
       },
       "--sram: nv_small has no second memory interface"},
      {"sram_of_half_a_page",
       [](NodeRequest& r) {
         r.sram = Region{0x1000, 0x800};
       },
       "--sram 0x800@0x1000: expected whole pages of 0x1000, one at least"},
      {"sram_of_4_gib",
       [](NodeRequest& r) {
         r.sram = Region{0x100000000, 0x100000000};
       },
       "--sram 0x100000000@0x100000000: expected less than 4 GiB"},
      {"sram_in_the_registers",
       [](NodeRequest& r) {
         r.sram = Region{0xc01f000, 0x1000};
       },
       "--address 0x20000@0xc000000 and --sram 0x1000@0xc01f000 overlap"},
      {"memory_of_no_page",
       [](NodeRequest& r) {
         r.memory_region = Region{0x1000, 0};
       },
       "--memory-region 0x0@0x1000: expected whole pages of 0x1000, one at least"},
      {"memory_in_the_registers",
       [](NodeRequest& r) {
         r.memory_region = Region{0xbfff000, 0x2000};
       },
       "--address 0x20000@0xc000000 and --memory-region 0x2000@0xbfff000 overlap"},
      {"memory_in_sram",
       [](NodeRequest& r) {
         r.sram = Region{0x1000, 0x2000};
         r.memory_region = Region{0x2000, 0x2000};
       },
       "--sram 0x2000@0x1000 and --memory-region 0x2000@0x2000 overlap"},
      {"memory_that_is_not_reached",
       [](NodeRequest& r) {
         r.hw = nvdla_hw_find("nv_small");
         r.memory_region = Region{0xfffff000, 0x2000};
       },
       "--memory-region 0x2000@0xfffff000: nv_small has 32 address bits"},
      {"a_system_without_a_vendor", [](NodeRequest& r) { r.system = "npu"; },
       "--soc npu: expected VENDOR,NAME of the system on chip"},
      {"a_system_with_an_underscore", [](NodeRequest& r) { r.system = "acme,the_npu"; },
       "--soc acme,the_npu: expected VENDOR,NAME of the system on chip"},
      {"a_system_that_is_a_configuration",
       [](NodeRequest& r) { r.system = "nvidia,nvdla-nv-small"; },
       "--soc nvidia,nvdla-nv-small: expected VENDOR,NAME of the system on chip"},
      {"a_bus_that_is_no_path", [](NodeRequest& r) { r.bus = "soc"; },
       "--bus soc: no path of a node; expected such as /soc"},
      {"a_bus_with_a_slash_behind", [](NodeRequest& r) { r.bus = "/soc/"; },
       "--bus /soc/: no path of a node"},
      {"a_bus_that_is_more_than_a_path", [](NodeRequest& r) { r.bus = "/soc} { evil; &{/x"; },
       "--bus /soc} { evil; &{/x: no path of a node"},
  };
  return kRefusals;
}

class DtNodeRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(DtNodeRefusal, NamesTheOption) {
  NodeRequest request = good();
  GetParam().change(request);
  for (const auto& write : {dt::node_source, dt::node_overlay}) {
    try {
      write(request);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const program::UsageError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(GetParam().text)) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DtNodeRefusal, testing::ValuesIn(refusals()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(DtNode, IsShort) {
  EXPECT_EQ(dt::node_source(good()),
            "/ {\n"
            "\tnvdla: accelerator@c000000 {\n"
            "\t\tcompatible = \"nvidia,nvdla-nv-full\";\n"
            "\t\treg = <0 0xc000000 0 0x20000>;\n"
            "\t\tinterrupts = <0 112 4>;\n"
            "\t};\n"
            "};\n");
}

}  // namespace
}  // namespace nvdla::test
