// SPDX-License-Identifier: MIT
#include "loadable/loadable_schedule.hpp"

#include "base/handles.hpp"
#include "compiler/lower/compiled_schedule.hpp"

namespace nvdla::loadable {

std::string schedule_text(const Loadable& file, const Device& device) {
  const CompiledNetwork compiled = file.compile(device);
  return detail::print_schedule(detail::schedule_of(*detail::Handles::impl(compiled)));
}

}  // namespace nvdla::loadable
