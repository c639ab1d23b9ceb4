// SPDX-License-Identifier: MIT
//
// Random and mutated programs in bulk, from seeds: compiled, and run where they are small enough.
// The program of a seed is the same everywhere; a failure names the seed that shows it again.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "nvdla/types/error.hpp"
#include "program_check.hpp"

namespace nvdla::fuzz {
namespace {

// Many small runs find more than few large ones.
constexpr Budget kBudget{.cycles = 400'000, .bytes = 1 << 20};
constexpr std::uint64_t kChunk = 500;
// The input of one program, more than any takes.
constexpr std::size_t kWords = 512;

struct Options {
  std::uint64_t count = 100'000;
  std::uint64_t seed = 0;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

// What a layer may have, whatever its kind.
struct Trait {
  std::string_view name;
  bool (*has)(const nvdla_layer&);
};

constexpr Trait kTraits[] = {
    {"image", [](const nvdla_layer& l) { return l.conv.mode == NVDLA_CONV_IMAGE; }},
    {"winograd", [](const nvdla_layer& l) { return l.conv.mode == NVDLA_CONV_WINOGRAD; }},
    {"batch", [](const nvdla_layer& l) { return l.conv.batch > 1; }},
    {"compressed",
     [](const nvdla_layer& l) { return (l.conv.flags & NVDLA_CONV_COMPRESSED) != 0; }},
    {"reuse",
     [](const nvdla_layer& l) {
       return (l.conv.flags & (NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS)) != 0;
     }},
    {"table", [](const nvdla_layer& l) { return l.lut != 0; }},
    {"compare", [](const nvdla_layer& l) { return l.sdp.y.alu == NVDLA_ALU_EQUAL; }},
    {"bands", [](const nvdla_layer& l) { return l.pdp.bands > 1; }},
};

struct Counts {
  std::uint64_t programs = 0, valid = 0, valid_refused = 0, compiled = 0, ran = 0;
  std::array<std::uint64_t, NVDLA_RULE_COUNT> rules{};
  // By enum nvdla_layer_kind, of programs that ran.
  std::array<std::uint64_t, NVDLA_LAYER_BDMA + 1> layers{};
  std::array<std::uint64_t, std::size(kTraits)> traits{};

  void operator+=(const Counts& other) {
    programs += other.programs;
    valid += other.valid;
    valid_refused += other.valid_refused;
    compiled += other.compiled;
    ran += other.ran;
    for (std::size_t i = 0; i < rules.size(); ++i) rules[i] += other.rules[i];
    for (std::size_t i = 0; i < layers.size(); ++i) layers[i] += other.layers[i];
    for (std::size_t i = 0; i < traits.size(); ++i) traits[i] += other.traits[i];
  }
  void add_run(const nvdla_layer& layer) {
    ++layers[layer.kind];
    for (std::size_t i = 0; i < traits.size(); ++i) traits[i] += kTraits[i].has(layer);
  }
};

// SplitMix64: any seed is as good as any other.
std::array<std::uint64_t, kWords> bytes_of(std::uint64_t seed) {
  std::array<std::uint64_t, kWords> words;
  std::uint64_t state = seed * 0x9e3779b97f4a7c15;
  for (std::uint64_t& word : words) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    word = z ^ z >> 31;
  }
  return words;
}

// What does not hold for the program of this seed; empty if all does. Says what came of it if
// `loud`.
std::string try_one(std::uint64_t seed, bool loud, Counts& counts) {
  const auto words = bytes_of(seed * kWords);
  Input input({reinterpret_cast<const std::uint8_t*>(words.data()), sizeof(words)});
  const Made made = make_program(input);
  Checked checked = check_program(made, kBudget);
  const std::uint32_t rule = checked.error.rule;
  const bool compiled = rule == NVDLA_RULE_NONE;
  ++counts.programs;
  counts.compiled += compiled;
  counts.valid += made.mutations == 0;
  counts.valid_refused += made.mutations == 0 && !compiled;
  counts.ran += checked.ran;
  ++counts.rules[rule];
  if (checked.binding_rule != NVDLA_RULE_NONE) ++counts.rules[checked.binding_rule];
  if (checked.ran)
    for (const nvdla_layer& layer : made.layers) counts.add_run(layer);
  if (loud && !compiled)
    fmt::print("{}: {}\n", made.hw->name, Error(ErrorCode::kInvalidProgram, checked.error).what());
  if (!checked.failure.empty()) {
    checked.failure += fmt::format("; {},", made.hw->name);
    for (const nvdla_layer& layer : made.layers)
      checked.failure += fmt::format(" kind {}", layer.kind);
  }
  return checked.failure;
}

class Campaign {
 public:
  explicit Campaign(const Options& options) : options_(options) {}

  bool run() {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < options_.threads; ++i) threads.emplace_back([this] { work(); });
    threads.clear();
    report();
    return failures_ == 0;
  }

 private:
  void work() {
    for (;;) {
      const std::uint64_t begin = next_.fetch_add(kChunk);
      if (begin >= options_.count || failures_ != 0) return;
      Counts counts;
      const std::uint64_t end = std::min(begin + kChunk, options_.count);
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::string failure = try_one(options_.seed + i, options_.count == 1, counts);
        if (failure.empty()) continue;
        ++failures_;
        const std::lock_guard lock(mutex_);
        fmt::print("--count 1 --seed {}: {}\n", options_.seed + i, failure);
        break;
      }
      add(counts);
    }
  }

  void add(const Counts& counts) {
    const std::lock_guard lock(mutex_);
    const auto tenth = [this] { return total_.programs * 10 / options_.count; };
    const std::uint64_t before = tenth();
    total_ += counts;
    if (tenth() == before) return;
    fmt::print("{} of {} programs, {} compiled, {} ran\n", total_.programs, options_.count,
               total_.compiled, total_.ran);
    std::fflush(stdout);
  }

  void report() const {
    fmt::print("seeds {}..{}: {} programs, {} compiled, {} ran; {} unmutated, {} of them refused\n",
               options_.seed, options_.seed + options_.count - 1, total_.programs, total_.compiled,
               total_.ran, total_.valid, total_.valid_refused);
    constexpr std::string_view kKinds[] = {"",    "conv+sdp", "conv+sdp+pdp", "sdp", "sdp+pdp",
                                           "pdp", "cdp",      "rubik",        "bdma"};
    fmt::print("layers that ran:");
    for (std::size_t kind = 1; kind < total_.layers.size(); ++kind)
      fmt::print(" {} {}", kKinds[kind], total_.layers[kind]);
    fmt::print("\nof them with:");
    for (std::size_t i = 0; i < total_.traits.size(); ++i)
      fmt::print(" {} {}", kTraits[i].name, total_.traits[i]);
    fmt::print("\nrefused by:");
    for (std::uint32_t rule = 1; rule < NVDLA_RULE_COUNT; ++rule)
      if (total_.rules[rule] != 0) fmt::print(" {} {}", rule_name(rule), total_.rules[rule]);
    fmt::print("\nnever refused by:");
    for (std::uint32_t rule = 1; rule < NVDLA_RULE_COUNT; ++rule)
      if (total_.rules[rule] == 0) fmt::print(" {}", rule_name(rule));
    fmt::print("\n");
  }

  Options options_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> failures_ = 0;
  std::mutex mutex_;
  Counts total_;
};

bool parse(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse(int argc, char** argv, Options& options) {
  if (argc % 2 == 0) return false;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    std::uint64_t value = 0;
    if (!parse(argv[i + 1], value)) return false;
    if (name == "--count" && value > 0) {
      options.count = value;
    } else if (name == "--seed") {
      options.seed = value;
    } else if (name == "--threads" && value > 0 && value <= 1024) {
      options.threads = static_cast<unsigned>(value);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace nvdla::fuzz

int main(int argc, char** argv) {
  nvdla::fuzz::Options options;
  if (!nvdla::fuzz::parse(argc, argv, options)) {
    fmt::print(stderr, "usage: {} [--count N] [--seed S] [--threads N]\n", argv[0]);
    return 2;
  }
  return nvdla::fuzz::Campaign(options).run() ? EXIT_SUCCESS : EXIT_FAILURE;
}
