// SPDX-License-Identifier: MIT
//
// Layers of SDP that bring integers to int8 in one pass over a tile: an operand and a factor of
// each channel, a tensor added, ReLU, the converter; any of these may be missing. What most layers
// of a network are.
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
  // No integer that comes in has a greater magnitude than `largest`. Whether one pass, in fp32,
  // gives exactly what the operators do.
  bool begin(const SdpLayer& layer, const SdpOperands (&operands)[3], std::uint64_t largest,
             std::uint32_t channels);

  // What adds a tensor, if anything does: its operands of a tile are to be fetched.
  static constexpr unsigned kNone = 3;
  unsigned adder() const noexcept { return adder_; }

  // `elements`: of the adder.
  SdpFinish block(unsigned number, const SdpOperands (&operands)[3],
                  const SdpOperands::Tile& elements) const noexcept;

 private:
  bool take(const SdpLayer& layer, const SdpOperands (&operands)[3], unsigned unit);
  bool take_channels(const OperatorX& x, const SdpOperands& operands, unsigned unit);
  bool scale_exactly(const SdpLayer& layer);

  unsigned channels_ = kNone, adder_ = kNone;  // operators
  bool relu_ = false;
  float scale_ = 0;              // of the converter; 0: it changes nothing
  std::uint64_t most_ = 0;       // magnitude at this place
  std::uint64_t added_ = 0;      // by the adder
  std::uint64_t least_cut_ = 0;  // results of a factor from here on may be too small
  unsigned blocks_ = 0;
  std::vector<float> factors_;        // empty: none
  std::vector<std::int32_t> halves_;  // patterns of 1/2 with their signs
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_SDP_FINISHING_HPP
