// SPDX-License-Identifier: MIT
//
// What was kept of layers is found, soon where layers come in the order in which they came before.
#include "model/core/recurring_search.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace nvdla::model {
namespace {

// Finds one of `names`, or adds it; returns how many were looked at.
class Kept {
 public:
  std::size_t look(char name) {
    std::size_t looks = 0;
    const std::size_t at = search_.find([&](std::size_t place) {
      ++looks;
      return names_.at(place) == name;
    });
    if (at == RecurringSearch::kNone) {
      names_.push_back(name);
      search_.append();
    } else {
      EXPECT_EQ(names_.at(at), name);
      EXPECT_EQ(search_.latest(), at);
    }
    return looks;
  }
  std::size_t size() const { return names_.size(); }
  void clear() {
    names_.clear();
    search_.clear();
  }

 private:
  RecurringSearch search_;
  std::vector<char> names_;
};

TEST(RecurringSearch, FindsEachPlaceWhateverTheOrder) {
  Kept kept;
  for (const char name : std::string_view("abcdaadcbabdbcaceae")) kept.look(name);
  EXPECT_EQ(kept.size(), 5u);
}

TEST(RecurringSearch, LooksOnceWhereTheOrderIsThatOfBefore) {
  Kept kept;
  for (const char name : std::string_view("abcbcde")) kept.look(name);
  for (const char name : std::string_view("abc")) kept.look(name);
  EXPECT_EQ(kept.look('d'), 1u) << "behind c came d";
  EXPECT_EQ(kept.look('e'), 1u);
  EXPECT_EQ(kept.look('a'), 1u) << "the round begins again";
  EXPECT_EQ(kept.look('b'), 1u);
}

TEST(RecurringSearch, LooksTwiceForTheLatest) {
  Kept kept;
  for (const char name : std::string_view("abc")) kept.look(name);
  kept.look('b');
  EXPECT_EQ(kept.look('b'), 2u) << "behind what came last time";
  EXPECT_EQ(kept.look('b'), 1u) << "now it is what came last time";
}

TEST(RecurringSearch, FindsNothingOnceItIsEmpty) {
  Kept kept;
  kept.look('a');
  kept.look('b');
  kept.clear();
  EXPECT_EQ(kept.look('a'), 0u);
  EXPECT_EQ(kept.look('a'), 1u);
}

}  // namespace
}  // namespace nvdla::model
