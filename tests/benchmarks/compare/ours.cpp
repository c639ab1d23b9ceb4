// SPDX-License-Identifier: MIT
#include "compare/ours.hpp"

#include <map>

namespace nvdla::bench {

const Device& model(unsigned threads, const std::string& options) {
  static std::map<std::string, Device> devices;
  const std::string name = "model:nv_full,threads=" + std::to_string(threads) + options;
  auto at = devices.find(name);
  if (at == devices.end()) at = devices.emplace(name, Device::open(name)).first;
  return at->second;
}

std::vector<float> Ours::output() const {
  request_->run();
  std::vector<float> values(request_->network().desc("out").shape.elements());
  request_->read("out", Layout::kNchw, values);
  return values;
}

Side Ours::side(const char* name) const {
  return {name, [request = request_] { request->run(); }};
}

std::vector<float> Numbers::integers(std::size_t count, int low, int high) {
  std::uniform_int_distribution<int> number(low, high);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(number(random_));
  return values;
}

std::vector<float> Numbers::halves(std::size_t count, double deviation) {
  std::normal_distribution<double> number(0, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = from_half(to_half(number(random_)));
  return values;
}

}  // namespace nvdla::bench
