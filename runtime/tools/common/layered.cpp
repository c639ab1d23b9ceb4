// SPDX-License-Identifier: MIT
//
// Sugiyama's method: ranks by the longest path, an empty place in each row that an edge passes,
// order by the mean of the neighbours, and places as near to these as the order allows.
#include "tools/common/layered.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

constexpr int kOrderSweeps = 12, kPlaceSweeps = 16;
// An edge that passes rows should be straight, more than nodes should be above each other.
constexpr double kStraight = 4;
// The limit on boxes and arrows in all rows that they cross; a larger picture would be unreadable.
constexpr std::size_t kMostItems = std::size_t{1} << 20;

class Layering {
 public:
  Layering(const LayeredGraph& graph, double across, double down)
      : graph_(graph), across_(across), down_(down) {
    rank_nodes();
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) add(graph.nodes[i].width, ranks_[i]);
    for (const auto& [from, to] : graph.edges) add_edge(from, to);
  }

  LayeredPlaces place() {
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) each_row(sweep, &Layering::order_row);
    for (std::vector<std::uint32_t>& row : rows_) spread_row(row);
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) each_row(sweep, &Layering::place_row);
    return result();
  }

 private:
  // A node, or a place in a row that an edge crosses.
  struct Item {
    double width = 0, centre = 0;
    bool passed = false;
    std::vector<std::uint32_t> above, below;
  };

  // Ranks the nodes. A node without predecessors is placed directly above the first node that
  // follows it.
  void rank_nodes() {
    ranks_.assign(graph_.nodes.size(), 0);
    std::vector<bool> follows(ranks_.size());
    std::vector<std::vector<std::uint32_t>> next(ranks_.size());
    for (const auto& [from, to] : graph_.edges) {
      next[from].push_back(to);
      follows[to] = true;
    }
    for (std::size_t i = 0; i < next.size(); ++i)
      for (const std::uint32_t to : next[i]) ranks_[to] = std::max(ranks_[to], ranks_[i] + 1);
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (follows[i] || next[i].empty()) continue;
      std::uint32_t nearest = std::numeric_limits<std::uint32_t>::max();
      for (const std::uint32_t to : next[i]) nearest = std::min(nearest, ranks_[to]);
      ranks_[i] = nearest - 1;
    }
  }

  std::uint32_t add(double width, std::uint32_t rank) {
    if (items_.size() == kMostItems)
      throw UsageError(fmt::format("a picture of {} boxes and {} arrows is too large to be drawn",
                                   graph_.nodes.size(), graph_.edges.size()));
    if (rows_.size() <= rank) rows_.resize(rank + 1);
    rows_[rank].push_back(static_cast<std::uint32_t>(items_.size()));
    items_.push_back({.width = width, .centre = 0, .passed = false, .above = {}, .below = {}});
    return rows_[rank].back();
  }

  void connect(std::uint32_t from, std::uint32_t to) {
    items_[from].below.push_back(to);
    items_[to].above.push_back(from);
  }

  void add_edge(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> path = {from};
    for (std::uint32_t rank = ranks_[from] + 1; rank < ranks_[to]; ++rank) {
      path.push_back(add(0, rank));
      items_[path.back()].passed = true;
    }
    path.push_back(to);
    for (std::size_t i = 1; i < path.size(); ++i) connect(path[i - 1], path[i]);
    paths_.push_back(std::move(path));
  }

  // Downwards by what is above, and upwards by what is below.
  void each_row(int sweep, void (Layering::*work)(std::vector<std::uint32_t>&, bool)) {
    const bool downwards = sweep % 2 == 0;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      (this->*work)(rows_[downwards ? i : rows_.size() - 1 - i], downwards);
  }

  double mean_centre(const Item& item, bool above) const {
    const auto& others = above ? item.above : item.below;
    if (others.empty()) return item.centre;
    const double sum =
        std::accumulate(others.begin(), others.end(), 0.0,
                        [&](double so_far, std::uint32_t i) { return so_far + items_[i].centre; });
    return sum / static_cast<double>(others.size());
  }

  void order_row(std::vector<std::uint32_t>& row, bool downwards) {
    for (std::size_t i = 0; i < row.size(); ++i)
      items_[row[i]].centre = mean_centre(items_[row[i]], downwards);
    std::stable_sort(row.begin(), row.end(), [&](std::uint32_t a, std::uint32_t b) {
      return items_[a].centre < items_[b].centre;
    });
    // Only the order counts, around the middle.
    for (std::size_t i = 0; i < row.size(); ++i)
      items_[row[i]].centre = static_cast<double>(i) - static_cast<double>(row.size() - 1) / 2;
  }

  double apart(std::uint32_t left, std::uint32_t right) const {
    return (items_[left].width + items_[right].width) / 2 + across_;
  }

  void spread_row(const std::vector<std::uint32_t>& row) {
    double x = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i != 0) x += apart(row[i - 1], row[i]);
      items_[row[i]].centre = x;
    }
    for (const std::uint32_t i : row) items_[i].centre -= x / 2;
  }

  // The least squares of how far each is from where it wants to be, all in their order and apart:
  // those that would overlap move as one.
  void place_row(std::vector<std::uint32_t>& row, bool downwards) {
    struct Block {
      double weight, sum;
      std::size_t count;
      double place() const { return sum / weight; }
    };
    std::vector<double> shifts;
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < row.size(); ++i) {
      shifts.push_back(i == 0 ? 0 : shifts.back() + apart(row[i - 1], row[i]));
      const Item& item = items_[row[i]];
      const double weight = item.passed ? kStraight : 1;
      blocks.push_back({weight, weight * (mean_centre(item, downwards) - shifts.back()), 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].place() > blocks.back().place()) {
        const Block last = blocks.back();
        blocks.pop_back();
        blocks.back().weight += last.weight;
        blocks.back().sum += last.sum;
        blocks.back().count += last.count;
      }
    }
    std::size_t i = 0;
    for (const Block& block : blocks)
      for (const std::size_t end = i + block.count; i < end; ++i)
        items_[row[i]].centre = block.place() + shifts[i];
  }

  LayeredPlaces result() const {
    LayeredPlaces places;
    double left = items_.empty() ? 0 : std::numeric_limits<double>::infinity(), right = -left;
    for (const Item& item : items_) {
      left = std::min(left, item.centre - item.width / 2);
      right = std::max(right, item.centre + item.width / 2);
    }
    std::vector<double> tops(rows_.size()), bottoms(rows_.size());
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      tops[row] = row == 0 ? 0 : bottoms[row - 1] + down_;
      bottoms[row] = tops[row];
      for (const std::uint32_t i : rows_[row]) {
        if (items_[i].passed) continue;
        bottoms[row] = std::max(bottoms[row], tops[row] + graph_.nodes[i].height);
      }
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      places.nodes.emplace_back(items_[i].centre - items_[i].width / 2 - left, tops[ranks_[i]]);
    for (const std::vector<std::uint32_t>& path : paths_) {
      std::vector<LayeredPlaces::Point> points;
      for (std::size_t k = 0; k < path.size(); ++k) {
        const std::uint32_t row = ranks_[path[0]] + static_cast<std::uint32_t>(k);
        const double x = items_[path[k]].centre - left;
        if (k != 0) points.emplace_back(x, tops[row]);
        if (k == 0) points.emplace_back(x, tops[row] + graph_.nodes[path[0]].height);
        if (k != 0 && k + 1 != path.size()) points.emplace_back(x, bottoms[row]);
      }
      places.edges.push_back(std::move(points));
    }
    places.width = right - left;
    places.height = bottoms.empty() ? 0 : bottoms.back();
    return places;
  }

  const LayeredGraph& graph_;
  const double across_, down_;
  std::vector<std::uint32_t> ranks_;  // of nodes
  std::vector<Item> items_;           // nodes come first
  std::vector<std::vector<std::uint32_t>> rows_, paths_;
};

}  // namespace

LayeredPlaces place_layered(const LayeredGraph& graph, double across, double down) {
  return Layering(graph, across, down).place();
}

}  // namespace nvdla::program
