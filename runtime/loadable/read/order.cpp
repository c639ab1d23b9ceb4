// SPDX-License-Identifier: MIT
#include "loadable/read/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <set>

#include "support/check.hpp"

namespace nvdla::loadable {
namespace {

class Orderer {
 public:
  Orderer(const DlaTask& task, std::string_view what)
      : task_(task), what_(what), parent_(task.operations.size()), child_(task.operations.size()) {}

  std::vector<LayerGroup> run() {
    check_references();
    check_chains();
    check_counts();
    fuse();
    build_groups();
    return sort();
  }

 private:
  using Index = std::size_t;

  template <typename... Args>
  [[noreturn]] void throw_error(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("loadable: {}: {}", what_, fmt::format(format, std::forward<Args>(args)...)));
  }

  Index count() const { return task_.operations.size(); }
  const Operation& op(Index i) const { return task_.operations[i]; }
  std::string name(Index i) const {
    return fmt::format("operation {} ({})", i, op_type_name(op(i).type()));
  }

  void check_reference(Index i, const Consumer& c, const char* field) const {
    if (c.index == -1) return;
    if (c.index < 0 || static_cast<Index>(c.index) >= count()) {
      throw_error("{}: {} {} is not in -1..{}", name(i), field, c.index, count() - 1);
    }
    if (static_cast<Index>(c.index) == i) throw_error("{}: its {} is itself", name(i), field);
    if (c.event < kCompleted || c.event > kDataDone) {
      throw_error("{}: {} waits for event {}, not in 1..5", name(i), field, c.event);
    }
  }

  void check_references() const {
    for (Index i = 0; i < count(); ++i) {
      const CommonDesc& common = op(i).common;
      for (std::uint8_t type = 0; type < kOpTypes; ++type) {
        const Consumer& consumer = common.consumers[type];
        check_reference(i, consumer, "consumer");
        if (consumer.index != -1 && op(static_cast<Index>(consumer.index)).type() != type) {
          throw_error("{}: its consumer of type {} is {}", name(i), op_type_name(type),
                      name(static_cast<Index>(consumer.index)));
        }
      }
      check_reference(i, common.fused_parent, "fused parent");
    }
  }

  // Firmware starts with the head of each type and goes on with the consumer of the same type.
  void check_chains() {
    std::vector<bool> reached(count());
    for (std::uint8_t type = 0; type < kOpTypes; ++type) {
      std::int16_t next = task_.network.op_head[type];
      while (next != -1) {
        if (next < 0 || static_cast<Index>(next) >= count()) {
          throw_error("op_head of {} is {}, not in -1..{}", op_type_name(type), next, count() - 1);
        }
        const auto i = static_cast<Index>(next);
        if (op(i).type() != type) {
          throw_error("op_head of {} is {}", op_type_name(type), name(i));
        }
        if (reached[i]) throw_error("{}: a cycle of operations of one type", name(i));
        reached[i] = true;
        next = op(i).common.consumers[type].index;
      }
    }
    for (Index i = 0; i < count(); ++i) {
      if (!reached[i]) {
        throw_error("{} is unreachable: it is neither op_head nor the next of another {}", name(i),
                    op_type_name(op(i).type()));
      }
    }
  }

  // A count too high waits for ever, one too low starts too early.
  void check_counts() const {
    std::vector<std::uint32_t> events(count());
    for (Index i = 0; i < count(); ++i) {
      for (const Consumer& c : op(i).common.consumers) {
        if (c.index != -1) ++events[static_cast<Index>(c.index)];
      }
      const Consumer& parent = op(i).common.fused_parent;
      if (parent.index != -1) ++events[static_cast<Index>(parent.index)];
    }
    for (Index i = 0; i < count(); ++i) {
      if (op(i).common.dependency_count != events[i]) {
        throw_error("{}: dependency_count is {}, but {} events lead to it", name(i),
                    op(i).common.dependency_count, events[i]);
      }
    }
  }

  bool to_hardware(Index i) const {
    if (const auto* conv = std::get_if<ConvPart>(&op(i).part)) {
      return !conv->surface.dst_data.in_memory();
    }
    if (const auto* sdp = std::get_if<SdpPart>(&op(i).part)) {
      return !sdp->surface.dst_data.in_memory();
    }
    return false;
  }

  bool from_hardware(Index i) const {
    if (const auto* sdp = std::get_if<SdpPart>(&op(i).part)) {
      return !sdp->surface.src_data.in_memory();
    }
    if (const auto* pdp = std::get_if<PdpPart>(&op(i).part)) {
      return !pdp->surface.src_data.in_memory();
    }
    return false;
  }

  void fuse() {
    for (Index i = 0; i < count(); ++i) {
      const std::int16_t index = op(i).common.fused_parent.index;
      if (index == -1) continue;
      const auto parent = static_cast<Index>(index);
      const std::uint8_t up = op(parent).type(), down = op(i).type();
      if (!((up == kConv && down == kSdp) || (up == kSdp && down == kPdp))) {
        throw_error("{} cannot be fused to {}: only conv to sdp and sdp to pdp can", name(i),
                    name(parent));
      }
      if (op(parent).common.consumers[down].index != static_cast<std::int16_t>(i)) {
        throw_error("{} names {} as its fused parent, which does not name it as its consumer",
                    name(i), name(parent));
      }
      // An operation has one consumer of a type, and one type that can be fused to it.
      parent_[i] = parent;
      child_[parent] = i;
    }
    for (Index i = 0; i < count(); ++i) {
      if (op(i).type() == kConv && !child_[i]) {
        throw_error("{}: no sdp is fused to it, and only sdp writes its result", name(i));
      }
      if (to_hardware(i) != child_[i].has_value()) {
        throw_error("{}: its destination is {} but it is {}", name(i),
                    to_hardware(i) ? "the next unit" : "memory",
                    child_[i] ? "fused to another" : "fused to none");
      }
      if (from_hardware(i) != parent_[i].has_value()) {
        throw_error("{}: its source is {} but it has {} fused parent", name(i),
                    from_hardware(i) ? "the unit before" : "memory", parent_[i] ? "a" : "no");
      }
    }
  }

  void build_groups() {
    group_of_.resize(count());
    for (Index i = 0; i < count(); ++i) {
      if (parent_[i]) continue;
      LayerGroup group;
      // Each step goes from conv to sdp to pdp: at most three.
      for (std::optional<Index> at = i; at; at = child_[*at]) {
        group_of_[*at] = groups_.size();
        group.operations.push_back(static_cast<std::uint16_t>(*at));
      }
      groups_.push_back(std::move(group));
    }
  }

  // Fused operations start together: their events are of the layer's own making.
  static bool vanishes(std::uint8_t event) { return event == kProgrammed || event == kEnabled; }

  std::vector<LayerGroup> sort() {
    const Index n = groups_.size();
    std::vector<std::set<Index>> next(n), waits(n);
    for (Index i = 0; i < count(); ++i) {
      const auto add = [&](Index from, Index to, std::uint8_t event) {
        const Index a = group_of_[from], b = group_of_[to];
        if (a == b) {
          if (!vanishes(event)) {
            throw_error(
                "{} and {} are fused, but one waits for event {} of the other: they start "
                "together",
                name(from), name(to), event);
          }
          return;
        }
        next[a].insert(b);
        if (op(from).type() == op(to).type() && vanishes(event)) return;
        waits[b].insert(a);
      };
      for (const Consumer& c : op(i).common.consumers) {
        if (c.index != -1) add(i, static_cast<Index>(c.index), c.event);
      }
      const Consumer& parent = op(i).common.fused_parent;
      if (parent.index != -1) add(i, static_cast<Index>(parent.index), parent.event);
    }

    std::vector<Index> missing(n);
    for (Index a = 0; a < n; ++a) {
      for (const Index b : next[a]) ++missing[b];
    }
    // Groups are numbered by their first operation.
    std::priority_queue<Index, std::vector<Index>, std::greater<>> ready;
    for (Index a = 0; a < n; ++a) {
      if (missing[a] == 0) ready.push(a);
    }
    std::vector<Index> order, place(n, n);
    while (!ready.empty()) {
      const Index a = ready.top();
      ready.pop();
      place[a] = order.size();
      order.push_back(a);
      for (const Index b : next[a]) {
        if (--missing[b] == 0) ready.push(b);
      }
    }
    for (Index a = 0; a < n; ++a) {
      if (place[a] == n) {
        throw_error("{} is in a cycle of operations that wait for each other, or behind one",
                    name(groups_[a].operations[0]));
      }
    }
    return finish(order, place, waits);
  }

  // Every unit ends its layers in program order: whether the end of a layer is also that of an
  // earlier one, by the unit that ends that one.
  bool ends_behind(const LayerGroup& later, const LayerGroup& earlier) const {
    const std::uint8_t unit = op(earlier.operations.back()).type();
    return std::any_of(later.operations.begin(), later.operations.end(),
                       [&](std::uint16_t i) { return op(i).type() == unit; });
  }

  // Waits in terms of places; a wait that another one implies is left out, so that there is at most
  // one for each type.
  std::vector<LayerGroup> finish(const std::vector<Index>& order, const std::vector<Index>& place,
                                 const std::vector<std::set<Index>>& waits) {
    std::vector<LayerGroup> sorted;
    for (const Index a : order) {
      LayerGroup group = std::move(groups_[a]);
      std::vector<std::uint32_t> all;
      for (const Index b : waits[a]) all.push_back(static_cast<std::uint32_t>(place[b]));
      std::sort(all.begin(), all.end());
      for (const std::uint32_t wait : all) {
        const bool implied = std::any_of(all.begin(), all.end(), [&](std::uint32_t other) {
          return other > wait &&
                 (ends_behind(sorted[other], sorted[wait]) ||
                  std::binary_search(sorted[other].waits.begin(), sorted[other].waits.end(), wait));
        });
        if (!implied) group.waits.push_back(wait);
      }
      sorted.push_back(std::move(group));
    }
    return sorted;
  }

  const DlaTask& task_;
  std::string what_;
  std::vector<std::optional<Index>> parent_, child_;
  std::vector<Index> group_of_;
  std::vector<LayerGroup> groups_;
};

}  // namespace

std::vector<LayerGroup> order_operations(const DlaTask& task, std::string_view what) {
  return Orderer(task, what).run();
}

std::string group_name(const DlaTask& task, const LayerGroup& group) {
  std::string text;
  for (const std::uint16_t i : group.operations) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " + ",
                        op_type_name(task.operations[i].type()), i);
  }
  return text;
}

}  // namespace nvdla::loadable
