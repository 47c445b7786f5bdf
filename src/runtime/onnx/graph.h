// An ONNX graph being written: inputs, constants, nodes, outputs, and its bytes. Stands between the export of a model
// and the file; knows the format (opset 17, IR version 8) and nothing of operators. Values are named by what made them;
// every name is unique.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/shape.h"

namespace lano::onnx {

inline constexpr std::int64_t kOpset = 17;

enum class Type : std::int64_t { float32 = 1, int64 = 7, boolean = 9, float64 = 11 };  // numbers of the format

// An axis of an input or output: an extent, or a name where it is known at run time only.
struct Axis {
  std::int64_t extent = 0;
  std::string name;
};

using Value = std::string;  // name of a tensor of the graph
using Attribute = std::pair<std::string, std::variant<std::int64_t, float, std::vector<std::int64_t>>>;

class Graph {
 public:
  Value input(const std::string& name, Type type, const std::vector<Axis>& axes, const std::string& about);
  // `from` leaves the graph as `name`.
  void output(const std::string& name, Type type, const std::vector<Axis>& axes, const std::string& about,
              const Value& from);

  // Weights under their own name; small numbers under a name of their content, each once.
  Value weights(const std::string& name, const Shape& shape, std::span<const float> values);
  Value floats(const Shape& shape, std::span<const float> values);
  Value doubles(const Shape& shape, std::span<const double> values);
  Value ints(const Shape& shape, std::span<const std::int64_t> values);
  Value list(const std::vector<std::int64_t>& values) {
    return ints({static_cast<std::int64_t>(values.size())}, values);
  }
  Value number(float value) { return floats({}, {&value, 1}); }
  Value number(double value) { return doubles({}, {&value, 1}); }
  Value number(std::int64_t value) { return ints({}, {&value, 1}); }

  Value node(const std::string& op, const std::vector<Value>& inputs, const std::vector<Attribute>& attributes = {});
  std::vector<Value> nodes(const std::string& op, std::size_t outputs, const std::vector<Value>& inputs,
                           const std::vector<Attribute>& attributes = {});
  void scope(std::string name) { scope_ = std::move(name); }  // opens the names of the nodes to come

  // The file. Fails where it would pass the two gigabytes of its format.
  std::string bytes(const std::string& name, const std::string& about,
                    const std::map<std::string, std::string>& metadata) const;

 private:
  Value constant(std::string name, const Shape& shape, Type type, std::string raw);

  std::string scope_;
  std::map<std::string, Value> constants_;  // by type, shape and bytes
  std::map<std::string, int> used_;
  std::string nodes_, initializers_, inputs_, outputs_;  // already in wire format
};

}  // namespace lano::onnx
