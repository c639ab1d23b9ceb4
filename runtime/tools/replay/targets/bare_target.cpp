// SPDX-License-Identifier: MIT
#include "tools/replay/targets/bare_target.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "model/core/register_info.hpp"
#include "support/check.hpp"

namespace nvdla::replay {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kPage = 4096;
// Nothing that a device does takes longer without a sign of it.
constexpr seconds kHung{2};
// Between the end of a layer and its interrupt, last writes land.
constexpr microseconds kLanding{100};

std::optional<std::uint32_t> address_of(const nvdla_hw& hw, std::string_view name) {
  const model::RegisterInfo* const info = model::find_register(name);
  return info ? model::register_address(static_cast<model::RegisterMap>(hw.regmap), *info)
              : std::nullopt;
}

}  // namespace

BareTarget::BareTarget(std::unique_ptr<detail::BareDevice> device, const nvdla_hw& hw,
                       bool separate)
    : device_(std::move(device)), hw_(hw), separate_(separate) {
  if (!device_->reset()) {
    detail::throw_error(ErrorCode::kNotAvailable,
                        "{} cannot be reset, which every trace begins with: reset it by hand",
                        device_->describe());
  }
  const std::uint32_t flush = address_of(hw, "CDMA.S_CBUF_FLUSH_STATUS").value();
  const auto until = device_->now() + kHung;
  while ((device_->read(flush) & NVDLA_CDMA_S_CBUF_FLUSH_STATUS_FLUSH_DONE_MASK) == 0) {
    if (device_->now() >= until) {
      detail::throw_error(ErrorCode::kGone, "{} does not clear its convolution buffer after reset",
                          device_->describe());
    }
    device_->relax();
  }
}

void BareTarget::write(std::uint32_t offset, std::uint32_t value) {
  const auto map = static_cast<model::RegisterMap>(hw_.regmap);
  if (const model::RegisterInfo* const info = model::register_at(map, offset))
    used_.insert(info->unit);
  device_->write(offset, value);
  changed_ = device_->now();
}

BareTarget::Blocks& BareTarget::blocks(model::Ram ram) {
  return blocks_[separate_ && ram == model::Ram::kSecondary ? 1 : 0];
}

void BareTarget::take(model::Ram ram, std::uint64_t address, std::uint64_t size) {
  Blocks& taken = blocks(ram);
  const auto memory = !separate_                      ? std::nullopt
                      : ram == model::Ram::kSecondary ? std::optional(nvdla::Memory::kSram)
                                                      : std::optional(nvdla::Memory::kDram);
  const std::uint64_t end = (address + size + kPage - 1) / kPage * kPage;
  for (std::uint64_t at = address / kPage * kPage; at != end;) {
    const auto next = taken.upper_bound(at);
    if (next != taken.begin() && at - std::prev(next)->first < std::prev(next)->second->size()) {
      at = std::prev(next)->first + std::prev(next)->second->size();
      if (at >= end) return;
      continue;
    }
    const std::uint64_t stop = next == taken.end() ? end : std::min(end, next->first);
    auto block = device_->allocate_at(at, stop - at, memory);
    if (block == nullptr) {
      detail::throw_error(ErrorCode::kNoMemory,
                          "{} has no memory of {} bytes at {:#x}, where the trace needs it",
                          device_->describe(), stop - at, at);
    }
    taken.emplace(at, std::move(block));
    at = stop;
  }
}

template <typename Visit>
void BareTarget::for_parts(model::Ram ram, std::uint64_t address, std::uint64_t size, Visit visit) {
  take(ram, address, size);
  for (std::uint64_t done = 0; done < size;) {
    auto& [start, block] = *std::prev(blocks(ram).upper_bound(address + done));
    const std::uint64_t offset = address + done - start;
    const std::uint64_t part = std::min(size - done, block->size() - offset);
    visit(*block, offset, done, part);
    done += part;
  }
}

void BareTarget::load(model::Ram ram, std::uint64_t address, std::span<const std::byte> bytes) {
  for_parts(ram, address, bytes.size(), [&](auto& block, auto offset, auto done, auto part) {
    std::memcpy(block.data() + offset, bytes.data() + done, part);
    block.sync_for_device();
  });
}

void BareTarget::fill(model::Ram ram, std::uint64_t address, std::uint64_t size,
                      std::uint8_t byte) {
  for_parts(ram, address, size, [&](auto& block, auto offset, auto /*done*/, auto part) {
    std::memset(block.data() + offset, byte, part);
    block.sync_for_device();
  });
}

void BareTarget::fetch(model::Ram ram, std::uint64_t address, std::span<std::byte> bytes) {
  for_parts(ram, address, bytes.size(), [&](auto& block, auto offset, auto done, auto part) {
    block.sync_for_cpu();
    std::memcpy(bytes.data() + done, block.data() + offset, part);
  });
}

bool BareTarget::idle() {
  const auto map = static_cast<model::RegisterMap>(hw_.regmap);
  return std::all_of(used_.begin(), used_.end(), [&](std::uint32_t unit) {
    const std::string name(model::unit_name(static_cast<model::Unit>(unit)));
    if (unit == NVDLA_UNIT_BDMA) {
      const model::RegisterInfo* const info = model::find_register("BDMA.STATUS");
      const std::uint32_t status = read(model::register_address(map, *info).value());
      return info->find_field("IDLE")->extract(map, status) != 0;
    }
    const auto status = address_of(hw_, name + ".S_STATUS");
    return !status || read(*status) == 0;
  });
}

bool BareTarget::step() { return look(kLanding); }

// A device of processes, as in an emulator, may be kept from its processor for longer.
bool BareTarget::step_until_due() { return look(kHung); }

bool BareTarget::look(detail::BareDevice::Time quiet) {
  // All signs of life that there are.
  std::uint64_t state = read(address_of(hw_, "GLB.S_INTR_STATUS").value());
  const bool done = idle();
  state = state << 1 | (done ? 1 : 0);
  const auto now = device_->now();
  if (state != state_) {
    state_ = state;
    changed_ = now;
  }
  if (now - changed_ >= (done ? quiet : kHung)) return false;
  // A look costs more than a moment: where nothing moves, it waits.
  device_->relax();
  if (!done || now - changed_ >= kLanding)
    device_->wait_interrupt(device_->now() + milliseconds(1));
  return true;
}

}  // namespace nvdla::replay
