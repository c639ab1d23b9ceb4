// SPDX-License-Identifier: MIT
//
// The readers of NumPy's arrays and of archives of them, against any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tools/cli/input/npy.hpp"
#include "tools/cli/input/npz.hpp"
#include "tools/files/status.hpp"

namespace {

void read_array(std::span<const std::uint8_t> file) {
  const nvdla::cli::NpyArray array = nvdla::cli::read_npy("fuzz", file);
  std::uint64_t elements = 1;
  for (const std::uint64_t side : array.shape) elements *= side;
  if (array.numbers("fuzz").size() != elements) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nvdla;
  const std::span file(data, size);
  // Any input may be refused, by an error of the tool and in no other way.
  try {
    if (cli::is_npy(file)) read_array(file);
    for (const cli::NpzArray& array : cli::read_npz("fuzz", file, {"x", "y"}))
      read_array(array.file);
  } catch (const program::UsageError&) {
  }
  return 0;
}
