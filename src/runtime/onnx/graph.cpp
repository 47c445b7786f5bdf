// The wire format of protocol buffers, as far as ONNX needs it: a message is a row of fields, each a key (number << 3 |
// kind) and a varint (kind 0), four bytes (kind 5) or a length and bytes (kind 2); a message in a message is bytes.
// Field numbers are those of onnx.proto (docs/decisions/003-onnx-by-hand.md). Numbers of tensors are raw and
// little-endian, as in safetensors.
#include "runtime/onnx/graph.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "core/error.h"
#include "core/version.h"

namespace lano::onnx {
namespace {

constexpr std::int64_t kIrVersion = 8;  // the one that came with opset 17

void varint(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
  out.push_back(static_cast<char>(value));
}

void integer(std::string& out, unsigned field, std::int64_t value) {
  varint(out, field << 3);
  varint(out, static_cast<std::uint64_t>(value));
}

void bytes_of(std::string& out, unsigned field, const std::string& bytes) {
  varint(out, field << 3 | 2);
  varint(out, bytes.size());
  out += bytes;
}

std::string attribute_message(const Attribute& attribute) {
  enum Kind : std::int64_t { kFloat = 1, kInteger = 2, kIntegers = 7 };
  std::string out;
  bytes_of(out, 1, attribute.first);
  if (const auto* value = std::get_if<float>(&attribute.second)) {
    varint(out, 2 << 3 | 5);
    out.append(reinterpret_cast<const char*>(value), sizeof(float));
    integer(out, 20, kFloat);
  } else if (const auto* one = std::get_if<std::int64_t>(&attribute.second)) {
    integer(out, 3, *one);
    integer(out, 20, kInteger);
  } else {
    for (const std::int64_t each : std::get<std::vector<std::int64_t>>(attribute.second)) integer(out, 8, each);
    integer(out, 20, kIntegers);
  }
  return out;
}

// ValueInfoProto: name, type { tensor_type { elem_type, shape { dim ... } } }, doc_string.
std::string value_message(const std::string& name, Type type, const std::vector<Axis>& axes, const std::string& about) {
  std::string shape, tensor, kind, out;
  for (const Axis& axis : axes) {
    std::string dim;
    if (axis.name.empty()) integer(dim, 1, axis.extent);
    if (!axis.name.empty()) bytes_of(dim, 2, axis.name);
    bytes_of(shape, 1, dim);
  }
  integer(tensor, 1, static_cast<std::int64_t>(type));
  bytes_of(tensor, 2, shape);
  bytes_of(kind, 1, tensor);
  bytes_of(out, 1, name);
  bytes_of(out, 2, kind);
  bytes_of(out, 3, about);
  return out;
}

template <class T>
std::string raw(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

Value Graph::input(const std::string& name, Type type, const std::vector<Axis>& axes, const std::string& about) {
  bytes_of(inputs_, 11, value_message(name, type, axes, about));
  return name;
}

void Graph::output(const std::string& name, Type type, const std::vector<Axis>& axes, const std::string& about,
                   const Value& from) {
  std::string node;
  bytes_of(node, 1, from);
  bytes_of(node, 2, name);
  bytes_of(node, 3, name);
  bytes_of(node, 4, "Identity");
  bytes_of(nodes_, 1, node);
  bytes_of(outputs_, 12, value_message(name, type, axes, about));
}

Value Graph::constant(std::string name, const Shape& shape, Type type, std::string raw) {
  std::string tensor;
  for (const std::int64_t extent : shape) integer(tensor, 1, extent);
  integer(tensor, 2, static_cast<std::int64_t>(type));
  if (name.empty()) {
    const auto [known, fresh] = constants_.emplace(tensor + raw, fmt::format("constant.{}", constants_.size()));
    if (!fresh) return known->second;
    name = known->second;
  }
  bytes_of(tensor, 8, name);
  bytes_of(tensor, 9, raw);
  bytes_of(initializers_, 5, tensor);
  return name;
}

Value Graph::weights(const std::string& name, const Shape& shape, std::span<const float> values) {
  return constant(name, shape, Type::float32, raw(values));
}
Value Graph::floats(const Shape& shape, std::span<const float> values) {
  return constant({}, shape, Type::float32, raw(values));
}
Value Graph::doubles(const Shape& shape, std::span<const double> values) {
  return constant({}, shape, Type::float64, raw(values));
}
Value Graph::ints(const Shape& shape, std::span<const std::int64_t> values) {
  return constant({}, shape, Type::int64, raw(values));
}

std::vector<Value> Graph::nodes(const std::string& op, std::size_t outputs, const std::vector<Value>& inputs,
                                const std::vector<Attribute>& attributes) {
  const std::string name = scope_ + "/" + op, unique = fmt::format("{}.{}", name, used_[name]++);
  std::vector<Value> made;
  for (std::size_t i = 0; i < outputs; ++i) made.push_back(outputs == 1 ? unique : fmt::format("{}.{}", unique, i));
  std::string node;
  for (const Value& each : inputs) bytes_of(node, 1, each);
  for (const Value& each : made) bytes_of(node, 2, each);
  bytes_of(node, 3, unique);
  bytes_of(node, 4, op);
  for (const Attribute& each : attributes) bytes_of(node, 5, attribute_message(each));
  bytes_of(nodes_, 1, node);
  return made;
}

Value Graph::node(const std::string& op, const std::vector<Value>& inputs, const std::vector<Attribute>& attributes) {
  return nodes(op, 1, inputs, attributes).front();
}

std::string Graph::bytes(const std::string& name, const std::string& about,
                         const std::map<std::string, std::string>& metadata) const {
  const std::size_t size = nodes_.size() + initializers_.size() + inputs_.size() + outputs_.size();
  if (size > std::numeric_limits<std::int32_t>::max() - (std::size_t{1} << 20)) {
    fail("writing ONNX", "a graph below the two gigabytes of its format", fmt::format("{} MB", size >> 20),
         "export a smaller mesh, or use liblano");
  }
  std::string graph = nodes_;
  bytes_of(graph, 2, name);
  graph += initializers_ + inputs_ + outputs_;
  std::string opset, out;
  bytes_of(opset, 1, "");
  integer(opset, 2, kOpset);
  integer(out, 1, kIrVersion);
  bytes_of(out, 2, "lano");
  bytes_of(out, 3, kVersion);
  bytes_of(out, 6, about);
  bytes_of(out, 7, graph);
  bytes_of(out, 8, opset);
  for (const auto& [key, value] : metadata) {
    std::string entry;
    bytes_of(entry, 1, key);
    bytes_of(entry, 2, value);
    bytes_of(out, 14, entry);
  }
  return out;
}

}  // namespace lano::onnx
