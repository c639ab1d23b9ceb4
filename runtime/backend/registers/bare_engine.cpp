// SPDX-License-Identifier: MIT
#include "backend/registers/bare_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "model/core/register_info.hpp"
#include "support/check.hpp"

namespace nvdla::detail {

// Memory is coherent, or synchronised before the job came here.
const nvdla_hw_ops BareEngine::kHwOps = {
    .reg_read = [](void* context, u32 offset) -> u32 {
      auto& self = *static_cast<BareEngine*>(context);
      return self.guarded(~u32{0}, [&] { return self.device_.read(offset); });
    },
    .reg_write =
        [](void* context, u32 offset, u32 value) {
          auto& self = *static_cast<BareEngine*>(context);
          self.guarded(false, [&] { return self.device_.write(offset, value), true; });
        },
    .dma_barrier = [](void*) { std::atomic_thread_fence(std::memory_order_seq_cst); },
    .relax =
        [](void* context) {
          auto& self = *static_cast<BareEngine*>(context);
          self.guarded(false, [&] { return self.device_.relax(), true; });
        },
    .now_ns = [](void* context) -> u64 {
      return static_cast<u64>(static_cast<BareEngine*>(context)->device_.now().count());
    },
    .take_irq = nullptr,
    .layer_start = nullptr,
    .layer_end = nullptr,
    .reg_writes = nullptr,
};

BareEngine::BareEngine(BareDevice& device, const nvdla_hw& hw)
    : device_(device), hw_(hw), engine_(std::make_unique<nvdla_engine>()) {}

int BareEngine::start() {
  lost_.reset();
  nvdla_engine_init(engine_.get(), &hw_, &kHwOps, this);
  nvdla_engine_set_clock(engine_.get(), device_.clock_khz());
  if (device_.counts_cycles()) nvdla_engine_count_cycles(engine_.get());
  const int error = -nvdla_engine_start(engine_.get());
  return lost_ ? NVDLA_START_GONE : error;
}

bool BareEngine::run(nvdla_job& job, const Patience& patience, const std::function<bool()>& stop) {
  nvdla_engine* const engine = engine_.get();
  if (const int refused = nvdla_engine_submit(engine, &job); refused != 0)
    throw_error(ErrorCode::kGone, "the engine takes no job: error {}", -refused);
  const bool looks = patience.look.count() != 0;
  while (nvdla_engine_done(engine) == nullptr) {
    if (std::chrono::steady_clock::now() >= patience.end) {
      nvdla_engine_abort(engine);
      return false;
    }
    if (stop && stop()) nvdla_engine_yield(engine);
    const u64 deadline = nvdla_engine_next_deadline(engine);
    if (lost_ || deadline == NVDLA_NO_DEADLINE) {
      nvdla_engine_abort(engine);
      continue;
    }
    auto until = BareDevice::Time(static_cast<BareDevice::Time::rep>(deadline));
    if (looks) until = std::min(until, device_.now() + patience.look);
    const bool line = guarded(false, [&] { return device_.wait_interrupt(until); });
    const u32 bits = line || looks ? nvdla_engine_read_irq(engine) : 0;
    // A line that is up for nothing must not keep time from passing.
    if (line && bits == 0) kHwOps.relax(this);
    if (line || bits != 0) nvdla_engine_interrupt(engine, bits);
    nvdla_engine_poll(engine);
  }
  return true;
}

std::string BareEngine::busy_units() {
  const auto map = static_cast<model::RegisterMap>(hw_.regmap);
  std::string text;
  for (const model::UnitInfo& unit : model::units()) {
    if (unit.groups == 0 || !unit.base[map]) continue;
    if (kHwOps.reg_read(this, *unit.base[map] + NVDLA_REG_S_STATUS) == 0) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", unit.name);
  }
  return text;
}

}  // namespace nvdla::detail
