// SPDX-License-Identifier: MIT
#include "loadable/read/loadable_schedule.hpp"

#include "compiler/lower/compiled_schedule.hpp"
#include "support/handles.hpp"

namespace nvdla::loadable {

std::string schedule_text(const Loadable& file, const Device& device) {
  const CompiledNetwork compiled = file.compile(device);
  return detail::print_schedule(detail::schedule_of(*detail::Handles::impl(compiled)));
}

}  // namespace nvdla::loadable
