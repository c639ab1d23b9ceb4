// SPDX-License-Identifier: MIT
#include "breakable_model.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "model/core/register_info.hpp"
#include "support/check.hpp"

namespace nvdla::test {
namespace {

constexpr detail::BareDevice::Time kKr = std::chrono::microseconds(1);
constexpr std::uint64_t kSmall = 0x80000000;
constexpr std::uint64_t kLarge = 0x90000000;
constexpr std::uint64_t kPage = 4096;

std::uint32_t reversed(std::uint32_t value) {
  return value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
}

}  // namespace

// Memory as both sides see it.
struct BreakableModel::Block {
  std::vector<std::byte> host;
  std::vector<std::byte> device;
  bool went_over = false;
  bool came_back = false;
};

class BreakableModel::Bus final : public model::Bus {
 public:
  explicit Bus(const Breakage& breakage) : breakage_(breakage) {}

  model::Mapping map(model::Ram /*ram*/, std::uint64_t address, std::uint64_t /*size*/,
                     bool /*write*/) noexcept override {
    address &= ~breakage_.lost_address_bits;
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return {};
    auto& [begin, block] = *std::prev(after);
    if (address - begin >= block->device.size()) return {};
    const std::uint64_t at = address - begin;
    // Nothing is mapped beyond the next address line that may be lost.
    return {block->device.data() + at,
            std::min<std::uint64_t>(block->device.size() - at, kPage - address % kPage)};
  }
  void client(std::uint32_t dma) noexcept override { client_ = dma; }
  std::uint64_t generation(model::Ram, std::uint64_t, std::uint64_t) const noexcept override {
    return 0;
  }
  void written(model::Ram ram, std::uint64_t address, std::uint64_t size) noexcept override {
    moved += size;
    if (wrong_dma != 0 && client_ == wrong_dma)
      each(ram, address, size, [](std::byte& b) { b ^= std::byte{1}; });
    if (breakage_.data_line_low < 8)
      each(ram, address, size,
           [this](std::byte& b) { b &= ~(std::byte{1} << breakage_.data_line_low); });
    if (breakage_.writes_beyond)
      each(ram, address + size, 8, [](std::byte& b) { b = std::byte{0x77}; });
  }

  std::uint64_t place(std::uint64_t bytes) const {
    std::uint64_t at = bytes > 0x100000 ? kLarge : kSmall;
    for (const auto& [begin, block] : blocks_)
      if (begin + block->device.size() > at && begin < at + bytes)
        at = begin + block->device.size() + kPage;
    return at;
  }

  std::map<std::uint64_t, Block*> blocks_;
  std::uint32_t wrong_dma = 0;
  std::uint64_t moved = 0;

 private:
  template <typename Change>
  void each(model::Ram ram, std::uint64_t address, std::uint64_t size, const Change& change) {
    for (; size > 0; ++address, --size) {
      const model::Mapping mapping = map(ram, address, 1, true);
      if (mapping.size > 0) change(*mapping.data);
    }
  }

  const Breakage& breakage_;
  std::uint32_t client_ = 0;
};

class BreakableModel::BlockMemory final : public detail::BareMemory {
 public:
  BlockMemory(BreakableModel& owner, std::unique_ptr<Block> block, std::uint64_t address)
      : BareMemory(block->host.data(), block->host.size(), address, Memory::kDram),
        owner_(owner),
        block_(std::move(block)) {
    owner_.bus_->blocks_.emplace(address, block_.get());
  }
  ~BlockMemory() override { owner_.bus_->blocks_.erase(address()); }

  void sync_for_device() noexcept override {
    if (!owner_.breakage_.host_writes_stay || !block_->went_over)
      cross(block_->host, block_->device);
    block_->went_over = true;
  }
  void sync_for_cpu() noexcept override {
    if (!owner_.breakage_.host_reads_stale || !block_->came_back)
      cross(block_->device, block_->host);
    block_->came_back = true;
  }

 private:
  void cross(const std::vector<std::byte>& from, std::vector<std::byte>& to) const {
    std::copy(from.begin(), from.end(), to.begin());
    if (!owner_.breakage_.words_reversed) return;
    for (std::size_t i = 0; i + 8 <= to.size(); i += 8)
      std::reverse(to.begin() + static_cast<std::ptrdiff_t>(i),
                   to.begin() + static_cast<std::ptrdiff_t>(i + 8));
  }

  BreakableModel& owner_;
  std::unique_ptr<Block> block_;
};

BreakableModel::BreakableModel(const nvdla_hw& hw, const Breakage& breakage, model::Quirks quirks)
    : hw_(hw),
      map_(static_cast<model::RegisterMap>(hw.regmap)),
      breakage_(breakage),
      bus_(std::make_unique<Bus>(breakage_)),
      device_(hw_, *bus_, {.quirks = quirks}) {
  set_left_over();
}

BreakableModel::~BreakableModel() = default;

std::uint32_t BreakableModel::register_at(const char* name) const {
  return *model::register_address(map_, *model::find_register(name));
}

void BreakableModel::set_left_over() {
  if (breakage_.left_over) device_.write(register_at(breakage_.left_over), breakage_.left_value);
}

std::uint32_t BreakableModel::on_lines(std::uint32_t value) const {
  if (breakage_.swapped_bytes) value = reversed(value);
  if (const auto lines = breakage_.lines_swapped) {
    const auto [a, b] = *lines;
    const std::uint32_t differ = (value >> a ^ value >> b) & 1;
    value ^= differ << a | differ << b;
  }
  return value;
}

std::uint32_t BreakableModel::read(std::uint32_t offset) {
  if (breakage_.answers) return *breakage_.answers;
  if (offset < breakage_.shifted_by) return 0;
  offset = (offset - breakage_.shifted_by) & ~breakage_.lost_window_bits;
  const model::UnitInfo* unit = model::unit_at(map_, offset);
  std::uint32_t value = 0;
  if (!unit || unit->unit != breakage_.lost_unit.value_or(NVDLA_UNIT_COUNT))
    value = device_.read(offset);
  return (on_lines(value) & ~breakage_.lines_low) | breakage_.lines_high;
}

void BreakableModel::write(std::uint32_t offset, std::uint32_t value) {
  ++touched_;
  if (breakage_.answers || offset < breakage_.shifted_by) return;
  write_whole((offset - breakage_.shifted_by) & ~breakage_.lost_window_bits, on_lines(value));
}

void BreakableModel::write_whole(std::uint32_t offset, std::uint32_t value) {
  const model::UnitInfo* unit = model::unit_at(map_, offset);
  const model::RegisterInfo* reg = model::register_at(map_, offset);
  if (unit && unit->unit == breakage_.lost_unit.value_or(NVDLA_UNIT_COUNT)) return;
  if (reg && reg->name == "D_OP_ENABLE" &&
      reg->unit == breakage_.stopped_unit.value_or(NVDLA_UNIT_COUNT))
    return;
  if (breakage_.lost_write && offset == register_at(breakage_.lost_write))
    value &= ~breakage_.lost_bits;
  if (breakage_.set_raises_nothing && reg && reg->name == "S_INTR_SET") return;
  if (breakage_.weights_rounded && reg && reg->name == "D_OP_ENABLE" &&
      (reg->unit == NVDLA_UNIT_CDMA || reg->unit == NVDLA_UNIT_CSC)) {
    const std::uint32_t bytes =
        register_at(reg->unit == NVDLA_UNIT_CDMA ? "CDMA.D_WEIGHT_BYTES" : "CSC.D_WEIGHT_BYTES");
    device_.write(bytes, (device_.read(bytes) + 127) / 128 * 128);
  }
  if (breakage_.wrong_when && offset == register_at(breakage_.wrong_when))
    bus_->wrong_dma =
        (value & breakage_.wrong_bits) != breakage_.wrong_unless ? breakage_.wrong_dma : 0;
  // A layer of SDP alone: no convolution before it is to blame.
  if (breakage_.wrong_conv_only && offset == register_at("SDP.D_FEATURE_MODE_CFG") &&
      (value & 1) == 0)
    bus_->wrong_dma = 0;
  if (breakage_.one_group && reg && reg->scope == model::Scope::kGroup &&
      reg->name != "D_OP_ENABLE") {
    const std::uint32_t pointer = *unit->base[map_] + NVDLA_REG_S_POINTER;
    const std::uint32_t producer = device_.read(pointer) & 1;
    device_.write(pointer, producer ^ 1);
    device_.write(offset, value);
    device_.write(pointer, producer);
  }
  device_.write(offset, value);
}

std::unique_ptr<detail::BareMemory> BreakableModel::allocate(std::uint64_t bytes,
                                                             Memory /*memory*/) {
  bytes = (bytes + kPage - 1) / kPage * kPage;
  auto block = std::make_unique<Block>();
  block->host.resize(bytes);
  block->device.resize(bytes);
  return std::make_unique<BlockMemory>(*this, std::move(block), bus_->place(bytes));
}

bool BreakableModel::line() {
  if (breakage_.line_always) return true;
  if (breakage_.line_never) return false;
  if (breakage_.mask_ignored) return device_.read(register_at("GLB.S_INTR_STATUS")) != 0;
  return device_.interrupt();
}

bool BreakableModel::step() {
  bus_->moved = 0;
  const bool moved = device_.step();
  now_ += kKr + Time(static_cast<Time::rep>(bus_->moved * breakage_.ns_per_byte));
  return moved;
}

bool BreakableModel::wait_interrupt(Time until) {
  while (!line()) {
    if (now_ >= until) return false;
    if (!step() && !line()) now_ = until;
  }
  return true;
}

void BreakableModel::relax() { step(); }

bool BreakableModel::reset() {
  ++touched_;
  if (breakage_.no_reset) return true;
  device_.reset();
  set_left_over();
  return true;
}

}  // namespace nvdla::test
