// SPDX-License-Identifier: MIT
//
// The memories of a loadable that is written: buffers of the network, and what its tasks list.
#ifndef NVDLA_LOADABLE_WRITE_SAVE_FILE_HPP
#define NVDLA_LOADABLE_WRITE_SAVE_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "device/compiled_impl.hpp"
#include "loadable/format/container.hpp"
#include "loadable/format/descriptors.hpp"
#include "nvdla/loadable.hpp"

namespace nvdla::loadable {

// The place of a slot of the network; memory 0 is a list of the first task.
inline std::uint16_t slot_memory(std::uint32_t slot) {
  return static_cast<std::uint16_t>(slot + 1);
}

class SavedFile {
 public:
  // `net` outlives it.
  SavedFile(const CompiledNetwork::Impl& net, Revision revision);

  Revision revision() const { return revision_; }
  // Begins a task with its network descriptor, at position 0 of the address list.
  void begin_task(std::uint32_t interface, std::vector<std::byte> descriptor);
  // Add to the address list of the task.
  void add_slot(std::uint32_t slot);
  void add_control(std::vector<std::byte> bytes);
  void add_list(const char* name, std::vector<std::byte> bytes);
  // A reader without the operation of the CPU refuses the file, and says its name.
  void add_need(const std::string& operation);
  // Inside of what is at a position of the list already.
  void add_place(std::size_t position, std::uint64_t offset);

  // Keeps a text about how the file was made; an empty one leaves nothing.
  void add_note(std::string_view note);
  // Keeps the name of the device that the layers were chosen for.
  void add_device(std::string_view name);
  void add_cut_short(std::string_view passes);
  // Throws kInvalidArgument for names that no input or output has, and sizes of other elements.
  void add_model_sizes(const std::vector<ModelSizes>& all);

  // Once, when all is there.
  std::vector<std::byte> write();

 private:
  std::uint16_t add_memory(MemoryEntry memory, const std::string& name,
                           std::vector<std::byte> bytes);
  void add_slots();
  void add_needs();
  void add_quantizations();
  void add_user_table();
  // Keeps a blob that no memory names.
  void keep_blob(std::string_view name, std::uint8_t version, std::vector<std::byte> bytes);
  void add_text(std::string_view name, std::uint8_t version, std::string_view text);
  void add_slot_memory(std::uint32_t slot);
  void add_port(const CompiledNetwork::Impl::Port& port, std::size_t bind, std::uint16_t flag,
                MemoryEntry& memory);
  void add_address(std::uint16_t address);
  // Throws kNotAvailable where the file has no room for it.
  std::uint16_t new_address(const AddressEntry& entry);

  const CompiledNetwork::Impl& net_;
  const Revision revision_;
  Container c_;
  std::vector<std::uint16_t> whole_;  // by memory, its address
  std::deque<std::vector<std::byte>> kept_;
  std::set<std::string> needs_;
};

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_WRITE_SAVE_FILE_HPP
