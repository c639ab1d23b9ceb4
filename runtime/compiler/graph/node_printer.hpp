// SPDX-License-Identifier: MIT
//
// Visitors of the fields of a node (compiler/graph/node_fields.hpp) that print them, and that find
// the first field in which two nodes differ.
#ifndef NVDLA_COMPILER_GRAPH_NODE_PRINTER_HPP
#define NVDLA_COMPILER_GRAPH_NODE_PRINTER_HPP

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/node_fields.hpp"
#include "compiler/text/list_text.hpp"
#include "compiler/text/operation_text.hpp"
#include "compiler/text/value_text.hpp"

namespace nvdla::detail {

inline text::OperationInput operation_input(const NodeContext& context) {
  return {context.input->precision, context.input->shape.channels};
}

// `FieldPrinter` makes " name=value" of each field that differs from the base.
class FieldPrinter {
 public:
  FieldPrinter(const NodeContext& context, const text::PrintOptions& options)
      : context_(context), options_(options) {}

  template <typename Node>
  std::string text(const Node& node, const Node& base) const {
    FieldPrinter inner(context_, options_);
    visit_fields(inner, node, base);
    return std::move(inner.out_);
  }

  template <typename T>
  void value(const char* name, const T& field, const T& base) {
    if (field == base) return;
    if constexpr (std::is_same_v<T, bool>) {
      out_ += fmt::format(" {}{}", name, field ? "" : "=false");
    } else {
      add(name, text::value_text(field));
    }
  }
  template <typename T>
  void block(const char* name, const T& field, const T& base) {
    const std::string inner = text(field, base);
    if (!inner.empty()) add(name, "{" + inner.substr(1) + "}");
  }
  template <typename T>
  void block(const char* name, const std::optional<T>& field, const std::optional<T>& base) {
    if (field && base) return block(name, *field, *base);
    if (base) add(name, "none");
    if (!field) return;
    const std::string inner = text(*field, T{});
    add(name, "{" + (inner.empty() ? inner : inner.substr(1)) + "}");
  }
  template <typename T, typename Count>
  void blocks(const char* name, const std::vector<T>& list, const std::vector<T>& base,
              const Count& count) {
    const T like = base.empty() ? T{} : base[0];
    std::string all;
    bool usual = list.size() == count();
    for (const T& one : list) {
      const std::string inner = text(one, like);
      usual = usual && inner.empty();
      all += fmt::format("{}{{{}}}", all.empty() ? "" : ", ", inner.empty() ? "" : inner.substr(1));
    }
    if (!usual) add(name, "[" + all + "]");
  }
  void tensor(const char* name, const std::optional<std::uint32_t>& field,
              const std::optional<std::uint32_t>& base) {
    if (field != base) add(name, field ? fmt::format("%{}", *field) : "none");
  }
  void tensors(const char* name, const std::vector<std::uint32_t>& list,
               const std::vector<std::uint32_t>& base) {
    if (list == base) return;
    std::string all;
    for (const std::uint32_t tensor : list)
      all += fmt::format("{}%{}", all.empty() ? "" : ", ", tensor);
    add(name, "[" + all + "]");
  }
  template <typename Count>
  void values(const char* name, const std::vector<std::int32_t>& list,
              const std::vector<std::int32_t>& base, const Count& count) {
    if (list == base) return;
    const auto elements = text::elements_of(std::span<const std::int32_t>(list));
    add(name, text::list_text(elements, count(context_), options_));
  }
  template <typename Count>
  void values(const char* name, const SharedKernels& kernels, const SharedKernels&,
              const Count& count) {
    if (kernels == nullptr) return;
    std::visit(
        [&]<typename T>(const std::vector<T>& weights) {
          const auto elements = text::elements_of(std::span<const T>(weights));
          add(name, (sizeof(T) == 2 ? "int16 " : "") +
                        text::list_text(elements, count(context_), options_));
        },
        *kernels);
  }
  template <typename T>
  void descriptor(const text::DescriptorText& fields, const T& field, const T& base) {
    out_ += fields.text(&field, &base, options_);
  }
  void operation(const cpu::Operation& field, const cpu::Operation&) {
    out_ += text::operation_fields_text(field, operation_input(context_), options_);
  }

 private:
  void add(const char* name, const std::string& text) { out_ += fmt::format(" {}={}", name, text); }

  const NodeContext& context_;
  const text::PrintOptions& options_;
  std::string out_;
};

// `FieldComparer` finds the first field of two nodes that differs.
class FieldComparer {
 public:
  // Returns its name, "x1.alu"; empty if all are equal.
  template <typename Node>
  static std::string difference(const Node& a, const Node& b) {
    FieldComparer comparer;
    visit_fields(comparer, a, b);
    return std::move(comparer.first_);
  }

  template <typename T>
  void value(const char* name, const T& a, const T& b) {
    note(name, a == b);
  }
  template <typename T>
  void block(const char* name, const T& a, const T& b) {
    const std::string inner = difference(a, b);
    if (!inner.empty()) note(std::string(name) + "." + inner, false);
  }
  template <typename T>
  void block(const char* name, const std::optional<T>& a, const std::optional<T>& b) {
    note(name, a.has_value() == b.has_value());
    if (a && b) block(name, *a, *b);
  }
  template <typename T, typename Count>
  void blocks(const char* name, const std::vector<T>& a, const std::vector<T>& b, const Count&) {
    note(name, a.size() == b.size());
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
      block(fmt::format("{}[{}]", name, i).c_str(), a[i], b[i]);
  }
  template <typename T>
  void tensor(const char* name, const T& a, const T& b) {
    note(name, a == b);
  }
  template <typename T>
  void tensors(const char* name, const T& a, const T& b) {
    note(name, a == b);
  }
  template <typename Count>
  void values(const char* name, const std::vector<std::int32_t>& a,
              const std::vector<std::int32_t>& b, const Count&) {
    note(name, a == b);
  }
  template <typename Count>
  void values(const char* name, const SharedKernels& a, const SharedKernels& b, const Count&) {
    note(name, a == b || (a != nullptr && b != nullptr && *a == *b));
  }
  template <typename T>
  void descriptor(const text::DescriptorText& fields, const T& a, const T& b) {
    for (std::size_t item = 0; item < fields.size(); ++item)
      note(fields.name(item), fields.equal(item, &a, &b));
  }
  void operation(const cpu::Operation& a, const cpu::Operation& b) {
    const auto text = [](const cpu::Operation& one) {
      return text::operation_fields_text(one, {}, {.all_values = true});
    };
    note("operation", a.kind.index() == b.kind.index() && text(a) == text(b));
  }

 private:
  void note(std::string_view name, bool equal) {
    if (!equal && first_.empty()) first_ = name;
  }

  std::string first_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_GRAPH_NODE_PRINTER_HPP
