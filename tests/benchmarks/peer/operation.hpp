// SPDX-License-Identifier: MIT
//
// What the model is measured against: primitives of oneDNN, each with memory of its own. Numbers
// come and go as floats in the order of NCHW, whatever type and order oneDNN works in.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace nvdla::bench {

class Operation {
 public:
  struct Impl;
  explicit Operation(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  void run() const;
  // What the last run left.
  std::vector<float> output() const;
  // The implementation that oneDNN has chosen.
  const std::string& name() const;
  Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

// Of what is made and run from here on.
void set_peer_threads(unsigned threads);
// The instruction set that oneDNN uses at most, and its version.
std::string peer_instruction_set();
std::string peer_version();
// Whether it has dot products of bytes. Without it halves signed weights, and results are not
// exact.
bool peer_is_exact();

}  // namespace nvdla::bench
