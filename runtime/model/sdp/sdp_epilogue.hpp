// SPDX-License-Identifier: MIT
//
// Layers of SDP that bring integers to int8 by operands of each channel, in exact steps of 32 bits:
// wide biases, two multipliers of a kernel, and zero points, as quantised layers of trained
// networks have them. What a step needs is found once for each layer and kept for its later runs.
#ifndef NVDLA_MODEL_SDP_SDP_EPILOGUE_HPP
#define NVDLA_MODEL_SDP_SDP_EPILOGUE_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/sdp/sdp_layer.hpp"
#include "model/sdp/sdp_operands.hpp"
#include "model/simd/kernels.hpp"

namespace nvdla::model {

class SdpEpilogue {
 public:
  static constexpr unsigned kNone = 3;

  // Returns whether the steps give exactly what the operators do, if no integer that comes in has a
  // greater magnitude than `largest`. Where results that saturate are counted, blocks guard against
  // what would be.
  bool begin(const SdpLayer& layer, const SdpOperands (&operands)[3], std::uint64_t largest,
             std::uint32_t channels);

  // `Mark` leads back to what the last begin() found, as long as nothing was forgotten.
  struct Mark {
    std::size_t entry = 0;
    unsigned adder = kNone;
    std::uint64_t forgotten = 0;
  };
  Mark mark() const noexcept { return {current_, adder_, forgotten_}; }
  // Returns false if begin() has to be called instead.
  bool resume(const Mark& mark) noexcept;

  // The operator that adds a tensor, whose operands of a tile are then to be fetched, or none.
  unsigned adder() const noexcept { return adder_; }

  // Returns whether steps are merged and guard nothing.
  bool merges() const noexcept {
    const EpilogueBlock& shared = entries_[current_].shared;
    return shared.first == EpilogueStep::kMerged && !shared.guards;
  }

  // Returns the steps of a block of channels, `elements` being those of the adder; they stay where
  // they are until the next begin().
  EpilogueBlock block(unsigned number, const SdpOperand& elements) const noexcept;

 private:
  // An operator or the converter: (value + addend) * factor, shifted to the right with rounding.
  struct Step {
    bool active = false;
    bool adds = false, multiplies = false;
    bool relu = false;
    unsigned shift = 0;
    bool operator==(const Step&) const = default;
  };
  // Steps follow from this and the operands of channels.
  struct Form {
    Step x[2];
    bool second_is_y = false;    // Y's multiplier takes the second one's place
    bool adds_elements = false;  // behind these operators
    bool relu_behind_elements = false;
    std::uint64_t largest_element = 0;
    std::int32_t offset = 0;
    std::int16_t scale = 0;
    unsigned shift = 0;
    bool counts = false;  // results that the converter saturates
    std::uint64_t largest = 0;
    std::uint32_t channels = 0;
    bool operator==(const Form&) const = default;
  };
  struct Channel;
  // The operands of both operators.
  static const SdpOperands& operands_of(const SdpOperands (&operands)[3], const Form& form,
                                        unsigned i) noexcept {
    return operands[i == 1 && form.second_is_y ? 2 : i];
  }
  struct Entry {
    Form form;
    std::vector<std::int32_t> operands;  // of channels: ALU and multiplier of both operators
    bool exact = false;
    EpilogueBlock shared{};             // what is the same for all channels
    std::vector<std::int32_t> numbers;  // [block][array][kBlock], arrays as in EpilogueBlock
  };
  class Fit;

  static constexpr unsigned kArrays = 8;
  // Channels of all entries; beyond, all are forgotten.
  static constexpr std::size_t kMostChannels = std::size_t{1} << 20;

  // Sets in `form` what Y does, and which operator adds a tensor; returns false where that is
  // nothing for steps.
  bool take_y(const SdpLayer& layer, const SdpOperands (&operands)[3], Form& form) noexcept;
  bool take_adder(const SdpLayer& layer, const SdpOperands (&operands)[3], Form& form) noexcept;
  // Finds the entry of a layer; layers come in the same order again and again.
  Entry* find(const Form& form, const SdpOperands (&operands)[3]) noexcept;

  unsigned adder_ = kNone;
  std::vector<Entry> entries_;
  std::size_t current_ = 0;
  std::size_t channels_ = 0;     // of all entries
  std::uint64_t forgotten_ = 0;  // how often all were
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_SDP_EPILOGUE_HPP
