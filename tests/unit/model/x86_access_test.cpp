// SPDX-License-Identifier: MIT
//
// Who has AMX, who may use it, and what those are told who may not.
#include "model/simd/sets/x86_access.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace nvdla::model {
namespace {

unsigned asked;
int answer;
int ask() {
  ++asked;
  return answer;
}

class Amx : public testing::Test {
 protected:
  Amx() { asked = 0; }

  static std::string refused(int error) {
    answer = error;
    const SetAccess access = amx_access({true, true, ask});
    EXPECT_FALSE(access.usable);
    return access.refused == nullptr ? "" : access.refused;
  }
};

TEST_F(Amx, IsUsedWhereTheSystemGivesTiles) {
  answer = 0;
  const SetAccess access = amx_access({true, true, ask});
  EXPECT_TRUE(access.usable);
  EXPECT_EQ(access.refused, nullptr);
  EXPECT_EQ(asked, 1u);
}

// Nobody is asked for what is not there.
TEST_F(Amx, IsAskedForWhereItIs) {
  const SetAccess without = amx_access({false, true, ask});
  EXPECT_FALSE(without.usable);
  EXPECT_EQ(without.refused, nullptr);
  const SetAccess not_kept = amx_access({true, false, ask});
  EXPECT_FALSE(not_kept.usable);
  EXPECT_STREQ(not_kept.refused,
               "the system does not keep AMX's tiles (XCR0 has no bits 17 and 18)");
  EXPECT_EQ(asked, 0u);
}

TEST_F(Amx, RefusalsSayWhy) {
  for (const int error : {EINVAL, EOPNOTSUPP, ENOSYS})
    EXPECT_EQ(refused(error), "the system has no AMX's tiles to give (Linux has since 5.16)");
  EXPECT_EQ(refused(ENOSPC),
            "the system gives no AMX's tiles to a process whose alternate signal stack has no room "
            "for them");
  EXPECT_EQ(refused(EPERM),
            "the system refused AMX's tiles to this process (arch_prctl, ARCH_REQ_XCOMP_PERM, "
            "XTILEDATA)");
}

// Of this machine, whatever it is: the same each time.
TEST_F(Amx, AnswersStay) {
  const SetAccess first = amx_access(), second = amx_access();
  EXPECT_EQ(first.usable, second.usable);
  EXPECT_EQ(first.refused, second.refused);
}

}  // namespace
}  // namespace nvdla::model
