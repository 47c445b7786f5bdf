#include "serve/served_model.h"

#include "runtime/lano_weights.h"
#include "runtime/other_grid.h"

namespace lano::serve {

namespace {

LanoShape shape_of(const ModelFile& file) {
  LanoConfig config;
  LanoShape shape;
  lano_from_json(file.architecture, config, shape);
  return shape;
}

}  // namespace

ServedModel::ServedModel(std::string name_, Operator op_)
    : name(std::move(name_)), op(std::move(op_)), shape(shape_of(op.file())), about(describe(name, op)) {}

std::vector<float> ServedModel::grid(const Shape& mesh) const {
  if (mesh == op.set().shape && !op.coordinates().empty()) return op.coordinates();
  if (op.set().geometry != Geometry::grid || shape.spacing.empty() || mesh.size() != shape.spacing.size()) return {};
  return coordinates_of(other_grid(shape, op.set().box, mesh));
}

std::string name_of(const std::filesystem::path& file) {
  std::string name = file.stem().string();
  const std::string folder = file.parent_path().filename().string();
  if (name == "model" && !folder.empty()) name = folder;
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (!plain) c = '-';
  }
  return name.empty() || name.front() == '.' ? "model" + name : name;
}

}  // namespace lano::serve
