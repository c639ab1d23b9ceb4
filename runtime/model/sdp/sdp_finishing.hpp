// SPDX-License-Identifier: MIT
//
// `SdpFinishing` runs SDP layers that convert integers to int8 in one pass over a tile: an ALU
// operand and a factor for each channel, a tensor to add, ReLU and the converter, any of which may
// be missing. Most layers of networks have this form.
#ifndef NVDLA_MODEL_SDP_SDP_FINISHING_HPP
#define NVDLA_MODEL_SDP_SDP_FINISHING_HPP

#include <cstdint>
#include <vector>

#include "model/sdp/sdp_layer.hpp"
#include "model/sdp/sdp_operands.hpp"
#include "model/simd/kernels.hpp"

namespace nvdla::model {

class SdpFinishing {
 public:
  // Prepares a layer. No input has a greater magnitude than `largest`. Returns true if one pass in
  // fp32 gives exactly the results of the operators.
  bool begin(const SdpLayer& layer, const SdpOperands (&operands)[3], std::uint64_t largest,
             std::uint32_t channels);

  // The operator that adds a tensor, if any: its operands have to be fetched for each tile.
  static constexpr unsigned kNone = 3;
  unsigned adder() const noexcept { return adder_; }

  // `elements` are the adder's operands.
  SdpFinish block(unsigned number, const SdpOperands (&operands)[3],
                  const SdpOperands::Tile& elements) const noexcept;

 private:
  bool take(const SdpLayer& layer, const SdpOperands (&operands)[3], unsigned unit);
  bool take_channels(const OperatorX& x, const SdpOperands& operands, unsigned unit);
  bool scale_exactly(const SdpLayer& layer);

  unsigned channels_ = kNone, adder_ = kNone;  // operators
  bool relu_ = false;
  float scale_ = 0;              // the converter's; 0: no change
  std::uint64_t most_ = 0;       // the greatest magnitude so far
  std::uint64_t added_ = 0;      // the most that the adder adds
  std::uint64_t least_cut_ = 0;  // results of a factor from here on may be too small
  unsigned blocks_ = 0;
  std::vector<float> factors_;        // empty: none
  std::vector<std::int32_t> halves_;  // patterns of 1/2 with their signs
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_SDP_FINISHING_HPP
