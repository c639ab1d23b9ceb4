// SPDX-License-Identifier: MIT
//
// The list of passes: each that can be left out changes no result, and reports name what each did.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/property.hpp"
#include "common/runtime/lut_reference.hpp"
#include "common/runtime/random_graph.hpp"
#include "common/runtime/random_layers.hpp"
#include "common/runtime/reference.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla {
namespace {

const std::vector<std::string> kOptional = {
    "expand",        "padding", "part-atoms", "winograd",      "pixels",     "fold-inputs",
    "mark-poolings", "batch",   "views",      "fuse-poolings", "interleave", "stage-weights"};

std::vector<std::int8_t> weights_for(std::size_t count) {
  std::vector<std::int8_t> weights(count);
  for (std::size_t i = 0; i < count; ++i) weights[i] = static_cast<std::int8_t>(i * 37 % 15) - 7;
  return weights;
}

// A convolution with a pooling behind it, and one that is put beside another tensor.
Network small_network(Rewrite winograd = Rewrite::kAuto) {
  const auto weights = weights_for(std::size_t{32} * 32 * 9);
  const Convolution conv = {.name = "conv",
                            .kernels = 32,
                            .kernel_height = 3,
                            .kernel_width = 3,
                            .pad_top = 1,
                            .pad_bottom = 1,
                            .pad_left = 1,
                            .pad_right = 1,
                            .weights = weights,
                            .output = requantize(0.01)};
  Network network;
  const Tensor in = network.input("in", {.channels = 32, .height = 16, .width = 16});
  Convolution second = conv;
  second.name = "second";
  second.tuning.winograd = winograd;
  const Tensor first = network.pooling(network.convolution(in, conv), {.name = "pool",
                                                                       .kernel_height = 2,
                                                                       .kernel_width = 2,
                                                                       .stride_height = 2,
                                                                       .stride_width = 2});
  const Tensor parts[] = {network.convolution(first, second), first};
  network.output(network.concatenate(parts, {.name = "both"}), "out");
  return network;
}

std::uint32_t applied(const CompiledNetwork& compiled, const std::string& name) {
  const auto& passes = compiled.passes();
  const auto found = std::find_if(passes.begin(), passes.end(),
                                  [&](const PassReport& pass) { return pass.name == name; });
  return found == passes.end() ? ~0U : found->applied;
}

void expect_refused(const Network& network, const std::vector<std::string>& disabled,
                    const std::string& message) {
  BuildOptions options;
  options.disabled_passes = disabled;
  try {
    network.compile(Device::open("model:nv_full"), options);
    ADD_FAILURE() << "not refused: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(Passes, LeftOutChangeNoResult) {
  test::for_all(300, [](test::Random& random) -> std::string {
    const std::string configuration = test::any_configuration(random);
    const Device device = Device::open("model:" + configuration);
    const test::RandomGraph graph(random, device.info());
    BuildOptions options;
    for (const std::string& name : kOptional)
      if (random.pick(0, 1) != 0) options.disabled_passes.push_back(name);
    return test::with_name(configuration, graph.wrong(graph.network().build(device, options)));
  });
}

TEST(Passes, ReportWhatEachDid) {
  const Device device = Device::open("model:nv_full");
  const CompiledNetwork all = small_network().compile(device);
  EXPECT_EQ(applied(all, "winograd"), 1u);
  EXPECT_EQ(applied(all, "mark-poolings"), 1u);
  EXPECT_EQ(applied(all, "fuse-poolings"), 1u);
  EXPECT_EQ(applied(all, "fold-inputs"), 0u);
  // The second convolution writes whole tiles and so lies for itself, the pooling lies there.
  EXPECT_EQ(applied(all, "views"), 1u);
  BuildOptions options;
  options.disabled_passes = kOptional;
  const CompiledNetwork none = small_network().compile(device, options);
  ASSERT_EQ(none.passes().size(), all.passes().size());
  for (const PassReport& pass : none.passes()) {
    const bool optional =
        std::find(kOptional.begin(), kOptional.end(), pass.name) != kOptional.end();
    EXPECT_EQ(pass.enabled, !optional) << pass.name;
    EXPECT_FALSE(pass.purpose.empty()) << pass.name;
    EXPECT_TRUE(pass.enabled || pass.applied == 0) << pass.name;
  }
  EXPECT_GT(none.layers(), all.layers());
}

TEST(Passes, OnlyThoseThatCanBeLeftOutAre) {
  const std::string right =
      "those are expand, padding, part-atoms, winograd, pixels, fold-inputs, mark-poolings, batch, "
      "views, fuse-poolings, interleave, stage-weights";
  expect_refused(small_network(), {"bands"},
                 "disabled_passes: 'bands' is no pass that can be left out; " + right);
  expect_refused(small_network(), {"views", "Views"},
                 "disabled_passes: 'Views' is no pass that can be left out; " + right);
}

// A block with everything that may take turns: a stride, both kinds of pooling, a normalisation,
// and several images.
Network block_of(test::Random& random, Rewrite interleaving, std::uint32_t seed) {
  const auto any = [&](int low, int high) {
    return static_cast<std::uint32_t>(random.pick(low, high));
  };
  const std::uint32_t channels = any(1, 5) * 16, size = any(9, 24), stride = any(1, 2);
  Network network;
  std::uint32_t drawn = seed;
  const auto add = [&](Tensor from, const char* name, std::uint32_t from_channels,
                       std::uint32_t kernel, std::uint32_t step) {
    const auto weights = test::random_values<std::int8_t>(
        std::size_t{channels} * from_channels * kernel * kernel, ++drawn, -9, 9);
    Convolution conv{.name = name, .kernels = channels};
    conv.kernel_height = conv.kernel_width = kernel;
    conv.stride_height = conv.stride_width = step;
    conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = kernel / 2;
    conv.weights = weights;
    conv.output = {.scale = 1, .shift = 9};
    conv.tuning.interleaving = interleaving;
    conv.tuning.batch = Rewrite::kNever;
    return network.convolution(from, conv);
  };
  const Tensor in = network.input(
      "in",
      {.channels = 32, .height = size, .width = any(0, 3) == 0 ? 1 : size, .batch = any(1, 3)});
  const Tensor first = add(in, "first", 32, any(0, 1) * 2 + 1, stride);
  const Tensor second = add(first, "second", channels, 3, 1);
  Pooling pool{.name = "max", .kernel_height = 3, .kernel_width = 3};
  pool.pad_top = pool.pad_bottom = pool.pad_left = pool.pad_right = 1;
  const nvdla_lut lut = test::random_lut(NVDLA_LUT_CDP, 20, random);
  const Tensor pooled =
      network.pooling(network.normalization(second, {.name = "norm",
                                                     .input = {.scale = 1},
                                                     .output = {.scale = 5, .shift = 14},
                                                     .lut = &lut}),
                      pool);
  pool.name = "average";
  pool.method = NVDLA_POOL_AVERAGE;
  pool.stride_height = pool.stride_width = any(1, 2);
  network.output(network.pooling(add(pooled, "third", channels, 1, 1), pool), "out");
  network.output(second, "second");
  return network;
}

// Returns both outputs of a block, with a drawn input.
std::vector<std::int8_t> results_of_block(Request& request, std::uint32_t seed) {
  const std::size_t count = request.network().desc("in").shape.elements();
  request.write("in", Layout::kNchw, test::random_values<std::int8_t>(count, seed, -128, 127));
  request.run();
  std::vector<std::int8_t> results;
  for (const char* output : {"out", "second"}) {
    std::vector<std::int8_t> values(request.network().desc(output).shape.elements());
    request.read(output, Layout::kNchw, values);
    results.insert(results.end(), values.begin(), values.end());
  }
  return results;
}

TEST(Passes, BandsThatTakeTurnsChangeNoResult) {
  std::uint32_t turned = 0, cases = 0;
  test::for_all(40, [&](test::Random& random) -> std::string {
    const char* const devices[] = {"nv_full", "nv_large", "nv_small", "nv_small,gating=off"};
    const char* const name = devices[random.pick(0, 3)];
    const Device device = Device::open(std::string("model:") + name);
    const auto seed = static_cast<std::uint32_t>(random.pick(1, 1000));
    std::vector<std::int8_t> results[2];
    for (const bool forced : {false, true}) {
      test::Random again(seed);
      const Network network = block_of(again, forced ? Rewrite::kAlways : Rewrite::kNever, seed);
      Request request = network.build(device);
      if (forced) {
        ++cases;
        turned += applied(request.network(), "interleave");
      }
      results[forced] = results_of_block(request, seed);
    }
    return results[0] == results[1] ? "" : test::with_name(name, "the results differ");
  });
  // The three convolutions always, and many of the poolings.
  EXPECT_GE(turned, 4 * cases);
}

// Bands read their kernels again, which costs more than they gain if memory passes a byte a cycle.
TEST(Passes, ChoicesFollowTheMemory) {
  test::Random random(3);
  const Network network = block_of(random, Rewrite::kAuto, 5);
  const auto turned = [&](const char* device, const BuildOptions& options = {}) {
    return applied(network.compile(Device::open(device), options), "interleave");
  };
  const std::uint32_t fast = turned("model:nv_full"), slow = turned("model:nv_full,bandwidth=1");
  EXPECT_GT(fast, slow);
  EXPECT_EQ(turned("model:nv_full", {.memory = MemorySpeed{.bandwidth = 1}}), slow);
  EXPECT_EQ(turned("model:nv_full,bandwidth=1", {.memory = MemorySpeed{}}), fast);
}

// Returns the message of a refusal, or nothing.
std::string refusal_of_limit(const Network& network, const Device& device, std::uint64_t limit) {
  try {
    network.compile(device, {.memory_limit = limit});
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotAvailable);
    return error.what();
  }
}

// Returns the bytes of all buffers, each in whole pages.
std::uint64_t pages_of(const CompiledNetwork& compiled) {
  std::uint64_t bytes = 0;
  for (const BufferUse& buffer : compiled.memory().buffers)
    bytes += (buffer.bytes + 4095) / 4096 * 4096;
  return bytes;
}

// A limit that fits is kept to, whatever it costs, and one that is refused is not even possible
// without choices that take memory.
TEST(Passes, MemoryIsKeptWithinALimit) {
  std::uint32_t limited = 0;
  test::for_all(40, [&](test::Random& random) -> std::string {
    const Device device = Device::open("model:nv_full");
    const auto seed = static_cast<std::uint32_t>(random.pick(1, 1000));
    const Network network = block_of(random, Rewrite::kAuto, seed);
    Request fast = network.build(device);
    Request least = network.build(device, {.optimise = Optimise::kMemory});
    const std::uint64_t most = pages_of(fast.network()), few = pages_of(least.network());
    if (few > most) return "the least memory is more than that of the fastest";
    const std::uint64_t limit =
        few + static_cast<std::uint64_t>(random.pick(0, static_cast<int>(most - few)));
    Request within = network.build(device, {.memory_limit = limit});
    if (pages_of(within.network()) > limit) return "more than the limit";
    limited += limit < most;
    if (refusal_of_limit(network, device, few - 1).empty()) return "less than the least";
    const auto results = results_of_block(fast, seed);
    if (results_of_block(least, seed) != results) return "least memory changes results";
    return results_of_block(within, seed) == results ? "" : "a limit changes results";
  });
  EXPECT_GT(limited, 0U);
}

TEST(Passes, MemoryIsTradedForTurns) {
  test::Random random(3);
  const Network network = block_of(random, Rewrite::kAuto, 5);
  const Device device = Device::open("model:nv_full");
  const CompiledNetwork fast = network.compile(device);
  const CompiledNetwork small = network.compile(device, {.optimise = Optimise::kMemory});
  EXPECT_LT(pages_of(small), pages_of(fast));
  EXPECT_LT(applied(small, "interleave"), applied(fast, "interleave"));
  const std::uint64_t limit = pages_of(small) - 1;
  EXPECT_EQ(
      refusal_of_limit(network, device, limit).substr(0, 50),
      fmt::format("memory_limit: the network takes {} bytes at least", limit + 1).substr(0, 50));
}

// Returns the forms that all passes predicted, and whether one was cut short.
std::pair<std::uint64_t, bool> search_of(const CompiledNetwork& compiled) {
  std::pair<std::uint64_t, bool> search;
  for (const PassReport& pass : compiled.passes()) {
    search.first += pass.costed;
    search.second |= pass.cut_short;
  }
  return search;
}

// So many forms are predicted and no more, the same ones each time, and results are the same.
TEST(Passes, ABudgetCutsTheSearchShort) {
  test::for_all(20, [&](test::Random& random) -> std::string {
    const Device device = Device::open("model:nv_full");
    const auto seed = static_cast<std::uint32_t>(random.pick(1, 1000));
    const Network network = block_of(random, Rewrite::kAuto, seed);
    Request whole = network.build(device);
    const auto [all, cut] = search_of(whole.network());
    if (cut || all == 0) return "a search without a budget";
    for (const std::uint64_t budget : {std::uint64_t{1}, all / 3 + 1, all - 1, all, 2 * all}) {
      Request some = network.build(device, {.search_budget = budget});
      const auto [costed, short_of_it] = search_of(some.network());
      if (costed != std::min(budget, all)) return fmt::format("{} of {} forms", costed, budget);
      if (short_of_it != (budget < all)) return fmt::format("{} of {}: cut short", budget, all);
      const CompiledNetwork again = network.compile(device, {.search_budget = budget});
      if (again.layers() != some.network().layers()) return "another plan";
      if (results_of_block(some, seed) != results_of_block(whole, seed)) return "other results";
    }
    return "";
  });
}

// Who insists gets what a search without a budget would have found.
TEST(Passes, ABudgetLeavesWishes) {
  test::Random random(3);
  const Network network = block_of(random, Rewrite::kAlways, 5);
  const Device device = Device::open("model:nv_full");
  const CompiledNetwork few = network.compile(device, {.search_budget = 1});
  EXPECT_GE(applied(few, "interleave"), 3U);
}

void expect_choice_refused(const std::vector<std::string>& choices, const std::string& message) {
  try {
    small_network().compile(Device::open("model:nv_full"), {.choices = choices});
    ADD_FAILURE() << "not refused: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(Passes, ChoicesSetWhatLayersAre) {
  const Device device = Device::open("model:nv_full");
  const Network network = small_network(Rewrite::kNever);
  EXPECT_EQ(applied(network.compile(device, {.choices = {"second:winograd"}}), "winograd"), 1U);
  EXPECT_EQ(
      applied(small_network().compile(device, {.choices = {"second:no-winograd"}}), "winograd"),
      0U);
  expect_choice_refused({"second:winograd", "second:no-winograd"},
                        "choice 'second:no-winograd': 'second:winograd' says the opposite");
  expect_choice_refused({"pool:turns"}, "choice 'pool:turns': no convolution is called 'pool'");
  expect_choice_refused({"second:"},
                        "choice 'second:': '' is none; expected pixels, folding, winograd, batch, "
                        "turns, or one of these behind 'no-'");
}

// What a layer could not be described as no choice makes of it.
TEST(Passes, ChoicesExcludeEachOther) {
  expect_choice_refused({"second:winograd", "second:batch"},
                        "layer 2 'second': there are no tiles of several cubes: batch or winograd, "
                        "choose one");
  expect_choice_refused(
      {"second:winograd", "second:folding"},
      "layer 2 'second': not folded in width: a stride_width of 1 leaves nothing to "
      "fold");
}

// Kernels of groups have no tiles, whoever asks for them.
TEST(Passes, GroupsStayDirectWhereRoundingIsAllowed) {
  const auto weights = weights_for(std::size_t{32} * 16 * 9);
  Network network;
  Convolution conv{.name = "conv", .kernels = 32, .groups = 2};
  conv.kernel_height = conv.kernel_width = 3;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  conv.weights = weights;
  conv.output = requantize(0.01);
  const Tensor in = network.input("in", {.channels = 32, .height = 32, .width = 32});
  network.output(network.convolution(in, conv), "out");
  const Device device = Device::open("model:nv_full");
  EXPECT_EQ(applied(network.compile(device, {.allow_rounding = true}), "winograd"), 0U);
  try {
    network.compile(device, {.choices = {"conv:winograd"}});
    ADD_FAILURE() << "tiles of groups";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "layer 0 'conv': groups 2: tuning.winograd is kAlways, which has one group");
  }
}

// Each pass that chooses names what there was, and takes the least.
TEST(Passes, CandidatesAreNamedWithTheirCycles) {
  const CompiledNetwork compiled = small_network().compile(Device::open("model:nv_full"));
  std::size_t found = 0;
  for (const PassReport& pass : compiled.passes()) {
    for (const Candidate& one : pass.candidates) {
      ++found;
      EXPECT_FALSE(one.layers.empty());
      EXPECT_FALSE(one.form.empty());
      std::size_t chosen = 0;
      for (const Candidate& other : pass.candidates) {
        if (!other.chosen || other.layers != one.layers) continue;
        ++chosen;
        // Turns have to gain a hundredth.
        EXPECT_LE(static_cast<double>(other.cycles), 1.01 * static_cast<double>(one.cycles))
            << pass.name << " " << one.form;
      }
      EXPECT_EQ(chosen, 1U) << pass.name << " " << one.layers;
    }
  }
  EXPECT_GE(found, 4U);
}

TEST(Passes, WinogradIsChosenForAllWhereRoundingIsAllowed) {
  const Device device = Device::open("model:nv_full");
  const Network network = small_network(Rewrite::kNever);
  EXPECT_EQ(applied(network.compile(device), "winograd"), 0U);
  EXPECT_EQ(applied(network.compile(device, {.allow_rounding = true}), "winograd"), 2U);
  // Who says no is heard all the same.
  const BuildOptions without = {.allow_rounding = true, .choices = {"second:no-winograd"}};
  EXPECT_EQ(applied(network.compile(device, without), "winograd"), 1U);
}

TEST(Passes, LayersThatInsistAreRefusedWithoutTheirs) {
  expect_refused(small_network(Rewrite::kAlways), {"winograd"},
                 "layer 2 'second': it insists on what the pass 'winograd' does, which "
                 "disabled_passes leaves out");
}

}  // namespace
}  // namespace nvdla
