// SPDX-License-Identifier: MIT
//
// The top of the logic as Verilator would declare it, with the device model behind its pins. It
// behaves as the published logic where a harness can go wrong: nothing is known before a reset,
// writes of registers are posted, what changes the interrupt line reaches it 25 cycles later, and
// beats of memory are whole and aligned. What breaks the protocol ends the process.
//
// Defined by the build: NVDLA_STANDIN_CONFIGURATION, NVDLA_STANDIN_BEAT (bytes) and, with a second
// memory interface, NVDLA_STANDIN_SRAM.
#ifndef NVDLA_TESTS_STANDIN_VNVDLA_H
#define NVDLA_TESTS_STANDIN_VNVDLA_H

#include <memory>

#include "verilated.h"

template <std::size_t kBytes>
struct BeatType {
  using Data = VlWide<kBytes / 4>;
};
template <>
struct BeatType<8> {
  using Data = QData;
};
template <std::size_t kBits>
struct BitsType {
  using Bits = CData;
};
template <>
struct BitsType<16> {
  using Bits = SData;
};
template <>
struct BitsType<32> {
  using Bits = IData;
};
template <>
struct BitsType<64> {
  using Bits = QData;
};

class Vnvdla {
 public:
  using Beat = BeatType<NVDLA_STANDIN_BEAT>::Data;
  using Strobe = BitsType<NVDLA_STANDIN_BEAT>::Bits;
#if NVDLA_STANDIN_BEAT == 8
  using Address = IData;
#else
  using Address = QData;
#endif

  explicit Vnvdla(VerilatedContext* context);
  ~Vnvdla();
  void eval();
  void final() {}

  // NOLINTBEGIN: the names are those of the logic.
  CData dla_core_clk, dla_csb_clk, dla_reset_rstn, direct_reset_, test_mode;
  CData global_clk_ovr_on, tmc2slcg_disable_clock_gating;
  IData nvdla_pwrbus_ram_a_pd, nvdla_pwrbus_ram_c_pd, nvdla_pwrbus_ram_ma_pd;
  IData nvdla_pwrbus_ram_mb_pd, nvdla_pwrbus_ram_o_pd, nvdla_pwrbus_ram_p_pd;
  CData dla_intr;

  CData csb2nvdla_valid, csb2nvdla_ready, csb2nvdla_write, csb2nvdla_nposted;
  SData csb2nvdla_addr;
  IData csb2nvdla_wdat;
  CData nvdla2csb_valid, nvdla2csb_wr_complete;
  IData nvdla2csb_data;

#define NVDLA_STANDIN_AXI(name)                                                \
  CData name##_aw_awvalid, name##_aw_awready, name##_aw_awid, name##_aw_awlen; \
  Address name##_aw_awaddr;                                                    \
  CData name##_w_wvalid, name##_w_wready, name##_w_wlast;                      \
  Beat name##_w_wdata;                                                         \
  Strobe name##_w_wstrb;                                                       \
  CData name##_b_bvalid, name##_b_bready, name##_b_bid;                        \
  CData name##_ar_arvalid, name##_ar_arready, name##_ar_arid, name##_ar_arlen; \
  Address name##_ar_araddr;                                                    \
  CData name##_r_rvalid, name##_r_rready, name##_r_rid, name##_r_rlast;        \
  Beat name##_r_rdata;

  NVDLA_STANDIN_AXI(nvdla_core2dbb)
#ifdef NVDLA_STANDIN_SRAM
  NVDLA_STANDIN_AXI(nvdla_core2cvsram)
#endif
  // NOLINTEND

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

#endif  // NVDLA_TESTS_STANDIN_VNVDLA_H
