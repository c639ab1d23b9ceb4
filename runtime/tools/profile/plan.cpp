// SPDX-License-Identifier: MIT
#include "tools/profile/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "loadable/read/loadable_impl.hpp"
#include "tools/common/text.hpp"

namespace nvdla::program {
namespace {

// The layers of the hardware and the operations of the CPU as they run; the profile has the first.
struct Steps {
  std::vector<const LayerProfile*> all;  // nullptr for the CPU
};

Steps steps_of(const Loadable& file, std::span<const LayerProfile> profile) {
  Steps steps;
  auto next = profile.begin();
  const Loadable::Impl& impl = file.impl();
  for (const auto& submit : impl.container.submits) {
    for (const std::uint16_t task : submit) {
      if (!impl.tasks[task].of_hardware()) {
        steps.all.insert(steps.all.end(), impl.tasks[task].cpu_operations(), nullptr);
        continue;
      }
      for (const std::uint32_t first = next->first; next != profile.end() && next->first == first;
           ++next)
        steps.all.push_back(&*next);
    }
  }
  return steps;
}

class Planner {
 public:
  Planner(const cost::Machine& machine, const cost::MemoryTiming& memory)
      : bytes_(memory.bandwidth > 0 ? memory.bandwidth : machine.bus_bytes) {}

  PlanLayer plan(std::string name, std::string kind,
                 const std::vector<const LayerProfile*>& steps) {
    PlanLayer layer{.name = std::move(name), .kind = std::move(kind)};
    layer.begin = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::pair<std::string, unsigned>> forms;
    double mac_cycles = 0;
    for (const LayerProfile* step : steps) {
      const std::string form = step == nullptr ? "CPU" : step->form;
      if (forms.empty() || forms.back().first != form) forms.emplace_back(form, 0U);
      ++forms.back().second;
      if (step == nullptr) {
        ++layer.on_cpu;
        continue;
      }
      ++layer.steps;
      layer.begin = std::min(layer.begin, step->start());
      layer.end = std::max(layer.end, step->cycles.total);
      layer.alone += step->alone.total;
      layer.read += step->alone.read;
      layer.written += step->alone.written;
      // The precision of the layer tells how many multipliers there are.
      const cost::LayerCycles& alone = step->alone;
      if (alone.peak != 0)
        mac_cycles += static_cast<double>(alone.macs) * static_cast<double>(alone.total) /
                      static_cast<double>(alone.peak);
    }
    if (layer.steps == 0) layer.begin = 0;
    for (const auto& [form, count] : forms) {
      if (!layer.form.empty()) layer.form += ", ";
      layer.form += count == 1 ? form : fmt::format("{} x {}", count, form);
    }
    if (forms.empty()) layer.form = "nothing: its tensors lie where they are read";
    layer.mac_bound = cost::rounded(mac_cycles);
    layer.byte_bound =
        static_cast<std::uint64_t>(static_cast<double>(layer.read + layer.written) / bytes_);
    return layer;
  }

 private:
  const double bytes_;
};

}  // namespace

Plan plan_of(const Loadable& file, std::span<const LayerProfile> profile,
             const cost::Machine& machine, const cost::MemoryTiming& memory) {
  const Steps steps = steps_of(file, profile);
  Planner planner(machine, memory);
  Plan plan;
  plan.total = planner.plan("all", "", steps.all);
  plan.total.form.clear();
  plan.cut_short = file.cut_short();
  if (!file.impl().user) {
    for (const LayerProfile* step : steps.all)
      plan.layers.push_back(planner.plan(step == nullptr ? "CPU" : step->name, "", {step}));
    return plan;
  }
  for (const detail::UserLayer& layer : file.impl().user->network.layers) {
    std::vector<const LayerProfile*> own;
    for (const std::uint32_t step : layer.layers) own.push_back(steps.all.at(step));
    plan.layers.push_back(planner.plan(layer.name, layer.kind, own));
  }
  return plan;
}

std::string plan_table(const Plan& plan) {
  std::string text = fmt::format("{:<24} {:<32} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "layer",
                                 "became", "begin", "end", "alone", "MACs", "bytes");
  const auto line = [&](const PlanLayer& layer) {
    text += fmt::format("{:<24} {:<32} {:>10} {:>10} {:>10} {:>10} {:>10}\n", elide(layer.name, 24),
                        elide(layer.form, 32), layer.begin, layer.end, layer.alone, layer.mac_bound,
                        layer.byte_bound);
  };
  for (const PlanLayer& layer : plan.layers) line(layer);
  line(plan.total);
  if (!plan.cut_short.empty())
    text += fmt::format("a search budget has cut short: {}\n", plan.cut_short);
  return text;
}

std::string plan_csv(const Plan& plan) {
  const auto quoted = [](std::string_view text) {
    std::string field = "\"";
    for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
    return field + '"';
  };
  std::string text =
      "layer,kind,became,steps,on_cpu,begin,end,alone,mac_bound,byte_bound,bytes_read,"
      "bytes_written\n";
  for (const PlanLayer& l : plan.layers)
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", quoted(l.name), quoted(l.kind),
                        quoted(l.form), l.steps, l.on_cpu, l.begin, l.end, l.alone, l.mac_bound,
                        l.byte_bound, l.read, l.written);
  return text;
}

nlohmann::ordered_json plan_json(const Plan& plan) {
  const auto json_of = [](const PlanLayer& l) -> nlohmann::ordered_json {
    return {{"layer", l.name},          {"kind", l.kind},
            {"became", l.form},         {"steps", l.steps},
            {"on_cpu", l.on_cpu},       {"begin_cycle", l.begin},
            {"end_cycle", l.end},       {"cycles_alone", l.alone},
            {"mac_bound", l.mac_bound}, {"byte_bound", l.byte_bound},
            {"bytes_read", l.read},     {"bytes_written", l.written}};
  };
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const PlanLayer& layer : plan.layers) layers.push_back(json_of(layer));
  nlohmann::ordered_json all = json_of(plan.total);
  all.erase("layer");
  all.erase("kind");
  all.erase("became");
  return {{"layers", layers}, {"total", all}, {"cut_short", plan.cut_short}};
}

}  // namespace nvdla::program
