// SPDX-License-Identifier: MIT
//
// The table of EW: what SDP's registers say of it, how it interpolates, and what it counts.
#ifndef NVDLA_MODEL_SDP_SDP_LUT_HPP
#define NVDLA_MODEL_SDP_SDP_LUT_HPP

#include <cstdint>

#include "model/core/register_file.hpp"
#include "model/core/surface.hpp"
#include "model/lut/lut_search.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {

LutConfig read_sdp_lut(const RegisterFile& registers, Precision proc);

// Where the answers came from, and independently of that which tables had one.
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

// The tables of a layer.
class SdpLut {
 public:
  // The configuration stays where it is. No integer that comes in has a greater magnitude than
  // `largest`.
  void begin(const LutConfig& config, const UnitKernels& kernels, std::uint64_t largest) noexcept;
  // The same in fp16 processing. `regular`: no pattern that comes in is one that fp::is_regular()
  // does not know.
  void begin_float(const LutConfig& config, const UnitKernels& kernels, bool regular) noexcept;

  // In place on the first `lanes` of [count][kBlock], integers or fp32; counts what is asked for.
  void look_up(std::int32_t* values, unsigned count, unsigned lanes, bool counted,
               SdpLutCounters& counters) const noexcept;

 private:
  // What all int8 may be, and a little more.
  static constexpr std::int32_t kFew = 256;

  void look_up_run(std::int32_t* values, TableRun& run) const noexcept;

  const LutConfig* config_ = nullptr;
  const UnitKernels* kernels_ = nullptr;
  bool real_ = false;
  bool ready_ = false;  // for the kernels
  IntTables ints_ = {};
  FloatTables floats_ = {};
  // Where so few numbers come in, the answer to each of them, and the sides.
  bool few_ = false;
  std::int32_t answers_[2 * kFew + 1] = {}, sides_[2 * kFew + 1] = {};
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_SDP_LUT_HPP
