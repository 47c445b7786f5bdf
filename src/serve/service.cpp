// Routes, and who may ask: Host must be a name of this machine where the server listens on loopback (a page of another
// site whose name is made to point here sends its own), Origin must be our own, and with a token it must be told.
#include "serve/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "core/version.h"
#include "serve/answer.h"
#include "serve/embedded.h"
#include "serve/http_error.h"
#include "serve/solver.h"
#include "serve/waiting_place.h"

namespace lano::serve {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* kAsking = "answering a request";
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

[[noreturn]] void refuse_full(const char* what, std::int64_t most) {
  refuse_plainly(429, kAsking, fmt::format("{} {} are waiting already", most, what), "come back in a moment");
}

// A place, or the request is refused: while its body was read, others may have come.
std::shared_ptr<WaitingPlace> take_place(std::atomic<std::int64_t>& waiting, const char* what, std::int64_t most) {
  auto place = std::make_shared<WaitingPlace>(waiting, most);
  if (!place->taken()) refuse_full(what, most);
  return place;
}

}  // namespace

// The open ones first, those with a model last.
enum class Service::Route {
  none,
  page,
  style,
  script,
  icon,
  health,
  metrics,
  openapi,
  models,
  model,
  grid,
  samples,
  predict,
  solve
};

const char* Service::route_name(Route route) {
  static constexpr const char* kNames[] = {"none",    "page",   "page",   "page", "page",    "healthz", "metrics",
                                           "openapi", "models", "models", "grid", "samples", "predict", "solve"};
  return kNames[static_cast<std::size_t>(route)];
}

namespace {

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned char different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    different = static_cast<unsigned char>(different | (a[i] ^ (b.empty() ? '\0' : b[i % b.size()])));
  return different == 0;
}

// "localhost:8080" -> "localhost", "[::1]:8080" -> "[::1]"
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool names_loopback(std::string_view host) {
  const std::string_view name = without_port(host);
  return name == "localhost" || name == "[::1]" || name == "127.0.0.1";
}

// What the inputs, outputs and texts of a request may take while it is answered.
std::size_t room_for(Form form, const PredictRequest& r, std::int64_t channels) {
  const std::int64_t values = r.samples * r.points * r.frames() * channels;
  const std::size_t given = r.coordinates.size() + r.input.size() + r.state.size();
  return given * sizeof(float) + static_cast<std::size_t>(values) * sizeof(float) + answer_bytes(form, values);
}

Response failure(const std::exception& error) {
  if (const auto* http = dynamic_cast<const HttpError*>(&error)) return error_response(http->status(), http->what());
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return error_response(503, plain_error_message(kAsking, "there is not enough memory", "ask for less at once"));
  return error_response(dynamic_cast<const Error*>(&error) != nullptr ? 422 : 500, error.what());
}

Response text(std::string_view type, std::string body) { return {200, std::string(type), std::move(body)}; }

}  // namespace

struct Service::Place {
  Route route = Route::none;
  std::string model, rest;
};

Service::Service(const ServiceOptions& options, MemoryBudget& memory, Metrics& metrics, Listener& listener)
    : options_(options),
      memory_(memory),
      metrics_(metrics),
      models_(options.models, options.look_seconds, metrics, listener),
      samples_(options.data),
      queue_(options.pass_points, metrics) {}

Service::Place Service::place_of(const Request& request) const {
  const std::string& path = request.path;
  constexpr std::pair<std::string_view, Route> kPlain[] = {{"/", Route::page},
                                                           {"/page.css", Route::style},
                                                           {"/page.js", Route::script},
                                                           {"/favicon.svg", Route::icon},
                                                           {"/healthz", Route::health},
                                                           {"/metrics", Route::metrics},
                                                           {"/v1/openapi.json", Route::openapi},
                                                           {"/v1/models", Route::models}};
  for (const auto& [name, route] : kPlain) {
    if (path == name) return {route, {}, {}};
  }
  constexpr std::string_view kModels = "/v1/models/";
  if (!path.starts_with(kModels)) return {};
  const std::string_view rest = std::string_view(path).substr(kModels.size());
  const std::size_t slash = rest.find('/');
  Place place{Route::model, std::string(rest.substr(0, slash)), {}};
  if (slash == std::string_view::npos) return place;
  const std::string_view what = rest.substr(slash + 1);
  constexpr std::string_view kSamples = "samples/";
  place.route = what == "predict"            ? Route::predict
                : what == "solve"            ? Route::solve
                : what == "grid"             ? Route::grid
                : what.starts_with(kSamples) ? Route::samples
                                             : Route::none;
  if (place.route == Route::samples) place.rest = what.substr(kSamples.size());
  return place;
}

void Service::check(const Request& request, const Place& place) const {
  const std::string_view host = request.header("host");
  if (options_.loopback && !names_loopback(host))
    refuse(403, kAsking, "a Host of this machine: localhost or 127.0.0.1", fmt::format("'{}'", host),
           "to serve others, start with --address and --token");
  if (const std::string_view origin = request.header("origin"); !origin.empty()) {
    const std::size_t slashes = origin.find("://");
    if (slashes == std::string_view::npos || origin.substr(slashes + 3) != host)
      refuse(403, kAsking, "requests from this server's own page", fmt::format("Origin '{}'", origin),
             "let the other page's server ask");
  }
  if (request.header("sec-fetch-site") == "cross-site" && place.route != Route::page)
    refuse_plainly(403, kAsking, "it comes from a page of another site", "let that page's server ask");
  if (place.route == Route::none ||
      (place.route >= Route::model && !models_.find(place.model) && (options_.token.empty() || place.model.empty())))
    refuse(404, kAsking, place.route == Route::none ? "a path of /v1/openapi.json" : "a model of /v1/models",
           fmt::format("'{}'", place.route == Route::none ? request.path : place.model));
  const bool open = place.route <= Route::health;
  if (!options_.token.empty() && !open) {
    constexpr std::string_view kBearer = "Bearer ";
    const std::string_view given = request.header("authorization");
    if (!given.starts_with(kBearer) || !equal_in_constant_time(given.substr(kBearer.size()), options_.token))
      refuse_plainly(401, kAsking, given.empty() ? "the token is missing" : "the token is wrong",
                     "send Authorization: Bearer TOKEN with the token of --token");
    if (place.route >= Route::model && !models_.find(place.model))
      refuse(404, kAsking, "a model of /v1/models", fmt::format("'{}'", place.model));
  }
  const bool posts = place.route == Route::predict || place.route == Route::solve;
  const bool good = posts ? request.method == "POST" : request.method == "GET" || request.method == "HEAD";
  if (!good) refuse(405, kAsking, posts ? "POST" : "GET", fmt::format("'{}'", request.method));
  if (const std::string_view coded = request.header("content-encoding"); !coded.empty() && coded != "identity")
    refuse(415, kAsking, "a body without Content-Encoding", fmt::format("'{}'", coded));
  // Full: refused before the body is read.
  if (place.route == Route::predict && metrics_.waiting >= options_.limits.waiting)
    refuse_full("predictions", options_.limits.waiting);
  if (place.route == Route::solve && metrics_.solves_waiting >= options_.limits.solves)
    refuse_full("solves", options_.limits.solves);
}

HttpHandler Service::handler() {
  const auto refused = [this](const Request& head) -> std::optional<Response> {
    const Place place = place_of(head);
    try {
      check(head, place);
      return std::nullopt;
    } catch (const std::exception& error) {
      Response response = failure(error);
      if (response.status == 405)
        response.headers.emplace_back("Allow", place.route >= Route::predict ? "POST" : "GET, HEAD");
      metrics_.answered(route_name(place.route), response.status, 0);
      return response;
    }
  };
  const auto answers = [this](const std::shared_ptr<Request>& request, const Reply& reply) {
    const Place place = place_of(*request);
    const auto start = Clock::now();
    const Reply counted = [this, reply, route = route_name(place.route), start](Response response) {
      metrics_.answered(route, response.status, std::chrono::duration<double>(Clock::now() - start).count());
      reply(std::move(response));
    };
    try {
      answer(request, place, counted);
    } catch (const std::exception& error) {
      counted(failure(error));
    }
  };
  return {refused, answers};
}

void Service::answer(const std::shared_ptr<Request>& request, const Place& place, const Reply& reply) {
  switch (place.route) {
    case Route::page: {
      Response page = text("text/html; charset=utf-8", std::string(embedded("index.html")));
      page.headers.emplace_back("Content-Security-Policy", kPolicy);
      page.headers.emplace_back("Referrer-Policy", "no-referrer");
      return reply(std::move(page));
    }
    case Route::style:
      return reply(text("text/css; charset=utf-8", std::string(embedded("page.css"))));
    case Route::script:
      return reply(text("text/javascript; charset=utf-8", page_script()));
    case Route::icon:
      return reply(text("image/svg+xml", std::string(embedded("favicon.svg"))));
    case Route::health:
      return reply(text("application/json", fmt::format("{{\"status\":\"ok\",\"version\":\"{}\"}}\n", kVersion)));
    case Route::metrics:
      return reply(text("text/plain; version=0.0.4; charset=utf-8", metrics_.text(memory_.held(), memory_.most())));
    case Route::openapi:
      return reply(text("application/json", std::string(embedded("openapi.json"))));
    case Route::models:
    case Route::model:
      return reply(models_answer(place));
    case Route::grid:
    case Route::samples:
      return writers_.add([this, request, place, reply] {
        try {
          reply(place.route == Route::grid ? grid_answer(place) : sample_answer(*request, place));
        } catch (const std::exception& error) {
          reply(failure(error));
        }
      });
    case Route::predict:
      return predict(request, place, reply);
    case Route::solve:
      return solve(request, place, reply);
    case Route::none:
      break;
  }
  refuse(404, kAsking, "a path of /v1/openapi.json", fmt::format("'{}'", request->path));
}

Response Service::models_answer(const Place& place) const {
  const auto about = [this](const ServedModel& model) {
    nlohmann::json out = model.about;
    out["revision"] = model.revision;
    out["solver"] = solver_takes(model.about);
    out["test_samples"] = samples_.count(model);
    return out;
  };
  if (place.route == Route::model) {
    const auto model = models_.find(place.model);
    if (!model) refuse(404, kAsking, "a model of /v1/models", fmt::format("'{}'", place.model));
    return text("application/json", about(*model).dump());
  }
  nlohmann::json list = nlohmann::json::array();
  for (const auto& model : models_.all()) list.push_back(about(*model));
  return text("application/json", nlohmann::json{{"models", list}}.dump());
}

Response Service::grid_answer(const Place& place) const {
  const auto model = models_.find(place.model);
  const std::vector<float>* points = model ? &model->op.coordinates() : nullptr;
  if (points == nullptr || points->empty())
    refuse_plainly(404, kAsking, "this model has no grid of its own: its points differ from sample to sample");
  AnswerFields fields{model->name, model->op.set().coordinates, model->op.set().shape, *points, {}, {}, {}, 0};
  fields.shape.push_back(model->op.set().dims());
  return serve::answer(Form::npy, fields);
}

Response Service::sample_answer(const Request&, const Place& place) const {
  const auto model = models_.find(place.model);
  std::int64_t index = -1;
  const auto [end, error] = std::from_chars(place.rest.data(), place.rest.data() + place.rest.size(), index);
  if (!model || error != std::errc() || end != place.rest.data() + place.rest.size())
    refuse(404, kAsking, "the number of a test sample", fmt::format("'{}'", place.rest));
  return text("application/json", samples_.sample(*model, index));
}

void Service::predict(const std::shared_ptr<Request>& request, const Place& place, const Reply& reply) {
  const auto model = models_.find(place.model);
  if (!model) refuse(404, kAsking, "a model of /v1/models", fmt::format("'{}'", place.model));
  const auto waits = take_place(metrics_.waiting, "predictions", options_.limits.waiting);
  const Reply counted = [reply, waits](Response response) {
    waits->give_back();
    reply(std::move(response));
  };
  readers_.add([this, request, model, counted] {
    try {
      queue_prediction(*request, model, counted);
    } catch (const std::exception& error) {
      counted(failure(error));
    }
    *request = Request();  // its body is no longer needed
  });
}

void Service::queue_prediction(const Request& request, const std::shared_ptr<const ServedModel>& model,
                               const Reply& reply) {
  const auto held = std::make_shared<MemoryBudget::Hold>();
  const auto most = static_cast<std::size_t>(options_.limits.values);
  FieldsBody body = read_body(request, most);
  const Form form = answer_form(request, body);
  PredictRequest asked = predict_request(std::move(body), *model, options_.limits);
  asked.form = form;
  if (!held->grow(memory_, room_for(form, asked, model->op.set().output_channels())))
    refuse_plainly(503, kAsking, "other requests take all the memory for answers", "come back in a moment");
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(options_.limits.answer_seconds));
  auto done = [this, model, held, reply](PredictRequest r, Outcome outcome) {
    if (outcome.status != 200) return reply(error_response(outcome.status, outcome.message));
    auto finished = std::make_shared<std::pair<PredictRequest, Outcome>>(std::move(r), std::move(outcome));
    writers_.add([model, held, reply, finished] {
      try {
        const PredictRequest& q = finished->first;
        const SetDescription& set = model->op.set();
        AnswerFields fields{model->name, set.output, q.mesh, finished->second.values,
                            q.times,     {},         {},     finished->second.seconds};
        if (!q.times.empty()) fields.shape.insert(fields.shape.begin(), q.frames());
        if (q.many) fields.shape.insert(fields.shape.begin(), q.samples);
        fields.shape.push_back(set.output_channels());
        Response response = serve::answer(q.form, fields);
        response.held = held;
        reply(std::move(response));
      } catch (const std::exception& error) {
        reply(failure(error));
      }
    });
  };
  queue_.add({model, std::move(asked), deadline, std::move(done)});
}

void Service::solve(const std::shared_ptr<Request>& request, const Place& place, const Reply& reply) {
  const auto model = models_.find(place.model);
  if (!model) refuse(404, kAsking, "a model of /v1/models", fmt::format("'{}'", place.model));
  const auto waits = take_place(metrics_.solves_waiting, "solves", options_.limits.solves);
  solver_.add([this, request, model, reply, waits] {
    Response response;
    try {
      FieldsBody body = read_body(*request, static_cast<std::size_t>(options_.limits.values));
      const Form form = answer_form(*request, body);
      const Solved solved = solve_exactly(std::move(body), *model);
      response = serve::answer(form, {model->name, model->op.set().output, solved.shape, solved.values, solved.times,
                                      solved.coordinates_shape, solved.coordinates, solved.seconds});
    } catch (const std::exception& error) {
      response = failure(error);
    }
    waits->give_back();
    reply(std::move(response));
  });
}

}  // namespace lano::serve
