// SPDX-License-Identifier: MIT
#include "selftest/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nvdla/types/error.hpp"
#include "selftest/device_runner.hpp"
#include "selftest/steps.hpp"

namespace nvdla::selftest {
namespace {

constexpr const char* kBehindDriver =
    "registers are behind the driver; unbind it and name the device with mmio: to run this";

StepInfo info_of(const Step& step) { return {step.name, step.checks, step.registers}; }

class Session {
 public:
  explicit Session(const Options& options) : options_(options) {}

  bool wanted(std::string_view name) const {
    return options_.steps.empty() ||
           std::find(options_.steps.begin(), options_.steps.end(), name) != options_.steps.end();
  }

  void add(const StepInfo& step, Result result) {
    report_.entries.push_back({step, std::move(result)});
    if (options_.progress) options_.progress(report_.entries.back());
  }

  // Returns the result of `check` or, if the device is lost during it, a failure that reports so.
  template <typename Check>
  static auto guarded(const Check& check) -> decltype(check()) {
    try {
      return check();
    } catch (const Error& error) {
      std::vector<std::string> causes;
      if (error.code() == ErrorCode::kGone) causes.emplace_back(cause::kNoAnswer);
      return {Result::failed({error.what(), "the device goes on", std::move(causes)})};
    }
  }

  // Records the result of the identification. Leaves all other steps out if it failed, since they
  // could not be trusted.
  bool identified(const Identified& found) {
    const bool right = found.result.verdict == Verdict::kPassed;
    if (found.hw) report_.configuration = found.hw->name;
    if (wanted(kIdentify) || !right) add({kIdentify, kIdentifyChecks, false}, found.result);
    if (right) return true;
    for (const Step& step : steps())
      if (wanted(step.name))
        add(info_of(step), Result::left_out("the device is not what it is said to be"));
    return false;
  }

  void run(Bench& bench) {
    std::string lost;  // why nothing more can be run
    for (const Step& step : steps()) {
      if (!wanted(step.name)) continue;
      if (!lost.empty()) {
        add(info_of(step), Result::left_out(lost));
        continue;
      }
      if (step.registers && !bench.bare) {
        add(info_of(step), Result::left_out(kBehindDriver));
        continue;
      }
      Result result = guarded([&]() -> Result { return step.run(bench); });
      const bool failed = result.verdict == Verdict::kFailed;
      add(info_of(step), std::move(result));
      if (failed && bench.bare) lost = takes_over(*bench.bare, step.name);
    }
  }

  Report take() { return std::move(report_); }

 private:
  static std::string takes_over(BareRunner& runner, std::string_view step) {
    runner.forget();
    try {
      const auto wrong = runner.start();
      return wrong ? fmt::format("after {} the device cannot be taken over: {}", step, *wrong)
                   : std::string();
    } catch (const Error& error) {
      return fmt::format("the device is gone: {}", error.what());
    }
  }

  const Options& options_;
  Report report_;
};

}  // namespace

std::vector<StepInfo> list_steps() {
  std::vector<StepInfo> list = {{kIdentify, kIdentifyChecks, false}};
  for (const Step& step : steps()) list.push_back(info_of(step));
  return list;
}

bool Report::passed() const noexcept {
  return std::none_of(entries.begin(), entries.end(),
                      [](const Entry& entry) { return entry.result.verdict == Verdict::kFailed; });
}

Report test(detail::BareDevice& device, const nvdla_hw* named, const Options& options) {
  Session session(options);
  const Identified found =
      Session::guarded([&]() -> Identified { return identify(device, named, options.limit); });
  if (session.identified(found)) {
    BareRunner runner(device, *found.hw, options.limit);
    Bench bench{runner, *found.hw, &runner, options.limit, device.clock_khz()};
    session.run(bench);
    Session::guarded([&]() -> Result {
      device.reset();
      return {};
    });
  }
  return session.take();
}

Report test(const Device& device, const Options& options) {
  Session session(options);
  const Identified found =
      Session::guarded([&]() -> Identified { return identify(device, options.limit); });
  if (session.identified(found)) {
    DeviceRunner runner(device, options.limit);
    Bench bench{runner, *found.hw, nullptr, options.limit, options.clock_khz};
    session.run(bench);
  }
  return session.take();
}

}  // namespace nvdla::selftest
