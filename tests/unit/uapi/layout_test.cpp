// SPDX-License-Identifier: MIT
//
// The layout of the contract: pinned by layout.inc in all worlds (compile
// time), without holes (here).
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "layout_asserts.h"

namespace {

struct Member {
  std::string name;
  std::size_t offset;
  std::size_t size;
};

struct Struct {
  std::string name;
  std::size_t size;
  std::vector<Member> members;
};

std::vector<Struct> structs() {
  std::vector<Struct> all;
#define VALUE(name, value)
#define STRUCT(type, bytes) all.push_back({#type, bytes, {}});
#define MEMBER(type, member, at, bytes) all.back().members.push_back({#member, at, bytes});
#include "layout.inc"
#undef VALUE
#undef STRUCT
#undef MEMBER
  return all;
}

// Bytes that no member names would reach the kernel unset.
TEST(Layout, HasNoHoles) {
  for (const Struct& type : structs()) {
    std::size_t end = 0;
    for (const Member& member : type.members) {
      EXPECT_EQ(member.offset, end) << type.name << "." << member.name;
      end = member.offset + member.size;
    }
    EXPECT_EQ(end, type.size) << type.name;
  }
}

// A multiple of 8 has no tail that a 32-bit compiler would leave out.
TEST(Layout, SizesAreMultiplesOfEight) {
  for (const Struct& type : structs()) {
    EXPECT_EQ(type.size % 8, 0u) << type.name;
  }
}

// Members lie on multiples of their own alignment even where the ABI aligns
// 64-bit integers to 4.
TEST(Layout, WideMembersAreAligned) {
  for (const Struct& type : structs()) {
    for (const Member& member : type.members) {
      if (member.size == 8) {
        EXPECT_EQ(member.offset % 8, 0u) << type.name << "." << member.name;
      }
    }
  }
}

}  // namespace
