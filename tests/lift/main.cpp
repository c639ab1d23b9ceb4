// SPDX-License-Identifier: MIT
//
// nvdla-lift: register cases and traces as programs of layer descriptors, which
// must compile to the registers that they came from and run on every backend.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "backend/info.hpp"
#include "backend/name/device_name.hpp"
#include "lift/reference.hpp"
#include "lift/run.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/program.hpp"
#include "tools/replay/load.hpp"

namespace nvdla::test {
namespace {

namespace fs = std::filesystem;

namespace program = nvdla::program;

struct Options {
  std::vector<std::string> paths;
  std::string device;
  bool list = false;
  std::string json;
};

enum class Verdict { kLifted, kRefused, kFailed };

struct Outcome {
  Verdict verdict = Verdict::kLifted;
  std::string rule;    // of what was refused
  std::string reason;  // of what was refused or failed
  std::vector<std::string> failures;
  std::size_t layers = 0;
  std::uint64_t bytes_compared = 0;
  unsigned counters_compared = 0;
  program::ExitStatus status = program::kSuccess;  // kFailed: what that stands for
};

// The device of --device or NVDLA_DEVICE, or the model of each configuration.
class Devices {
 public:
  explicit Devices(const std::string& name) {
    using detail::DeviceName;
    if (detail::choose_device_name(name).kind == DeviceName::Kind::kAuto) return;
    one_ = std::make_unique<Device>(Device::open(name));
  }

  // nullptr if the only device is of another configuration.
  const Device* of(std::string_view configuration) {
    if (one_) return one_->info().configuration == configuration ? one_.get() : nullptr;
    const std::string name = "model:" + std::string(configuration);
    const auto known = models_.find(name);
    if (known != models_.end()) return &known->second;
    return &models_.emplace(name, Device::open(name)).first->second;
  }

 private:
  std::unique_ptr<Device> one_;
  std::map<std::string, Device> models_;
};

void fail(Outcome& outcome, std::vector<std::string> failures) {
  if (failures.empty()) return;
  outcome.verdict = Verdict::kFailed;
  outcome.reason = failures.front();
  outcome.failures = std::move(failures);
}

Outcome lift_file(const fs::path& path, const nvdla_hw& hw, const Device* device) {
  Outcome outcome;
  try {
    const replay::Script script =
        replay::load_script(path, static_cast<model::RegisterMap>(hw.regmap));
    const Plan plan = make_plan(script);
    outcome.layers = plan.launches.size();
    const CompiledPlan compiled = compile_plan(hw, plan);
    fail(outcome, compiled.differences);
    if (device == nullptr || outcome.verdict == Verdict::kFailed) return outcome;
    const RunResult result = run_plan(*device, plan, compiled);
    outcome.bytes_compared = result.bytes_compared;
    outcome.counters_compared = result.counters_compared;
    if (!result.differences.empty() && script.kind == replay::Kind::kCase &&
        only_the_reference_agrees(hw, script))
      throw Refused("reference model", "the logic gives other results: " + result.differences[0]);
    fail(outcome, result.differences);
  } catch (const Refused& refused) {
    outcome.verdict = Verdict::kRefused;
    outcome.rule = refused.rule();
    outcome.reason = refused.what();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotAvailable || error.code() == ErrorCode::kNoMemory) {
      outcome.verdict = Verdict::kRefused;
      outcome.rule = "not available";
      outcome.reason = error.what();
    } else {
      fail(outcome, {error.what()});
      outcome.status = program::status_of(static_cast<ErrorCode>(error.code().value()));
    }
  } catch (const program::UsageError& error) {
    fail(outcome, {error.what()});
    outcome.status = program::kUsage;
  } catch (const std::exception& error) {
    fail(outcome, {error.what()});
  }
  return outcome;
}

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kLifted:
      return "lifted";
    case Verdict::kRefused:
      return "refused";
    case Verdict::kFailed:
      return "FAILED";
  }
  return "invalid";
}

void print_line(const fs::path& path, const Outcome& outcome) {
  switch (outcome.verdict) {
    case Verdict::kLifted:
      fmt::print("lifted   {}  ({} {}, {} bytes and {} counters compared)\n", path.string(),
                 outcome.layers, outcome.layers == 1 ? "layer" : "layers", outcome.bytes_compared,
                 outcome.counters_compared);
      break;
    case Verdict::kRefused:
      fmt::print("refused  {}  ({}: {})\n", path.string(), outcome.rule, outcome.reason);
      break;
    case Verdict::kFailed:
      fmt::print("FAILED   {}  ({}{})\n", path.string(), outcome.reason,
                 outcome.failures.size() < 2
                     ? ""
                     : fmt::format("; {} more differences", outcome.failures.size() - 1));
      break;
  }
  std::fflush(stdout);
}

nlohmann::json as_json(const fs::path& path, const Outcome& outcome) {
  return {{"path", path.string()},
          {"result", outcome.verdict == Verdict::kFailed ? "failed" : word(outcome.verdict)},
          {"rule", outcome.rule},
          {"reason", outcome.reason},
          {"failures", outcome.failures},
          {"layers", outcome.layers},
          {"bytes_compared", outcome.bytes_compared},
          {"counters_compared", outcome.counters_compared}};
}

struct Totals {
  unsigned lifted = 0;
  unsigned refused = 0;
  unsigned failed = 0;
  unsigned elsewhere = 0;  // of other configurations than the device's
  std::map<std::string, unsigned> rules;
  program::ExitStatus worst = program::kSuccess;

  void add(const Outcome& outcome) {
    lifted += outcome.verdict == Verdict::kLifted;
    if (outcome.verdict == Verdict::kFailed) {
      failed++;
      worst = program::worse(
          worst, outcome.status == program::kSuccess ? program::kDifferent : outcome.status);
    }
    if (outcome.verdict != Verdict::kRefused) return;
    refused++;
    rules[outcome.rule]++;
  }
};

int run(const Options& options) {
  const auto files = replay::find_scripts(options.paths);
  if (files.empty())
    throw program::UsageError(
        "no case or trace found; expected case.json, *.cfg or *.txn files in the paths");
  Devices devices(options.list ? "auto" : options.device);
  Totals totals;
  nlohmann::json results = nlohmann::json::array();
  for (const fs::path& path : files) {
    const nvdla_hw* hw = replay::configuration_of(path);
    Outcome outcome;
    if (hw == nullptr) {
      fail(outcome, {"no folder of the path is named after a configuration"});
      outcome.status = program::kUsage;
    } else {
      const Device* device = options.list ? nullptr : devices.of(hw->name);
      if (device != nullptr) hw = nvdla::detail::find_configuration(device->info());
      if (device == nullptr && !options.list) {
        totals.elsewhere++;
        continue;
      }
      outcome = lift_file(path, *hw, device);
    }
    totals.add(outcome);
    if (!options.json.empty())
      results.push_back(as_json(path, outcome));
    else
      print_line(path, outcome);
  }
  if (!options.json.empty()) {
    const nlohmann::json report = {{"files", results},
                                   {"lifted", totals.lifted},
                                   {"refused", totals.refused},
                                   {"failed", totals.failed},
                                   {"other_configurations", totals.elsewhere},
                                   {"refused_by_rule", totals.rules}};
    program::print_json(report, options.json);
  } else {
    for (const auto& [rule, count] : totals.rules) fmt::print("{:4} refused: {}\n", count, rule);
    if (totals.elsewhere != 0)
      fmt::print("{} of other configurations than the device's left out\n", totals.elsewhere);
    fmt::print("{} lifted, {} refused, {} failed\n", totals.lifted, totals.refused, totals.failed);
  }
  return totals.worst;
}

}  // namespace
}  // namespace nvdla::test

int main(int argc, char** argv) {
  using namespace nvdla::test;
  Options options;
  program::Program self(
      "nvdla-lift",
      "Turn register cases (case.json) and traces (.cfg, .txn) into layer descriptors, "
      "compile them, compare every register that the layers use, run them through "
      "submit and compare memory and counters");
  CLI::App& app = self.app();
  app.add_option("PATH", options.paths, "Cases, traces, or folders to search for them")->required();
  program::add_device_option(app, options.device,
                             "Where to run, such as kernel or model:nv_full; files of "
                             "other configurations are left out. auto with "
                             "NVDLA_DEVICE unset: the model of the configuration that "
                             "a folder of the path is named after");
  app.add_flag("--list", options.list, "Lift, compile and compare registers; run nothing");
  program::add_json_option(app, options.json);
  app.footer(
      "Prints a line per file: lifted, refused with the rule, or FAILED with the first\n"
      "difference. Refused is what no descriptor says or what a proof of the compiler\n"
      "turns down; nothing of it runs. Rules that are not the compiler's:\n"
      "  no launch        no layer is launched\n"
      "  no descriptor    the registers say what no descriptor can say\n"
      "  not available    the device lacks it, or the memory for it\n"
      "  reference model  the registers themselves give other results on the logic than\n"
      "                   on the reference model, which cases come from\n"
      "\n"
      "Examples:\n"
      "  nvdla-lift vectors/nv_small\n"
      "  nvdla-lift --device kernel traces");
  return self.run(argc, argv, [&] { return run(options); });
}
