// SPDX-License-Identifier: MIT
//
// Places of boxes and arrows: what a picture of a graph has to show, of any graph.
#include "tools/common/layered.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

constexpr double kAcross = 20, kDown = 30, kClose = 1e-6;

LayeredGraph random_graph(std::mt19937& random) {
  LayeredGraph graph;
  const auto nodes = static_cast<std::uint32_t>(random() % 40);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    graph.nodes.push_back(
        {static_cast<double>(random() % 200 + 1), random() % 2 == 0 ? 25.0 : 40.0});
    for (std::uint32_t k = i == 0 ? 0 : static_cast<std::uint32_t>(random() % 3); k > 0; --k)
      graph.edges.emplace_back(static_cast<std::uint32_t>(random() % i), i);
  }
  return graph;
}

class Drawn {
 public:
  explicit Drawn(const LayeredGraph& graph)
      : graph_(graph), places_(place_layered(graph, kAcross, kDown)) {}

  double left(std::size_t i) const { return places_.nodes[i].first; }
  double right(std::size_t i) const { return left(i) + graph_.nodes[i].width; }
  double top(std::size_t i) const { return places_.nodes[i].second; }
  double bottom(std::size_t i) const { return top(i) + graph_.nodes[i].height; }

  void expect_boxes_apart() const {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      EXPECT_GE(left(i), -kClose);
      EXPECT_GE(top(i), -kClose);
      EXPECT_LE(right(i), places_.width + kClose);
      EXPECT_LE(bottom(i), places_.height + kClose);
      for (std::size_t k = 0; k < i; ++k) {
        const bool beside =
            left(i) >= right(k) + kAcross - kClose || left(k) >= right(i) + kAcross - kClose;
        const bool below = top(i) >= bottom(k) - kClose || top(k) >= bottom(i) - kClose;
        EXPECT_TRUE(beside || below) << i << " and " << k;
      }
    }
  }

  // From the middle of one box to that of the other, downwards, and through no third one.
  void expect_arrows() const {
    ASSERT_EQ(places_.edges.size(), graph_.edges.size());
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      const auto [from, to] = graph_.edges[e];
      const auto& points = places_.edges[e];
      EXPECT_NEAR(points.front().first, (left(from) + right(from)) / 2, kClose);
      EXPECT_NEAR(points.front().second, bottom(from), kClose);
      EXPECT_NEAR(points.back().first, (left(to) + right(to)) / 2, kClose);
      EXPECT_NEAR(points.back().second, top(to), kClose);
      EXPECT_GE(top(to), bottom(from) + kDown - kClose);
      for (std::size_t k = 1; k < points.size(); ++k) {
        const auto [x, y] = points[k];
        EXPECT_GE(y, points[k - 1].second - kClose);
        // Where it goes straight down it passes a row.
        if (x != points[k - 1].first) continue;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
          if (i == from || i == to) continue;
          const bool level = points[k - 1].second < bottom(i) - kClose && y > top(i) + kClose;
          EXPECT_FALSE(level && x > left(i) && x < right(i)) << e << " through " << i;
        }
      }
    }
  }

 private:
  const LayeredGraph& graph_;
  const LayeredPlaces places_;
};

TEST(Layered, RandomGraphs) {
  std::mt19937 random(7);
  for (int run = 0; run < 300; ++run) {
    SCOPED_TRACE(run);
    const LayeredGraph graph = random_graph(random);
    const Drawn picture(graph);
    picture.expect_boxes_apart();
    picture.expect_arrows();
  }
}

// Arrows that all pass many rows.
TEST(Layered, MoreThanCanBeDrawn) {
  LayeredGraph graph;
  graph.nodes.assign(2000, {50, 25});
  for (std::uint32_t i = 1; i < 2000; ++i) {
    graph.edges.emplace_back(i - 1, i);
    graph.edges.emplace_back(0, i);
  }
  try {
    place_layered(graph, kAcross, kDown);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "a picture of 2000 boxes and 3998 arrows is too large to be drawn");
  }
}

TEST(Layered, Nothing) {
  const LayeredPlaces places = place_layered({}, kAcross, kDown);
  EXPECT_EQ(places.width, 0);
  EXPECT_EQ(places.height, 0);
  EXPECT_TRUE(places.nodes.empty());
}

// A residual block: the row of layers stays straight, and the shortcut goes beside it.
TEST(Layered, ChainWithAShortcut) {
  LayeredGraph graph;
  graph.nodes.assign(4, {100, 40});
  graph.edges = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  const LayeredPlaces places = place_layered(graph, kAcross, kDown);
  EXPECT_EQ(places.height, 4 * 40 + 3 * kDown);
  for (std::size_t i = 1; i < 4; ++i)
    EXPECT_EQ(places.nodes[i].second, places.nodes[i - 1].second + 40 + kDown);
  EXPECT_NEAR(places.nodes[1].first, places.nodes[2].first, 1);
  EXPECT_EQ(places.edges[3].size(), 6U);
}

// What follows from nothing stands right above what it is for.
TEST(Layered, LateInputs) {
  LayeredGraph graph;
  graph.nodes.assign(5, {50, 25});
  graph.edges = {{0, 1}, {1, 2}, {2, 4}, {3, 4}};
  const LayeredPlaces places = place_layered(graph, kAcross, kDown);
  EXPECT_EQ(places.nodes[3].second, places.nodes[2].second);
}

}  // namespace
}  // namespace nvdla::program
