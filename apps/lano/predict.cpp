// Prediction by the runtime, without LibTorch; the composite engine and other operators by LibTorch.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "command.h"
#include "console.h"
#include "core/atomic_file.h"
#include "core/error.h"
#include "core/fnv.h"
#include "core/ranks.h"
#include "evaluate/loaded_model.h"
#include "evaluate/set_fit.h"
#include "kernels/mesh_part.h"
#include "kernels/tile_kernels.h"
#include "prediction_files.h"
#include "run_options.h"

namespace lano::cli {
namespace {

void check_sources(const PredictOptions& o) {
  const bool arrays = !o.input.empty() || !o.state.empty() || !o.coords.empty();
  if (o.data.empty() != arrays)
    fail_usage_plainly("predicting",
                       arrays ? "--data does not go with --input, --state or --coords" : "no input is given",
                       "give either --data, or arrays with --input, --state and --coords");
  if (!o.data.empty() && !o.cells.empty())
    fail_usage_plainly("predicting", "--cells does not go with --data: a dataset has its own cells",
                       "see 'lano import --cells'");
}

// Ranks that are asked for different things would compute something that is nobody's.
void check_same_question(const PredictOptions& o) {
  if (ranks().alone()) return;
  check_same_on_all("predicting", "command", "give all ranks the same command and processors",
                    nlohmann::json{{"data", o.data},
                                   {"split", o.split},
                                   {"samples", o.samples},
                                   {"input", o.input},
                                   {"state", o.state},
                                   {"coords", o.coords},
                                   {"cells", o.cells},
                                   {"steps", o.steps.value_or(-1)},
                                   {"times", o.times},
                                   {"agents", o.agents},
                                   {"mesh-ranks", o.mesh_ranks},
                                   {"out", std::filesystem::path(o.out).filename().string()},
                                   {"kernels", kernels::kernels().name}}
                        .dump());
  Fnv model;
  model.add(read_file(o.model, "reading"));
  check_same_on_all("predicting", "model", "give all ranks the same model file", fmt::format("{:016x}", model.value()));
}

// Of samples that were read, all numbers; of a large file that each rank reads its own points of, the first ones of two
// samples and the size.
void check_same_data(const PredictOptions& o, const Query& query, const Predictor& predictor) {
  if (ranks().alone()) return;
  Fnv hash;
  const auto add = [&](const Samples& s) {
    hash.add(s.ids);
    hash.add(s.counts);
    hash.add(s.coordinates);
    hash.add(s.input);
    hash.add(s.output);
  };
  hash.add(fields_to_json(query.set).dump() + shape_text(query.set.shape));
  hash.add(query.set.time);
  hash.add(query.known);
  add(query.samples);
  if (query.in_parts) {
    constexpr std::int64_t kLooked = 4096;  // points
    const DatasetReader reader = open_dataset(o.data, predictor.task());
    hash.add(std::to_string(std::filesystem::file_size(o.data)));
    for (const std::int64_t id : {query.samples.ids.front(), query.samples.ids.back()})
      add(reader.read_part(id, 0, std::min(kLooked, query.set.points()), predictor.given_frames(query.set)).samples);
  }
  check_same_on_all(
      "predicting", "samples", "give all ranks the same dataset or arrays",
      fmt::format("{} of {}, fingerprint {:016x}", query.samples.count, shape_text(query.set.shape), hash.value()));
}

// How many ranks share the points of a sample: all, if every sample has a piece for each; otherwise one, and samples
// are divided over the ranks; if there are too few samples for that, as many as there are pieces for.
int chosen_mesh_ranks(const Query& query) {
  const int size = ranks().size();
  std::int64_t most = size;
  for (std::int64_t i = 0; i < query.samples.count; ++i)
    most = std::min(most, kernels::most_prediction_ranks(query.samples.points_of(i)));
  if (most == size || query.samples.count >= size) return most == size ? size : 1;
  while (size % most != 0) --most;
  return static_cast<int>(most);
}

Samples some_of(const Query& query, const Share& own) {
  const Samples& all = query.samples;
  const std::int64_t first = all.first_point(own.first), last = all.first_point(own.last),
                     points = all.first_point(all.count);
  Samples some;
  some.count = own.count();
  some.points = all.points;
  some.frames = all.frames;
  some.shared_coordinates = all.shared_coordinates;
  some.own_coordinates = all.own_coordinates || (!all.shared_coordinates && all.count > 1);
  const auto cut = [&](const auto& values, std::int64_t from, std::int64_t to) {
    return std::decay_t<decltype(values)>(values.begin() + from, values.begin() + to);
  };
  const auto cut_points = [&](const std::vector<float>& values) {
    const std::int64_t width = std::ssize(values) / points;
    return cut(values, first * width, last * width);
  };
  if (!all.counts.empty()) some.counts = cut(all.counts, own.first, own.last);
  if (!all.ids.empty()) some.ids = cut(all.ids, own.first, own.last);
  some.coordinates = all.shared_coordinates ? all.coordinates : cut_points(all.coordinates);
  some.input = cut_points(all.input);
  some.output = cut_points(all.output);
  return some;
}

// Every group of ranks predicts its samples; rank 0 gets all.
Prediction predict_in_groups(const Query& query, Predictor& predictor) {
  const Share own = group_samples(query, mesh_group());
  Prediction prediction;
  if (own.count() > 0) prediction = predictor.predict(query.set, some_of(query, own), query.steps);
  prediction.frames = query.frames();
  const std::int64_t width = prediction.frames * query.set.output_channels();
  const auto floats_of = [&](int rank) {
    const Share share = group_samples(query, rank / mesh_ranks().size());
    const bool gives = rank % mesh_ranks().size() == 0;
    return gives ? static_cast<std::size_t>(
                       (query.samples.first_point(share.last) - query.samples.first_point(share.first)) * width)
                 : 0;
  };
  std::vector<std::size_t> given(static_cast<std::size_t>(ranks().size())), taken(given.size());
  std::size_t others = 0;
  for (int rank = 1; rank < ranks().size(); ++rank) {
    others += floats_of(rank);
    if (ranks().first()) taken[static_cast<std::size_t>(rank)] = floats_of(rank);
  }
  if (!ranks().first()) given[0] = floats_of(ranks().rank());
  std::vector<float> values;
  if (ranks().first()) values.resize(others);
  ranks().meet();  // all have their answers
  ranks().swap_floats(std::span(prediction.values).first(given[0]), given, values, taken, others);
  if (ranks().first()) prediction.values.insert(prediction.values.end(), values.begin(), values.end());
  return prediction;
}

void run_predict(const PredictOptions& o, const Program& program) {
  check_output_name(o);
  check_sources(o);
  choose_device(program, o.device);
  check_same_question(o);
  const bool composite = o.engine == "composite" || o.device != "cpu";
  ModelFile file = read_model_file(o.model);
  if (!ranks().alone() && needs_torch(file, composite))
    fail_usage_plainly(fmt::format("predicting on {} ranks", ranks().size()),
                       "this model needs LibTorch, which runs on one rank only", "start it without mpirun");
  program.need_torch(needs_torch(file, composite));
  program.use_threads(o.threads);
  LoadedModel model = load_model(std::move(file), fmt::format("reading model '{}'", o.model), composite);
  const Query query = read_query(o, model.about, model.predictor->task(), can_be_in_parts(o));
  check_output(o, query);
  choose_agents(*model.predictor, o.agents);
  check_same_data(o, query, *model.predictor);
  set_mesh_ranks(o.mesh_ranks > 0 ? o.mesh_ranks : chosen_mesh_ranks(query));
  for (std::int64_t i = 0; i < query.samples.count; ++i)
    kernels::predicted_points(query.samples.points_of(i), mesh_ranks());  // refuses more ranks than pieces
  if (query.samples.count < mesh_groups())
    console().say(fmt::format("note: {} of {} ranks compute: there {} to divide",
                              query.samples.count * mesh_ranks().size(), ranks().size(),
                              query.samples.count == 1 ? "is one small sample" : "are few small samples"));
  if (query.in_parts) return predict_in_parts(o, query, *model.predictor);
  const auto start = std::chrono::steady_clock::now();
  const Prediction prediction = mesh_groups() > 1 ? predict_in_groups(query, *model.predictor)
                                                  : model.predictor->predict(query.set, query.samples, query.steps);
  if (ranks().first())
    write_prediction(o, query, prediction,
                     std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

void add_predict(CLI::App& app, const Program& program) {
  auto o = std::make_shared<PredictOptions>();
  CLI::App* command = app.add_subcommand(
      "predict", "predict fields with a model, as .h5, .npy, .npz or, for ParaView, .vts, .vtu, .pvd");
  command->add_option("model", o->model, "the model file")->required();
  command->add_option("--data", o->data, "a dataset file to take inputs, first states and times from");
  command->add_option("--split", o->split, "with --data: train, validation, test or all")->capture_default_str();
  command->add_option("--sample", o->samples, "with --data: these samples only (repeatable)");
  // One argument each, so that the model may follow them.
  const auto add_array = [command](const char* name, std::vector<std::string>& to, const char* about) {
    command->add_option(name, to, about)->allow_extra_args(false);
  };
  add_array("--input", o->input,
            "input fields as an array: [shape...] or [samples, shape..., channels] in a .npy file or FILE:NAME of a "
            ".npz, .mat, .h5 or .pt file, or one array per channel (repeatable); for an autoregressive model without "
            "input fields the first state");
  add_array(
      "--state", o->state,
      "autoregressive models: the first state, arrays as --input; if the names of the input fields show that they "
      "are the first state ('u at t=0'), one of the two is enough");
  add_array("--coords", o->coords,
            "coordinates, an array [shape..., dims] or one per coordinate (repeatable); the training grid needs none");
  command->add_option("--cells", o->cells,
                      "with arrays: triangles, quadrilaterals or tetrahedra of a cloud, [cells, corners]");
  command->add_option("--out", o->out, "the file to write; its ending chooses the format")->required();
  command
      ->add_option("--steps", o->steps,
                   "autoregressive models: steps from the first state; default all frames of the dataset, with arrays "
                   "those of training")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--times", o->times,
                      "time-conditional models: first:last:step or t1,t2,...; default the dataset's times, with "
                      "arrays those of training");
  command->add_option("--agents", o->agents, "use another number of agent tokens than in training")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--force", o->force, "replace an existing file");
  command->add_option("--engine", o->engine, "fused kernels, or composite: plain LibTorch calls, the reference")
      ->check(CLI::IsMember({"fused", "composite"}))
      ->capture_default_str();
  add_device_option(command, o->device);
  command
      ->add_option(
          "--mesh-ranks", o->mesh_ranks,
          "under mpirun: divide the points of each sample over groups of this many ranks, and the samples over the "
          "groups; 0: all ranks, if the samples are large enough")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--threads", o->threads, "0: all cores")->check(CLI::NonNegativeNumber);
  command->footer(
      "Frames: autoregressive models write [samples, steps + 1, ...] with the first state as frame 0, time-conditional "
      "ones [samples, times, ...].\n"
      "ParaView: several frames are numbered files and a .pvd with their times; truth and error (u_truth, u_error) "
      "are included if the dataset has them.\n"
      "Example: lano predict runs/darcy/model.safetensors --data darcy.h5 --split test --out prediction.h5\n"
      "Example: lano predict runs/darcy/model.safetensors --input a.npy --out u.npy\n"
      "Example: lano predict runs/darcy/model.safetensors --data darcy.h5 --sample 3 --out sample3.vts\n"
      "Example: lano predict runs/burgers/model.safetensors --input state.npy --steps 50 --out u.npy\n"
      "Example: lano predict runs/plasticity/model.safetensors --input dies.npz:die --coords mesh.npy --times 0:1:0.05 "
      "--out forming.pvd");
  command->callback([o, program] { run_predict(*o, program); });
}

}  // namespace lano::cli
