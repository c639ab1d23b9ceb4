// SPDX-License-Identifier: MIT
#include "backend/registers/bare_model.hpp"

#include <algorithm>
#include <utility>

#include "backend/model/refusal_text.hpp"
#include "backend/registers/pages.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr BareDevice::Time kTick = std::chrono::microseconds(1);

class ModelMemory final : public BareMemory {
 public:
  ModelMemory(std::shared_ptr<BlockTable> blocks, Pages pages, std::uint64_t bytes,
              std::uint64_t address, std::optional<Memory> memory)
      : BareMemory(pages.data(), bytes, address, memory.value_or(Memory::kDram)),
        blocks_(std::move(blocks)),
        pages_(std::move(pages)) {
    blocks_->set(address, data(), bytes, memory);
  }
  ~ModelMemory() override { blocks_->give_back(address()); }

 private:
  std::shared_ptr<BlockTable> blocks_;
  Pages pages_;
};

}  // namespace

model::Mapping BlockBus::map(model::Ram ram, std::uint64_t address, std::uint64_t /*size*/,
                             bool /*write*/) noexcept {
  const Memory memory = ram == model::Ram::kSecondary ? Memory::kSram : Memory::kDram;
  const BlockTable::Bytes bytes = blocks_.find(memory, address);
  return {bytes.data, bytes.size};
}

BareModel::BareModel(std::string name, const nvdla_hw& hw, const model::Options& options)
    : name_(std::move(name)),
      hw_(hw),
      blocks_(std::make_shared<BlockTable>(hw.address_bits)),
      bus_(*blocks_),
      device_(hw, bus_, options) {}

std::unique_ptr<BareMemory> BareModel::allocate(std::uint64_t bytes, Memory memory) {
  Pages pages(bytes);
  const auto address = blocks_->take(std::nullopt, bytes);
  if (!address) {
    throw_error(ErrorCode::kNoMemory, "no room for {} bytes in the device's address space", bytes);
  }
  return std::make_unique<ModelMemory>(blocks_, std::move(pages), bytes, *address, memory);
}

std::unique_ptr<BareMemory> BareModel::allocate_at(std::uint64_t address, std::uint64_t bytes,
                                                   std::optional<Memory> memory) {
  if (bytes == 0) return nullptr;
  Pages pages(bytes);
  if (!blocks_->take(address, bytes)) return nullptr;
  return std::make_unique<ModelMemory>(blocks_, std::move(pages), bytes, address, memory);
}

bool BareModel::wait_interrupt(Time until) {
  while (!device_.interrupt()) {
    if (now_ >= until) return false;
    // Nothing that could raise it: the end of the wait is now.
    now_ = device_.step() || device_.interrupt() ? now_ + kTick : until;
  }
  return true;
}

void BareModel::relax() {
  device_.step();
  now_ += kTick;
}

bool BareModel::reset() {
  device_.reset();
  return true;
}

std::string BareModel::take_refusals() {
  const model::Refusals refusals = device_.refusals();
  if (refusals.count == 0) return {};
  device_.clear_refusals();
  return refusal_text(refusals);
}

}  // namespace nvdla::detail
