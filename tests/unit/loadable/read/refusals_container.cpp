// SPDX-License-Identifier: MIT
#include "refusals.hpp"

namespace nvdla::witness {

namespace {

std::uint64_t& number(File& f, const char* list, std::size_t i, const char* field) {
  return f.at(list, i).numbers[field];
}

// An event 7 to signal, an input to bind and a relocation: what the base lacks.
void complete(File& f) {
  Entry event;
  event.numbers = {{"id", 7}, {"op", 1}};
  f.lists["event_list"] = {event};
  f.at("task_list", 0).lists["post_actions"] = {7};
  Entry input = f.at("memory_list", kResult);
  input.numbers["id"] = 8;
  input.numbers["flags"] = 5;
  input.numbers["tensor_desc_id"] = 1;
  f.lists["memory_list"].push_back(input);
  Entry tensor = f.at("tensor_desc_list", 0);
  tensor.numbers["id"] = 1;
  tensor.numbers["mem_id"] = 8;
  f.lists["tensor_desc_list"].push_back(tensor);
  Entry reloc;
  reloc.numbers = {{"address_id", 9}, {"write_id", kSurfaces}, {"offset", 640}};
  f.lists["reloc_list"] = {reloc};
}

Refusal in_container(const char* format, std::function<void(File&)> change, const char* message) {
  return in_file(
      format, "sdp_values",
      [change = std::move(change)](File& f) {
        complete(f);
        change(f);
      },
      message);
}

// A blob of a name of ours, made of such words.
Refusal in_blob(const char* name, const char* format, std::vector<std::uint32_t> words,
                const char* message, std::uint8_t version = 1, std::size_t less = 0) {
  return in_file(
      format, "sdp_values",
      [=](File& f) {
        complete(f);
        Entry blob;
        blob.texts["name"] = name;
        blob.versions["version"] = {version, 0, 0};
        for (const std::uint32_t word : words)
          for (int i = 0; i < 4; ++i)
            blob.bytes["data"].push_back(static_cast<std::byte>(word >> 8 * i & 0xff));
        blob.bytes["data"].resize(4 * words.size() - less);
        blob.numbers["size"] = 4 * words.size() - less;
        f.at("tensor_desc_list", 1).texts["name"] = "x";
        number(f, "tensor_desc_list", 1, "data_type") = 2;  // fp16
        f.lists["blobs"].push_back(blob);
      },
      message);
}

// The blob of what tensors stand for.
Refusal in_quantization(const char* format, std::vector<std::uint32_t> words, const char* message,
                        std::uint8_t version = 1, std::size_t less = 0) {
  return in_blob("nvdla-quantization", format, std::move(words), message, version, less);
}

// The blob of sizes in the model.
Refusal in_sizes(const char* format, std::vector<std::uint32_t> words, const char* message,
                 std::uint8_t version = 1, std::size_t less = 0) {
  return in_blob("nvdla-sizes", format, std::move(words), message, version, less);
}

constexpr std::uint32_t kHalf = 0x3f000000;  // 0.5

constexpr const char* kScale = "tensor {} '{}': scale {} is no positive number";
constexpr const char* kId = "{} {}: its id is {}; the id must be the place in the list";
constexpr const char* kIndex = "{}: there is no {} {}; the file has {}";
constexpr const char* kFit = "{}: {} bytes at {} do not fit memory {} of {} bytes";

}  // namespace

std::vector<Refusal> container_refusals() {
  return {
      in_container(
          kId, [](File& f) { number(f, "memory_list", 3, "id") = 4; },
          "memory 3: its id is 4; the id must be the place in the list"),
      in_container(
          kId, [](File& f) { number(f, "address_list", 5, "id") = 4; },
          "address 5: its id is 4; the id must be the place in the list"),
      in_container(
          kId, [](File& f) { number(f, "task_list", 0, "id") = 1; },
          "task 0: its id is 1; the id must be the place in the list"),
      in_container(
          kIndex, [](File& f) { number(f, "address_list", 2, "mem_id") = 9; },
          "address 2: there is no memory 9; the file has 9"),
      in_container(
          kIndex, [](File& f) { f.at("task_list", 0).lists["address_list"][4] = 10; },
          "task 0: there is no address 10; the file has 10"),
      in_container(
          kIndex, [](File& f) { number(f, "tensor_desc_list", 1, "mem_id") = 9; },
          "tensor 1: there is no memory 9; the file has 9"),
      in_container(
          kIndex, [](File& f) { number(f, "reloc_list", 0, "address_id") = 10; },
          "relocation 0: there is no address 10; the file has 10"),
      in_container(
          kIndex, [](File& f) { number(f, "reloc_list", 0, "write_id") = 9; },
          "relocation 0: there is no memory 9; the file has 9"),
      in_container(
          kIndex, [](File& f) { f.at("submit_list", 0).lists["task_id"] = {1}; },
          "submit 0: there is no task 1; the file has 1"),
      in_container(
          kIndex, [](File& f) { number(f, "memory_list", 2, "tensor_desc_id") = 2; },
          "memory 2: there is no tensor 2; the file has 2"),
      in_container(
          "blob {} '{}': size says {} bytes, {} are there",
          [](File& f) { number(f, "blobs", 2, "size") = 37; },
          "blob 2 'graph': size says 37 bytes, 36 are there"),
      in_container(
          "{}: domain {} is neither 0 (system) nor 1 (SRAM)",
          [](File& f) { number(f, "memory_list", 7, "domain") = 2; },
          "memory 7: domain 2 is neither 0 (system) nor 1 (SRAM)"),
      in_container(
          "{}: flags {:#x} are not all known; known are {:#x}",
          [](File& f) { number(f, "memory_list", 7, "flags") = 0x21; },
          "memory 7: flags 0x21 are not all known; known are 0x1f"),
      in_container(
          "{}: alignment {} is not a power of two",
          [](File& f) { number(f, "memory_list", 7, "alignment") = 4097; },
          "memory 7: alignment 4097 is not a power of two"),
      in_container(
          "{}: it is both an input and an output",
          [](File& f) { number(f, "memory_list", 2, "flags") = 13; },
          "memory 2: it is both an input and an output"),
      in_container(
          "{}: {} contents but {} offsets",
          [](File& f) {
            f.at("memory_list", 3).lists["offsets"] = {0, 0};
          },
          "memory 3: 1 contents but 2 offsets"),
      in_container(
          "{}: there is no blob called '{}'",
          [](File& f) { f.at("memory_list", 3).names["contents"] = {"graphs"}; },
          "memory 3: there is no blob called 'graphs'"),
      in_container(
          "{}: blob '{}' of {} bytes at {} does not fit {} bytes",
          [](File& f) { f.at("memory_list", 3).lists["offsets"] = {1}; },
          "memory 3: blob 'graph' of 36 bytes at 1 does not fit 36 bytes"),
      in_container(
          "{}: blob '{}' of {} bytes at {} does not fit {} bytes",
          [](File& f) { f.at("memory_list", 3).lists["offsets"] = {37}; },
          "memory 3: blob 'graph' of 36 bytes at 37 does not fit 36 bytes"),
      in_container(
          kFit, [](File& f) { number(f, "address_list", 9, "size") = 4097; },
          "address 9: 4097 bytes at 12288 do not fit memory 2 of 16384 bytes"),
      in_container(
          kFit,
          [](File& f) {
            number(f, "address_list", 9, "size") = 0;
            number(f, "address_list", 9, "offset") = 16385;
          },
          "address 9: 0 bytes at 16385 do not fit memory 2 of 16384 bytes"),
      in_container(
          kFit, [](File& f) { number(f, "tensor_desc_list", 0, "offset") = 14337; },
          "tensor 0: 2048 bytes at 14337 do not fit memory 2 of 16384 bytes"),
      in_container(
          kFit, [](File& f) { number(f, "tensor_desc_list", 0, "offset") = 16385; },
          "tensor 0: 2048 bytes at 16385 do not fit memory 2 of 16384 bytes"),
      in_container(
          "{}: interface {} is none of 1 (DLA1), 2 (EMU1), {} (CPU1)",
          [](File& f) { number(f, "task_list", 0, "interface") = 3; },
          "task 0: interface 3 is none of 1 (DLA1), 2 (EMU1), 827674691 (CPU1)"),
      in_container(
          "{}: it has no addresses; the first must be the network descriptor",
          [](File& f) { f.at("task_list", 0).lists["address_list"].clear(); },
          "task 0: it has no addresses; the first must be the network descriptor"),
      in_container(
          "{}: {} addresses exceed {}",
          [](File& f) { f.at("task_list", 0).lists["address_list"].resize(6145); },
          "task 0: 6145 addresses exceed 6144"),
      in_container(
          "{}: there is no event {}",
          [](File& f) { f.at("task_list", 0).lists["post_actions"] = {8}; },
          "task 0: there is no event 8"),
      in_container(
          "{}: there is no event {}",
          [](File& f) { f.at("task_list", 0).lists["pre_actions"] = {6}; },
          "task 0: there is no event 6"),
      in_container(
          "event {}: operation {} is neither 0 (wait) nor 1 (signal)",
          [](File& f) { number(f, "event_list", 0, "op") = 2; },
          "event 0: operation 2 is neither 0 (wait) nor 1 (signal)"),
      in_container(
          "{}: {}x{}x{}x{} has a side that is not in 1..65535",
          [](File& f) { number(f, "tensor_desc_list", 0, "n") = 0; },
          "tensor 0: 0x32x8x8 has a side that is not in 1..65535"),
      in_container(
          "{}: {}x{}x{}x{} has a side that is not in 1..65535",
          [](File& f) { number(f, "tensor_desc_list", 0, "c") = 65536; },
          "tensor 0: 1x65536x8x8 has a side that is not in 1..65535"),
      in_container(
          "{}: {}x{}x{}x{} has a side that is not in 1..65535",
          [](File& f) { number(f, "tensor_desc_list", 1, "h") = 0xffffffff; },
          "tensor 1: 1x32x-1x8 has a side that is not in 1..65535"),
      in_container(
          "{}: {}x{}x{}x{} has a side that is not in 1..65535",
          [](File& f) { number(f, "tensor_desc_list", 1, "w") = 0; },
          "tensor 1: 1x32x8x0 has a side that is not in 1..65535"),
      in_container(
          "{}: 4 bytes at {} do not fit memory {} of {} bytes",
          [](File& f) { number(f, "reloc_list", 0, "offset") = 641; },
          "relocation 0: 4 bytes at 641 do not fit memory 5 of 644 bytes"),
      in_container(
          "{}: 4 bytes at {} do not fit memory {} of {} bytes",
          [](File& f) {
            number(f, "memory_list", 8, "size") = 3;
            number(f, "tensor_desc_list", 1, "size") = 3;
            number(f, "reloc_list", 0, "write_id") = 8;
            number(f, "reloc_list", 0, "offset") = 0;
          },
          "relocation 0: 4 bytes at 0 do not fit memory 8 of 3 bytes"),
      in_container(
          "{}: {} tasks exceed 24",
          [](File& f) { f.at("submit_list", 0).lists["task_id"].resize(25); },
          "submit 0: 25 tasks exceed 24"),
      in_container(
          "{}: task {} is submitted twice",
          [](File& f) {
            f.at("submit_list", 0).lists["task_id"] = {0, 0};
          },
          "submit 0: task 0 is submitted twice"),
      in_container(
          "{}: its id {} occurs twice",
          [](File& f) {
            Entry again;
            again.numbers["id"] = 0;
            f.lists["submit_list"].push_back(again);
          },
          "submit 1: its id 0 occurs twice"),
      in_container(
          "memory {}: {} {} leaves a gap; they count from 0",
          [](File& f) { number(f, "memory_list", 2, "bind_id") = 9; },
          "memory 2: output 9 leaves a gap; they count from 0"),
      in_container(
          "memory {}: {} {} is memory {} already",
          [](File& f) { number(f, "memory_list", 8, "flags") = 9; },
          "memory 8: output 0 is memory 2 already"),
      in_container(
          "memory {}: tensor {} is that of memory {}",
          [](File& f) { number(f, "memory_list", 8, "tensor_desc_id") = 0; },
          "memory 8: tensor 0 is that of memory 2"),
      in_container(
          "there are {} {}s but none with bind_id {}",
          [](File& f) { number(f, "memory_list", 8, "bind_id") = 1; },
          "there are 1 inputs but none with bind_id 0"),
      in_quantization("version {} is unknown; known is {}", {0},
                      "blob 'nvdla-quantization': version 2 is unknown; known is 1", 2),
      in_quantization("{} bytes; the number of tensors takes {}", {0},
                      "blob 'nvdla-quantization': 3 bytes; the number of tensors takes 4", 1, 1),
      in_quantization("{} bytes; {} tensors take {}", {2, 1, kHalf, 0},
                      "blob 'nvdla-quantization': 16 bytes; 2 tensors take 28"),
      in_quantization("{} bytes; {} tensors take {}", {1, 1, kHalf, 0},
                      "blob 'nvdla-quantization': 15 bytes; 1 tensors take 16", 1, 1),
      in_quantization("{} bytes; {} tensors take {}", {0xffffffff, 1, kHalf, 0},
                      "blob 'nvdla-quantization': 16 bytes; 4294967295 tensors take 51539607544"),
      in_quantization("there is no tensor {}; the file has {}", {1, 2, kHalf, 0},
                      "blob 'nvdla-quantization': there is no tensor 2; the file has 2"),
      in_quantization("tensor {} '{}' occurs twice", {2, 1, kHalf, 0, 1, kHalf, 0},
                      "blob 'nvdla-quantization': tensor 1 'x' occurs twice"),
      in_quantization(kScale, {1, 1, 0, 0},
                      "blob 'nvdla-quantization': tensor 1 'x': scale 0 is no positive number"),
      in_quantization(kScale, {1, 1, 0xbf000000, 0},
                      "blob 'nvdla-quantization': tensor 1 'x': scale -0.5 is no positive number"),
      in_quantization(kScale, {1, 1, 0x7fc00000, 0},
                      "blob 'nvdla-quantization': tensor 1 'x': scale nan is no positive number"),
      in_quantization(kScale, {1, 1, 0x7f800000, 0},
                      "blob 'nvdla-quantization': tensor 1 'x': scale inf is no positive number"),
      in_quantization("tensor {} '{}': fp16 has no zero point, found {}", {1, 1, kHalf, 0xfffffffb},
                      "blob 'nvdla-quantization': tensor 1 'x': fp16 has no zero point, found -5"),
      in_sizes("version {} is unknown; known is {}", {0},
               "blob 'nvdla-sizes': version 2 is unknown; known is 1", 2),
      in_sizes("it ends at byte {}, in the middle of a tensor", {0, 0, 1},
               "blob 'nvdla-sizes': it ends at byte 11, in the middle of a tensor", 1, 1),
      in_sizes("it ends at byte {}, in the middle of a tensor", {1, 0, 2, 5},
               "blob 'nvdla-sizes': it ends at byte 16, in the middle of a tensor"),
      in_sizes("there is no tensor {}; the file has {}", {2, 0, 0},
               "blob 'nvdla-sizes': there is no tensor 2; the file has 2"),
      in_sizes("tensor {} '{}': order {} and {} axes; expected 0 or 1, and at most {}", {1, 2, 33},
               "blob 'nvdla-sizes': tensor 1 'x': order 2 and 33 axes; expected 0 or 1, and at "
               "most 32"),
      in_sizes("tensor {} '{}': {} are no sizes", {1, 0, 2, 5, 0},
               "blob 'nvdla-sizes': tensor 1 'x': 5x0 are no sizes"),
      in_sizes("tensor {} '{}': {} have {} elements, the tensor has {}", {1, 1, 2, 3, 77},
               "blob 'nvdla-sizes': tensor 1 'x': 3x77 have 231 elements, the tensor has "
               "2048"),
      {"{} bytes are too few for a FlatBuffer", [] { return std::vector<std::byte>(11); },
       "11 bytes are too few for a FlatBuffer"},
      {"the {} bytes are no valid FlatBuffer of a loadable: truncated or damaged (an offset, size "
       "or "
       "string leads outside)",
       [] { return std::vector<std::byte>(12); },
       "the 12 bytes are no valid FlatBuffer of a loadable: truncated or damaged (an offset, size "
       "or "
       "string leads outside)"},
      in_container(
          "format {}.{}.{} is unknown; known is 0.7.0",
          [](File& f) {
            f.version = {1, 7, 2};
          },
          "format 1.7.2 is unknown; known is 0.7.0"),
      in_container(
          "it has no memory", [](File& f) { f.lists.clear(); }, "it has no memory"),
      in_container(
          "it has no task",
          [](File& f) { f.lists.erase("task_list"), f.lists.erase("submit_list"); },
          "it has no task"),
      in_container(
          "it has no submit", [](File& f) { f.lists.erase("submit_list"); }, "it has no submit"),
  };
}

}  // namespace nvdla::witness
