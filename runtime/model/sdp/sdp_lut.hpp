// SPDX-License-Identifier: MIT
//
// The look-up table of EW: reads its registers, interpolates, and counts.
#ifndef NVDLA_MODEL_SDP_SDP_LUT_HPP
#define NVDLA_MODEL_SDP_SDP_LUT_HPP

#include <cstdint>

#include "model/core/register_file.hpp"
#include "model/core/surface.hpp"
#include "model/lut/lut_search.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {

LutConfig read_sdp_lut(const RegisterFile& registers, Precision proc);

// Counts which side the answers came from and, independently, which tables were hit.
struct SdpLutCounters {
  std::uint64_t underflow = 0, overflow = 0, hit = 0;
  std::uint64_t le_hit = 0, lo_hit = 0;

  SdpLutCounters& operator+=(const SdpLutCounters& other) noexcept {
    underflow += other.underflow;
    overflow += other.overflow;
    hit += other.hit;
    le_hit += other.le_hit;
    lo_hit += other.lo_hit;
    return *this;
  }
};

// `SdpLut` evaluates the tables of a layer.
class SdpLut {
 public:
  // Prepares a layer. `config` must outlive the layer. No input has a greater magnitude than
  // `largest`.
  void begin(const LutConfig& config, const UnitKernels& kernels, std::uint64_t largest) noexcept;
  // Does the same for fp16 processing. `regular`: every input satisfies fp::is_regular().
  void begin_float(const LutConfig& config, const UnitKernels& kernels, bool regular) noexcept;

  // Looks up the first `lanes` of each [count][kBlock] in place, integers or fp32; counts if
  // `counted`.
  void look_up(std::int32_t* values, unsigned count, unsigned lanes, bool counted,
               SdpLutCounters& counters) const noexcept;

 private:
  // A bound on the magnitude of int8 values with some margin.
  static constexpr std::int32_t kFew = 256;

  void look_up_run(std::int32_t* values, TableRun& run) const noexcept;

  const LutConfig* config_ = nullptr;
  const UnitKernels* kernels_ = nullptr;
  bool real_ = false;
  bool ready_ = false;  // the kernels support the layer
  IntTables ints_ = {};
  FloatTables floats_ = {};
  // `answers_` and `sides_` have those of every input if no input is beyond kFew.
  bool few_ = false;
  std::int32_t answers_[2 * kFew + 1] = {}, sides_[2 * kFew + 1] = {};
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_SDP_LUT_HPP
