// SPDX-License-Identifier: MIT
//
// Properties of random layers, by rapidcheck.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "common/random.hpp"

namespace nvdla::test {

// What is wrong with the layer that it draws; empty if nothing is.
using Property = std::function<std::string(Random&)>;

// Holds `property` against random layers and returns how many it drew. A twelfth of `count` are the
// same ones in each run, 20 at least if a third of `count` is as many; half as many come from the
// seed of this run. Of the first that fails a simpler one is looked for that fails too, and the
// running GoogleTest fails with its text.
//
// The environment variable NVDLA_SEED sets the seed of a run, which is else drawn and printed.
// NVDLA_LAYERS=all draws four times as many layers, as `make test-all` does and builds with a
// sanitizer do.
// RC_PARAMS asks for `count` layers of one seed instead: "seed=5" for other ones,
// "max_success=100000" for more of them, "reproduce=..." for the one that a failure names.
unsigned for_all(unsigned count, const Property& property);
unsigned for_all(unsigned count, const Property& property, std::uint64_t seed);

// The same for a property of GoogleTest's assertions.
unsigned expect_for_all(unsigned count, const std::function<void(Random&)>& property);

// Leaves a case out whose numbers do not go together; others are drawn in its place.
[[noreturn]] void discard();

// What is wrong with the layer's name before it.
inline std::string with_name(const std::string& layer, const std::string& wrong) {
  return wrong.empty() ? wrong : layer + ": " + wrong;
}

// Of a layer's sizes, for its name: a blank before each.
std::string numbers(std::initializer_list<std::int64_t> values);

}  // namespace nvdla::test
