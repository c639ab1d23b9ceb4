// SPDX-License-Identifier: MIT
//
// From register writes in the order of a driver to launches of pipelines: which
// register groups were enabled, and which of them work together.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "common/lift/lift.hpp"

namespace nvdla::test {

struct Launch {
  LaunchRegisters registers;  // of the units that take part, as they were enabled
  std::uint32_t units = 0;    // bit per enum nvdla_unit
  std::uint32_t groups = 0;   // of `units`, those in group 1
};

// Units pair up as hardware pairs them: each serves its groups in the order in
// which they were enabled, and the modes in their registers say who feeds whom.
class LaunchTracker {
 public:
  explicit LaunchTracker(model::RegisterMap map)
      : map_(map), single_(map), transfers_(map), groups_{}, producer_{} {}

  void write(std::uint32_t byte_address, std::uint32_t value);

  // The device gets time: layers of which all units are enabled run, with
  // tables and other registers that there is one copy of as they are now.
  std::vector<Launch> run();

  // Units that are enabled and wait for others; bit per enum nvdla_unit.
  std::uint32_t waiting() const noexcept;
  // The register group of a unit that reads and writes go to.
  unsigned producer(model::Unit unit) const noexcept { return producer_[unit]; }

 private:
  using Values = std::map<std::uint32_t, std::uint32_t>;
  struct Enabled {
    std::uint64_t order;
    unsigned group;
    Values values;
  };
  struct Found {
    std::uint32_t units;
    std::uint64_t order;
  };

  void enable(model::Unit unit, std::uint32_t byte_address);
  void launch_transfers(unsigned group);
  bool any(model::Unit unit) const noexcept { return !enabled_[unit].empty(); }
  std::uint32_t field(model::Unit unit, std::uint32_t offset, std::uint32_t mask) const;
  bool sdp_takes_reads() const;
  void end_idle_reads();
  void find_sdp(std::vector<Found>& found) const;
  std::vector<Found> find() const;
  Launch take(const Found& found);

  const model::RegisterMap map_;
  LaunchRegisters single_;
  LaunchRegisters transfers_;  // of BDMA, not launched yet
  std::array<std::array<Values, 2>, NVDLA_UNIT_COUNT> groups_;
  std::array<unsigned, NVDLA_UNIT_COUNT> producer_;
  std::array<std::deque<Enabled>, NVDLA_UNIT_COUNT> enabled_;
  std::deque<LaunchRegisters> launched_transfers_;
  std::uint64_t order_ = 0;
};

}  // namespace nvdla::test
