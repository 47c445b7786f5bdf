// Prediction by the runtime, without LibTorch; the composite engine and other operators by LibTorch.
#include <fmt/format.h>

#include <chrono>

#include "command.h"
#include "core/error.h"
#include "core/ranks.h"
#include "core/version.h"
#include "evaluate/loaded_model.h"
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

// Ranks with different programs, models or questions would compute a mixture that means nothing.
void check_same_work(const PredictOptions& o, const Query& query) {
  if (ranks().alone()) return;
  const std::string mine =
      fmt::format("lano {}, {}; {}: {} bytes; {}: {} samples of {}", kVersion, kernels::kernels().name, o.model,
                  std::filesystem::file_size(o.model), o.data.empty() ? "arrays" : o.data, query.samples.count,
                  shape_text(query.set.shape));
  const std::vector<std::string> all = ranks().gather(mine);
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    fail(fmt::format("predicting on {} ranks", all.size()), fmt::format("on rank {} what rank 0 has ({})", r, all[0]),
         all[r], "give all ranks the same program, processors, model and data");
  }
}

void run_predict(const PredictOptions& o, const Program& program) {
  check_output_name(o);
  check_sources(o);
  choose_device(program, o.device);
  const bool composite = o.engine == "composite" || o.device != "cpu";
  ModelFile file = read_model_file(o.model);
  if (!ranks().alone() && needs_torch(file, composite))
    fail_usage(fmt::format("predicting on {} ranks", ranks().size()), "a LANO on the fused engine", "another model",
               "start it without mpirun");
  program.need_torch(needs_torch(file, composite));
  program.use_threads(o.threads);
  LoadedModel model = load_model(std::move(file), fmt::format("reading model '{}'", o.model), composite);
  const Query query = read_query(o, model.about, model.predictor->task(), can_be_in_parts(o));
  check_output(o, query);
  choose_agents(*model.predictor, o.agents);
  set_mesh_ranks(ranks().size());  // the points of each sample are divided over all of them
  check_same_work(o, query);
  if (query.in_parts) return predict_in_parts(o, query, *model.predictor);
  for (std::int64_t i = 0; i < query.samples.count; ++i)
    kernels::predicted_points(query.samples.points_of(i), mesh_ranks());  // refuses more ranks than pieces
  const auto start = std::chrono::steady_clock::now();
  const Prediction prediction = model.predictor->predict(query.set, query.samples, query.steps);
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
