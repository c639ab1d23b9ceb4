// SPDX-License-Identifier: MIT
//
// `nvdla replay`: plays register cases and traces and compares memory, CRCs and registers; runs the
// jobs of dumps.
#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>

#include "backend/name/device_name.hpp"
#include "model/simd/kernels.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/replay_target.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/numbers.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/text.hpp"
#include "tools/diff/difference.hpp"
#include "tools/diff/rerun.hpp"
#include "tools/files/files.hpp"
#include "tools/replay/load.hpp"
#include "tools/replay/player.hpp"
#include "tools/replay/targets/model_target.hpp"

namespace nvdla::cli {
namespace {

namespace fs = std::filesystem;
using program::ExitStatus;
using program::kUsage;
using replay::Outcome;
using replay::Verdict;

struct ReplayOptions {
  std::vector<std::string> paths;
  std::string device;
  std::string quirks = "auto";
  std::string filter;
  unsigned threads = 1;
  bool list = false;
  bool verbose = false;
  bool memory_only = false;
  std::string json;
  std::string reduce;
};

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "FAIL";
    case Verdict::kSkip:
      return "skip";
  }
  return "invalid";
}

// Cases come from the reference model, traces from runs of the logic.
model::Quirks quirks_for(const ReplayOptions& options, const fs::path& path) {
  if (options.quirks == "auto")
    return replay::kind_of(path) == replay::Kind::kCase ? model::Quirks::kCmodel
                                                        : model::Quirks::kRtl;
  return model::find_quirks(options.quirks).value();
}

model::Options model_options(const ReplayOptions& options, const fs::path& path,
                             const ReplayDevice& device) {
  model::Options result;
  result.quirks = quirks_for(options, path);
  result.threads = device.threads() != 0 ? device.threads() : options.threads;
  result.memory = device.memory();
  return result;
}

// The verdict on a file, and the exit status that it stands for.
struct FileResult {
  Outcome outcome;
  ExitStatus status = kSuccess;
};

FileResult failed(std::string reason, ExitStatus status) {
  FileResult result{.outcome = {}, .status = status};
  result.outcome.verdict = Verdict::kFail;
  result.outcome.failures.push_back(reason);
  result.outcome.reason = std::move(reason);
  return result;
}

// For the exception that is being handled: a device that failed, or a file that cannot be used.
FileResult failed() {
  try {
    throw;
  } catch (const nvdla::Error& error) {
    return failed(error.what(), program::status_of(static_cast<ErrorCode>(error.code().value())));
  } catch (const std::bad_alloc&) {
    return failed("out of memory", program::kInternal);
  } catch (const std::exception& error) {
    return failed(error.what(), kUsage);
  }
}

FileResult skipped(std::string reason) {
  Outcome outcome;
  outcome.verdict = Verdict::kSkip;
  outcome.reason = std::move(reason);
  return {std::move(outcome), kSuccess};
}

// Plays a script on a device that may be real. Cases were made by the reference model: a device
// that differs from one exactly as the model of the logic does is right, and a note tells how.
Outcome play_script(const replay::Script& script, replay::Target& target,
                    const replay::PlayerOptions& options) {
  Outcome outcome = replay::play(script, target, options);
  if (options.real == nullptr || script.kind != replay::Kind::kCase ||
      outcome.verdict != Verdict::kFail)
    return outcome;
  replay::ModelTarget logic(*options.real, {.quirks = model::Quirks::kRtl});
  if (replay::play(script, logic, options).failures != outcome.failures) return outcome;
  outcome.verdict = Verdict::kPass;
  outcome.note = "as the logic, which differs from the reference model: " + outcome.reason;
  outcome.reason.clear();
  outcome.failures.clear();
  return outcome;
}

FileResult play_file(const ReplayOptions& options, const fs::path& path,
                     const ReplayDevice& device) {
  const nvdla_hw* own = nullptr;
  try {
    own = replay::configuration_in(path);
  } catch (...) {
    return failed();
  }
  if (device.hw() && own && std::string_view(own->name) != device.hw()->name)
    return skipped(fmt::format("for {}, the device is {}", own->name, device.hw()->name));
  const nvdla_hw* const hw = device.hw() ? device.hw() : own;
  if (!hw)
    return failed(fmt::format("no folder of the path is named after a configuration; expected one, "
                              "or --device model:<configuration> with one of {}",
                              detail::configuration_names()),
                  kUsage);
  try {
    const auto map = static_cast<model::RegisterMap>(hw->regmap);
    const replay::Script script = replay::load_script(path, map);
    const auto target = device.open(*hw, script.kind, model_options(options, path, device));
    Outcome outcome =
        play_script(script, *target,
                    {.memory_only = options.memory_only, .real = device.real() ? hw : nullptr});
    const ExitStatus status = outcome.verdict == Verdict::kFail ? kDifferent : kSuccess;
    return {std::move(outcome), status};
  } catch (...) {
    return failed();
  }
}

// Shows which file is being played, on a terminal only; the next line replaces it.
class FileCount {
 public:
  FileCount(std::size_t total, bool wanted)
      : total_(total), shown_(wanted && isatty(STDERR_FILENO)) {}

  void start(const std::string& path) {
    ++number_;
    if (shown_) program::print(stderr, "\r\x1b[K[{}/{}] {}", number_, total_, path);
  }

  void clear() {
    if (shown_) program::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }

 private:
  std::size_t total_;
  std::size_t number_ = 0;
  bool shown_;
};

void print_line(const std::string& path, const Outcome& outcome, const ReplayOptions& options,
                double seconds) {
  std::string reason = outcome.reason.empty() ? outcome.note : outcome.reason;
  if (outcome.verdict == Verdict::kFail && outcome.failures.size() > 1)
    reason += fmt::format("; {} more differences", outcome.failures.size() - 1);
  if (reason.empty())
    program::print("{}  {}\n", word(outcome.verdict), path);
  else
    program::print("{}  {}  ({})\n", word(outcome.verdict), path, reason);
  for (const std::string& warning : outcome.warnings)
    program::print("      warning: {}\n", warning);
  if (options.verbose) {
    for (const std::string& failure : outcome.failures) program::print("      {}\n", failure);
    program::print("      {} register writes, {} registers{} and {} bytes compared, {} steps, {}\n",
                   outcome.writes, outcome.register_checks,
                   outcome.registers_left_out == 0
                       ? ""
                       : fmt::format(" ({} left out)", outcome.registers_left_out),
                   outcome.bytes_compared, outcome.steps,
                   program::duration_text(static_cast<std::uint64_t>(seconds * 1e9)));
  }
  std::fflush(stdout);
}

nlohmann::json as_json(const std::string& path, const Outcome& outcome, double seconds) {
  const char* result = outcome.verdict == Verdict::kFail ? "fail" : word(outcome.verdict);
  return {{"path", path},
          {"result", result},
          {"reason", outcome.reason},
          {"note", outcome.note},
          {"failures", outcome.failures},
          {"warnings", outcome.warnings},
          {"register_writes", outcome.writes},
          {"registers_compared", outcome.register_checks},
          {"registers_left_out", outcome.registers_left_out},
          {"bytes_compared", outcome.bytes_compared},
          {"steps", outcome.steps},
          {"seconds", seconds}};
}

bool matches(const std::string& filter, const fs::path& path) {
  return filter.empty() || fnmatch(filter.c_str(), path.c_str(), 0) == 0;
}

int replay_all(const ReplayOptions& options) {
  const ReplayDevice device(options.device);
  std::vector<fs::path> files = replay::find_scripts(options.paths);
  std::erase_if(files, [&](const fs::path& path) { return !matches(options.filter, path); });
  if (files.empty())
    throw UsageError(
        fmt::format("no case, trace, dump or record {}; expected case.json, *.cfg, *.txn or "
                    "*.devcoredump files or records in the paths",
                    options.filter.empty() ? "found" : "matches the filter"));
  if (options.list) {
    for (const fs::path& path : files) program::print("{}\n", path.string());
    return kSuccess;
  }

  // A wrong NVDLA_KERNELS is no fault of a file.
  model::chosen_kernels();

  ExitStatus worst = kSuccess;
  unsigned counts[3] = {};
  nlohmann::json results = nlohmann::json::array();
  FileCount progress(files.size(), options.json.empty());
  for (const fs::path& path : files) {
    progress.start(path.string());
    const auto start = std::chrono::steady_clock::now();
    const FileResult result = play_file(options, path, device);
    const Outcome& outcome = result.outcome;
    worst = program::worse(worst, result.status);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ++counts[static_cast<unsigned>(outcome.verdict)];
    progress.clear();
    if (!options.json.empty())
      results.push_back(as_json(path.string(), outcome, seconds.count()));
    else
      print_line(path.string(), outcome, options, seconds.count());
  }
  const unsigned passed = counts[static_cast<unsigned>(Verdict::kPass)];
  const unsigned fails = counts[static_cast<unsigned>(Verdict::kFail)];
  const unsigned skips = counts[static_cast<unsigned>(Verdict::kSkip)];
  if (!options.json.empty()) {
    const nlohmann::json report = {
        {"files", results}, {"passed", passed}, {"failed", fails}, {"skipped", skips}};
    program::print_json(report, options.json);
  } else {
    program::print("{} passed, {} failed, {} skipped\n", passed, fails, skips);
  }
  return worst;
}

// Finds the first layer of a record that is another here, and writes a record of it alone.
int reduce(const ReplayOptions& options) {
  if (options.paths.size() != 1 || replay::kind_of(options.paths[0]) != replay::Kind::kRecord)
    throw UsageError("--reduce takes one record; expected the path of one");
  const std::string& path = options.paths[0];
  const ReplayDevice device(options.device);
  const std::vector<replay::Dump> jobs = replay::read_jobs(path);
  const nvdla_hw& hw = device.hw() ? *device.hw() : *jobs.front().hw;
  if (hw.name != std::string_view(jobs.front().hw->name))
    throw UsageError(fmt::format("{} is for {}, the device is {}; expected the same", path,
                                 jobs.front().hw->name, hw.name));
  const auto open = [&] {
    return device.open(hw, replay::Kind::kRecord, model_options(options, path, device));
  };
  const auto found = compare::first_difference(jobs, compare::rerun(jobs, path, *open()));
  if (!found) {
    program::print("pass  {}  (nothing differs, {} is not written)\n", path, options.reduce);
    return kSuccess;
  }
  if (!found->layer)
    throw UsageError(fmt::format("{}: {}: that is of no layer; expected one that differs", path,
                                 compare::text(*found)));
  const replay::Dump reduced = compare::reduce(jobs, found->job, *found->layer, path, *open());
  program::write_file(options.reduce, compare::record_bytes(reduced));
  program::print("FAIL  {}  ({})\n", path, program::Lines{compare::text(*found)});
  const auto still =
      compare::first_difference({reduced}, compare::rerun({reduced}, options.reduce, *open()));
  program::print(
      "{}: {} of {} layers, {}\n", options.reduce, reduced.layers.size(),
      jobs[found->job].layers.size(),
      still ? "still different alone" : "right when alone: the fault is in what runs before");
  return kDifferent;
}

}  // namespace

Run add_replay(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<ReplayOptions>();
  command = app.add_subcommand(
      "replay",
      "Play register cases (case.json) and traces (.cfg, .txn) and compare memory, CRCs and "
      "registers with what they expect; or run the jobs of a dump (.devcoredump) or a record "
      "(.record) again");
  command
      ->add_option("PATH", options->paths,
                   "Cases, traces, dumps, records, or folders to search for them")
      ->required();
  program::add_device_option(
      *command, options->device,
      "Where to play, such as model:nv_small; auto with "
      "NVDLA_DEVICE unset: the model of the configuration that a folder "
      "of the path is named after, or that a dump or record is of. Files that are for another "
      "configuration are skipped");
  command
      ->add_option("--quirks", options->quirks,
                   "Where logic and reference model differ, follow rtl or "
                   "cmodel, or gated: the logic with its clock gates at work; "
                   "auto: cmodel for cases, rtl for traces")
      ->check(CLI::IsMember({"auto", "rtl", "cmodel", "gated"}))
      ->capture_default_str();
  command->add_option("--filter", options->filter,
                      "Play only paths that match this pattern, such as "
                      "'*/conv_dc/*'");
  command->add_option("--threads", options->threads, "Threads of the model; 0: one per processor")
      ->check(program::whole_number(0, model::kMaxThreads))
      ->type_name("NUMBER")
      ->capture_default_str();
  command
      ->add_option("--reduce", options->reduce,
                   "Of one record, write the first layer that differs here to FILE, with its "
                   "inputs and what the record says it wrote")
      ->type_name("FILE");
  command->add_flag("--memory-only", options->memory_only,
                    "Compare memory and no registers; without it a real device is compared in "
                    "memory, interrupts and the counters that are exact on its generation, the "
                    "model in all registers");
  command->add_flag("--list", options->list, "Print the paths and play nothing");
  command->add_flag("--verbose,-v", options->verbose, "Print all differences, counts and times");
  program::add_json_option(*command, options->json);
  command->footer(
      "Prints a line per file: pass, FAIL or skip, the path, and why. The exit status\n"
      "is 2 where nothing differs and a file cannot be used. Skipped is what\n"
      "needs a unit that the device does not have yet, or another device.\n"
      "A dump passes if the device held what was written and, as far as the inputs are\n"
      "still there, what it had computed is right; whether the layer that did not end\n"
      "ends here is told behind it.\n"
      "\n"
      "Examples:\n"
      "  nvdla replay vectors/nv_small traces\n"
      "  nvdla replay --device model:nv_small --verbose case.json\n"
      "  nvdla replay --device sim:/tmp/nvdla --memory-only vectors/nv_small\n"
      "  nvdla replay hang.devcoredump\n"
      "  nvdla replay --reduce layer.record run.record");
  return [options] { return options->reduce.empty() ? replay_all(*options) : reduce(*options); };
}

}  // namespace nvdla::cli
