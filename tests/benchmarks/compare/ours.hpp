// SPDX-License-Identifier: MIT
//
// The library on the model of nv_full, as an application uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compare/alternate.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla::bench {

// Opened once for each number of threads and each set of further options.
const Device& model(unsigned threads, const std::string& options = {});

// A request of a network whose one output is "out".
class Ours {
 public:
  Ours(const Network& network, unsigned threads, const std::string& options = {})
      : request_(std::make_shared<Request>(network.build(model(threads, options)))) {}

  Request& request() const { return *request_; }
  void write(const char* name, std::span<const float> values) const {
    request_->write(name, Layout::kNchw, values);
  }
  // After a run of its own.
  std::vector<float> output() const;
  Side side(const char* name = "ours") const;

 private:
  std::shared_ptr<Request> request_;
};

// The same numbers each time.
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed = 1) : random_(seed) {}

  std::vector<float> integers(std::size_t count, int low, int high);
  // fp16 numbers of a normal distribution.
  std::vector<float> halves(std::size_t count, double deviation);

 private:
  std::mt19937 random_;
};

template <typename To>
std::vector<To> as(std::span<const float> values) {
  return {values.begin(), values.end()};
}

}  // namespace nvdla::bench
