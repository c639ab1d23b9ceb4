// SPDX-License-Identifier: MIT
//
// Collects units that cannot go on and why.
#ifndef NVDLA_MODEL_CORE_BLOCKED_LIST_HPP
#define NVDLA_MODEL_CORE_BLOCKED_LIST_HPP

#include <string>
#include <vector>

#include "model/core/options.hpp"
#include "model/core/register_file.hpp"

namespace nvdla::model {

class BlockedList {
 public:
  explicit BlockedList(const RegisterFile& registers) : registers_(registers) {}

  // The layer at CONSUMER of a unit, if it is enabled.
  void add(Unit unit, std::string reason) {
    if (registers_.running(unit))
      list_.push_back({unit, registers_.consumer(unit), std::move(reason)});
  }
  void add(Unit unit, unsigned group, std::string reason) {
    list_.push_back({unit, group, std::move(reason)});
  }

  // A unit whose other group is enabled waits for ever if this one never is.
  void add_waiting_group(Unit unit) {
    const unsigned other = registers_.consumer(unit) ^ 1;
    if (!registers_.running(unit) && registers_.enabled(unit, other))
      add(unit, other,
          "waits for group " + std::to_string(other ^ 1) + ", which is next and not enabled");
  }

  std::vector<Blocked> take() { return std::move(list_); }

 private:
  const RegisterFile& registers_;
  std::vector<Blocked> list_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_BLOCKED_LIST_HPP
