// SPDX-License-Identifier: MIT
//
// Tables through the access registers: what the engine writes, entry after entry, reads back the
// same way, in both tables of both units.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

#include "common/runtime/lut_layer.hpp"
#include "common/runtime/small_program.hpp"
#include "firmware/engine/nvdla_engine.h"
#include "firmware/registers/nvdla_regs.h"
#include "model/core/memory.hpp"
#include "model/device.hpp"

namespace nvdla::test {
namespace {

model::Device& device_of(void* context) { return *static_cast<model::Device*>(context); }

constexpr nvdla_hw_ops kHwOps = {
    .reg_read = [](void* context, u32 offset) -> u32 { return device_of(context).read(offset); },
    .reg_write = [](void* context, u32 offset,
                    u32 value) { device_of(context).write(offset, value); },
    .dma_barrier = [](void*) {},
    .relax = [](void* context) { device_of(context).step(); },
    .now_ns = [](void*) -> u64 { return 0; },
    .take_irq = nullptr,
    .layer_start = nullptr,
    .layer_end = nullptr,
    .reg_writes = nullptr,
};

// One element through SDP or CDP with `lut`.
Program program_with(const Device& on, const nvdla_lut& lut) {
  const TensorDesc tensor = packed_tensor(on.info(), {}, Precision::kInt16);
  nvdla_layer layer = {};
  layer.lut = 1;
  if (lut.unit == NVDLA_LUT_SDP) {
    layer = make_layer(make_sdp());
    layer.lut = 1;
    nvdla_sdp& sdp = layer.sdp;
    sdp.in_precision = sdp.proc_precision = sdp.out_precision = NVDLA_PRECISION_INT16;
    sdp.width = sdp.height = sdp.channels = 1;
    sdp.y.flags = NVDLA_SDP_ENABLE | NVDLA_SDP_LUT;
    sdp.input = sdp.output = tensor_surface(tensor, 0);
  } else {
    layer.kind = NVDLA_LAYER_CDP;
    nvdla_cdp& cdp = layer.cdp;
    cdp.precision = NVDLA_PRECISION_INT16;
    cdp.width = cdp.height = cdp.channels = 1;
    cdp.window = 3;
    cdp.in_cvt.scale = cdp.out_cvt.scale = 1;
    cdp.input = cdp.output = tensor_surface(tensor, 0);
  }
  const nvdla_slot slot =
      make_slot(on.info(), tensor_bytes(tensor), NVDLA_SLOT_READ | NVDLA_SLOT_WRITE);
  ProgramDesc desc;
  desc.layers = {&layer, 1};
  desc.slots = {&slot, 1};
  desc.luts = {&lut, 1};
  return on.create_program(desc);
}

void run(nvdla_engine& engine, model::Device& device, const Program& program) {
  const std::array<u64, 1> bases = {0x1000};
  nvdla_job job = {};
  job.program = &compiled(program);
  job.bases = bases.data();
  job.serial = 1;
  ASSERT_EQ(nvdla_engine_submit(&engine, &job), 0);
  while (nvdla_engine_done(&engine) == nullptr) {
    if (const u32 bits = device.interrupt() ? nvdla_engine_read_irq(&engine) : 0; bits != 0) {
      nvdla_engine_interrupt(&engine, bits);
    } else {
      ASSERT_TRUE(device.step() || device.interrupt());
    }
  }
  ASSERT_EQ(job.result, static_cast<u32>(NVDLA_JOB_OK));
}

TEST(LutPort, ReadsBackWhatTheEngineWrote) {
  const Device on = Device::open("model:nv_full");
  const std::array units = {std::uint32_t{NVDLA_NV_FULL_SDP_BASE},
                            std::uint32_t{NVDLA_NV_FULL_CDP_BASE}};
  std::mt19937 random(6);
  for (const std::uint32_t unit : {NVDLA_LUT_SDP, NVDLA_LUT_CDP}) {
    SCOPED_TRACE(unit);
    nvdla_lut lut = {};
    lut.unit = unit;
    lut.flags = NVDLA_LUT_LE_LINEAR;
    lut.le_end = 64;
    lut.lo_end = 256;
    for (std::uint16_t& entry : lut.le) entry = static_cast<std::uint16_t>(random());
    for (std::uint16_t& entry : lut.lo) entry = static_cast<std::uint16_t>(random());

    model::Memory memory;
    model::Device device(*nvdla_hw_find("nv_full"), memory);
    const auto engine = std::make_unique<nvdla_engine>();
    nvdla_engine_init(engine.get(), nvdla_hw_find("nv_full"), &kHwOps, &device);
    ASSERT_EQ(nvdla_engine_start(engine.get()), 0);
    run(*engine, device, program_with(on, lut));

    // Both units have their access registers at the same place.
    const std::uint32_t config = units[unit] + NVDLA_SDP_S_LUT_ACCESS_CFG;
    const std::uint32_t data = units[unit] + NVDLA_SDP_S_LUT_ACCESS_DATA;
    device.write(config, 0);
    for (unsigned i = 0; i < NVDLA_LUT_LE_ENTRIES; ++i)
      ASSERT_EQ(device.read(data), lut.le[i]) << i;
    // From any entry on, to the end.
    constexpr unsigned kFrom = 200;
    device.write(config, NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_TABLE_ID_MASK | kFrom);
    for (unsigned i = kFrom; i < NVDLA_LUT_LO_ENTRIES; ++i)
      ASSERT_EQ(device.read(data), lut.lo[i]) << i;
    device.write(config, NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_TABLE_ID_MASK);
    for (unsigned i = 0; i < kFrom; ++i) ASSERT_EQ(device.read(data), lut.lo[i]) << i;
  }
}

}  // namespace
}  // namespace nvdla::test
