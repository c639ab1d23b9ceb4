// SPDX-License-Identifier: MIT
//
// Dumps as the driver writes them, of jobs that never ran.
#ifndef NVDLA_TESTS_TOOLS_DUMP_BUILDER_HPP
#define NVDLA_TESTS_TOOLS_DUMP_BUILDER_HPP

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "firmware/compile/nvdla_compile.h"
#include "firmware/nvdla_dump_format.h"

namespace nvdla::replay {

struct DumpedBuffer {
  std::uint64_t address;
  std::uint64_t size;
  std::string bytes;
};

// SDP copies a cube of 4 x 2 x 8 bytes of nv_small: each layer from one buffer to another.
class DumpBuilder {
 public:
  static constexpr std::uint32_t kBytes = 64;
  static constexpr std::uint64_t kFirst = 0x80000000;
  static constexpr std::uint64_t kKr = 0x1000;

  // Pairs of the buffers that the layers copy from and to.
  explicit DumpBuilder(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& copies,
                       std::uint32_t num_buffers = 3) {
    std::strcpy(header.configuration, "nv_small");
    std::strcpy(header.driver, "nvdla 0.1");
    std::strcpy(header.release, "6.12");
    header.magic = NVDLA_DUMP_MAGIC;
    header.version = NVDLA_DUMP_VERSION;
    header.header_bytes = sizeof(header);
    header.program = 7;
    header.result = 2;
    header.layer = static_cast<std::uint32_t>(copies.size()) - 1;
    for (std::uint32_t i = 0; i < num_buffers; ++i) {
      const std::uint64_t address = kFirst + i * kKr;
      slots.push_back({address, kBytes, NVDLA_MEMORY_DRAM, NVDLA_SLOT_READ | NVDLA_SLOT_WRITE});
      buffers.push_back({address, kBytes, std::string(kBytes, '\0')});
    }
    compile(copies);
  }

  std::string bytes() {
    std::string body;
    std::uint32_t count = 0;
    const auto section = [&](std::uint32_t type, std::size_t stride, std::string payload) {
      const nvdla_dump_section head{type, static_cast<std::uint32_t>(stride), payload.size()};
      payload.resize((payload.size() + 7) / 8 * 8);
      body.append(reinterpret_cast<const char*>(&head), sizeof(head)) += payload;
      ++count;
    };
    const auto array = [&](std::uint32_t type, const auto& elements) {
      section(type, sizeof(elements[0]),
              std::string(reinterpret_cast<const char*>(elements.data()),
                          elements.size() * sizeof(elements[0])));
    };
    array(NVDLA_DUMP_REGISTERS, registers);
    array(NVDLA_DUMP_LAYERS, layers);
    array(NVDLA_DUMP_WRITES, writes);
    array(NVDLA_DUMP_ACCESSES, accesses);
    array(NVDLA_DUMP_SLOTS, slots);
    array(NVDLA_DUMP_TRANSFERS, transfers);
    array(NVDLA_DUMP_LUTS, luts);
    for (const DumpedBuffer& buffer : buffers) {
      const nvdla_dump_buffer info{buffer.address, buffer.size, NVDLA_MEMORY_DRAM, 0};
      section(NVDLA_DUMP_BUFFER, sizeof(info),
              std::string(reinterpret_cast<const char*>(&info), sizeof(info)) + buffer.bytes);
    }
    header.num_sections = count;
    header.bytes = header.header_bytes + body.size();
    return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + body;
  }

  nvdla_dump_header header{};
  std::vector<nvdla_dump_register> registers;
  std::vector<nvdla_dump_layer> layers;
  std::vector<nvdla_dump_write> writes;
  std::vector<nvdla_dump_access> accesses;
  std::vector<nvdla_dump_slot> slots;
  std::vector<nvdla_transfer> transfers;
  std::vector<nvdla_lut> luts;
  std::vector<DumpedBuffer> buffers;

 private:
  static void must(int error) {
    if (error) throw std::runtime_error("the program of the dump is refused");
  }

  void compile(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& copies) {
    std::vector<nvdla_slot> wanted;
    for (const nvdla_dump_slot& slot : slots)
      wanted.push_back({slot.size, 8, slot.memory, slot.access, 0});
    nvdla_program_desc desc = {};
    desc.slots = wanted.data();
    desc.num_slots = static_cast<std::uint32_t>(wanted.size());
    desc.num_layers = static_cast<std::uint32_t>(copies.size());
    std::vector<std::uint64_t> memory(nvdla_program_bytes(&desc) / 8 + 1);
    nvdla_program program;
    nvdla_error error{};
    must(nvdla_program_begin(&program, nvdla_hw_find("nv_small"), &desc, memory.data(),
                             memory.size() * 8, &error));
    for (const auto& [from, to] : copies) {
      nvdla_layer layer{};
      layer.kind = NVDLA_LAYER_SDP;
      layer.sdp.width = 4;
      layer.sdp.height = 2;
      layer.sdp.channels = 8;
      layer.sdp.out_cvt.scale = 1;
      layer.sdp.input.line_stride = layer.sdp.output.line_stride = 32;
      layer.sdp.input.surface_stride = layer.sdp.output.surface_stride = 64;
      layer.sdp.input.slot = from;
      layer.sdp.output.slot = to;
      must(nvdla_program_add(&program, &layer, &error));
    }
    must(nvdla_program_end(&program, &error));
    copy(program);
  }

  void copy(const nvdla_program& program) {
    for (std::uint32_t i = 0; i < program.num_writes; ++i)
      writes.push_back({program.writes[i].offset, program.writes[i].value});
    for (std::uint32_t i = 0; i < program.num_layers; ++i) {
      const nvdla_layer_image& image = program.layers[i];
      layers.push_back({image.kind, NVDLA_DUMP_ENDED, image.units, 0, image.lut, image.first_write,
                        image.num_writes, image.first_access, image.num_accesses, 0, 0, 0});
      for (std::uint32_t j = 0; j < image.num_relocs; ++j) {
        const nvdla_reloc& reloc = program.relocs[image.first_reloc + j];
        writes[image.first_write + reloc.low].value =
            static_cast<std::uint32_t>(slots[reloc.slot].address + reloc.offset);
      }
    }
    layers.back().state = NVDLA_DUMP_ENABLED;
    for (std::uint32_t i = 0; i < program.num_accesses; ++i) {
      const nvdla_access& access = program.accesses[i];
      accesses.push_back({slots[access.slot].address + access.begin, access.end - access.begin,
                          NVDLA_MEMORY_DRAM, access.dma, access.write, 0});
    }
  }
};

}  // namespace nvdla::replay

#endif  // NVDLA_TESTS_TOOLS_DUMP_BUILDER_HPP
