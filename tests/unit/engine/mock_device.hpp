// SPDX-License-Identifier: MIT
//
// A device that only the registers of an NVDLA are true of, advanced by hand: two groups behind
// pointers, writes dropped while enabled, OP_EN and CONSUMER, interrupt bits that come ticks after
// OP_EN fell. It computes nothing; a layer is known by the tag in a register of each unit.
//
// It watches the rules of the hardware: what breaks one is noted in `violations`.
#ifndef NVDLA_TESTS_ENGINE_MOCK_DEVICE_HPP
#define NVDLA_TESTS_ENGINE_MOCK_DEVICE_HPP

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "firmware/engine/nvdla_engine.h"

namespace nvdla::test {

inline constexpr std::uint32_t kBases[NVDLA_REGMAP_COUNT][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;
inline constexpr std::uint32_t kOpEnables[NVDLA_UNIT_COUNT] = NVDLA_UNIT_OP_ENABLES;
inline constexpr std::uint32_t kAllOnes = 0xffffffffu;
inline constexpr unsigned kNever = ~0u;  // of a number of looks

constexpr std::uint32_t unit_bit(std::uint32_t unit) { return 1u << unit; }
// Units that raise a bit, but end no layer.
inline constexpr std::uint32_t kSideUnits = unit_bit(NVDLA_UNIT_CDMA) | unit_bit(NVDLA_UNIT_CACC);
inline constexpr std::uint32_t kConvUnits = kSideUnits | unit_bit(NVDLA_UNIT_CSC) |
                                            unit_bit(NVDLA_UNIT_CMAC_A) |
                                            unit_bit(NVDLA_UNIT_CMAC_B);

// What a test tells the device about a layer.
struct MockLayer {
  // Units that work one after another; all of a stage run together.
  std::vector<std::vector<std::uint32_t>> stages;
  // Bound register values that the layer must run with.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> registers;
  std::vector<std::uint32_t> waits;
  unsigned ticks = 1;           // of each stage
  unsigned delay = 2;           // from OP_EN's fall in the last unit to its bit
  bool hangs = false;           // in its last stage
  std::uint32_t silent = 0;     // units, but the last, that raise no bit
  std::uint32_t lingering = 0;  // of these, units whose OP_EN stays up
  unsigned looks = 0;           // that still see it up
};

class MockDevice {
 public:
  explicit MockDevice(const nvdla_hw& hw) : hw_(hw), units_(NVDLA_UNIT_COUNT) {}

  struct Write {
    std::uint32_t offset;
    std::uint32_t value;
  };
  struct Run {
    std::uint32_t layer;
    std::uint32_t unit;
    std::uint32_t group;
  };

  // Knobs.
  std::vector<MockLayer> layers;
  std::uint64_t now = 1000;  // of the clock
  std::uint64_t tick_ns = 1000;
  std::uint64_t jump_ns = 0;  // that the clock jumps by ...
  unsigned jump_at = 0;       // ... at this reading, the first being 1
  unsigned flush_reads = 0;   // CBUF flush polls that say "not yet"
  bool gone = false;
  std::uint32_t version = 0x00303031;
  unsigned bdma_ticks = 2;
  std::function<void(std::uint32_t, std::uint32_t)> on_write;

  // What was seen.
  std::vector<Write> writes;
  std::vector<std::uint32_t> reads;
  std::vector<Run> runs;             // each start of a unit, in order
  std::vector<std::uint32_t> ended;  // layers whose last bit was raised, in order
  std::vector<std::string> violations;
  std::vector<std::uint32_t> enables;  // units, in order of OP_ENABLE writes
  unsigned barriers = 0;
  unsigned readings = 0;  // of the clock
  unsigned ticks = 0;
  std::array<std::array<std::uint16_t, 1024>, 4> lut{};  // SDP LE, SDP LO, CDP LE, CDP LO
  unsigned lut_loads = 0;
  struct Launch {
    std::uint32_t group;
    std::vector<std::map<std::uint32_t, std::uint32_t>> commands;
  };
  std::vector<Launch> launches;

  std::uint64_t read_clock() {
    if (++readings == jump_at) now += jump_ns;
    return now;
  }

  // Registers as software sees them.
  std::uint32_t read(std::uint32_t offset) {
    reads.push_back(offset);
    if (gone) return kAllOnes;
    const std::uint32_t unit = unit_of(offset);
    if (unit == NVDLA_UNIT_COUNT) return 0;
    const std::uint32_t reg = offset & (NVDLA_UNIT_WINDOW - 1);
    if (unit == NVDLA_UNIT_GLB) return read_glb(reg);
    if (unit == NVDLA_UNIT_BDMA) return read_bdma(reg);
    if (kOpEnables[unit] == NVDLA_NO_REG) return 0;
    Unit& u = units_[unit];
    if (reg == NVDLA_REG_S_STATUS) return look_at(u);
    if (reg == NVDLA_REG_S_POINTER) return u.producer | u.consumer << 16;
    if (unit == NVDLA_UNIT_CDMA && reg == NVDLA_CDMA_S_CBUF_FLUSH_STATUS) {
      if (flush_reads == 0) return 1;
      if (flush_reads != kNever) --flush_reads;
      return 0;
    }
    if (reg < kOpEnables[unit]) return u.single[reg];
    Group& group = u.groups[u.producer];
    if (reg == kOpEnables[unit]) return group.enabled;
    const auto found = group.registers.find(reg);
    if (found != group.registers.end()) return found->second;
    return group.latched ? counter(group.latched - 1, unit, reg) : 0;
  }

  void write(std::uint32_t offset, std::uint32_t value) {
    writes.push_back({offset, value});
    if (on_write) on_write(offset, value);
    if (gone) return;
    const std::uint32_t unit = unit_of(offset);
    if (unit == NVDLA_UNIT_COUNT) return violation("write outside of all units", offset);
    const std::uint32_t reg = offset & (NVDLA_UNIT_WINDOW - 1);
    if (unit == NVDLA_UNIT_GLB) return write_glb(reg, value);
    if (unit == NVDLA_UNIT_BDMA) return write_bdma(reg, value);
    if (kOpEnables[unit] == NVDLA_NO_REG) return;
    Unit& u = units_[unit];
    if (reg == NVDLA_REG_S_POINTER) {
      u.producer = value & 1;
      return;
    }
    if (reg < kOpEnables[unit]) return write_single(unit, reg, value);
    Group& group = u.groups[u.producer];
    if (group.enabled) return violation("D_ register written while enabled", offset);
    if (reg != kOpEnables[unit]) {
      group.registers[reg] = value;
      return;
    }
    if (value & 1) enable(unit, u.producer);
  }

  // The level of the interrupt line.
  bool line() const { return (status_ & ~mask_) != 0; }
  std::uint32_t status() const { return status_; }
  std::uint32_t mask() const { return mask_; }
  void raise(std::uint32_t bits) { status_ |= bits; }
  // As if a bit had been cleared by someone else.
  void lose(std::uint32_t bits) { status_ &= ~bits; }

  // The register value that counts for `layer` in `unit`.
  static std::uint32_t counter(std::uint32_t layer, std::uint32_t unit, std::uint32_t reg) {
    return (layer + 1) << 20 | unit << 12 | reg;
  }

  bool enabled(std::uint32_t unit, std::uint32_t group) const {
    return units_[unit].groups[group].enabled;
  }
  bool any_enabled(std::uint32_t unit) const { return enabled(unit, 0) || enabled(unit, 1); }
  std::uint32_t consumer(std::uint32_t unit) const { return units_[unit].consumer; }
  void set_consumer(std::uint32_t unit, std::uint32_t group) { units_[unit].consumer = group; }
  void set_producer(std::uint32_t unit, std::uint32_t group) { units_[unit].producer = group; }
  // Enabled by someone else, for ever.
  void make_busy(std::uint32_t unit, std::uint32_t group) {
    if (unit == NVDLA_UNIT_BDMA) bdma_busy_[group] = 1;
    units_[unit].groups[group].enabled = true;
  }
  void push_bdma() { ++bdma_queued_; }
  std::uint32_t register_of(std::uint32_t unit, std::uint32_t group, std::uint32_t reg) {
    return units_[unit].groups[group].registers[reg];
  }

  // The layers of the next job, of which some ended in an earlier one; registers stay as they are.
  void begin(std::vector<MockLayer> job, const std::vector<std::uint32_t>& before = {}) {
    layers = std::move(job);
    runs.clear();
    ended.clear();
    next_stage_.clear();
    first_open_ = 0;
    busy_layer_.clear();
    last_bit_.clear();
    consumed_.clear();
    enabled_.clear();
    for (Unit& u : units_)
      for (Group& group : u.groups) group.registers.clear();
    for (std::uint32_t layer : before) {
      if (layer >= layers.size()) continue;
      next_stage_[layer] = layers[layer].stages.size();
      last_bit_[layer] = 0;
      consumed_[layer] = true;
    }
  }

  // The reset line.
  void reset() {
    begin({});
    units_.assign(NVDLA_UNIT_COUNT, Unit{});
    status_ = mask_ = bdma_queued_ = 0;
    stages_.clear();
    due_.clear();
    bdma_pushed_.clear();
    bdma_busy_ = {};
  }

  // Time passes.
  void tick() {
    ++ticks;
    now += tick_ns;
    deliver();
    work();
    tick_bdma();
    start_stages();
  }

  // How often a layer ran, by its last unit.
  unsigned count_runs(std::uint32_t layer) const {
    unsigned n = 0;
    for (const Run& run : runs)
      if (run.layer == layer && run.unit == layers[layer].stages.back().front()) ++n;
    return n;
  }

 private:
  struct Group {
    std::map<std::uint32_t, std::uint32_t> registers;
    bool enabled = false;
    bool lingers = false;       // ended, though it is enabled
    unsigned looks = 0;         // at it, until it falls
    bool bit_due = false;       // ended, its bit was not cleared yet
    std::uint32_t latched = 0;  // layer + 1 whose counters are there
  };
  struct Unit {
    std::map<std::uint32_t, std::uint32_t> single;
    std::array<Group, 2> groups;
    std::uint32_t producer = 0;
    std::uint32_t consumer = 0;
    bool running = false;
  };
  struct Stage {
    std::uint32_t layer;
    std::size_t index;
    unsigned left;
  };
  struct Due {
    std::uint32_t bit;
    std::uint32_t layer;
    unsigned left;
  };

  void violation(const std::string& what, std::uint32_t where) {
    violations.push_back(what + " at " + std::to_string(where) + ", tick " + std::to_string(ticks));
  }

  std::uint32_t unit_of(std::uint32_t offset) const {
    for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; ++unit)
      if (kBases[hw_.regmap][unit] == (offset & ~(NVDLA_UNIT_WINDOW - 1u))) return unit;
    return NVDLA_UNIT_COUNT;
  }

  static std::uint32_t state(const Unit& u, std::uint32_t group) {
    if (!u.groups[group].enabled) return 0;
    return u.consumer == group ? 1 : 2;
  }

  std::uint32_t look_at(Unit& u) {
    const std::uint32_t seen = state(u, 0) | state(u, 1) << 16;
    for (Group& group : u.groups) {
      if (!group.lingers || group.looks == kNever || group.looks-- > 1) continue;
      group.lingers = group.enabled = false;
    }
    return seen;
  }

  static std::uint32_t bit_of(std::uint32_t unit, std::uint32_t group) {
    switch (unit) {
      case NVDLA_UNIT_SDP:
        return 1u << group;
      case NVDLA_UNIT_CDP:
        return 4u << group;
      case NVDLA_UNIT_PDP:
        return 16u << group;
      case NVDLA_UNIT_BDMA:
        return 64u << group;
      case NVDLA_UNIT_RBK:
        return 256u << group;
      case NVDLA_UNIT_CDMA:
        return 0x50000u << group;
      case NVDLA_UNIT_CACC:
        return 0x100000u << group;
      default:
        return 0;
    }
  }

  std::uint32_t read_glb(std::uint32_t reg) {
    switch (reg) {
      case NVDLA_GLB_S_NVDLA_HW_VERSION:
        return version;
      case NVDLA_GLB_S_INTR_MASK:
        return mask_;
      case NVDLA_GLB_S_INTR_STATUS:
        return status_;
      default:
        return 0;
    }
  }

  void write_glb(std::uint32_t reg, std::uint32_t value) {
    if (reg == NVDLA_GLB_S_INTR_MASK) mask_ = value & NVDLA_IRQ_ALL;
    if (reg == NVDLA_GLB_S_INTR_SET) status_ |= value & NVDLA_IRQ_ALL;
    if (reg != NVDLA_GLB_S_INTR_STATUS) return;
    const std::uint32_t cleared = status_ & value;
    status_ &= ~value;
    for (std::uint32_t unit = 0; unit < NVDLA_UNIT_COUNT; ++unit)
      for (std::uint32_t group = 0; group < 2; ++group)
        if (bit_of(unit, group) & cleared) units_[unit].groups[group].bit_due = false;
    for (std::uint32_t layer : ended)
      if (last_bit_[layer] & cleared) consumed_[layer] = true;
  }

  void write_single(std::uint32_t unit, std::uint32_t reg, std::uint32_t value) {
    Unit& u = units_[unit];
    u.single[reg] = value;
    if (unit != NVDLA_UNIT_SDP && unit != NVDLA_UNIT_CDP) return;
    for (const Group& group : u.groups)
      if (group.enabled || group.bit_due) violation("LUT written while the unit works", unit);
    const std::size_t side = unit == NVDLA_UNIT_CDP ? 1 : 0;
    if (reg == NVDLA_SDP_S_LUT_ACCESS_CFG) {
      if (!(value & NVDLA_SDP_S_LUT_ACCESS_CFG_LUT_ACCESS_TYPE_MASK))
        violation("LUT access is not a write", unit);
      lut_index_[side] = value & 0x3ff;
      lut_table_[side] = value >> 16 & 1;
      if (lut_table_[side] == 0) ++lut_loads;
    }
    if (reg == NVDLA_SDP_S_LUT_ACCESS_DATA)
      lut[2 * side + lut_table_[side]][lut_index_[side]++ & 1023] =
          static_cast<std::uint16_t>(value);
  }

  void enable(std::uint32_t unit, std::uint32_t group) {
    Unit& u = units_[unit];
    enables.push_back(unit);
    const std::uint32_t layer = u.groups[group].registers[kOpEnables[unit] + 4];
    if (layer >= layers.size()) return violation("enabled without a known layer", unit);
    if (u.groups[group].bit_due) violation("enabled before its bit was consumed", unit);
    for (std::uint32_t wait : layers[layer].waits)
      if (!consumed_[wait]) violation("enabled before what it waits for", layer);
    if (gated() && (kConvUnits >> unit & 1)) check_gating(layer, unit);
    enabled_[layer] |= unit_bit(unit);
    u.groups[group].enabled = true;
    u.groups[group].latched = 0;
  }

  bool gated() const { return hw_.features & NVDLA_HW_WEIGHT_GATING; }

  // What logic with a gated clock asks for: CDMA runs when CSC starts, and has not run ahead.
  void check_gating(std::uint32_t layer, std::uint32_t unit) {
    if (unit == NVDLA_UNIT_CSC && !(enabled_[layer] & unit_bit(NVDLA_UNIT_CDMA)))
      violation("CSC enabled before CDMA", layer);
    for (std::uint32_t earlier = 0; earlier < layers.size(); ++earlier)
      if (earlier != layer && (enabled_[earlier] & kConvUnits) && !consumed_[earlier])
        violation("convolution enabled before one has ended", layer);
  }

  // Stages whose units are all at their turn with the layer's registers.
  void start_stages() {
    while (first_open_ < layers.size() &&
           next_stage_[first_open_] >= layers[first_open_].stages.size())
      ++first_open_;
    for (std::uint32_t layer = first_open_; layer < layers.size(); ++layer) {
      std::size_t& next = next_stage_[layer];
      if (next >= layers[layer].stages.size() || busy_layer_[layer]) continue;
      bool ready = true;
      for (std::uint32_t unit : layers[layer].stages[next]) {
        Unit& u = units_[unit];
        Group& group = u.groups[u.consumer];
        ready =
            ready && group.enabled && !u.running && group.registers[kOpEnables[unit] + 4] == layer;
      }
      if (!ready) continue;
      for (std::uint32_t unit : layers[layer].stages[next]) {
        units_[unit].running = true;
        runs.push_back({layer, unit, units_[unit].consumer});
        check_registers(layer, unit);
      }
      busy_layer_[layer] = true;
      stages_.push_back({layer, next, layers[layer].ticks});
    }
  }

  void check_registers(std::uint32_t layer, std::uint32_t unit) {
    auto& registers = units_[unit].groups[units_[unit].consumer].registers;
    for (const auto& [offset, value] : layers[layer].registers)
      if (unit_of(offset) == unit && registers[offset & (NVDLA_UNIT_WINDOW - 1)] != value)
        violation("layer " + std::to_string(layer) + " runs with a wrong register", offset);
  }

  void work() {
    for (std::size_t i = 0; i < stages_.size();) {
      Stage& stage = stages_[i];
      const MockLayer& layer = layers[stage.layer];
      const bool last = stage.index + 1 == layer.stages.size();
      if ((last && layer.hangs) || --stage.left > 0) {
        ++i;
        continue;
      }
      for (std::uint32_t unit : layer.stages[stage.index]) end_unit(stage, unit, last);
      busy_layer_[stage.layer] = false;
      ++next_stage_[stage.layer];
      stages_.erase(stages_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void end_unit(const Stage& stage, std::uint32_t unit, bool last) {
    const MockLayer& layer = layers[stage.layer];
    Unit& u = units_[unit];
    Group& group = u.groups[u.consumer];
    const std::uint32_t bit = bit_of(unit, u.consumer);
    u.running = false;
    group.latched = stage.layer + 1;
    u.consumer ^= 1;
    group.lingers = !last && layer.looks > 0 && (layer.silent & layer.lingering & unit_bit(unit));
    group.looks = layer.looks;
    group.enabled = group.lingers;
    if (!bit || (!last && (layer.silent & unit_bit(unit)))) return;
    if (last) {
      group.bit_due = true;
      due_.push_back({bit, stage.layer, layer.delay});
    } else {
      status_ |= bit;
    }
  }

  // Write responses of one unit come in order.
  void deliver() {
    std::uint32_t behind = 0;
    for (std::size_t i = 0; i < due_.size();) {
      const std::uint32_t pair = due_[i].bit | due_[i].bit << 1 | due_[i].bit >> 1;
      if (due_[i].left > 0) --due_[i].left;
      if (due_[i].left > 0 || (behind & due_[i].bit)) {
        behind |= pair;
        ++i;
        continue;
      }
      status_ |= due_[i].bit;
      last_bit_[due_[i].layer] = due_[i].bit;
      ended.push_back(due_[i].layer);
      due_.erase(due_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  std::uint32_t read_bdma(std::uint32_t reg) {
    if (!(hw_.features & NVDLA_HW_BDMA)) return 0;
    if (reg == NVDLA_BDMA_STATUS) {
      std::uint32_t value = 20 - bdma_queued_;
      if (bdma_busy_[0]) value |= NVDLA_BDMA_STATUS_GRP0_BUSY_MASK;
      if (bdma_busy_[1]) value |= NVDLA_BDMA_STATUS_GRP1_BUSY_MASK;
      if (!bdma_busy_[0] && !bdma_busy_[1]) value |= NVDLA_BDMA_STATUS_IDLE_MASK;
      return value;
    }
    if (reg >= NVDLA_BDMA_STATUS_GRP0_READ_STALL) return 0xbd000000u | reg;
    return bdma_registers_[reg];
  }

  void write_bdma(std::uint32_t reg, std::uint32_t value) {
    if (reg == NVDLA_BDMA_CFG_OP) {
      if (value != NVDLA_BDMA_CFG_OP_EN_ENABLE) violation("BDMA command without its bit", reg);
      if (++bdma_queued_ > 20) violation("BDMA queue overflows", reg);
      bdma_pushed_.push_back(bdma_registers_);
    } else if (reg == NVDLA_BDMA_CFG_LAUNCH0 || reg == NVDLA_BDMA_CFG_LAUNCH1) {
      const std::uint32_t group = reg == NVDLA_BDMA_CFG_LAUNCH1;
      if (value != NVDLA_BDMA_CFG_LAUNCH0_GRP0_LAUNCH_YES)
        violation("BDMA launch without its bit", reg);
      if (bdma_pushed_.empty()) violation("BDMA launched without commands", reg);
      if (bdma_busy_[0] || bdma_busy_[1]) violation("BDMA launched while busy", reg);
      if (status_ & (0xc0u)) violation("BDMA launched before its bit was consumed", reg);
      bdma_busy_[group] = bdma_ticks;
      launches.push_back({group, std::move(bdma_pushed_)});
      bdma_pushed_.clear();
    } else {
      bdma_registers_[reg] = value;
    }
  }

  void tick_bdma() {
    for (std::uint32_t group = 0; group < 2; ++group)
      if (bdma_busy_[group] && --bdma_busy_[group] == 0) {
        bdma_queued_ = 0;
        status_ |= bit_of(NVDLA_UNIT_BDMA, group);
        for (std::uint32_t layer = 0; layer < layers.size(); ++layer)
          if (layers[layer].stages == std::vector<std::vector<std::uint32_t>>{{NVDLA_UNIT_BDMA}} &&
              !last_bit_.contains(layer)) {
            last_bit_[layer] = bit_of(NVDLA_UNIT_BDMA, group);
            ended.push_back(layer);
            break;
          }
      }
  }

  const nvdla_hw& hw_;
  std::vector<Unit> units_;
  std::uint32_t status_ = 0;
  std::uint32_t mask_ = 0;
  std::uint32_t first_open_ = 0;
  std::map<std::uint32_t, std::size_t> next_stage_;
  std::map<std::uint32_t, bool> busy_layer_;
  std::map<std::uint32_t, std::uint32_t> last_bit_;
  std::map<std::uint32_t, bool> consumed_;
  std::map<std::uint32_t, std::uint32_t> enabled_;  // units of each layer
  std::vector<Stage> stages_;
  std::vector<Due> due_;
  std::array<std::uint32_t, 2> lut_index_{};
  std::array<std::uint32_t, 2> lut_table_{};
  std::map<std::uint32_t, std::uint32_t> bdma_registers_;
  std::vector<std::map<std::uint32_t, std::uint32_t>> bdma_pushed_;
  std::array<unsigned, 2> bdma_busy_{};
  std::uint32_t bdma_queued_ = 0;
};

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_ENGINE_MOCK_DEVICE_HPP
