// SPDX-License-Identifier: MIT
//
// Each field of each operation, set in turn in a file of the tests' own writer: what becomes of it
// in the layer, and that nothing else does.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "bases.hpp"
#include "loadable/read/convert.hpp"
#include "nvdla/types/error.hpp"

namespace nvdla::witness {
namespace {

using loadable::ConvertedProgram;

// Of the file, after the change of one field: the program, or nothing if it is refused.
std::optional<ConvertedProgram> convert(const Task& task) {
  try {
    const loadable::Container c = loadable::parse_container(task.bytes());
    return convert_task(c, decode_task(c, 0), *nvdla_hw_find("nv_full"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    return std::nullopt;
  }
}

template <typename T>
void expect_equal(const std::vector<T>& a, const std::vector<T>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto* x = reinterpret_cast<const unsigned char*>(&a[i]);
    const auto* y = reinterpret_cast<const unsigned char*>(&b[i]);
    for (std::size_t k = 0; k < sizeof(T); ++k) {
      ASSERT_EQ(x[k], y[k]) << what << " " << i << ", byte " << k;
    }
  }
}

void expect_equal(const ConvertedProgram& found, const ConvertedProgram& expected) {
  expect_equal(found.layers, expected.layers, "layer");
  expect_equal(found.slots, expected.slots, "slot");
  expect_equal(found.luts, expected.luts, "table");
  expect_equal(found.transfers, expected.transfers, "transfer");
  expect_equal(found.control, expected.control, "control data");
  EXPECT_EQ(found.memories, expected.memories);
  ASSERT_EQ(found.derived.size(), expected.derived.size());
  for (std::size_t i = 0; i < found.derived.size(); ++i) {
    EXPECT_EQ(found.derived[i].field, expected.derived[i].field);
    EXPECT_EQ(found.derived[i].value, expected.derived[i].value) << found.derived[i].field;
    EXPECT_EQ(found.derived[i].where.reg, expected.derived[i].where.reg);
    EXPECT_EQ(found.derived[i].where.mask, expected.derived[i].where.mask);
  }
}

// "transfers[3].lines" is that of every transfer.
bool matches(const std::string& pattern, const std::string& field) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return pattern == field;
  const std::string head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return field.size() >= head.size() + tail.size() && field.starts_with(head) &&
         field.ends_with(tail);
}

// What the base says of a field; nothing if it says nothing.
const Effect* effect_of(const Base& base, const std::string& field) {
  for (const Effect& e : base.effects) {
    if (matches(e.field, field)) return &e;
  }
  return nullptr;
}

void check_base(const Base& base, std::array<std::uint8_t, 3> interface) {
  Task task(interface);
  base.make(task);
  const auto original = convert(task);
  ASSERT_TRUE(original.has_value());
  std::set<const Effect*> used;
  for (std::size_t i = 0; i < task.size(); ++i) {
    for (const std::string& field : task[i].fields()) {
      const std::string name = std::to_string(i) + "." + field;
      SCOPED_TRACE(base.name + ": operation " + name);
      const Effect* effect = effect_of(base, name);
      ASSERT_NE(effect, nullptr) << "nothing is said of this field";
      used.insert(effect);
      const std::int64_t before = task[i].get(field);
      const std::int64_t value = effect->value.value_or(before + 1);
      // A value that it has already proves nothing.
      ASSERT_TRUE(value != before || effect->kind == Effect::kIgnored);
      task[i].set(field, value);
      const auto found = convert(task);
      task[i].set(field, before);
      ASSERT_EQ(found.has_value(), effect->kind != Effect::kRefused);
      if (!found) continue;
      ConvertedProgram expected = *original;
      if (effect->change) effect->change(expected);
      expect_equal(*found, expected);
    }
  }
  // Nothing is said of fields that are not there.
  for (const Effect& e : base.effects) {
    const bool newer = task.old() && e.field.ends_with(".offset");
    if (effect_of(base, e.field) != &e || newer || e.field.ends_with('*')) continue;
    EXPECT_TRUE(used.contains(&e)) << base.name << ": " << e.field;
  }
}

class Fields : public testing::TestWithParam<std::size_t> {};

TEST_P(Fields, EachEndsInItsPlace) {
  const Base& base = bases()[GetParam()];
  for (const std::uint8_t minor : {10, 11, 12}) {
    SCOPED_TRACE("interface 0." + std::to_string(minor));
    check_base(base, {0, minor, 0});
  }
}

INSTANTIATE_TEST_SUITE_P(Loadable, Fields, testing::Range<std::size_t>(0, bases().size()),
                         [](const auto& test) { return bases()[test.param].name; });

}  // namespace
}  // namespace nvdla::witness
