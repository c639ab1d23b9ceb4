// SPDX-License-Identifier: MIT
//
// Descriptors, and the order of operations.
#include "refusals.hpp"

namespace nvdla::witness {

namespace {

constexpr const char* kReference = "{}: {} {} is not in -1..{}";
constexpr const char* kSource = "{}: its source is {} but it has {} fused parent";
constexpr const char* kDestination = "{}: its destination is {} but it is {}";

Refusal wrong_list(const char* base, const char* field, const char* message) {
  return in_task(
      kAddress, base, [=](Task& t) { t.network.set(field, 10); }, message);
}

}  // namespace

std::vector<Refusal> task_refusals() {
  return {
      in_task(
          "{}: interface DLA1 {}.{}.{} of blob '{}' is unknown; known are 0.10, 0.11 and 0.12",
          "sdp_values",
          [](Task& t) {
            t.interface = {0, 13, 1};
          },
          "task 0: interface DLA1 0.13.1 of blob 'net' is unknown; known are 0.10, 0.11 and "
          "0.12"),
      in_task(
          "{}: interface DLA1 {}.{}.{} of blob '{}' is unknown; known are 0.10, 0.11 and 0.12",
          "sdp_values",
          [](Task& t) {
            t.interface = {0, 9, 0};
          },
          "task 0: interface DLA1 0.9.0 of blob 'net' is unknown; known are 0.10, 0.11 and "
          "0.12"),
      in_task(
          "{}: interface DLA1 {}.{}.{} of blob '{}' is unknown; known are 0.10, 0.11 and 0.12",
          "sdp_values",
          [](Task& t) {
            t.interface = {1, 12, 0};
          },
          "task 0: interface DLA1 1.12.0 of blob 'net' is unknown; known are 0.10, 0.11 and "
          "0.12"),
      in_task(
          "{}, operation {}: type {} is not in 0..5", "sdp_values",
          [](Task& t) { t[0].set("common.op_type", 6); },
          "task 0, operation 0: type 6 is not in 0..5"),
      in_task(
          "loadable: {}: {} regions of interest{}: only one fixed region is supported",
          "sdp_values", [](Task& t) { t.network.set("num_rois", 2); },
          "task 0: 2 regions of interest: only one fixed region is supported"),
      in_task(
          "loadable: {}: {} regions of interest{}: only one fixed region is supported",
          "sdp_values", [](Task& t) { t.network.set("dynamic_roi", 1); },
          "task 0: 1 regions of interest, dynamic: only one fixed region is supported"),
      in_task(
          "{}: it has no operation", "sdp_values",
          [](Task& t) { t.network.set("num_operations", 0); }, "task 0: it has no operation"),
      wrong_list("sdp_values", "dependency_graph_index",
                 "task 0: dependency graph: address 10 is not in 0..9"),
      wrong_list("sdp_values", "operation_desc_index",
                 "task 0: operation list: address 10 is not in 0..9"),
      wrong_list("sdp_values", "surface_desc_index",
                 "task 0: surface list: address 10 is not in 0..9"),
      wrong_list("cdp", "lut_data_index",
                 "task 0: list of look-up tables: address 10 is not in 0..9"),
      in_task(
          kAddress, "cdp", [](Task& t) { t.network.set("lut_data_index", -1); },
          "task 0: list of look-up tables: address -1 is not in 0..9"),
      // One more than there are.
      in_task(
          kUnset, "sdp_values", [](Task& t) { t.network.set("num_operations", 2); },
          "task 0: dependency graph, operation 1: no blob sets 36 bytes at 36 of memory 3"),
      in_task(
          kUnset, "cdp", [](Task& t) { t.network.set("num_luts", 3); },
          "task 0: list of look-up tables, table 2: no blob sets 700 bytes at 1400 of memory "
          "6"),
      in_task(
          kUnset, "sdp_values", [](Task& t) { t.network.set("operation_desc_index", kGraph); },
          "task 0: operation list, operation 0: no blob sets 116 bytes at 0 of memory 3"),
      in_task(
          kUnset, "sdp_values", [](Task& t) { t.network.set("surface_desc_index", kGraph); },
          "task 0: surface list, operation 0: no blob sets 160 bytes at 0 of memory 3"),
      in_file(
          kUnset, "sdp_values",
          [](File& f) {
            f.at("address_list", 0).numbers["offset"] = 1;
            f.at("address_list", 0).numbers["size"] = 0;
          },
          "task 0: network descriptor: no blob sets 40 bytes at 1 of memory 0"),

      /* ------------------------------------------------------ order --- */

      in_task(
          kReference, "conv", [](Task& t) { t[0].set("common.consumers[2].index", 2); },
          "task 0: operation 0 (conv): consumer 2 is not in -1..1"),
      in_task(
          kReference, "conv", [](Task& t) { t[0].set("common.consumers[2].index", -2); },
          "task 0: operation 0 (conv): consumer -2 is not in -1..1"),
      in_task(
          kReference, "conv", [](Task& t) { t[1].set("common.fused_parent.index", 2); },
          "task 0: operation 1 (sdp): fused parent 2 is not in -1..1"),
      in_task(
          "{}: its {} is itself", "conv", [](Task& t) { t[1].set("common.fused_parent.index", 1); },
          "task 0: operation 1 (sdp): its fused parent is itself"),
      in_task(
          "{}: its {} is itself", "conv", [](Task& t) { t[0].set("common.consumers[1].index", 0); },
          "task 0: operation 0 (conv): its consumer is itself"),
      in_task(
          "{}: {} waits for event {}, not in 1..5", "conv",
          [](Task& t) { t[0].set("common.consumers[2].event", 6); },
          "task 0: operation 0 (conv): consumer waits for event 6, not in 1..5"),
      in_task(
          "{}: {} waits for event {}, not in 1..5", "conv",
          [](Task& t) { t[1].set("common.fused_parent.event", 0); },
          "task 0: operation 1 (sdp): fused parent waits for event 0, not in 1..5"),
      in_task(
          "{}: its consumer of type {} is {}", "conv",
          [](Task& t) {
            t[0].set("common.consumers[3].index", 1);
            t[0].set("common.consumers[3].event", 1);
          },
          "task 0: operation 0 (conv): its consumer of type pdp is operation 1 (sdp)"),
      in_task(
          "op_head of {} is {}, not in -1..{}", "conv",
          [](Task& t) { t.network.set("op_head[1]", 2); },
          "task 0: op_head of conv is 2, not in -1..1"),
      in_task(
          "op_head of {} is {}, not in -1..{}", "conv",
          [](Task& t) { t.network.set("op_head[5]", -2); },
          "task 0: op_head of rubik is -2, not in -1..1"),
      in_task(
          "op_head of {} is {}", "conv", [](Task& t) { t.network.set("op_head[1]", 1); },
          "task 0: op_head of conv is operation 1 (sdp)"),
      in_task(
          "{}: a cycle of operations of one type", "two",
          [](Task& t) {
            t[1].set("common.consumers[2].index", 0);
            t[1].set("common.consumers[2].event", 2);
          },
          "task 0: operation 0 (sdp): a cycle of operations of one type"),
      in_task(
          "{} is unreachable: it is neither op_head nor the next of another {}", "conv",
          [](Task& t) { t.network.set("op_head[2]", -1); },
          "task 0: operation 1 (sdp) is unreachable: it is neither op_head nor the next of "
          "another sdp"),
      in_task(
          "{}: dependency_count is {}, but {} events lead to it", "conv",
          [](Task& t) { t[0].set("common.dependency_count", 2); },
          "task 0: operation 0 (conv): dependency_count is 2, but 1 events lead to it"),
      in_task(
          "{}: dependency_count is {}, but {} events lead to it", "conv",
          [](Task& t) { t[1].set("common.dependency_count", 0); },
          "task 0: operation 1 (sdp): dependency_count is 0, but 1 events lead to it"),
      in_task(
          "{} cannot be fused to {}: only conv to sdp and sdp to pdp can", "two",
          [](Task& t) {
            t[1].set("common.fused_parent.index", 0);
            t[1].set("common.fused_parent.event", 3);
            t[0].set("common.dependency_count", 1);
          },
          "task 0: operation 1 (sdp) cannot be fused to operation 0 (sdp): only conv to sdp "
          "and sdp to pdp can"),
      in_task(
          "{} names {} as its fused parent, which does not name it as its consumer", "conv",
          [](Task& t) {
            t[0].set("common.consumers[2].index", -1);
            t[1].set("common.dependency_count", 0);
          },
          "task 0: operation 1 (sdp) names operation 0 (conv) as its fused parent, which does "
          "not name it as its consumer"),
      in_task(
          "{}: no sdp is fused to it, and only sdp writes its result", "conv",
          [](Task& t) {
            t[1].set("common.fused_parent.index", -1);
            t[0].set("common.dependency_count", 0);
          },
          "task 0: operation 0 (conv): no sdp is fused to it, and only sdp writes its result"),
      in_task(
          kDestination, "conv", [](Task& t) { t[0].set("surface.dst_data.type", 0); },
          "task 0: operation 0 (conv): its destination is memory but it is fused to another"),
      in_task(
          kDestination, "conv", [](Task& t) { t[1].set("surface.dst_data.type", 2); },
          "task 0: operation 1 (sdp): its destination is the next unit but it is fused to "
          "none"),
      in_task(
          kSource, "conv", [](Task& t) { t[1].set("surface.src_data.type", 0); },
          "task 0: operation 1 (sdp): its source is memory but it has a fused parent"),
      in_task(
          kSource, "pdp", [](Task& t) { t[0].set("surface.src_data.type", 2); },
          "task 0: operation 0 (pdp): its source is the unit before but it has no fused "
          "parent"),
      in_task(
          "{} and {} are fused, but one waits for event {} of the other: they start together",
          "conv", [](Task& t) { t[0].set("common.consumers[2].event", 1); },
          "task 0: operation 0 (conv) and operation 1 (sdp) are fused, but one waits for event "
          "1 of the other: they start together"),
      in_task(
          "{} is in a cycle of operations that wait for each other, or behind one", "pair",
          [](Task& t) {
            t.wait(0, 1);
            t.wait(1, 0);
          },
          "task 0: operation 0 (sdp) is in a cycle of operations that wait for each other, or "
          "behind one"),
  };
}

}  // namespace nvdla::witness
