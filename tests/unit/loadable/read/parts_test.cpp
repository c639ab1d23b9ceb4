// SPDX-License-Identifier: MIT
//
// What surrounds operations, in files of the tests' own writer: the lists of the container, tables,
// operations of the CPU. Each field has a value that no other has.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>

#include "bases.hpp"
#include "loadable/read/convert.hpp"
#include "unit/loadable/witness/emulated.hpp"

namespace nvdla::witness {
namespace {

using loadable::Container;

TEST(Container, EachFieldIsWhereItWasWritten) {
  Task task;
  base("sdp_values").make(task);
  File f = task.file();
  f.version = {0, 7, 9};
  Entry& blob = f.at("blobs", 1);
  blob.numbers["interface"] = 0x11111111;
  blob.numbers["sub_interface"] = 0x22222222;
  blob.versions["version"] = {1, 2, 3};
  Entry& memory = f.at("memory_list", kSram);
  memory.numbers["flags"] = 17;
  memory.numbers["size"] = 0x123456789a;
  memory.numbers["alignment"] = 0x20000000;
  Entry& output = f.at("memory_list", kResult);
  output.numbers["bind_id"] = 0;
  output.numbers["tensor_desc_id"] = 1;
  Entry& address = f.at("address_list", 8);
  address.numbers["mem_id"] = kSram;
  address.numbers["offset"] = 0x1111111111;
  address.numbers["size"] = 0x0123456789;
  Entry event;
  event.numbers = {{"id", 0x1234}, {"type", 2}, {"target", 0x2345}, {"val", 0x34567890}, {"op", 1}};
  f.lists["event_list"] = {event};
  event.numbers["id"] = 0x1235;
  f.lists["event_list"].push_back(event);
  Entry& entry = f.at("task_list", 0);
  entry.numbers["instance"] = 0xfffe;
  entry.lists["pre_actions"] = {0x1234};
  entry.lists["post_actions"] = {0x1235, 0x1234};
  Entry tensor;
  tensor.texts["name"] = "named";
  tensor.numbers = {{"id", 0x1111},
                    {"mem_id", kResult},
                    {"size", 0x2222},
                    {"offset", 0x1dde},
                    {"data_format", 0x11},
                    {"data_type", 0x12},
                    {"data_category", 0x13},
                    {"pixel_format", 0x14},
                    {"pixel_mapping", 0x15},
                    {"n", 0x1001},
                    {"c", 0x1002},
                    {"h", 0x1003},
                    {"w", 0x1004}};
  for (std::uint32_t i = 0; i < 8; ++i) {
    tensor.numbers["stride_" + std::to_string(i)] = 0x71000000U + i;
  }
  f.lists["tensor_desc_list"].push_back(tensor);
  Entry reloc;
  reloc.numbers = {{"address_id", 9},         {"write_id", kData},           {"offset", 0x3333},
                   {"interface", 0x44444444}, {"sub_interface", 0x55555555}, {"reloc_type", 0x66}};
  f.lists["reloc_list"] = {reloc};
  // In the order of their ids.
  f.lists["task_list"].push_back(entry);
  f.at("task_list", 1).numbers["id"] = 1;
  f.at("task_list", 1).numbers["interface"] = 2;
  f.at("submit_list", 0).numbers["id"] = 9;
  Entry submit;
  submit.numbers["id"] = 8;
  submit.lists["task_id"] = {1};
  f.lists["submit_list"].push_back(submit);

  const Container c = loadable::parse_container(write(f));
  EXPECT_EQ(c.version.major_version, 0);
  EXPECT_EQ(c.version.minor_version, 7);
  EXPECT_EQ(c.version.sub_minor_version, 9);
  ASSERT_EQ(c.blobs.size(), f.lists["blobs"].size());
  EXPECT_EQ(c.blobs[1].name, "data");
  EXPECT_EQ(c.blobs[1].interface, 0x11111111U);
  EXPECT_EQ(c.blobs[1].sub_interface, 0x22222222U);
  EXPECT_EQ(c.blobs[1].version.major_version, 1);
  EXPECT_EQ(c.blobs[1].version.minor_version, 2);
  EXPECT_EQ(c.blobs[1].version.sub_minor_version, 3);
  EXPECT_EQ(std::vector(c.blobs[0].data.begin(), c.blobs[0].data.end()), task.network.bytes());
  const loadable::MemoryEntry& sram = c.memories.at(kSram);
  EXPECT_EQ(sram.domain, 1);
  EXPECT_EQ(sram.flags, 17);
  EXPECT_EQ(sram.size, 0x123456789aU);
  EXPECT_EQ(sram.alignment, 0x20000000U);
  EXPECT_TRUE(sram.contents.empty());
  EXPECT_EQ(c.memories.at(kResult).bind_id, 0);
  EXPECT_EQ(c.memories.at(kResult).tensor, 1);
  EXPECT_TRUE(c.memories.at(kResult).output());
  ASSERT_EQ(c.memories.at(kGraph).contents.size(), 1U);
  EXPECT_EQ(c.memories.at(kGraph).contents[0].blob, 2U);
  EXPECT_EQ(c.memories.at(kGraph).contents[0].offset, 0U);
  EXPECT_EQ(c.addresses.at(8).memory, kSram);
  EXPECT_EQ(c.addresses.at(8).offset, 0x1111111111U);
  EXPECT_EQ(c.addresses.at(8).size, 0x0123456789U);
  ASSERT_EQ(c.events.size(), 2U);
  EXPECT_EQ(c.events[0].id, 0x1234);
  EXPECT_EQ(c.events[0].type, 2);
  EXPECT_EQ(c.events[0].target, 0x2345);
  EXPECT_EQ(c.events[0].value, 0x34567890U);
  EXPECT_EQ(c.events[0].op, 1);
  ASSERT_EQ(c.tasks.size(), 2U);
  EXPECT_EQ(c.tasks[0].interface, 1U);
  EXPECT_EQ(c.tasks[1].interface, 2U);
  EXPECT_EQ(c.tasks[0].instance, -2);
  EXPECT_EQ(c.tasks[0].addresses, (std::vector<std::uint16_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(c.tasks[0].pre_actions, (std::vector<std::uint16_t>{0x1234}));
  EXPECT_EQ(c.tasks[0].post_actions, (std::vector<std::uint16_t>{0x1235, 0x1234}));
  const loadable::TensorEntry& t = c.tensors.at(1);
  EXPECT_EQ(t.name, "named");
  EXPECT_EQ(t.id, 0x1111);
  EXPECT_EQ(t.memory, kResult);
  EXPECT_EQ(t.size, 0x2222U);
  EXPECT_EQ(t.offset, 0x1ddeU);
  EXPECT_EQ(t.data_format, 0x11);
  EXPECT_EQ(t.data_type, 0x12);
  EXPECT_EQ(t.data_category, 0x13);
  EXPECT_EQ(t.pixel_format, 0x14);
  EXPECT_EQ(t.pixel_mapping, 0x15);
  EXPECT_EQ(t.n, 0x1001);
  EXPECT_EQ(t.c, 0x1002);
  EXPECT_EQ(t.h, 0x1003);
  EXPECT_EQ(t.w, 0x1004);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(t.stride[i], 0x71000000U + i);
  ASSERT_EQ(c.relocs.size(), 1U);
  EXPECT_EQ(c.relocs[0].address, 9);
  EXPECT_EQ(c.relocs[0].write, kData);
  EXPECT_EQ(c.relocs[0].offset, 0x3333U);
  EXPECT_EQ(c.relocs[0].interface, 0x44444444U);
  EXPECT_EQ(c.relocs[0].sub_interface, 0x55555555U);
  EXPECT_EQ(c.relocs[0].type, 0x66);
  EXPECT_EQ(c.submits, (std::vector<std::vector<std::uint16_t>>{{1}, {0}}));
}

/* ------------------------------------------------------------- tables --- */

struct TableEffect {
  const char* field;
  std::int64_t value;
  std::function<void(nvdla_lut&)> change;
};

// Starts and ends are of as many bits as the unit takes, with a sign.
std::vector<TableEffect> table_effects(bool cdp) {
  const std::int64_t bits = cdp ? 0x3f80000001 : 0x123480000001;
  const std::int64_t input =
      cdp ? 0x3f80000001 - (std::int64_t{1} << 38) : 0x80000001 - (std::int64_t{1} << 32);
  return {
      {"linear_exp_offset", 0x1285, [](nvdla_lut& l) { l.le_index_offset = -0x7b; }},
      {"linear_only_offset", 0x1286, [](nvdla_lut& l) { l.lo_index_select = -0x7a; }},
      {"linear_exp_start", bits, [=](nvdla_lut& l) { l.le_start = input; }},
      {"linear_exp_end", bits, [=](nvdla_lut& l) { l.le_end = input; }},
      {"linear_only_start", bits, [=](nvdla_lut& l) { l.lo_start = input; }},
      {"linear_only_end", bits, [=](nvdla_lut& l) { l.lo_end = input; }},
      {"linear_exp_underflow_slope.scale", -0x1231,
       [](nvdla_lut& l) { l.le_underflow.scale = -0x1231; }},
      {"linear_exp_overflow_slope.scale", -0x1232,
       [](nvdla_lut& l) { l.le_overflow.scale = -0x1232; }},
      {"linear_only_underflow_slope.scale", -0x1233,
       [](nvdla_lut& l) { l.lo_underflow.scale = -0x1233; }},
      {"linear_only_overflow_slope.scale", -0x1234,
       [](nvdla_lut& l) { l.lo_overflow.scale = -0x1234; }},
      {"linear_exp_underflow_slope.shifter", -0x11,
       [](nvdla_lut& l) { l.le_underflow.shift = -0x11; }},
      {"linear_exp_overflow_slope.shifter", -0x12,
       [](nvdla_lut& l) { l.le_overflow.shift = -0x12; }},
      {"linear_only_underflow_slope.shifter", -0x13,
       [](nvdla_lut& l) { l.lo_underflow.shift = -0x13; }},
      {"linear_only_overflow_slope.shifter", -0x14,
       [](nvdla_lut& l) { l.lo_overflow.shift = -0x14; }},
      {"linear_exp_underflow_slope.reserved0", 1, [](nvdla_lut&) {}},
      {"linear_exp_overflow_slope.reserved0", 1, [](nvdla_lut&) {}},
      {"linear_only_underflow_slope.reserved0", 1, [](nvdla_lut&) {}},
      {"linear_only_overflow_slope.reserved0", 1, [](nvdla_lut&) {}},
      {"hybrid_priority", 1, [](nvdla_lut& l) { l.flags = NVDLA_LUT_HYBRID_LO; }},
      {"underflow_priority", 1, [](nvdla_lut& l) { l.flags = NVDLA_LUT_UNDERFLOW_LO; }},
      {"overflow_priority", 1, [](nvdla_lut& l) { l.flags = NVDLA_LUT_OVERFLOW_LO; }},
      {"method", 1,
       [](nvdla_lut& l) {
         l.flags = NVDLA_LUT_LE_LINEAR;
         l.le_index_select = l.le_index_offset;
         l.le_index_offset = 0;
       }},
  };
}

nvdla_lut lut_of(const Task& task) {
  const Container c = loadable::parse_container(task.bytes());
  return convert_task(c, decode_task(c, 0), *nvdla_hw_find("nv_full")).luts.at(0);
}

TEST(Tables, EachFieldEndsInItsPlace) {
  for (const bool cdp : {false, true}) {
    Task task;
    base(cdp ? "cdp" : "sdp_operands").make(task);
    Record& table = task.add_table();
    table.set("linear_exp_offset", 3);
    task[0].set("op.lut_index", 2);
    const nvdla_lut before = lut_of(task);
    std::vector<TableEffect> effects = table_effects(cdp);
    static std::vector<std::string> names;
    names.resize(65 + 257);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool le = i < 65;
      const std::size_t at = le ? i : i - 65;
      names[i] = (le ? "linear_exp_table[" : "linear_only_table[") + std::to_string(at) + "]";
      effects.push_back(
          {names[i].c_str(), -0x7123, [=](nvdla_lut& l) { (le ? l.le[at] : l.lo[at]) = -0x7123; }});
    }
    EXPECT_EQ(effects.size(), table.fields().size());
    for (const TableEffect& effect : effects) {
      SCOPED_TRACE(effect.field);
      const std::int64_t old = table.get(effect.field);
      table.set(effect.field, effect.value);
      const nvdla_lut found = lut_of(task);
      table.set(effect.field, old);
      nvdla_lut expected = before;
      effect.change(expected);
      ASSERT_EQ(std::memcmp(&found, &expected, sizeof(expected)), 0);
    }
  }
}

/* --------------------------------------------------- operations of the CPU --- */

void expect_buffer(const loadable::EmuBuffer& b, const Record& from) {
  EXPECT_EQ(b.address, from.get("address"));
  EXPECT_EQ(b.offset, from.has("offset") ? from.get("offset") : 0);
  EXPECT_EQ(b.size, from.get("size"));
  EXPECT_EQ(b.format, from.get("format"));
  EXPECT_EQ(b.width, from.get("width"));
  EXPECT_EQ(b.height, from.get("height"));
  EXPECT_EQ(b.channel, from.get("channel"));
  EXPECT_EQ(b.line_stride, from.get("line_stride"));
  EXPECT_EQ(b.surf_stride, from.get("surf_stride"));
}

TEST(Emulated, EachFieldIsWhereItWasWritten) {
  for (const bool old : {false, true}) {
    for (const int type : {0, 1}) {
      Emulated e(old);
      std::int64_t value = 0x1234;
      for (Record* buffer : {&e.source, &e.destination}) {
        for (const auto& [field, place] : buffer->fields()) buffer->set(field, value++);
      }
      e.op.set("op_type", type);
      const auto real = [&](const char* field, float number) {
        if (e.op.has(field)) e.op.set(field, std::bit_cast<std::uint32_t>(number));
      };
      real("input_scale", 1.5F);
      real("output_scale", 2.5F);
      if (type == 0) {
        real("power", 3.5F);
        real("scale", 4.5F);
        real("shift", 5.5F);
      } else {
        e.op.set("axis", 0x67);
      }
      const Container c = loadable::parse_container(write(e.file()));
      const auto task = std::get<loadable::EmuTask>(decode_task(c, 0).work);
      ASSERT_EQ(task.operations.size(), 1U);
      const loadable::EmuOperation& op = task.operations[0];
      EXPECT_EQ(op.type, type);
      EXPECT_EQ(op.input_scale, old ? 1 : 1.5F);
      EXPECT_EQ(op.output_scale, old ? 1 : 2.5F);
      EXPECT_EQ(op.power, type == 0 ? 3.5F : 1);
      EXPECT_EQ(op.scale, type == 0 ? 4.5F : 1);
      EXPECT_EQ(op.shift, type == 0 ? 5.5F : 0);
      EXPECT_EQ(op.axis, type == 0 ? 0 : 0x67);
      expect_buffer(op.source, e.source);
      expect_buffer(op.destination, e.destination);
    }
  }
}

TEST(Emulated, OlderFilesNumberHalvesAsTwo) {
  const Container c = loadable::parse_container(write(Emulated(true).file()));
  const auto task = std::get<loadable::EmuTask>(decode_task(c, 0).work);
  EXPECT_EQ(task.operations.at(0).source.format, 3);
  EXPECT_EQ(task.operations.at(0).destination.format, 3);
}

}  // namespace
}  // namespace nvdla::witness
