// SPDX-License-Identifier: MIT
#include "loadable/format/task.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "loadable/format/packed.hpp"
#include "support/check.hpp"

namespace nvdla::loadable {
namespace {

// One of the lists that an index of a network descriptor points to.
class List {
 public:
  List(const Container& c, const TaskEntry& task, std::int16_t position, std::string what)
      : c_(c), what_(std::move(what)), place_(resolve_address(c, task, position, what_)) {}

  template <typename T>
  T get(std::uint64_t offset, Revision revision, const std::string& entry) const {
    const std::size_t bytes = packed_bytes<T>(revision);
    return unpack_descriptor<T>(
        c_.content(place_.memory, place_.offset + offset, bytes, what_ + ", " + entry), revision);
  }

  const Place& place() const { return place_; }

 private:
  const Container& c_;
  std::string what_;
  Place place_;
};

Revision revision_of(const Blob& blob, const std::string& what) {
  const Version& v = blob.version;
  if (v.major_version == 0 && (v.minor_version == 10 || v.minor_version == 11)) {
    return Revision::kOld;
  }
  if (v.major_version == 0 && v.minor_version == 12) return Revision::kNew;
  throw_in_file(
      "{}: interface DLA1 {}.{}.{} of blob '{}' is unknown; known are 0.10, 0.11 and 0.12", what,
      v.major_version, v.minor_version, v.sub_minor_version, blob.name);
}

Operation get_operation(const List& common, const List& ops, const List& surfaces, std::size_t i,
                        Revision revision, const std::string& what) {
  const std::string entry = fmt::format("operation {}", i);
  Operation operation;
  operation.common = common.get<CommonDesc>(i * kDependencyStride, revision, entry);
  const auto read = [&]<typename Part>(Part part) {
    using Op = decltype(part.op);
    using Surface = decltype(part.surface);
    part.op = ops.get<Op>(i * kOpStride, revision, entry);
    part.surface = surfaces.get<Surface>(i * kSurfaceStride, revision, entry);
    operation.part = part;
  };
  switch (operation.common.op_type) {
    case kBdma:
      read(BdmaPart{});
      break;
    case kConv:
      read(ConvPart{});
      break;
    case kSdp:
      read(SdpPart{});
      break;
    case kPdp:
      read(PdpPart{});
      break;
    case kCdp:
      read(CdpPart{});
      break;
    case kRubik:
      read(RubikPart{});
      break;
    default:
      throw_in_file("{}, operation {}: type {} is not in 0..5", what, i, operation.common.op_type);
  }
  return operation;
}

DlaTask decode_dla(const Container& c, const TaskEntry& task, const std::string& what) {
  DlaTask dla;
  const Place first = resolve_address(c, task, 0, what);
  const Blob* blob = nullptr;
  const auto bytes =
      c.content(first.memory, first.offset, kNetworkBytes, what + ": network descriptor", &blob);
  dla.revision = revision_of(*blob, what);
  dla.network = unpack_descriptor<NetworkDesc>(bytes, dla.revision);
  const NetworkDesc& n = dla.network;
  if (n.num_rois != 1 || n.dynamic_roi != 0) {
    throw Error(ErrorCode::kNotAvailable,
                fmt::format("loadable: {}: {} regions of interest{}: only one fixed region is "
                            "supported",
                            what, n.num_rois, n.dynamic_roi != 0 ? ", dynamic" : ""));
  }
  if (n.num_operations == 0) throw_in_file("{}: it has no operation", what);
  const List common(c, task, n.dependency_graph_index, what + ": dependency graph");
  const List ops(c, task, n.operation_desc_index, what + ": operation list");
  const List surfaces(c, task, n.surface_desc_index, what + ": surface list");
  for (std::size_t i = 0; i < n.num_operations; ++i) {
    dla.operations.push_back(get_operation(common, ops, surfaces, i, dla.revision, what));
  }
  if (n.num_luts != 0) {
    const List luts(c, task, n.lut_data_index, what + ": list of look-up tables");
    for (std::size_t i = 0; i < n.num_luts; ++i) {
      dla.luts.push_back(
          luts.get<LutParam>(i * kLutStride, dla.revision, fmt::format("table {}", i)));
    }
  }
  return dla;
}

/* ------------------------------------------------------------- EMU1 --- */

constexpr std::uint64_t kEmuOpBytes = 24;
constexpr std::uint64_t kEmuOldOpBytes = 16;
constexpr std::uint64_t kEmuBufferStride = 512;
constexpr std::uint64_t kEmuDestination = 256;

EmuBuffer get_buffer(std::span<const std::byte> bytes, Revision revision) {
  EmuBuffer buffer;
  Unpacker get{bytes, revision};
  get("", buffer.address);
  if (revision == Revision::kNew) get("", buffer.offset);
  get("", buffer.size);
  get("", buffer.format);
  get("", buffer.width);
  get("", buffer.height);
  get("", buffer.channel);
  get("", buffer.line_stride);
  get("", buffer.surf_stride);
  // Older files number fp16 as 2, what later became int16.
  if (revision == Revision::kOld && buffer.format == 2) buffer.format = 3;
  return buffer;
}

EmuTask decode_emu(const Container& c, const TaskEntry& task, const std::string& what) {
  EmuTask emu;
  const Place first = resolve_address(c, task, 0, what);
  const auto bytes = c.content(first.memory, first.offset, 6, what + ": network descriptor");
  std::int16_t op_index = 0, buffer_index = 0;
  std::uint16_t count = 0;
  Unpacker get{bytes};
  get("", op_index);
  get("", buffer_index);
  get("", count);
  if (count == 0) throw_in_file("{}: it has no operation", what);

  const Place ops = resolve_address(c, task, op_index, what + ": operation list");
  const Place buffers = resolve_address(c, task, buffer_index, what + ": operation buffer list");
  // Both layouts say version 0.0.1: only the size tells them apart. That of the contents, as their
  // memory may be larger.
  const Blob* list = nullptr;
  const auto head =
      c.content(ops.memory, ops.offset, kEmuOldOpBytes, what + ": operation list", &list);
  const auto skipped = static_cast<std::uint64_t>(head.data() - list->data.data());
  const std::uint64_t size = std::min<std::uint64_t>(ops.size, list->data.size() - skipped);
  std::uint64_t stride = 0;
  if (size / count == kEmuOpBytes) {
    stride = kEmuOpBytes;
  } else if (size / count == kEmuOldOpBytes) {
    stride = kEmuOldOpBytes;
    emu.revision = Revision::kOld;
  } else {
    throw_in_file("{}: {} bytes for {} operations are neither {} nor {} for each", what, size,
                  count, kEmuOpBytes, kEmuOldOpBytes);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string entry = fmt::format("{}, operation {}", what, i);
    EmuOperation op;
    Unpacker fields{c.content(ops.memory, ops.offset + i * stride, stride, entry)};
    fields("", op.type);
    if (op.type > kSoftmax) {
      throw_in_file("{}: type {} is neither 0 (power) nor 1 (softmax)", entry, op.type);
    }
    if (emu.revision == Revision::kNew) {
      fields.at = 4;
      fields("", op.input_scale);
      fields("", op.output_scale);
    }
    if (op.type == kPower) {
      fields("", op.power);
      fields("", op.scale);
      fields("", op.shift);
    } else {
      fields("", op.axis);
    }
    const std::uint64_t at = buffers.offset + i * kEmuBufferStride;
    op.source = get_buffer(c.content(buffers.memory, at, 32, entry + ": source"), emu.revision);
    op.destination = get_buffer(
        c.content(buffers.memory, at + kEmuDestination, 32, entry + ": destination"), emu.revision);
    emu.operations.push_back(op);
  }
  return emu;
}

}  // namespace

Place resolve_address(const Container& c, const TaskEntry& task, std::int16_t position,
                      std::string_view what) {
  if (position < 0 || static_cast<std::size_t>(position) >= task.addresses.size()) {
    throw_in_file("{}: address {} is not in 0..{}", what, position, task.addresses.size() - 1);
  }
  const AddressEntry& address = c.addresses[task.addresses[static_cast<std::size_t>(position)]];
  const std::uint64_t rest = c.memories[address.memory].size - address.offset;
  return {address.memory, address.offset, address.size != 0 ? address.size : rest};
}

Task decode_task(const Container& c, std::uint16_t index) {
  const TaskEntry& entry = c.tasks[index];
  const std::string what = fmt::format("task {}", index);
  Task task;
  task.index = index;
  if (entry.interface == kInterfaceDla) {
    task.work = decode_dla(c, entry, what);
  } else if (entry.interface == kInterfaceEmu) {
    task.work = decode_emu(c, entry, what);
  } else {
    const Place at = resolve_address(c, entry, 0, what);
    task.work = read_cpu_task(c.content(at.memory, at.offset, at.size, what + ": operation"), what);
  }
  return task;
}

}  // namespace nvdla::loadable
