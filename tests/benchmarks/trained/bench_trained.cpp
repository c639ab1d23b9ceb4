// SPDX-License-Identifier: MIT
//
// bench_trained LOADABLE INPUT.f32 DEVICES THREADS: the model's side of trained_bench.py. It opens
// as many models of nv_full as DEVICES says, each with so many THREADS, and obeys the lines of its
// standard input. Each reply is one line of JSON:
//
//   ready           {"outputs": [names]}, when all devices have run once
//   output          {"values": [elements of the first output]} of a run
//   run COUNT       {"seconds": [of each run], "processor": seconds of one, of all threads}: the
//                   input is written, a run, all outputs are read
//   serve COUNT N   {"seconds": of all, "latencies": [of each]}, N requests in flight
//   profile COUNT   {"seconds", "processor", "layers": [[name, seconds]]}: of the quickest run, and
//                   of each layer where it was quickest
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "nvdla/nvdla.hpp"

namespace nvdla::bench {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The processor's time of the process.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Reads the first `count` floats of a file.
std::vector<float> read_floats(const char* path, std::size_t count) {
  std::vector<float> values(count);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(values));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw std::runtime_error(std::string(path) + ": too few elements, or unreadable");
  return values;
}

// A request with the floats that it takes and gives, as an application has them.
class Flow {
 public:
  Flow(const Loadable& loadable, const CompiledNetwork& network, std::span<const float> input)
      : request_(network.create_request()), input_name_(loadable.input(0).name), input_(input) {
    for (std::uint32_t i = 0; i < loadable.outputs(); ++i) {
      names_.emplace_back(loadable.output(i).name);
      outputs_.emplace_back(loadable.output(i).shape.elements());
    }
  }

  void start() {
    request_.write(input_name_, Layout::kNchw, input_);
    started_ = Clock::now();
    request_.submit();
  }
  // Waits for the run that start() began, and returns how long it was in flight.
  double finish() {
    request_.fence().wait();
    const double seconds = seconds_since(started_);
    read();
    return seconds;
  }
  void run() {
    request_.write(input_name_, Layout::kNchw, input_);
    request_.run();
    read();
  }

  const Request& request() const { return request_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<float>& output() const { return outputs_.front(); }

 private:
  void read() {
    for (std::size_t i = 0; i < names_.size(); ++i)
      request_.read(names_[i], Layout::kNchw, outputs_[i]);
  }

  Request request_;
  std::string input_name_;
  std::span<const float> input_;
  std::vector<std::string> names_;
  std::vector<std::vector<float>> outputs_;
  Clock::time_point started_;
};

class Server {
 public:
  Server(const char* path, const char* input, unsigned devices, unsigned threads)
      : loadable_(Loadable::load(path)),
        input_(read_floats(input, loadable_.input(0).shape.elements())),
        device_name_("model:nv_full,threads=" + std::to_string(threads)) {
    for (unsigned i = 0; i < devices; ++i) {
      networks_.push_back(loadable_.compile(Device::open(device_name_)));
      flows_.emplace_back(loadable_, networks_.back(), input_).run();
    }
  }

  json outputs() const { return {{"outputs", flows_.front().names()}}; }

  json output() {
    flows_.front().run();
    return {{"values", flows_.front().output()}};
  }

  json run(unsigned count) {
    json seconds = json::array();
    const double before = processor_seconds();
    for (unsigned i = 0; i < count; ++i) {
      const Clock::time_point start = Clock::now();
      flows_.front().run();
      seconds.push_back(seconds_since(start));
    }
    return {{"seconds", seconds}, {"processor", (processor_seconds() - before) / count}};
  }

  // Requests go to the devices in turn, and end in the order in which they began.
  json serve(unsigned count, unsigned in_flight) {
    while (flows_.size() < in_flight)
      flows_.emplace_back(loadable_, networks_[flows_.size() % networks_.size()], input_);
    json latencies = json::array();
    const Clock::time_point start = Clock::now();
    for (unsigned i = 0; i < count + in_flight; ++i) {
      Flow& flow = flows_[i % in_flight];
      if (i >= in_flight) latencies.push_back(flow.finish());
      if (i < count) flow.start();
    }
    return {{"seconds", seconds_since(start)}, {"latencies", latencies}};
  }

  json profile(unsigned count) const {
    BuildOptions options;
    options.statistics = true;
    const CompiledNetwork network = loadable_.compile(Device::open(device_name_), options);
    Flow flow(loadable_, network, input_);
    flow.run();
    constexpr double kNever = std::numeric_limits<double>::infinity();
    double whole = kNever;
    std::vector<double> times(network.layers(), kNever);
    const double before = processor_seconds();
    for (unsigned i = 0; i < count; ++i) {
      const Clock::time_point start = Clock::now();
      flow.run();
      whole = std::min(whole, seconds_since(start));
      const std::span<const nvdla_layer_stats> layers = flow.request().statistics();
      for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const std::uint64_t time = layers[layer].end_ns - layers[layer].start_ns;
        times[layer] = std::min(times[layer], static_cast<double>(time) * 1e-9);
      }
    }
    const double processor = (processor_seconds() - before) / count;
    json layers = json::array();
    for (std::uint32_t layer = 0; layer < network.layers(); ++layer)
      layers.push_back({network.layer_name(layer), times[layer]});
    return {{"seconds", whole}, {"processor", processor}, {"layers", layers}};
  }

 private:
  Loadable loadable_;
  std::vector<float> input_;
  std::string device_name_;
  std::vector<CompiledNetwork> networks_;
  std::vector<Flow> flows_;
};

json obey(Server& server, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  unsigned count = 0, in_flight = 0;
  words >> verb >> count >> in_flight;
  if (verb == "output") return server.output();
  if (verb == "run" && count > 0) return server.run(count);
  if (verb == "profile" && count > 0) return server.profile(count);
  if (verb == "serve" && in_flight > 0) return server.serve(count, in_flight);
  throw std::runtime_error("no command '" + line + "'");
}

}  // namespace
}  // namespace nvdla::bench

int main(int argc, char** argv) try {
  if (argc != 5) throw std::runtime_error("expected LOADABLE INPUT.f32 DEVICES THREADS");
  const auto number = [](const char* text) { return static_cast<unsigned>(std::stoul(text)); };
  nvdla::bench::Server server(argv[1], argv[2], number(argv[3]), number(argv[4]));
  std::cout << server.outputs() << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << nvdla::bench::obey(server, line) << std::endl;
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_trained: %s\n", error.what());
  return 2;
}
