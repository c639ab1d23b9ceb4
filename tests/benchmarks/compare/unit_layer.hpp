// SPDX-License-Identifier: MIT
//
// One layer of a unit other than the convolution, beside what oneDNN has for it.
#pragma once

#include <functional>
#include <string>

#include "compare/cases.hpp"
#include "compare/ours.hpp"
#include "peer/units.hpp"

namespace nvdla::bench {

inline constexpr Shape kUnitShape{64, 56, 56};
// What an element of a table's or a normalisation's operand is worth in int8.
inline constexpr float kUnitStep = 1.0F / 16;

// All of int8; a normal distribution in fp16.
PeerTensor unit_tensor(const Shape& shape, Precision precision, std::uint32_t seed = 1);

// How far a result may be from the peer's.
struct Tolerance {
  double absolute = 0, part = 0;
};

// Of fp16: the last bit, and what the last bits of the operands leave where they nearly cancel.
Tolerance unit_tolerance(Precision precision, double int8 = 0);

// A network of one layer with up to two inputs.
struct UnitLayer {
  PeerTensor input, other = {};
  Quantization in = {}, out = {};
  bool planes = false;  // come in
  std::function<Tensor(Network& network, Tensor input, Tensor other)> build = {};
};

// With a second input of other numbers.
UnitLayer layer_of_two(Precision precision);
// The numbers of a table for the layer, with their steps in int8, which its inputs take on.
LutFormat table_format(UnitLayer& layer, float result_step);

Case unit_case(const UnitLayer& layer, const Operation& peer, const Tolerance& tolerance);

// A case on one thread for int8 and one for fp16.
void add_unit(const Settings& settings, const std::string& name, Case (*make)(Precision));

}  // namespace nvdla::bench
