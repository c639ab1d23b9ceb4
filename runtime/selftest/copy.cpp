// SPDX-License-Identifier: MIT
//
// Data through the device and back: twice through the same memory, and from places that differ in
// one address line.
#include <fmt/format.h>

#include <algorithm>

#include "selftest/explain.hpp"
#include "selftest/steps.hpp"

namespace nvdla::selftest {
namespace {

constexpr unsigned kWidth = 13, kHeight = 5, kSurfaces = 3;

// Runs the copy with `data` in its source. What is wrong, if anything.
std::optional<Finding> copy(Load& load, const Bytes& data, unsigned atom) {
  std::copy(data.begin(), data.end(), load.bytes(0).begin());
  std::fill(load.bytes(1).begin(), load.bytes(1).end(), kPoison);
  if (auto found = run(load, "a copy")) return found;
  return compare(data, load.bytes(1), kPoison, atom);
}

// From places in a large region that are a power of two apart, to a line of atoms.
struct Places {
  static constexpr unsigned kFirst = 12, kLast = 20;  // powers
  static constexpr std::size_t kBytes = 2u << kLast;
};

Work gather(const nvdla_hw& hw) {
  Work work;
  work.what = "a copy from distant places";
  Bytes source(Places::kBytes);
  const auto place = [&](std::size_t offset, std::uint8_t value) {
    std::fill_n(source.begin() + static_cast<std::ptrdiff_t>(offset), hw.atom, value);
    nvdla_layer layer = copy_layer(hw, 1, 1, hw.atom);
    layer.sdp.input.offset = offset;
    layer.sdp.output.offset = work.layers.size() * hw.atom;
    work.layers.push_back(layer);
  };
  place(0, 1);
  for (unsigned bit = Places::kFirst; bit <= Places::kLast; ++bit)
    place(std::size_t{1} << bit, static_cast<std::uint8_t>(bit));
  work.regions.push_back({std::move(source)});
  work.regions.push_back({Bytes(work.layers.size() * hw.atom, kPoison), true});
  return work;
}

// The other way round.
Work scatter(const nvdla_hw& hw) {
  Work work = gather(hw);
  work.what = "a copy to distant places";
  Bytes line(work.layers.size() * hw.atom);
  for (std::size_t i = 0; i < work.layers.size(); ++i) {
    nvdla_layer& layer = work.layers[i];
    std::swap(layer.sdp.input.offset, layer.sdp.output.offset);
    std::fill_n(line.begin() + static_cast<std::ptrdiff_t>(i * hw.atom), hw.atom,
                work.regions[0].bytes[layer.sdp.output.offset]);
  }
  work.regions[0].bytes = std::move(line);
  work.regions[1].bytes.assign(Places::kBytes, kPoison);
  return work;
}

// Checks the byte that the layer at place `index` copied against `wanted`.
std::optional<Finding> judge(const Work& work, std::size_t index, std::uint8_t saw,
                             std::uint8_t wanted, bool reading) {
  if (saw == wanted) return std::nullopt;
  const nvdla_surface& far = reading ? work.layers[index].sdp.input : work.layers[index].sdp.output;
  // Find the place that the value belongs to: its offset differs from the right one in the address
  // bits that are not connected.
  std::optional<std::uint64_t> other;
  if (saw == 1) other = 0;
  if (saw >= Places::kFirst && saw <= Places::kLast) other = std::uint64_t{1} << saw;
  std::string what = fmt::format("{:#04x}, which is nowhere", saw);
  if (saw == kPoison) what = "nothing";
  if (other) what = fmt::format("what belongs to offset {:#x}", *other);
  Finding found{fmt::format("{} offset {:#x} of a buffer the device {} {}", reading ? "from" : "at",
                            far.offset, reading ? "read" : "wrote", what),
                "what belongs there",
                {cause::kMemoryAddress}};
  if (other) {
    found.causes.insert(found.causes.begin(),
                        fmt::format("memory address lines: {} of the device's addresses is not "
                                    "connected, or memory repeats",
                                    bits_text(far.offset ^ *other)));
  }
  return found;
}

}  // namespace

Result check_copy(Bench& bench) {
  const nvdla_hw& hw = bench.hw;
  Work work;
  work.what = "a copy";
  work.layers.push_back(copy_layer(hw, kWidth, kHeight, kSurfaces * hw.atom));
  const std::size_t bytes = std::size_t{kWidth} * kHeight * kSurfaces * hw.atom;
  work.regions.push_back({Bytes(bytes)});
  work.regions.push_back({Bytes(bytes, kPoison), true});
  const auto load = bench.runner.load(work);

  const Bytes first = noise(bytes, 1), second = noise(bytes, 2);
  if (auto found = copy(*load, first, hw.atom)) return Result::failed(std::move(*found));
  if (auto found = copy(*load, second, hw.atom)) {
    const auto output = load->bytes(1);
    if (std::equal(first.begin(), first.end(), output.begin())) {
      found->saw = "a second copy gave the data of the first, which were no longer there";
      found->causes = {fmt::format("stale data: {}", cause::kCoherence)};
    } else if (std::all_of(output.begin(), output.end(),
                           [](std::uint8_t byte) { return byte == kPoison; })) {
      found->saw = "of a second copy to the same place nothing is seen";
      found->causes = {fmt::format("stale data: {}", cause::kCoherence)};
    }
    return Result::failed(std::move(*found));
  }
  const auto from = load->address(0);
  return Result::passed(
      fmt::format("{} bytes, twice{}", bytes,
                  from ? fmt::format(", from {:#x} to {:#x}", *from, *load->address(1)) : ""));
}

Result check_address(Bench& bench) {
  Result result;
  for (const bool reading : {true, false}) {
    const Work work = reading ? gather(bench.hw) : scatter(bench.hw);
    const auto load = bench.runner.load(work);
    if (auto found = run(*load, work.what)) {
      result.add(std::move(*found));
      continue;
    }
    for (std::size_t i = 0; i < work.layers.size(); ++i) {
      const nvdla_sdp& sdp = work.layers[i].sdp;
      const std::uint8_t saw = load->bytes(1)[sdp.output.offset];
      if (auto found = judge(work, i, saw, work.regions[0].bytes[sdp.input.offset], reading))
        result.add(std::move(*found));
    }
  }
  if (result.verdict == Verdict::kPassed) {
    return Result::passed(fmt::format("read and written at offsets of up to {} KiB",
                                      (std::size_t{1} << Places::kLast) / 1024));
  }
  return result;
}

}  // namespace nvdla::selftest
