// SPDX-License-Identifier: MIT
//
// A loadable is this behind its handle; the dump, which shows all of it, uses it, too.
#ifndef NVDLA_LOADABLE_READ_LOADABLE_IMPL_HPP
#define NVDLA_LOADABLE_READ_LOADABLE_IMPL_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "loadable/format/container.hpp"
#include "loadable/format/task.hpp"
#include "loadable/format/user_table.hpp"
#include "nvdla/loadable.hpp"

namespace nvdla {

namespace loadable {

// Returns the bytes of a memory. Throws kInvalidArgument if there is no such number.
std::uint64_t buffer_bytes(const MemoryEntry& memory);
std::uint32_t pixel_of(const TensorEntry& entry);

}  // namespace loadable

struct Loadable::Impl {
  loadable::Container container;
  // The network that the file was made of, where it has that.
  std::optional<loadable::UserTable> user;
  // All tasks, by index.
  std::vector<loadable::Task> tasks;

  // Memories that the application binds, in the order of their numbers.
  struct Port {
    std::string name;
    std::uint16_t memory = 0;
    std::uint16_t tensor = 0;
    bool input = false;
  };
  std::vector<Port> inputs, outputs;

  LoadableTensor describe(const Port& port) const;
  // The name that the user's network gives to a layer of hardware or CPU, counted as they run;
  // `operations`, which name it otherwise, where there is none.
  std::string step_name(std::size_t step, std::string operations) const {
    const bool named = user && step < user->names.size() && !user->names[step].empty();
    return named ? user->names[step] : std::move(operations);
  }
  // Index of the port of that name among inputs, then outputs.
  const Port& port(std::string_view name) const;
  // Throws unless every task converts and compiles for `hw`.
  void check(const nvdla_hw& hw) const;
  // Names of the configurations for which check() passes, or fails only for what this version of
  // the compiler does not have.
  std::vector<const char*> made_for() const;
};

}  // namespace nvdla

#endif  // NVDLA_LOADABLE_READ_LOADABLE_IMPL_HPP
