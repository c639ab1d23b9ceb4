// SPDX-License-Identifier: MIT
#include "backend/registers/mmio/mmio_device.hpp"

#include <algorithm>
#include <thread>

#include "backend/registers/identify.hpp"
#include "backend/registers/mmio/mmio_memory.hpp"
#include "firmware/registers/nvdla_regs.h"
#include "model/core/register_info.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// `name` is of the device, for errors. Throws kNoDevice and kBusy.
std::unique_ptr<Attachment> attach(const System& system, const std::string& name,
                                   const MmioName& place) {
  switch (place.form) {
    case MmioName::Form::kUio:
      return attach_uio(system, name, place);
    case MmioName::Form::kPhysical:
      return attach_physical(system, name, place.address);
    case MmioName::Form::kPci:
      break;
  }
  return attach_pci(system, name, place.place, place.poll);
}

// Between two looks at a register: far less than a layer takes, far more than the look.
constexpr std::chrono::microseconds kLook{20};
// No layer takes longer that is to be waited for when the device is closed.
constexpr std::chrono::seconds kStop{1};

bool units_idle(const RegisterWindow& registers, model::RegisterMap map) {
  const auto units = model::units();
  return std::all_of(units.begin(), units.end(), [&](const model::UnitInfo& unit) {
    return unit.groups == 0 || !unit.base[map] ||
           registers.read(*unit.base[map] + NVDLA_REG_S_STATUS) == 0;
  });
}

}  // namespace

MmioDevice::MmioDevice(const DeviceName& name, const System& system)
    : name_("mmio:" + name.mmio.place),
      system_(system),
      place_(name.mmio),
      named_(name.hw),
      attachment_(attach(system_, name_, place_)) {}

MmioDevice::~MmioDevice() {
  if (!glb_) return;
  try {
    if (!attachment_->reset()) stop();
  } catch (const Error&) {
    // It is gone.
  }
  attachment_->disconnect();
}

// Without a reset: no interrupt any more, and what runs may end.
void MmioDevice::stop() {
  const auto map = *glb_ == NVDLA_NV_FULL_GLB_BASE ? NVDLA_REGMAP_NV_FULL : NVDLA_REGMAP_NV_SMALL;
  const RegisterWindow& registers = attachment_->registers();
  registers.write(*glb_ + NVDLA_GLB_S_INTR_MASK, ~std::uint32_t{0});
  const Time until = now() + kStop;
  while (!units_idle(registers, map) && now() < until) relax();
}

void MmioDevice::take_over() {
  if (glb_) return;
  const std::uint32_t glb = find_glb(*this);
  // Throws if there is no memory for the core, before the core is connected.
  reach(Memory::kDram);
  attachment_->connect();
  glb_ = glb;
}

void MmioDevice::write(std::uint32_t offset, std::uint32_t value) {
  take_over();
  attachment_->registers().write(offset, value);
}

bool MmioDevice::reset() {
  take_over();
  return attachment_->reset();
}

bool MmioDevice::line_up() {
  take_over();
  const std::uint32_t status = read(*glb_ + NVDLA_GLB_S_INTR_STATUS);
  return (status & ~read(*glb_ + NVDLA_GLB_S_INTR_MASK)) != 0;
}

bool MmioDevice::wait_interrupt(Time until) {
  if (Interrupt* const line = attachment_->interrupt()) return line->wait(until - now());
  while (!line_up()) {
    if (now() >= until) return false;
    relax();
  }
  return true;
}

void MmioDevice::relax() { std::this_thread::sleep_for(kLook); }

BareDevice::Time MmioDevice::now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// The name is more precise than the machine, unless they contradict each other.
const nvdla_hw* MmioDevice::configuration() const noexcept {
  const nvdla_hw* const said = attachment_->configuration();
  if (said == nullptr || named_ == nullptr) return said == nullptr ? named_ : said;
  return std::string_view(said->name) == named_->name ? named_ : said;
}

unsigned MmioDevice::address_bits() {
  const nvdla_hw* const said = configuration();
  if (said != nullptr) return said->address_bits;
  const bool first = find_glb(*this) == NVDLA_NV_FULL_GLB_BASE;
  return first ? default_configuration().address_bits : 32;
}

std::unique_ptr<DmaMemory> MmioDevice::reserved(const MemoryWindow& window) {
  const unsigned bits = address_bits();
  if (bits < 64 && window.last() >> bits != 0) {
    throw_error(ErrorCode::kNoDevice,
                "{}: memory at {:#x}-{:#x} is beyond the {} bits of its addresses", name_,
                window.address, window.last(), bits);
  }
  return make_reserved_memory(system_, name_, window);
}

MmioDevice::Reach& MmioDevice::reach(Memory memory) {
  const std::lock_guard lock(memory_mutex_);
  Reach& reach = memory == Memory::kSram ? sram_ : dram_;
  if (reach.pool) return reach;
  if (memory == Memory::kSram) {
    if (!place_.sram) {
      throw_error(ErrorCode::kNotAvailable,
                  "{}: nothing says where the memory behind the second interface is: add "
                  "',sram=<size>@<address>'",
                  name_);
    }
    reach.memory = reserved(*place_.sram);
  } else if (place_.memory) {
    reach.memory = reserved(*place_.memory);
  } else {
    reach.memory = make_huge_pages(system_, name_, place_.pool, address_bits());
  }
  reach.pool.emplace(reach.memory->ranges());
  return reach;
}

std::unique_ptr<BareMemory> MmioDevice::make_memory(Reach& reach,
                                                    const std::optional<DmaRange>& range,
                                                    std::uint64_t bytes, Memory memory) {
  if (!range) return nullptr;
  if (reach.memory->words_only()) {
    return std::make_unique<CopiedPiece>(*reach.pool, *range, bytes, memory);
  }
  return std::make_unique<SharedPiece>(*reach.pool, *range, bytes, memory);
}

std::unique_ptr<BareMemory> MmioDevice::allocate(std::uint64_t bytes, Memory memory) {
  Reach& from = reach(memory);
  auto made = make_memory(from, from.pool->take(bytes), bytes, memory);
  if (made == nullptr) {
    throw_error(ErrorCode::kNoMemory,
                "{}: no {} bytes in one piece: the largest that is free has {}", name_, bytes,
                from.pool->largest());
  }
  return made;
}

// One memory for both interfaces is memory of the first.
std::unique_ptr<BareMemory> MmioDevice::allocate_at(std::uint64_t address, std::uint64_t bytes,
                                                    std::optional<Memory> memory) {
  const Memory which = memory.value_or(Memory::kDram);
  if (which == Memory::kSram && !place_.sram) return nullptr;
  Reach& from = reach(which);
  return make_memory(from, from.pool->take_at(address, bytes), bytes, which);
}

}  // namespace nvdla::detail
