// SPDX-License-Identifier: MIT
//
// Tensors in a folder: a NumPy file for each, and index.json, which says what they are.
#ifndef NVDLA_TOOLS_CLI_LAYER_FILES_HPP
#define NVDLA_TOOLS_CLI_LAYER_FILES_HPP

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "nvdla/loadable.hpp"

namespace nvdla::cli {

class LayerFiles {
 public:
  // Makes the folder unless it is there. Like all calls it throws OutputError.
  explicit LayerFiles(std::string folder);

  void add_input(const Request& request, const LoadableTensor& t);
  void add(const LayerTensor& tensor);
  // `ended` early: the last tensor is the one that differs.
  void write_index(const Request& request, const Device& device, bool ended);
  // The names of arrays in the folder that this run has not written, sorted.
  std::vector<std::string> others() const;

 private:
  using Json = nlohmann::ordered_json;

  // The name of the file.
  std::string write(std::string_view name, std::string_view type,
                    std::span<const std::uint32_t> shape, std::span<const std::byte> elements);

  std::string folder_;
  unsigned count_ = 0;
  std::set<std::string> written_;
  Json inputs_ = Json::array();
  Json tensors_ = Json::array();
};

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_LAYER_FILES_HPP
