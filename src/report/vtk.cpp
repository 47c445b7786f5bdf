// VTK numbers structured points with the first axis fastest; ours have the last axis fastest. Writing the extents in
// reverse order makes the same memory order right, so fields go out as they are.
#include "report/vtk.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "core/atomic_file.h"
#include "core/error.h"

namespace lano {
namespace {

static_assert(std::endian::native == std::endian::little);

// The appended section: each block is its length in bytes (UInt64) and the data; arrays refer to it by offset.
class Appended {
 public:
  template <class T>
  std::size_t add(std::span<const T> values) {
    const std::size_t offset = bytes_.size();
    const std::uint64_t size = values.size_bytes();
    bytes_.append(reinterpret_cast<const char*>(&size), sizeof(size));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    return offset;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string array(const std::string& type, const std::string& name, int components, std::size_t offset) {
  return fmt::format(
      "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n", type, name,
      components, offset);
}

std::string xml_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '<' || c == '>' || c == '&' || c == '"') {
      out += '_';
    } else {
      out += c;
    }
  }
  return out;
}

// The name of a file, which must stay what it is.
std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<float> points_3d(std::span<const float> coordinates, std::size_t dims) {
  const std::size_t n = coordinates.size() / dims;
  std::vector<float> points(3 * n, 0.0f);
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t a = 0; a < std::min<std::size_t>(dims, 3); ++a) points[3 * p + a] = coordinates[p * dims + a];
  }
  return points;
}

constexpr std::uint8_t kVertex = 1;

std::uint8_t vtk_type(CellKind kind) {
  constexpr std::uint8_t kTypes[] = {3, 5, 9, 10, 12};  // in the order of CellKind
  return kTypes[static_cast<std::size_t>(kind)];
}

// The given cells; else those of a structured mesh as lines, quadrilaterals or hexahedra; else single vertices.
void make_cells(const SetDescription& set, const std::optional<VtkCells>& given,
                std::vector<std::int64_t>& connectivity, std::vector<std::int64_t>& offsets,
                std::vector<std::uint8_t>& types) {
  const auto close = [&](std::uint8_t type) {
    offsets.push_back(static_cast<std::int64_t>(connectivity.size()));
    types.push_back(type);
  };
  if (given) {
    const auto corners = static_cast<std::size_t>(cell_corners(given->kind));
    for (std::size_t first = 0; first + corners <= given->corners.size(); first += corners) {
      const auto cell = given->corners.subspan(first, corners);
      connectivity.insert(connectivity.end(), cell.begin(), cell.end());
      close(vtk_type(given->kind));
    }
    return;
  }
  const Shape& s = set.shape;
  if (set.geometry == Geometry::points) {
    for (std::int64_t p = 0; p < set.points(); ++p) {
      connectivity.push_back(p);
      close(kVertex);
    }
  } else if (s.size() == 1) {
    for (std::int64_t i = 0; i + 1 < s[0]; ++i) {
      connectivity.insert(connectivity.end(), {i, i + 1});
      close(vtk_type(CellKind::line));
    }
  } else if (s.size() == 2) {
    for (std::int64_t i = 0; i + 1 < s[0]; ++i) {
      for (std::int64_t j = 0; j + 1 < s[1]; ++j) {
        const std::int64_t p = i * s[1] + j;
        connectivity.insert(connectivity.end(), {p, p + s[1], p + s[1] + 1, p + 1});
        close(vtk_type(CellKind::quadrilateral));
      }
    }
  } else {
    const std::int64_t si = s[1] * s[2], sj = s[2];
    for (std::int64_t i = 0; i + 1 < s[0]; ++i) {
      for (std::int64_t j = 0; j + 1 < s[1]; ++j) {
        for (std::int64_t k = 0; k + 1 < s[2]; ++k) {
          const std::int64_t p = i * si + j * sj + k;
          connectivity.insert(connectivity.end(),
                              {p, p + si, p + si + sj, p + sj, p + 1, p + si + 1, p + si + sj + 1, p + sj + 1});
          close(vtk_type(CellKind::hexahedron));
        }
      }
    }
  }
}

}  // namespace

void write_vtk(const std::filesystem::path& path, const SetDescription& set, std::span<const float> coordinates,
               const std::vector<VtkField>& fields, const std::optional<VtkCells>& cells) {
  const bool structured = path.extension() == ".vts";
  if (structured && set.geometry == Geometry::points) {
    fail_usage_plainly(fmt::format("writing '{}'", path.string()),
                       "a .vts file holds a grid or mesh, not a point cloud", "write .vtu");
  }
  Appended appended;
  std::string point_data;
  for (const VtkField& field : fields) {
    point_data += array("Float32", xml_name(field.name), 1, appended.add(field.values));
  }
  const std::vector<float> points = points_3d(coordinates, static_cast<std::size_t>(set.dims()));
  const std::string points_xml = array("Float32", "Points", 3, appended.add(std::span<const float>(points)));
  std::string body;
  if (structured) {
    std::string extent;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t axis = set.shape.size() - 1 - a;  // reversed: last axis fastest
      extent += fmt::format("{}0 {}", a > 0 ? " " : "", a < set.shape.size() ? set.shape[axis] - 1 : 0);
    }
    body = fmt::format(
        "<StructuredGrid WholeExtent=\"{0}\"><Piece Extent=\"{0}\"><PointData>\n{1}</PointData><Points>\n{2}</Points>"
        "</Piece></StructuredGrid>\n",
        extent, point_data, points_xml);
  } else {
    std::vector<std::int64_t> connectivity, offsets;
    std::vector<std::uint8_t> types;
    make_cells(set, cells, connectivity, offsets, types);
    std::string cells_xml =
        array("Int64", "connectivity", 1, appended.add(std::span<const std::int64_t>(connectivity)));
    cells_xml += array("Int64", "offsets", 1, appended.add(std::span<const std::int64_t>(offsets)));
    cells_xml += array("UInt8", "types", 1, appended.add(std::span<const std::uint8_t>(types)));
    body = fmt::format(
        "<UnstructuredGrid><Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\"><PointData>\n{}</PointData><Points>\n{}"
        "</Points><Cells>\n{}</Cells></Piece></UnstructuredGrid>\n",
        set.points(), types.size(), point_data, points_xml, cells_xml);
  }
  write_file_atomically(
      path, fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"LittleEndian\" "
                        "header_type=\"UInt64\">\n{}<AppendedData encoding=\"raw\">\n_",
                        structured ? "StructuredGrid" : "UnstructuredGrid", body) +
                appended.bytes() + "\n</AppendedData>\n</VTKFile>\n");
}

void write_vtk_series(const std::filesystem::path& path, const std::vector<VtkFrame>& frames) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
      "byte_order=\"LittleEndian\">\n<Collection>\n";
  for (const VtkFrame& frame : frames)
    text +=
        fmt::format("<DataSet timestep=\"{}\" group=\"\" part=\"0\" file=\"{}\"/>\n", frame.time, xml_text(frame.file));
  write_file_atomically(path, text + "</Collection>\n</VTKFile>\n");
}

}  // namespace lano
