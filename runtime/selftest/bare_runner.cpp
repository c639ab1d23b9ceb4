// SPDX-License-Identifier: MIT
#include "selftest/bare_runner.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "backend/compiled_program.hpp"
#include "model/core/register_info.hpp"
#include "nvdla/types/error.hpp"

namespace nvdla::selftest {
namespace {

using detail::BareDevice;
using detail::BareMemory;

// The device is looked at so often, if its interrupt line is silent.
constexpr BareDevice::Time kLook = std::chrono::milliseconds(2);

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
    job.stats_stride = sizeof(nvdla_layer_stats);
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
    : device_(device), hw_(hw), limit_(limit), engine_(device, hw) {}

std::optional<std::string> BareRunner::start() {
  if (started_) return std::nullopt;
  device_.reset();
  const int error = engine_.start();
  if (engine_.lost()) throw *engine_.lost();
  if (error != 0) return start_error(error);
  started_ = true;
  return std::nullopt;
}

// Describes the units that are enabled and the interrupt status of GLB.
std::string BareRunner::state() {
  const std::string running = engine_.busy_units();
  const auto map = static_cast<model::RegisterMap>(hw_.regmap);
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
    const bool in_time = engine_.run(job, {std::chrono::steady_clock::now() + limit_, kLook});
    if (engine_.lost()) throw *engine_.lost();
    ran.layer = job.layer;
    if (job.result == NVDLA_JOB_GONE) {
      ran.end = End::kGone;
      ran.text = "registers read as all ones";
    } else if (job.result != NVDLA_JOB_OK) {
      ran.end = End::kHang;
      ran.text = fmt::format("{}{}", state(),
                             in_time ? "" : "; the host's time was over before the device's");
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
