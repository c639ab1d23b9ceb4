// SPDX-License-Identifier: MIT
#include "nvdla/request_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/manual_fence.hpp"
#include "nvdla/network.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {
namespace {

using test::expect_error;

using Cube = std::vector<std::int8_t>;

Cube cube(std::uint64_t i) { return Cube(32, static_cast<std::int8_t>(i % 100)); }

Cube out_of(const Request& request) {
  Cube found(32);
  request.read("out", Layout::kNchw, found);
  return found;
}

// y = x + 1
CompiledNetwork compile(const Device& device) {
  static const std::vector<std::int16_t> kOne = {1};
  Network net;
  net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "more", .x1 = bias(kOne)}), "out");
  return net.compile(device);
}

class Pools : public testing::Test {
 protected:
  CompiledNetwork compiled = compile(Device::open("model:nv_small"));
  RequestPool::Step fill = [this](Request& request, std::uint64_t i) {
    request.write("in", Layout::kNchw, cube(i));
    ++filled;
    most = std::max(most, filled - taken);
  };
  RequestPool::Step take = [this](Request& request, std::uint64_t i) {
    EXPECT_EQ(i, taken) << "in order";
    EXPECT_EQ(out_of(request), cube(i + 1));
    ++taken;
  };
  std::uint64_t filled = 0, taken = 0, most = 0;
};

TEST_F(Pools, GiveResultsInOrderAndKeepAllRequestsBusy) {
  for (const std::uint32_t depth : {1U, 2U, 5U}) {
    for (const std::uint64_t count : {0ULL, 1ULL, 4ULL, 50ULL}) {
      SCOPED_TRACE(std::to_string(count) + " with " + std::to_string(depth));
      filled = taken = most = 0;
      RequestPool(compiled, depth).run(count, fill, take);
      EXPECT_EQ(filled, count);
      EXPECT_EQ(taken, count);
      EXPECT_EQ(most, std::min<std::uint64_t>(depth, count));
    }
  }
  EXPECT_EQ(RequestPool(compiled).size(), 2U);
}

TEST_F(Pools, HandOutRequestsInTurn) {
  RequestPool pool(compiled, 3);
  for (std::uint64_t i = 0; i < 10; ++i) {
    Request& request = pool.next();
    EXPECT_EQ(&request, &pool.at(i % 3));
    EXPECT_EQ(static_cast<bool>(request.fence()), i >= 3);
    if (i >= 3) {
      EXPECT_EQ(out_of(request), cube(i - 3 + 1));
    }
    request.write("in", Layout::kNchw, cube(i));
    request.submit();
  }
  pool.wait();
  for (std::uint32_t r = 0; r < 3; ++r) EXPECT_TRUE(pool.at(r).fence().done());
}

// A run that failed is not in the way of the next one of its request.
TEST_F(Pools, HandOutRequestsThatFailed) {
  RequestPool pool(compiled, 1);
  const auto past = std::chrono::steady_clock::now();
  pool.next().submit({.deadline = past});
  pool.wait();
  Request& again = pool.next();
  expect_error(ErrorCode::kDeadline, "reading 'out': the last run failed", [&] { out_of(again); });
  again.write("in", Layout::kNchw, cube(3));
  again.run();
  EXPECT_EQ(out_of(again), cube(4));
}

TEST_F(Pools, LeaveNothingRunningBehindWhenSomethingThrows) {
  RequestPool pool(compiled, 4);
  for (const bool in_fill : {true, false}) {
    const auto bad = [&](Request& request, std::uint64_t i) {
      if (i == 7) throw std::runtime_error("enough");
      (in_fill ? fill : take)(request, i);
    };
    filled = taken = 0;
    EXPECT_THROW(pool.run(100, in_fill ? bad : fill, in_fill ? take : bad), std::runtime_error);
    EXPECT_LT(filled, 13U);
    for (std::uint32_t r = 0; r < pool.size(); ++r) EXPECT_TRUE(pool.at(r).fence().done());
  }
  filled = taken = 0;
  pool.run(9, fill, take);
  EXPECT_EQ(taken, 9U);
}

TEST_F(Pools, EndAtTheFirstRunThatFails) {
  RequestPool pool(compiled, 2);
  const auto spoils = [&](Request& request, std::uint64_t i) {
    fill(request, i);
    if (i == 3) request.bind("out", request.buffer("in"));
  };
  expect_error(ErrorCode::kInvalidBinding, "input 'in'", [&] { pool.run(5, spoils, take); });
  EXPECT_EQ(taken, 2U);
}

TEST_F(Pools, RefuseWhatCannotBe) {
  expect_error(ErrorCode::kInvalidArgument, "a pool of 0 requests: expected at least 1",
               [&] { RequestPool pool(compiled, 0); });
  expect_error(ErrorCode::kInvalidArgument, "the handle of the compiled network is empty",
               [&] { RequestPool pool{CompiledNetwork()}; });
  RequestPool pool(compiled);
  expect_error(ErrorCode::kInvalidArgument, "request 2: the pool has 2", [&] { pool.at(2); });
  expect_error(ErrorCode::kInvalidArgument, "both functions are needed",
               [&] { pool.run(1, fill, {}); });
  expect_error(ErrorCode::kInvalidArgument, "both functions are needed",
               [&] { pool.run(1, {}, take); });
  const auto gate = std::make_shared<test::ManualFence>();
  const std::vector<Fence> waits = {test::fence_of(gate)};
  pool.at(1).submit({.wait_fences = waits});
  expect_error(ErrorCode::kBusy, "a request of the pool is running: wait() first",
               [&] { pool.run(1, fill, take); });
  gate->end();
  pool.wait();
  const RequestPool moved = std::move(pool);
  // NOLINTBEGIN(bugprone-use-after-move): what is left is refused.
  EXPECT_EQ(pool.size(), 0U);
  expect_error(ErrorCode::kInvalidArgument, "the pool of requests is empty: it was moved from",
               [&] { pool.next(); });
  // NOLINTEND(bugprone-use-after-move)
}

}  // namespace
}  // namespace nvdla
