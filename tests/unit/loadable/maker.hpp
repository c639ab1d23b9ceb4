// SPDX-License-Identifier: MIT
//
// Loadables made by hand, small and right, for tests that then break one thing.
#ifndef NVDLA_TESTS_LOADABLE_MAKER_HPP
#define NVDLA_TESTS_LOADABLE_MAKER_HPP

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "loadable/format/container.hpp"
#include "loadable/format/descriptors.hpp"
#include "loadable/format/task.hpp"

namespace nvdla::test {

// An operation that is told of nothing and waits for nothing.
loadable::Operation make_operation(std::uint8_t type, std::int16_t index);

// SDP alone on int8, 8 lines of 8 columns of 32 channels in atoms of `atom` bytes: position 1 of
// the address list to position 2.
loadable::SdpPart make_sdp_part(std::uint32_t atom);

// A file with one task of the hardware. Everything may be changed before file().
struct Maker {
  // The file that the class above says, with ReLU.
  explicit Maker(std::uint32_t atom = 8);

  loadable::Revision revision = loadable::Revision::kNew;
  loadable::Version version = {0, 12, 3};
  loadable::NetworkDesc network;
  std::vector<loadable::Operation> operations;
  std::vector<loadable::LutParam> luts;
  // What lies in the input.
  std::vector<std::byte> source;
  std::uint64_t tensor_bytes = 2048;
  std::uint32_t atom;

  loadable::Container container();
  std::vector<std::byte> file();

 private:
  std::uint32_t add_blob(loadable::Container& c, const std::string& name,
                         std::vector<std::byte> bytes);
  std::deque<std::vector<std::byte>> kept_;
};

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_LOADABLE_MAKER_HPP
