// SPDX-License-Identifier: MIT
//
// `nvdla diff`: where two runs of the same jobs begin to differ.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/cli/input/commands.hpp"
#include "tools/cli/replay_target.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/text.hpp"
#include "tools/diff/difference.hpp"
#include "tools/diff/rerun.hpp"
#include "tools/replay/load.hpp"

namespace nvdla::cli {
namespace {

using Jobs = std::vector<replay::Dump>;

struct DiffOptions {
  std::string a, b;
  std::string json;
};

bool is_file(const std::string& name) {
  std::error_code code;
  return replay::kind_of(name).has_value() || std::filesystem::is_regular_file(name, code);
}

Jobs run_on(const std::string& device, const Jobs& jobs, const std::string& file) {
  const ReplayDevice where(device);
  const nvdla_hw& hw = *jobs.front().hw;
  if (where.hw() != nullptr && where.hw()->name != std::string_view(hw.name))
    throw UsageError(fmt::format("{} is of {}, the device is {}; expected the same", file, hw.name,
                                 where.hw()->name));
  const auto target = where.open(hw, replay::Kind::kRecord, {});
  return compare::rerun(jobs, file, *target);
}

nlohmann::ordered_json as_json(const std::optional<compare::Difference>& found) {
  nlohmann::ordered_json document = {{"same", !found}};
  if (!found) return document;
  document["job"] = found->job + 1;
  if (found->layer) {
    document["layer"] = *found->layer;
    if (!found->name.empty()) document["name"] = found->name;
    document["kind"] = found->kind;
  }
  document["what"] = found->what;
  document["a"] = found->a;
  document["b"] = found->b;
  document["note"] = found->note;
  return document;
}

int diff(const DiffOptions& options) {
  const Jobs a = replay::read_jobs(options.a);
  const Jobs b =
      is_file(options.b) ? replay::read_jobs(options.b) : run_on(options.b, a, options.a);
  const auto found = compare::first_difference(a, b);
  if (!options.json.empty()) {
    program::print_json(as_json(found), options.json);
  } else if (found) {
    program::print("{}\n", program::Lines{program::wrap(compare::text(*found), 2)});
  } else {
    program::print("no difference in {} job{}\n", a.size(), a.size() == 1 ? "" : "s");
  }
  return found ? kDifferent : kSuccess;
}

}  // namespace

Run add_diff(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<DiffOptions>();
  command = app.add_subcommand(
      "diff", "Tell the first layer, register and element in which two runs of a job differ");
  command->add_option("A", options->a, "A record (.record) or a dump (.devcoredump)")->required();
  command
      ->add_option("B", options->b,
                   "Another; or a device to run the record A on, such as model:nv_small, or auto: "
                   "the model of what A is of")
      ->required();
  program::add_json_option(*command, options->json);
  command->footer(
      "Layer by layer: what was programmed, what is read that nothing of the job wrote,\n"
      "what was written. Addresses may differ. Of memory that layers write more than\n"
      "once, what the last of them left is compared.\n"
      "\n"
      "Examples:\n"
      "  nvdla run net.nvdla --device kernel --record board.record\n"
      "  nvdla diff board.record model:nv_small\n"
      "  nvdla diff monday.record friday.record");
  return [options] { return diff(*options); };
}

}  // namespace nvdla::cli
