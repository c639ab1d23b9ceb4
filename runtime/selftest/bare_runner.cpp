// SPDX-License-Identifier: MIT
#include "selftest/bare_runner.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>
#include <vector>

#include "backend/compiled_program.hpp"
#include "model/register_info.hpp"
#include "nvdla/error.hpp"

namespace nvdla::selftest {
namespace {

using detail::BareDevice;
using detail::BareMemory;
using Clock = std::chrono::steady_clock;

// The device is looked at so often, if its interrupt line is silent.
constexpr BareDevice::Time kLook = std::chrono::milliseconds(2);

BareDevice& device_of(void* context) { return *static_cast<BareDevice*>(context); }

constexpr nvdla_port kPort = {
    .reg_read = [](void* context, u32 offset) -> u32 { return device_of(context).read(offset); },
    .reg_write = [](void* context, u32 offset,
                    u32 value) { device_of(context).write(offset, value); },
    .dma_barrier = [](void*) { std::atomic_thread_fence(std::memory_order_seq_cst); },
    .relax = [](void* context) { device_of(context).relax(); },
    .now_ns = [](void* context) -> u64 {
      return static_cast<u64>(device_of(context).now().count());
    },
    .take_irq = nullptr,
    .layer_start = nullptr,
    .layer_end = nullptr,
};

const char* start_error(int error) {
  switch (error) {
    case NVDLA_START_GONE:
      return "registers read as all ones";
    case NVDLA_START_VERSION:
      return "the version register is not NVDLA's";
    case NVDLA_START_BUSY:
      return "a unit is still enabled after the reset";
    case NVDLA_START_FLUSH:
      return "CDMA does not say that the convolution buffer is cleared "
             "(CDMA.S_CBUF_FLUSH_STATUS)";
    default:
      return "unknown error";
  }
}

class BareLoad final : public Load {
 public:
  BareLoad(BareRunner& runner, const Work& work)
      : runner_(runner),
        slots_(slots_of(work)),
        program_(detail::new_device_id(), runner.hw(),
                 {.layers = work.layers,
                  .slots = slots_,
                  .luts = work.luts,
                  .transfers = work.transfers,
                  .control = {},
                  .statistics = true}) {
    for (const Region& region : work.regions) {
      memories_.push_back(runner.device().allocate(bytes_around(region), Memory::kDram));
      lay_out(region, around(memories_.size() - 1));
      sizes_.push_back(region.bytes.size());
      bases_.push_back(memories_.back()->address() + kGuard);
    }
  }

  std::span<std::uint8_t> bytes(std::size_t region) override {
    return around(region).subspan(kGuard, sizes_[region]);
  }
  std::optional<std::uint64_t> address(std::size_t region) const override { return bases_[region]; }
  std::uint64_t cycles() const override {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < program_.layers(); ++i) sum += program_.cycles(i);
    return sum;
  }

  Ran run() override {
    Ran ran;
    ran.stats.resize(program_.layers());
    nvdla_job job = {};
    job.program = &program_.program();
    job.bases = bases_.data();
    job.stats = ran.stats.data();
    job.serial = program_.serial();
    for (const auto& memory : memories_) memory->sync_for_device();
    Ran outcome = runner_.run(job);
    for (const auto& memory : memories_) memory->sync_for_cpu();
    // Unless a reset has ended what runs it may still write there.
    if ((outcome.end == End::kHang || outcome.end == End::kGone) && !recovers()) {
      for (const auto& memory : memories_) memory->abandon();
    }
    outcome.stats = std::move(ran.stats);
    return outcome;
  }

 protected:
  std::span<std::uint8_t> around(std::size_t region) override {
    const auto& memory = memories_[region];
    return {reinterpret_cast<std::uint8_t*>(memory->data()),
            static_cast<std::size_t>(memory->size())};
  }
  std::size_t regions() const override { return memories_.size(); }

 private:
  bool recovers() {
    try {
      return !runner_.start();
    } catch (const Error&) {
      return false;
    }
  }

  BareRunner& runner_;
  std::vector<nvdla_slot> slots_;
  detail::CompiledProgram program_;
  std::vector<std::unique_ptr<BareMemory>> memories_;
  std::vector<std::uint64_t> bases_;
  std::vector<std::size_t> sizes_;
};

}  // namespace

BareRunner::BareRunner(BareDevice& device, const nvdla_hw& hw, std::chrono::nanoseconds limit)
    : device_(device), hw_(hw), limit_(limit), engine_(std::make_unique<nvdla_engine>()) {}

std::optional<std::string> BareRunner::start() {
  if (started_) return std::nullopt;
  device_.reset();
  nvdla_engine_init(engine_.get(), &hw_, &kPort, &device_);
  nvdla_engine_set_clock(engine_.get(), device_.clock_khz());
  if (const int error = nvdla_engine_start(engine_.get()); error != 0) return start_error(-error);
  started_ = true;
  return std::nullopt;
}

// False if the host's time is over first.
bool BareRunner::drive(Clock::time_point end) {
  nvdla_engine* const engine = engine_.get();
  while (nvdla_engine_done(engine) == nullptr) {
    if (Clock::now() >= end) return false;
    const u64 deadline = nvdla_engine_next_deadline(engine);
    const BareDevice::Time look = device_.now() + kLook;
    const bool line = device_.wait_interrupt(
        static_cast<u64>(look.count()) < deadline
            ? look
            : BareDevice::Time(static_cast<BareDevice::Time::rep>(deadline)));
    // Whatever the line says: that it works is another step's business.
    const u32 bits = nvdla_engine_read_irq(engine);
    if (bits != 0)
      nvdla_engine_interrupt(engine, bits);
    else if (line)
      device_.relax();  // a line that is up for nothing must not stop time
    if (static_cast<u64>(device_.now().count()) >= deadline) nvdla_engine_poll(engine);
  }
  return true;
}

// Which units are enabled, and what GLB says.
std::string BareRunner::state() const {
  const auto map = static_cast<model::RegisterMap>(hw_.regmap);
  std::string running;
  for (const model::UnitInfo& unit : model::units()) {
    if (unit.groups == 0 || !unit.base[map]) continue;
    const std::uint32_t status = device_.read(*unit.base[map] + NVDLA_REG_S_STATUS);
    if (status == 0) continue;
    running += fmt::format("{}{}", running.empty() ? "" : ", ", unit.name);
  }
  const std::uint32_t glb = *model::unit_base(map, NVDLA_UNIT_GLB);
  return fmt::format("enabled units: {}; GLB.S_INTR_STATUS {:#x}",
                     running.empty() ? "none" : running,
                     device_.read(glb + NVDLA_GLB_S_INTR_STATUS));
}

Ran BareRunner::run(nvdla_job& job) {
  Ran ran;
  try {
    device_.take_refusals();
    if (const auto wrong = start()) return {End::kGone, *wrong};
    if (const int refused = nvdla_engine_submit(engine_.get(), &job); refused != 0)
      return {End::kGone, fmt::format("the engine takes no job: error {}", -refused)};
    const bool in_time = drive(Clock::now() + limit_);
    ran.layer = job.layer;
    if (job.result == NVDLA_JOB_GONE) {
      ran.end = End::kGone;
      ran.text = "registers read as all ones";
    } else if (!in_time || job.result != NVDLA_JOB_OK) {
      ran.end = End::kHang;
      ran.text = fmt::format("{}{}", state(),
                             in_time ? "" : "; the host's time was over before the device's");
      nvdla_engine_abort(engine_.get());
    } else if (std::string refusals = device_.take_refusals(); !refusals.empty()) {
      ran.end = End::kStray;
      ran.text = std::move(refusals);
    }
  } catch (const Error& error) {
    ran.end = End::kGone;
    ran.text = error.what();
  }
  if (ran.end != End::kDone) forget();
  return ran;
}

std::unique_ptr<Load> BareRunner::load(const Work& work) {
  return std::make_unique<BareLoad>(*this, work);
}

}  // namespace nvdla::selftest
