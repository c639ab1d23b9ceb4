// SPDX-License-Identifier: MIT
//
// Puts a layer of the reference into memory and registers, by the description of formats and
// registers alone: neither the compiler nor the model's own code takes part.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/layers/reference.hpp"
#include "common/random.hpp"
#include "firmware/nvdla_hw.h"
#include "model/core/bus.hpp"
#include "model/core/memory.hpp"
#include "model/core/register_info.hpp"
#include "model/device.hpp"

namespace nvdla::test {

// Registers by name, fields by name.
class Registers {
 public:
  Registers(model::Device& device) : device_(device) {}

  std::uint32_t read(std::string_view name);
  std::uint32_t field(std::string_view name, std::string_view field);
  void write(std::string_view name, std::uint32_t value);
  // Fields that are not named are 0.
  void set(std::string_view name,
           std::initializer_list<std::pair<std::string_view, std::uint32_t>> fields);
  // Changes one field of what was last written.
  void change(std::string_view name, std::string_view field, std::uint32_t value);

 private:
  std::uint32_t address(std::string_view name) const;

  model::Device& device_;
};

struct Cube {
  std::uint64_t base = 0, line = 0, surface = 0;
};

struct TestLayer {
  RefLayer ref;
  const nvdla_hw* hw = nullptr;
  Cube input, output;
  std::uint64_t weights = 0x8100'0000;
  std::uint64_t weight_bytes = 0;
  std::uint64_t operands[2] = {0x8300'0000, 0x8400'0000};
  std::uint64_t operand_line[2] = {}, operand_surface[2] = {};
  unsigned data_banks = 1, weight_banks = 1;
  bool line_packed = false, surface_packed = false;
  unsigned grain = 1;
  bool data_reuse = false, weight_reuse = false, keep_data = false, keep_weights = false;
  unsigned fetched_height = 0;  // 0: all lines
  unsigned release = 0;         // 0: all lines

  unsigned element_bytes() const { return ref.wide_proc ? 2 : 1; }
  unsigned column() const { return hw->atom / element_bytes(); }
  unsigned input_bytes() const { return ref.wide_input ? 2 : 1; }
  unsigned output_bytes() const { return ref.wide_output ? 2 : 1; }
  bool uses_rdma() const;
  unsigned entries() const;
  unsigned operand_bytes(unsigned index) const;  // of one element
};

// Places, packs and sizes everything that follows from the geometry; packed cubes unless gaps.
void finish_layout(TestLayer& layer, Random& random, bool gaps);

// Bytes of the kernels, and WEIGHT_BYTES as their next multiple, with the banks for it.
std::uint64_t packed_weights(const TestLayer& layer);
void round_weights(TestLayer& layer, std::uint64_t multiple);

// The kernels in the order of memory, and back.
std::vector<std::byte> weight_stream(const TestLayer& layer);
void take_stream(TestLayer& layer, std::span<const std::byte> stream);

// Writes input, weights and operands.
void load(const TestLayer& layer, model::Memory& memory);

// Programs one group of all units that take part, without enabling.
void program(const TestLayer& layer, Registers& registers, unsigned group, unsigned rdma_group);
// CSC before CDMA, or the other way round.
void enable(const TestLayer& layer, Registers& registers, bool fetch_first = false);

// The output cube as it should be in memory: address to byte.
std::map<std::uint64_t, std::uint8_t> expected_bytes(const TestLayer& layer,
                                                     const RefResult& result);

// A small layer; everything that is legal may come.
TestLayer random_layer(const nvdla_hw& hw, Random& random, bool convolution);

}  // namespace nvdla::test
