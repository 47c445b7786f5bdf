// Each benchmark opens its arrays, checks their shapes against each other, describes the dataset as our generator of
// the same name does, and says how to load samples; the axes of the published arrays are brought into the form [S, N,
// channels] there.
#include "data/benchmark_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/nearest.h"
#include "data/pdebench_import.h"
#include "data/sample_import.h"

namespace lano {
namespace {

using Source = std::shared_ptr<const ArraySource>;

std::string doing(const BenchmarkImport& options) { return fmt::format("importing {}", options.benchmark); }

// The published file `name` among the files given, or in a folder given or below it.
std::filesystem::path find_file(const BenchmarkImport& options, const std::string& name) {
  std::vector<std::filesystem::path> found;
  std::vector<std::string> given;
  for (const auto& path : options.from) {
    given.push_back(fmt::format("'{}'", path.string()));
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      fail_plainly(doing(options), fmt::format("there is nothing at '{}'", path.string()), "check --from");
    }
    if (!std::filesystem::is_directory(path, error)) {
      if (path.filename() == name) found.push_back(path);
    } else if (std::filesystem::exists(path / name, error)) {
      found.push_back(path / name);
    } else {
      for (auto it = std::filesystem::recursive_directory_iterator(
               path, std::filesystem::directory_options::skip_permission_denied, error);
           !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
        if (it->path().filename() == name) found.push_back(it->path());
      }
    }
  }
  if (found.size() > 1) {
    fail_usage(doing(options), fmt::format("one file '{}'", name),
               fmt::format("'{}' and '{}'", found[0].string(), found[1].string()),
               "name the files themselves with --from");
  }
  if (found.empty()) {
    fail_usage_plainly(doing(options),
                       given.empty() ? fmt::format("'{}' is needed, and there is no --from", name)
                                     : fmt::format("'{}' is not in --from {}", name, fmt::join(given, " ")),
                       "give the folder with the published files, or the files under their published names");
  }
  return found.front();
}

Source open_published(const BenchmarkImport& options, const std::string& name, const std::string& key = {}) {
  return open_array(find_file(options, name), key);
}

std::string generator(const std::vector<std::string>& files, nlohmann::json more = nlohmann::json::object()) {
  more["program"] = "lano import";
  more["sources"] = files;
  return more.dump();
}

struct Counts {
  std::int64_t train, test;
};

Counts counts(const BenchmarkImport& options, Counts published) {
  return {options.train_count.value_or(published.train), options.test_count.value_or(published.test)};
}

// Training samples from the start of a file, test samples from its end.
std::pair<SamplePart, SamplePart> first_and_last(const BenchmarkImport& options, Counts published,
                                                 std::int64_t available, const LoadSamples& load) {
  const Counts wanted = counts(options, published);
  expect_samples(doing(options), "train and test", wanted.train + wanted.test, available);
  return {{load, 0, wanted.train}, {load, available - wanted.test, wanted.test}};
}

// Training samples from the start of a file, test samples after the published training samples: fewer training samples
// are tested on the same ones. In a file too short for that, after the training samples.
std::pair<SamplePart, SamplePart> first_and_next(const BenchmarkImport& options, Counts published,
                                                 std::int64_t available, const LoadSamples& load) {
  const Counts wanted = counts(options, published);
  expect_samples(doing(options), "train and test", wanted.train + wanted.test, available);
  const std::int64_t usual = std::max(wanted.train, published.train);
  return {{load, 0, wanted.train}, {load, usual + wanted.test <= available ? usual : wanted.train, wanted.test}};
}

std::int64_t checked_stride(const BenchmarkImport& options, std::int64_t usual) {
  const std::int64_t stride = options.stride.value_or(usual);
  if (stride < 1) fail_usage(doing(options), "--stride of at least 1", std::to_string(stride));
  return stride;
}

// Every stride-th index of an axis.
AxisRange strided(std::int64_t extent, std::int64_t stride) { return {0, kept_points(extent, stride), stride}; }

void no_stride(const BenchmarkImport& options) {
  if (options.stride.value_or(1) != 1) {
    fail_usage_plainly(doing(options), "--stride does not apply: the dataset has one resolution", "leave it out");
  }
}

std::int64_t import_elasticity(const BenchmarkImport& options, const std::filesystem::path& out) {
  no_stride(options);
  const Source xy = open_published(options, "Random_UnitCell_XY_10.npy");
  const Source sigma = open_published(options, "Random_UnitCell_sigma_10.npy");
  expect_shape(*xy, {-1, 2, -1});
  const std::int64_t points = xy->shape()[0], available = xy->shape()[2];
  expect_shape(*sigma, {points, available});
  SetDescription d;
  d.name = "elasticity";
  d.geometry = Geometry::points;
  d.shape = {points};
  d.coordinates = {{"x", "1"}, {"y", "1"}};
  d.output = {{"stress", "Pa"}};
  d.box = {0, 1, 0, 1};
  d.generator = generator({"Random_UnitCell_XY_10.npy", "Random_UnitCell_sigma_10.npy"});
  const LoadSamples load = [=](std::int64_t first, std::int64_t count) {
    const AxisRange samples{first, count, 1};
    SampleBlock block;  // samples are the last axis in both files
    block.coordinates = permuted(xy->read({{0, points, 1}, {0, 2, 1}, samples}), {points, 2, count}, {2, 0, 1});
    block.output = permuted(sigma->read({{0, points, 1}, samples}), {points, count}, {1, 0});
    return block;
  };
  const auto [train, test] = first_and_last(options, {1000, 200}, available, load);
  // Samples last: every block passes over the whole file, so all are loaded at once (23 MB as published).
  return write_samples(out, d, {}, train, test, std::max<std::int64_t>(1, available), options.validation_share);
}

std::int64_t import_plasticity(const BenchmarkImport& options, const std::filesystem::path& out) {
  no_stride(options);
  const std::string file = "plas_N987_T20.mat";
  const Source die = open_published(options, file, "input"), motion = open_published(options, file, "output");
  constexpr std::int64_t kI = 101, kJ = 31, kChannels = 4;
  expect_shape(*motion, {-1, kI, kJ, -1, kChannels});
  const std::int64_t available = motion->shape()[0], frames = motion->shape()[3];
  expect_shape(*die, {available, kI});
  SetDescription d;
  d.name = "plasticity";
  d.geometry = Geometry::mesh;
  d.shape = {kI, kJ};
  d.coordinates = {{"x", "mm"}, {"y", "mm"}};
  d.input = {{"die", "mm"}};
  d.output = {{"x", "mm"}, {"y", "mm"}, {"u_x", "mm"}, {"u_y", "mm"}};
  d.box = {0.35 - 0.5 * (kI - 1), 0.35, 14.9 - 0.5 * (kJ - 1), 14.9};
  for (std::int64_t t = 0; t < frames; ++t) d.time.push_back(0.1 * static_cast<double>(t));  // ms: 0.3 mm at 3 m/s
  d.generator = generator({file}, {{"die", "stored along i, reversed from the file"}});
  std::vector<float> shared;
  for (std::int64_t i = 0; i < kI; ++i) {
    for (std::int64_t j = 0; j < kJ; ++j) {
      shared.push_back(static_cast<float>(0.35 - 0.5 * static_cast<double>(i)));
      shared.push_back(static_cast<float>(14.9 - 0.5 * static_cast<double>(j)));
    }
  }
  const LoadSamples load = [=](std::int64_t first, std::int64_t count) {
    const AxisRange samples{first, count, 1};
    SampleBlock block;
    const std::vector<float> profile = die->read({samples, {0, kI, 1}});
    for (std::int64_t s = 0; s < count; ++s) {  // against i in the file; the same for all j
      for (std::int64_t i = 0; i < kI; ++i) {
        block.input.insert(block.input.end(), kJ, profile[static_cast<std::size_t>(s * kI + kI - 1 - i)]);
      }
    }
    block.output = permuted(motion->read({samples, {0, kI, 1}, {0, kJ, 1}, {0, frames, 1}, {0, kChannels, 1}}),
                            {count, kI, kJ, frames, kChannels}, {0, 3, 1, 2, 4});
    return block;
  };
  const auto [train, test] = first_and_last(options, {900, 80}, available, load);
  return write_samples(out, d, shared, train, test, samples_at_once(*motion, kI * kJ * frames * kChannels),
                       options.validation_share);
}

// The lower and upper ends over all samples of both parts, from arrays [S, ...] of one coordinate each.
std::vector<double> common_box(const std::vector<Source>& axes, const SamplePart& train, const SamplePart& test,
                               const std::vector<AxisRange>& mesh) {
  std::vector<double> box;
  for (const Source& axis : axes) {
    double lower = 0, upper = 0;
    bool any = false;
    for (const SamplePart* part : {&train, &test}) {
      for (std::int64_t s = part->first; s < part->first + part->count; ++s) {
        const std::vector<float> values = axis->read({{s, 1, 1}, mesh[0], mesh[1]});
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        lower = any ? std::min<double>(lower, *low) : *low;
        upper = any ? std::max<double>(upper, *high) : *high;
        any = true;
      }
    }
    box.insert(box.end(), {lower, upper});
  }
  return box;
}

// Airfoil and pipe: X and Y [S, ni, nj], Q [S, fields, ni, nj], one field of Q the output and the others kept.
struct MeshFiles {
  std::string x, y, q;
  std::size_t output;             // its place among the fields
  std::vector<FieldInfo> fields;  // of Q, in the order of the file
};

std::int64_t import_mesh(const BenchmarkImport& options, const MeshFiles& files, const std::filesystem::path& out) {
  const std::int64_t stride = checked_stride(options, 1);
  const Source x = open_published(options, files.x), y = open_published(options, files.y),
               q = open_published(options, files.q);
  expect_shape(*x, {-1, -1, -1});
  const std::int64_t available = x->shape()[0], ni = x->shape()[1], nj = x->shape()[2];
  const auto fields = static_cast<std::int64_t>(files.fields.size()), chosen = static_cast<std::int64_t>(files.output);
  expect_shape(*y, {available, ni, nj});
  expect_shape(*q, {available, fields, ni, nj});
  const std::vector<AxisRange> mesh{strided(ni, stride), strided(nj, stride)};
  SetDescription d;
  d.name = options.benchmark;
  d.geometry = Geometry::mesh;
  d.shape = {mesh[0].count, mesh[1].count};
  d.span = strided_span({ni, nj}, {}, stride);
  d.coordinates = {{"x", "1"}, {"y", "1"}};
  d.output = {files.fields[files.output]};
  for (std::size_t f = 0; f < files.fields.size(); ++f) {
    if (f != files.output) d.kept.push_back(files.fields[f]);
  }
  d.generator = generator({files.x, files.y, files.q}, {{"stride", stride}});
  const LoadSamples load = [=](std::int64_t first, std::int64_t count) {
    const AxisRange samples{first, count, 1};
    SampleBlock block;
    block.coordinates = interleaved({x->read({samples, mesh[0], mesh[1]}), y->read({samples, mesh[0], mesh[1]})});
    std::vector<std::vector<float>> kept;
    for (std::int64_t f = 0; f < fields; ++f) {
      std::vector<float> values = q->read({samples, {f, 1, 1}, mesh[0], mesh[1]});
      if (f == chosen)
        block.output = std::move(values);
      else
        kept.push_back(std::move(values));
    }
    block.kept = interleaved(kept);
    return block;
  };
  const auto [train, test] = first_and_next(options, {1000, 200}, available, load);
  d.box = common_box({x, y}, train, test, mesh);
  return write_samples(out, d, {}, train, test, samples_at_once(*q, fields * ni * nj), options.validation_share);
}

std::int64_t import_airfoil(const BenchmarkImport& options, const std::filesystem::path& out) {
  return import_mesh(options,
                     {"NACA_Cylinder_X.npy",
                      "NACA_Cylinder_Y.npy",
                      "NACA_Cylinder_Q.npy",
                      4,
                      {{"rho", "1"}, {"u", "1"}, {"v", "1"}, {"p", "1"}, {"mach", "1"}}},
                     out);
}

std::int64_t import_pipe(const BenchmarkImport& options, const std::filesystem::path& out) {
  return import_mesh(options, {"Pipe_X.npy", "Pipe_Y.npy", "Pipe_Q.npy", 0, {{"u", "1"}, {"v", "1"}, {"p", "1"}}}, out);
}

std::int64_t import_darcy(const BenchmarkImport& options, const std::filesystem::path& out) {
  const std::int64_t stride = checked_stride(options, 5);
  const Counts wanted = counts(options, {1000, 200});
  const std::string names[] = {"piececonst_r421_N1024_smooth1.mat", "piececonst_r421_N1024_smooth2.mat"};
  const std::int64_t needed[] = {wanted.train, wanted.test};
  SamplePart parts[2];
  std::vector<std::string> files;
  std::int64_t resolution = 0, at_once = 1;
  for (std::size_t f = 0; f < 2; ++f) {
    if (needed[f] == 0) continue;  // the other file need not be there
    const Source coefficient = open_published(options, names[f], "coeff"),
                 pressure = open_published(options, names[f], "sol");
    expect_shape(*coefficient, {-1, resolution > 0 ? resolution : -1, resolution > 0 ? resolution : -1});
    resolution = coefficient->shape()[1];
    expect_shape(*coefficient, {-1, resolution, resolution});
    expect_shape(*pressure, coefficient->shape());
    expect_samples(doing(options), f == 0 ? "train" : "test", needed[f], coefficient->shape()[0]);
    const AxisRange axis = strided(resolution, stride);
    parts[f] = {[=](std::int64_t first, std::int64_t count) {
                  const std::vector<AxisRange> ranges{{first, count, 1}, axis, axis};
                  return SampleBlock{{}, coefficient->read(ranges), pressure->read(ranges), {}};
                },
                0, needed[f]};
    at_once = samples_at_once(*coefficient, axis.count * axis.count);
    files.push_back(names[f]);
  }
  if (resolution == 0) fail_usage(doing(options), "at least one sample", "--train 0 --test 0");
  const std::int64_t kept = kept_points(resolution, stride);
  SetDescription d;
  d.name = "darcy";
  d.geometry = Geometry::grid;
  d.shape = {kept, kept};
  d.coordinates = {{"x", "1"}, {"y", "1"}};
  d.input = {{"coefficient", "1"}};
  d.output = {{"pressure", "1"}};
  d.box = {0, 1, 0, 1};
  d.generator = generator(files, {{"resolution", resolution}, {"stride", stride}});
  std::vector<float> shared;
  const auto centre = [&](std::int64_t k) {
    return static_cast<float>((static_cast<double>(k * stride) + 0.5) / static_cast<double>(resolution));
  };
  for (std::int64_t i = 0; i < kept; ++i) {
    for (std::int64_t j = 0; j < kept; ++j) shared.insert(shared.end(), {centre(i), centre(j)});
  }
  return write_samples(out, d, shared, parts[0], parts[1], at_once, options.validation_share);
}

struct Importer {
  const char* name;
  std::int64_t (*run)(const BenchmarkImport&, const std::filesystem::path&);
};

constexpr Importer kImporters[] = {{"elasticity", import_elasticity}, {"plasticity", import_plasticity},
                                   {"airfoil", import_airfoil},       {"pipe", import_pipe},
                                   {"darcy", import_darcy},           {"pdebench", import_pdebench}};

}  // namespace

std::vector<std::string> importable_benchmarks() {
  std::vector<std::string> names;
  for (const Importer& importer : kImporters) names.emplace_back(importer.name);
  return names;
}

std::int64_t import_benchmark(const BenchmarkImport& options, const std::filesystem::path& out) {
  for (const auto& count : {options.train_count, options.test_count}) {
    if (count.value_or(0) < 0) fail_usage(doing(options), "numbers of samples of at least 0", std::to_string(*count));
  }
  for (const Importer& importer : kImporters) {
    if (options.benchmark != importer.name) continue;
    if (options.time_stride && options.benchmark != "pdebench") {
      fail_usage_plainly(doing(options), "--time-stride applies to pdebench only", "leave it out");
    }
    return importer.run(options, out);
  }
  const std::vector<std::string> known = importable_benchmarks();
  fail_usage("importing a benchmark", fmt::format("one of {}", fmt::join(known, ", ")),
             fmt::format("'{}'", options.benchmark), did_you_mean(options.benchmark, known));
}

}  // namespace lano
