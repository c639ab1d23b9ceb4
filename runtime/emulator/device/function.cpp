// SPDX-License-Identifier: MIT
#include "emulator/device/function.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/device/log.hpp"
#include "firmware/registers/nvdla_regs.h"

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
      interrupts_(port, faults_, counters_),
      garbage_(options.faults.garbage_seed) {
  config_.offer_reset(faults_.reset != NVDLA_FAULT_RESET_FAILS);
  ones_until_ = Clock::now() + std::chrono::milliseconds(faults_.ones_ms);
  if (options.stale) memory_.use_stale_view(options.uncached);
}

Function::~Function() {
  if (!worker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  worker_.join();
  storm_.join();
}

void Function::start(std::unique_ptr<Accelerator> accelerator) {
  accelerator_ = std::move(accelerator);
  worker_ = std::thread([this] { work(); });
  storm_ = std::thread([this] { storm(); });
}

std::uint32_t Function::config_read(std::uint32_t address, std::uint32_t length) {
  const std::lock_guard lock(mutex_);
  if (faults_.gone >= 2 || Clock::now() < reset_until_)
    return static_cast<std::uint32_t>(ones(length));
  publish_faults();
  return config_.read(address, length);
}

void Function::config_write(std::uint32_t address, std::uint32_t value, std::uint32_t length) {
  {
    const std::lock_guard lock(mutex_);
    publish_faults();
    const PciConfig::Effects effects = config_.write(address, value, length);
    if (effects.faults) {
      adopt_faults();
      sync_memory();
    }
    if (effects.function_reset || effects.woken) {
      log("{}", effects.woken ? "woken up in its reset state" : "function-level reset");
      config_.reset();
      if (faults_.reset != NVDLA_FAULT_RESET_BARELY) reset_locked();
      reset_until_ = Clock::now() + std::chrono::milliseconds(faults_.reset_ms);
    }
    refresh();
  }
  port_.settle();
}

bool Function::reads_ones() const {
  return faults_.gone != 0 || Clock::now() < std::max(ones_until_, reset_until_);
}

// Returns the faulty result of a register read while reads are to be wrong, else `truth`.
std::uint64_t Function::lie(std::uint64_t truth, std::uint32_t size) {
  if (faults_.ones_reads != 0) {
    --faults_.ones_reads;
    return ones(size);
  }
  if (faults_.garbage_reads != 0) {
    --faults_.garbage_reads;
    const std::uint64_t high = garbage_();
    return (high << 32 | garbage_()) & ones(size);
  }
  return truth;
}

// Returns the offset in the registers; nothing if the access does not reach them.
std::optional<std::uint32_t> Function::register_offset(std::uint64_t address, std::uint32_t size) {
  if (!config_.memory_enabled()) {
    ++counters_.unreached;
    return std::nullopt;
  }
  if (reads_ones()) return std::nullopt;
  const std::uint64_t offset = address - config_.bar();
  if (address < config_.bar() || offset >= kBarBytes || size > kBarBytes - offset)
    return std::nullopt;
  // The register bus has words of 32 bits; QEMU lets naturally aligned accesses through only.
  if (offset % size != 0) return std::nullopt;
  return static_cast<std::uint32_t>(offset);
}

std::uint64_t Function::bar_read(std::uint64_t address, std::uint32_t size) {
  std::uint64_t value = 0;
  {
    const std::lock_guard lock(mutex_);
    // A read orders the writes before it, and one of them may have changed the line.
    const bool line = accelerator_->interrupt();
    value = read_locked(address, size);
    if (accelerator_->interrupt() == line) return value;
    refresh();
  }
  port_.settle();
  return value;
}

std::uint64_t Function::read_locked(std::uint64_t address, std::uint32_t size) {
  const auto offset = register_offset(address, size);
  if (!offset) return ones(size);
  if (size == 8) {
    const std::uint64_t low = accelerator_->read(*offset);
    return lie(low | static_cast<std::uint64_t>(accelerator_->read(*offset + 4)) << 32, size);
  }
  const std::uint32_t word = accelerator_->read(*offset & ~3u);
  return lie((word >> (8 * (*offset & 3u))) & ones(size), size);
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
  counters_.state &= ~std::uint32_t{NVDLA_FAULT_STATE_CUT_OFF};
  if (!config_.memory_enabled()) counters_.state |= NVDLA_FAULT_STATE_CUT_OFF;
  for (const FaultRegister& fault : kFaultRegisters)
    config_.set_fault_register(fault.offset, faults_.*fault.member);
  for (const auto& [offset, member] : kCounterRegisters)
    config_.set_fault_register(offset, counters_.*member);
}

void Function::adopt_faults() {
  const Faults before = faults_;
  for (const FaultRegister& fault : kFaultRegisters) {
    faults_.*fault.member = config_.fault_register(fault.offset);
    if (faults_.*fault.member != before.*fault.member)
      log("fault: {} {}", fault.name, faults_.*fault.member);
  }
  if (faults_ == before) return;
  if (faults_.ones_ms != before.ones_ms)
    ones_until_ = Clock::now() + std::chrono::milliseconds(faults_.ones_ms);
  if (faults_.garbage_seed != before.garbage_seed) garbage_.seed(faults_.garbage_seed);
  if (faults_.raise != 0) accelerator_->write(glb_ + NVDLA_GLB_S_INTR_SET, faults_.raise);
  faults_.raise = 0;
  config_.offer_reset(faults_.reset != NVDLA_FAULT_RESET_FAILS);
  poke();
}

// The cache operation that was just written, if any.
void Function::sync_memory() {
  const std::uint32_t operation = config_.fault_register(NVDLA_FAULT_SYNC);
  if (operation == 0) return;
  config_.set_fault_register(NVDLA_FAULT_SYNC, 0);
  const std::uint64_t high = config_.fault_register(NVDLA_FAULT_SYNC_ADDRESS_HIGH);
  memory_.sync(operation, high << 32 | config_.fault_register(NVDLA_FAULT_SYNC_ADDRESS),
               config_.fault_register(NVDLA_FAULT_SYNC_BYTES));
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
  const bool there = faults_.gone == 0 && !config_.asleep();
  interrupts_.update(there && accelerator_->interrupt(), config_);
}

void Function::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!due_) {
      wake_.wait(lock);
    } else if (accelerator_->settle()) {
      refresh();
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

// Interrupts that the device does not ask for. No faster than the machine takes them.
void Function::storm() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (faults_.storm_hz == 0) {
      wake_.wait(lock);
      continue;
    }
    const auto next = Clock::now() + std::chrono::nanoseconds(1000000000u / faults_.storm_hz);
    if (faults_.gone == 0) interrupts_.spurious(config_);
    lock.unlock();
    port_.settle();
    lock.lock();
    wake_.wait_until(lock, next, [this] { return stopping_ || faults_.storm_hz == 0; });
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
    counters_.state = NVDLA_FAULT_STATE_BLOCKED;
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
