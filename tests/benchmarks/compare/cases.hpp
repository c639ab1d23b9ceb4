// SPDX-License-Identifier: MIT
//
// What is measured, as benchmarks of Google's library: one case each, called
// "group/name/threads:N/warm". Counters are "NAME s" and "NAME ratio" for each side, and "macs";
// "NAME MiB" where that was measured.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compare/alternate.hpp"

namespace nvdla::bench {

struct Settings {
  double seconds = 0.25;  // for a case
  unsigned least = 5;     // rounds
};

struct Case {
  std::vector<Side> sides;  // the model's first
  double macs = 0;
  std::string label = {};  // what the peer is
  // How much memory sides need, by their names.
  std::vector<std::pair<std::string, double>> mebibytes = {};
};

struct CaseName {
  std::string group, name;
  unsigned threads = 1;
  bool cold = false;
  bool wall = false;  // also on one thread
};

// `make` is called when the case is run.
void add_case(const Settings& settings, const CaseName& name, std::function<Case()> make);

void add_convolution_cases(const Settings& settings);
void add_exact_cases(const Settings& settings);
void add_scaled_cases(const Settings& settings);
void add_network_cases(const Settings& settings);
void add_sdp_cases(const Settings& settings);
void add_window_cases(const Settings& settings);
void add_move_cases(const Settings& settings);
void add_latency_cases(const Settings& settings);

}  // namespace nvdla::bench
