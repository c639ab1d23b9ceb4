// SPDX-License-Identifier: MIT
#include "tools/emulator/function.hpp"

#include <bit>
#include <utility>

#include "firmware/registers/nvdla_regs.h"
#include "tools/emulator/fault_capability.h"
#include "tools/emulator/log.hpp"

namespace nvdla::emulator {
namespace {

std::uint16_t device_id(const nvdla_hw& hw) {
  std::uint32_t index = 0;
  while (nvdla_hw_get(index) != &hw) ++index;
  return static_cast<std::uint16_t>(kDeviceId + index);
}

std::uint32_t glb_base(const nvdla_hw& hw) {
  return hw.regmap == NVDLA_REGMAP_NV_FULL ? NVDLA_NV_FULL_GLB_BASE : NVDLA_NV_SMALL_GLB_BASE;
}

std::uint64_t ones(std::uint32_t size) {
  return size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
}

}  // namespace

Function::Function(const nvdla_hw& hw, InterruptPort& port, const Options& options)
    : port_(port),
      glb_(glb_base(hw)),
      faults_(options.faults),
      config_(device_id(options.claim != nullptr ? *options.claim : hw), options.with_reset),
      memory_(counters_, options.dma_log, options.sram),
      interrupts_(port, faults_, counters_) {}

Function::~Function() {
  if (!worker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  worker_.join();
}

void Function::start(std::unique_ptr<Accelerator> accelerator) {
  accelerator_ = std::move(accelerator);
  worker_ = std::thread([this] { work(); });
}

std::uint32_t Function::config_read(std::uint32_t address, std::uint32_t length) {
  const std::lock_guard lock(mutex_);
  if (faults_.gone >= 2) return static_cast<std::uint32_t>(ones(length));
  publish_faults();
  return config_.read(address, length);
}

void Function::config_write(std::uint32_t address, std::uint32_t value, std::uint32_t length) {
  {
    const std::lock_guard lock(mutex_);
    publish_faults();
    const PciConfig::Effects effects = config_.write(address, value, length);
    if (effects.faults) adopt_faults();
    if (effects.function_reset) {
      log("function-level reset");
      config_.reset();
      reset_locked();
    }
    refresh();
  }
  port_.settle();
}

// Nothing when the access does not reach the registers.
std::optional<std::uint32_t> Function::register_offset(std::uint64_t address,
                                                       std::uint32_t size) const {
  if (faults_.gone != 0 || !config_.memory_enabled()) return std::nullopt;
  const std::uint64_t offset = address - config_.bar();
  if (address < config_.bar() || offset >= kBarBytes || size > kBarBytes - offset)
    return std::nullopt;
  // The register bus has words of 32 bits; QEMU lets naturally aligned accesses through only.
  if (offset % size != 0) return std::nullopt;
  return static_cast<std::uint32_t>(offset);
}

std::uint64_t Function::bar_read(std::uint64_t address, std::uint32_t size) {
  const std::lock_guard lock(mutex_);
  const auto offset = register_offset(address, size);
  if (!offset) return ones(size);
  if (size == 8) {
    const std::uint64_t low = accelerator_->read(*offset);
    return low | static_cast<std::uint64_t>(accelerator_->read(*offset + 4)) << 32;
  }
  const std::uint32_t word = accelerator_->read(*offset & ~3u);
  return (word >> (8 * (*offset & 3u))) & ones(size);
}

void Function::bar_write(std::uint64_t address, std::uint64_t value, std::uint32_t size) {
  {
    const std::lock_guard lock(mutex_);
    const auto offset = register_offset(address, size);
    if (!offset) return;
    // NVDLA ignores byte enables: a narrow write sets the whole word.
    const std::uint64_t lanes = (value & ones(size)) << (8 * (*offset & 3u));
    accelerator_->write(*offset & ~3u, static_cast<std::uint32_t>(lanes));
    if (size == 8) accelerator_->write(*offset + 4, static_cast<std::uint32_t>(value >> 32));
    refresh();
    poke();
  }
  // A driver's clear must have lowered INTA before its write returns.
  port_.settle();
}

void Function::replace_memory(std::vector<MemoryRange> ranges) {
  const std::lock_guard lock(mutex_);
  memory_.replace(std::move(ranges));
}

void Function::reset() {
  // Does not settle: QEMU's main loop waits for the answer, and only it takes interrupts.
  const std::lock_guard lock(mutex_);
  config_.reset();
  reset_locked();
  refresh();
}

void Function::reset_locked() {
  accelerator_->reset();
  ++resets_;
  if (blocked_) faults_.block = 0;
  blocked_.reset();
  counters_.state &= ~std::uint32_t{NVDLA_FAULT_STATE_BLOCKED};
  delayed_ = false;
  memory_.set_pattern(std::nullopt);
  poke();
}

void Function::publish_faults() {
  config_.set_fault_register(NVDLA_FAULT_SWALLOW_INTERRUPTS, faults_.swallow_interrupts);
  config_.set_fault_register(NVDLA_FAULT_SWALLOW_COMPLETIONS, faults_.swallow_completions);
  config_.set_fault_register(NVDLA_FAULT_BLOCK, faults_.block);
  config_.set_fault_register(NVDLA_FAULT_LATE_MS, faults_.late_ms);
  config_.set_fault_register(NVDLA_FAULT_DELAY_US, faults_.delay_us);
  config_.set_fault_register(NVDLA_FAULT_GONE, faults_.gone);
  config_.set_fault_register(NVDLA_FAULT_PATTERN, faults_.pattern);
  config_.set_fault_register(NVDLA_FAULT_COMPLETIONS, counters_.completions);
  config_.set_fault_register(NVDLA_FAULT_INTERRUPTS, counters_.interrupts);
  config_.set_fault_register(NVDLA_FAULT_DMA_REFUSED, counters_.dma_refused);
  config_.set_fault_register(NVDLA_FAULT_STATE, counters_.state);
}

void Function::adopt_faults() {
  const Faults before = faults_;
  faults_.swallow_interrupts = config_.fault_register(NVDLA_FAULT_SWALLOW_INTERRUPTS);
  faults_.swallow_completions = config_.fault_register(NVDLA_FAULT_SWALLOW_COMPLETIONS);
  faults_.block = config_.fault_register(NVDLA_FAULT_BLOCK);
  faults_.late_ms = config_.fault_register(NVDLA_FAULT_LATE_MS);
  faults_.delay_us = config_.fault_register(NVDLA_FAULT_DELAY_US);
  faults_.gone = config_.fault_register(NVDLA_FAULT_GONE);
  faults_.pattern = config_.fault_register(NVDLA_FAULT_PATTERN);
  if (faults_ == before) return;
  log("faults: swallow interrupts {}, completions {}; block {}, late {} ms, delay {} us, gone {}",
      faults_.swallow_interrupts, faults_.swallow_completions, faults_.block, faults_.late_ms,
      faults_.delay_us, faults_.gone);
  poke();
}

// Something changed that the worker has to look at.
void Function::poke() {
  due_ = true;
  ++accesses_;
  wake_.notify_all();
}

// Passes on what configuration space, faults and the device's line say now.
void Function::refresh() {
  memory_.set_bus_master(config_.bus_master() && faults_.gone == 0);
  interrupts_.update(faults_.gone == 0 && accelerator_->interrupt(), config_);
}

void Function::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!due_) {
      wake_.wait(lock);
    } else if (faults_.gone != 0 || accelerator_->idle()) {
      due_ = false;
      delayed_ = false;
      memory_.set_pattern(std::nullopt);
    } else if (faults_.block == 1 || (faults_.delay_us != 0 && !delayed_)) {
      hold_back(lock);
    } else {
      due_ = advance();
      if (!due_) {
        delayed_ = false;
        memory_.set_pattern(std::nullopt);
      }
      refresh();
      // Lets register accesses in between two layers.
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
  }
}

// The device has something to do and must not do it yet.
void Function::hold_back(std::unique_lock<std::mutex>& lock) {
  if (faults_.block != 1) {
    const std::uint64_t resets = resets_;
    const auto until = Clock::now() + std::chrono::microseconds(faults_.delay_us);
    wake_.wait_until(lock, until, [&] { return stopping_ || resets_ != resets; });
    delayed_ = resets_ == resets;
    return;
  }
  if (!blocked_) {
    blocked_ = Clock::now();
    counters_.state |= NVDLA_FAULT_STATE_BLOCKED;
    log("a layer is blocked");
  }
  const std::uint64_t accesses = accesses_;
  const auto changed = [&] { return stopping_ || accesses_ != accesses; };
  if (faults_.late_ms == 0) {
    wake_.wait(lock, changed);
  } else if (wake_.wait_until(lock, *blocked_ + std::chrono::milliseconds(faults_.late_ms),
                              changed)) {
    // Look again at what changed.
  } else {
    log("the blocked layer runs late");
    faults_.block = 0;
    counters_.state |= NVDLA_FAULT_STATE_LATE;
    memory_.set_pattern(static_cast<std::byte>(faults_.pattern));
  }
  if (faults_.block != 1) {
    blocked_.reset();
    counters_.state &= ~std::uint32_t{NVDLA_FAULT_STATE_BLOCKED};
  }
}

// One step of the device, and what faults make of its completions. False when nothing is left.
bool Function::advance() {
  const std::uint32_t mask_offset = glb_ + NVDLA_GLB_S_INTR_MASK;
  const std::uint32_t status_offset = glb_ + NVDLA_GLB_S_INTR_STATUS;
  const std::uint32_t before = accelerator_->read(status_offset);
  const bool more = accelerator_->step();
  memory_.end_of_step();
  const std::uint32_t risen =
      accelerator_->read(status_offset) & ~before & ~accelerator_->read(mask_offset);
  if (risen == 0) return more;

  const auto count = static_cast<std::uint32_t>(std::popcount(risen));
  counters_.completions += count;
  delayed_ = false;
  if (faults_.block > 1) faults_.block = faults_.block > count ? faults_.block - count : 1;
  if (faults_.swallow_completions != 0) {
    --faults_.swallow_completions;
    accelerator_->write(status_offset, risen);
    log("swallowed the completion {:#x}", risen);
  }
  return more;
}

}  // namespace nvdla::emulator
