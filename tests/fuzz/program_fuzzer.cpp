// SPDX-License-Identifier: MIT
//
// All that program_check.hpp promises, for any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "program_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nvdla::fuzz;
  Input input({data, size});
  const Checked checked = check_program(make_program(input), {});
  if (checked.failure.empty()) return 0;
  std::fprintf(stderr, "%s\n", checked.failure.c_str());
  std::abort();
}
