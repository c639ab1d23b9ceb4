// SPDX-License-Identifier: MIT
//
// Files of each kind of operation, and what each of their fields does.
#ifndef NVDLA_TESTS_LOADABLE_BASES_HPP
#define NVDLA_TESTS_LOADABLE_BASES_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loadable/read/convert.hpp"
#include "unit/loadable/witness/task.hpp"

namespace nvdla::witness {

struct Effect {
  enum Kind { kChanges, kIgnored, kRefused };

  // "0.op.pad_x_left": operation, descriptor, field; one * stands for anything.
  std::string field;
  Kind kind = kIgnored;
  // What it is set to; one more than it was unless given.
  std::optional<std::int64_t> value;
  std::function<void(loadable::ConvertedProgram&)> change;
};

struct Base {
  std::string name;
  void (*make)(Task&);
  // The first that names a field holds.
  std::vector<Effect> effects;
};

const std::vector<Base>& bases();
const Base& base(const std::string& name);

}  // namespace nvdla::witness

#endif  // NVDLA_TESTS_LOADABLE_BASES_HPP
