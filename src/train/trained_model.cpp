#include "train/trained_model.h"

#include <fmt/format.h>

#include <numeric>

#include "core/error.h"
#include "train/flat_parameters.h"
#include "train/tensor_set.h"

namespace lano {

TrainedModel load_trained_model(const std::filesystem::path& path) {
  TrainedModel trained{read_model_file(path), nullptr};
  const std::string doing = fmt::format("reading model '{}'", path.string());
  trained.model = make_model(trained.file.architecture, 0);
  load_weights(*trained.model, trained.file.weights, doing);
  trained.model->eval();
  return trained;
}

void check_fits(const SetDescription& trained_on, const SetDescription& given, std::string_view doing) {
  const auto text = [](const SetDescription& d) {
    return fmt::format("{} with {} coordinates, {} input and {} output channels", geometry_name(d.geometry), d.dims(),
                       d.input_channels(), d.output_channels());
  };
  const bool same_axes = given.geometry == Geometry::points || given.shape.size() == trained_on.shape.size();
  const bool same_kind = (given.geometry == Geometry::points) == (trained_on.geometry == Geometry::points);
  if (!same_kind || !same_axes || given.dims() != trained_on.dims() ||
      given.input_channels() != trained_on.input_channels() || given.output_channels() != trained_on.output_channels()) {
    fail(doing, text(trained_on), text(given), "the model was trained on another kind of data");
  }
}

std::vector<float> predict(OperatorModel& model, const Normaliser& normaliser, const SetDescription& description,
                           const Samples& samples, std::int64_t batch) {
  const torch::NoGradGuard no_grad;
  const TensorSet set(samples, description, normaliser, model.order_box());
  const auto per_sample = static_cast<std::size_t>(samples.points * description.output_channels());
  std::vector<float> out(per_sample * static_cast<std::size_t>(samples.count));
  for (std::int64_t first = 0; first < samples.count; first += batch) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(batch, samples.count - first)));
    std::iota(rows.begin(), rows.end(), first);
    const torch::Tensor network = model.forward(set.batch(rows)).contiguous();
    std::vector<float> physical(static_cast<std::size_t>(network.numel()));
    normaliser.output.decode({network.data_ptr<float>(), physical.size()}, physical);
    for (const std::int64_t row : rows) {
      set.restore_order(row, description.output_channels(),
                        std::span(physical).subspan(static_cast<std::size_t>(row - first) * per_sample, per_sample),
                        std::span(out).subspan(static_cast<std::size_t>(row) * per_sample, per_sample));
    }
  }
  return out;
}

}  // namespace lano
