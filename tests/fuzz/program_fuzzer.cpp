// SPDX-License-Identifier: MIT
//
// What compiles never hangs the device and never touches a byte outside the extents that the
// compiler declared. Also: these extents are what the check of slots uses, to the byte.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "program_maker.hpp"
#include "program_runner.hpp"

namespace nvdla::fuzz {
namespace {

// Larger programs are compiled but not run: a fuzzer lives on many runs.
constexpr std::uint64_t kMaxCycles = 3'000'000;
constexpr std::uint64_t kMaxBytes = 16 << 20;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

class Compiled {
 public:
  explicit Compiled(const Made& made) {
    nvdla_program_desc desc{};
    desc.slots = made.slots.data();
    desc.num_slots = static_cast<u32>(made.slots.size());
    desc.num_layers = static_cast<u32>(made.layers.size());
    desc.flags = made.flags;
    memory_.resize((nvdla_program_bytes(&desc) + 7) / 8);
    ok_ = nvdla_program_begin(&program_, made.hw, &desc, memory_.data(), memory_.size() * 8,
                              &error_) == 0;
    for (std::size_t i = 0; ok_ && i < made.layers.size(); ++i) {
      ok_ = nvdla_program_add(&program_, &made.layers[i], &error_) == 0;
    }
    ok_ = ok_ && nvdla_program_end(&program_, &error_) == 0;
    require(ok_ == (error_.rule == NVDLA_RULE_NONE), "a refusal and its error disagree");
    require(error_.rule < NVDLA_RULE_COUNT, "an error names no rule");
  }
  bool ok() const { return ok_; }
  const nvdla_program& program() const { return program_; }
  const nvdla_error& error() const { return error_; }

 private:
  std::vector<std::uint64_t> memory_;
  nvdla_program program_{};
  nvdla_error error_{};
  bool ok_ = false;
};

// The last byte that the program may touch in each slot.
std::vector<std::uint64_t> reach(const nvdla_program& program) {
  std::vector<std::uint64_t> end(program.num_slots);
  for (u32 i = 0; i < program.num_accesses; ++i) {
    const nvdla_access& access = program.accesses[i];
    require(access.slot < program.num_slots && access.begin < access.end, "a malformed access");
    end[access.slot] = std::max(end[access.slot], access.end);
  }
  return end;
}

// A slot of exactly what is declared is enough, one byte less is not.
void check_slot_sizes(Made made, const nvdla_program& program) {
  const auto end = reach(program);
  for (std::size_t slot = 0; slot < end.size(); ++slot) {
    if (end[slot] != 0) made.slots[slot].size = end[slot];
  }
  require(Compiled(made).ok(), "slots of the declared extents are refused");
  for (std::size_t slot = 0; slot < end.size(); ++slot) {
    if (end[slot] < 2) continue;
    made.slots[slot].size -= 1;
    require(Compiled(made).error().rule == NVDLA_RULE_EXTENT,
            "a slot too small by one is accepted");
    made.slots[slot].size += 1;
  }
}

bool small(const nvdla_program& program) {
  std::uint64_t cycles = 0;
  std::uint64_t bytes = 0;
  for (u32 i = 0; i < program.num_layers; ++i) cycles += program.layers[i].cycles;
  for (u32 i = 0; i < program.num_accesses; ++i) {
    bytes += program.accesses[i].end - program.accesses[i].begin;
  }
  return cycles <= kMaxCycles && bytes <= kMaxBytes;
}

}  // namespace
}  // namespace nvdla::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nvdla::fuzz;
  Input input({data, size});
  const Made made = make_program(input);
  const Compiled compiled(made);
  if (!compiled.ok()) return 0;
  check_slot_sizes(made, compiled.program());
  if (small(compiled.program())) run_program(compiled.program());
  return 0;
}
