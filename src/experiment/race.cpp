#include "experiment/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/folder_lock.h"
#include "core/interrupt.h"
#include "data/dataset.h"
#include "experiment/seeds.h"
#include "run/run_folder.h"
#include "run/run_record.h"
#include "train/recipes.h"

namespace lano {
namespace {

namespace fs = std::filesystem;

constexpr int kPaceRounds = 2;
constexpr std::size_t kLongestName = 64;

std::string_view without_spaces(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Split at spaces, but for those in brackets and quotes: train.agents_range=[16, 128].
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  int depth = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == ']') {
      depth += c == '[' ? 1 : -1;
    } else if (depth <= 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
      continue;
    }
    word += c;
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

std::string without_quotes(const std::string& word) {
  const bool quoted = word.size() > 1 && (word.front() == '"' || word.front() == '\'') && word.front() == word.back();
  return quoted ? word.substr(1, word.size() - 2) : word;
}

// It is the name of a folder next to the files of the race.
bool is_recipe_name(std::string_view name) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '+';
  };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), plain) &&
         std::isalnum(static_cast<unsigned char>(name.front())) != 0 && name != "lock" && !name.starts_with("race.");
}

// Keys that are the race's own.
void check_change(const std::string& change, const std::string& doing) {
  const std::string key(without_spaces(std::string_view(change).substr(0, change.find('='))));
  if (key == "data.file")
    fail_usage_plainly(doing, fmt::format("'{}' is not possible: all recipes use the same dataset", change),
                       "give it with --data");
  if (key == "train.seed")
    fail_usage_plainly(doing, fmt::format("'{}' is not possible: all recipes have the same seeds", change),
                       "give the first seed with --set");
}

std::string doing_of(const RaceRecipe& recipe) { return fmt::format("racing '{}'", recipe.name); }
std::int64_t first_seed(const RacePlan& plan) { return plan.recipes.front().config.seed; }

// A run whose errors on validation are missing is not whole.
bool is_kept(const RecipeRuns& runs, const fs::path& own, std::int64_t seed) {
  const SeedOutcome* const known = find_outcome(runs, seed);
  return known != nullptr && known->settled() &&
         (known->state != "finished" || fs::exists(validation_file(seed_folder(own, seed))));
}

void check_plan(const RacePlan& plan) {
  constexpr const char* kDoing = "racing recipes";
  if (plan.recipes.size() < 2)
    fail_usage(kDoing, "at least two recipes", std::to_string(plan.recipes.size()),
               "give --recipe twice: --recipe base --recipe \"wide: model.width=64\"");
  if (plan.seeds < 1) fail_usage(kDoing, "--seeds of at least 1", std::to_string(plan.seeds));
  if (!(plan.minutes >= 0)) fail_usage(kDoing, "--minutes of at least 0", fmt::format("{}", plan.minutes));
  std::map<std::string, std::string> names, configs;
  for (const RaceRecipe& recipe : plan.recipes) {
    if (!names.emplace(recipe.name, "").second)
      fail_usage(kDoing, "recipes with different names", fmt::format("two named '{}'", recipe.name));
    TrainConfig config = recipe.config;
    if (config.train_on != TrainOn::train)
      fail_usage(doing_of(recipe), "data.train_on = \"train\": recipes are compared on validation",
                 "\"train+validation\"");
    for (const std::string& change : recipe.changes) {
      if (plan.minutes > 0 && (change.starts_with("train.epochs=") || change.starts_with("train.epoch_samples=")))
        fail_usage_plainly(doing_of(recipe),
                           fmt::format("'{}' does not go with --minutes, which fixes the epochs", change),
                           "leave one of them out");
    }
    if (plan.minutes > 0) {
      config.epochs = 1;
      config.epoch_samples = 0;
    }
    const auto [same, is_new] = configs.emplace(to_toml(config), recipe.name);
    if (!is_new)
      fail_usage(kDoing, "recipes that differ", fmt::format("the same under '{}' and '{}'", same->second, recipe.name));
  }
}

// The faster of two: other work on the machine makes a recipe slower, never faster.
void keep_faster(std::optional<Pace>& best, const Pace& pace, const TrainConfig& config) {
  if (!best || epoch_seconds(config, pace) < epoch_seconds(config, *best)) best = pace;
}

// Measured in alternation, before anything is trained: any other load of the machine affects all alike, and a recipe
// that cannot be trained is known at once.
void fix_all_epochs(const RacePlan& plan, const ChildOrders& orders, const fs::path& folder,
                    std::vector<RecipeRuns>& all, Listener& listener) {
  const std::size_t count = plan.recipes.size();
  std::vector<std::optional<Pace>> paces(count);
  std::vector<bool> cannot(count, false);
  for (int round = 0; plan.minutes > 0 && round < kPaceRounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      if (all[i].epochs > 0 || cannot[i]) continue;
      const RaceRecipe& recipe = plan.recipes[i];
      listener.say(fmt::format("== {}: measuring its pace, {} of {}", recipe.name, round + 1, kPaceRounds));
      const auto pace =
          ask_pace(orders, recipe.config, folder / recipe.name, pace_seconds(plan.minutes) / kPaceRounds, all[i]);
      if (interrupted()) return;
      if (pace) {
        keep_faster(paces[i], *pace, recipe.config);
        continue;
      }
      cannot[i] = true;
      write_runs(folder / recipe.name, all[i]);
      listener.say(all[i].reason());
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i].epochs > 0 || cannot[i]) continue;
    fix_epochs(plan.recipes[i].config, paces[i], plan.minutes, folder / plan.recipes[i].name, all[i]);
    write_runs(folder / plan.recipes[i].name, all[i]);
    if (paces[i]) listener.say(fmt::format("{}: {}", plan.recipes[i].name, epochs_sentence(all[i])));
  }
}

// Errors of every validation sample, by seed.
using SeedErrors = std::map<std::int64_t, Evaluation>;

SeedErrors errors_of(const RacePlan& plan, const fs::path& own, RaceRow& row) {
  SeedErrors errors;
  std::vector<double> means;
  for (std::int64_t seed = first_seed(plan); seed < first_seed(plan) + plan.seeds; ++seed) {
    const SeedOutcome* const known = find_outcome(row.runs, seed);
    if (known == nullptr || known->state != "finished" || !is_kept(row.runs, own, seed)) continue;
    const Evaluation& found = errors[seed] = read_validation(seed_folder(own, seed));
    means.push_back(found.relative_l2.summary.mean);
    row.parameters += static_cast<double>(known->parameters);
    row.passes += row.runs.passes(*known);
    row.seconds += known->training_seconds;
  }
  row.finished = static_cast<std::int64_t>(errors.size());
  row.validation = mean_and_deviation(means);
  const double count = static_cast<double>(std::max<std::int64_t>(1, row.finished));
  row.parameters /= count;
  row.passes /= count;
  row.seconds /= count;
  return errors;
}

void compare(const SeedErrors& reference, const SeedErrors& other, RaceRow& row) {
  std::vector<double> seeds_a, seeds_b, samples_a, samples_b;
  for (const auto& [seed, a] : reference) {
    const auto found = other.find(seed);
    if (found == other.end()) continue;
    const Evaluation& b = found->second;
    if (a.ids != b.ids || (!samples_a.empty() && samples_a.size() != a.ids.size()))
      fail(doing_of(row.recipe), "errors of the same validation samples as the reference",
           fmt::format("others with seed {}", seed), "remove the folder of one of the two and give the command again");
    seeds_a.push_back(a.relative_l2.summary.mean);
    seeds_b.push_back(b.relative_l2.summary.mean);
    samples_a.resize(a.ids.size());
    samples_b.resize(a.ids.size());
    for (std::size_t i = 0; i < a.ids.size(); ++i) {
      samples_a[i] += a.relative_l2.per_sample[i];
      samples_b[i] += b.relative_l2.per_sample[i];
    }
  }
  if (seeds_a.empty()) return;
  const auto count = static_cast<double>(seeds_a.size());
  for (std::size_t i = 0; i < samples_a.size(); ++i) {
    samples_a[i] /= count;
    samples_b[i] /= count;
  }
  row.over_seeds = paired_over_seeds(seeds_a, seeds_b);
  row.over_samples = paired_over_samples(samples_a, samples_b);
}

Verdict verdict_of(const RacePlan& plan, const RaceRow& row, const RaceRow& reference) {
  // Seeds that failed are not left out: the rest would be a choice among seeds.
  if (row.finished < plan.seeds) return Verdict::incomplete;
  if (&row == &reference) return Verdict::reference;
  if (reference.finished < plan.seeds) return Verdict::incomplete;
  if (row.over_seeds.count < kLeastSeeds) return Verdict::few_seeds;
  if (!row.over_seeds.excludes_zero()) return Verdict::undecided;
  return row.over_seeds.difference < 0 ? Verdict::better : Verdict::worse;
}

}  // namespace

RaceRecipe parse_race_recipe(std::string_view text, const TrainConfig& base) {
  const std::string doing = fmt::format("reading --recipe \"{}\"", text);
  text = without_spaces(text);
  RaceRecipe recipe{"", "", {}, base};
  std::vector<std::string> words;
  const auto colon = text.find(':');
  if (text == "base") {
    recipe.name = text;
  } else if (colon != std::string_view::npos) {
    recipe.name = without_spaces(text.substr(0, colon));
    recipe.text = without_spaces(text.substr(colon + 1));
    words = words_of(recipe.text);
  } else if (text.ends_with(".toml")) {
    recipe.name = fs::path(text).stem().string();
    recipe.text = text;
    words = {recipe.text};
  } else {
    fail_usage(doing, "\"NAME: KEY=VALUE ...\", a file ending in .toml, or base", fmt::format("'{}'", text),
               text.find('=') != std::string_view::npos ? "put a name and a colon before the keys" : "");
  }
  if (!is_recipe_name(recipe.name)) {
    fail_usage(doing, "a name of letters, digits, '-', '_', '+' and '.' that begins with a letter or digit",
               fmt::format("'{}'", recipe.name), "write \"NAME: ...\" with another name");
  }
  Schema schema;
  bind_train_config(schema, recipe.config);
  try {
    for (const std::string& word : words) {
      const std::string path = without_quotes(word);
      if (word.find('=') != std::string::npos && !path.ends_with(".toml")) {
        check_change(word, doing);
        recipe.changes.push_back(word);
      } else {
        schema.load(find_recipe(path));
      }
    }
    recipe.config.data = base.data;
    recipe.config.seed = base.seed;
    for (const std::string& change : recipe.changes) schema.override_with(change);
    check_train_config(recipe.config);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("recipe '{}': {}", recipe.name, error.what()));
  }
  return recipe;
}

std::string check_race(const RacePlan& plan, const fs::path& folder) {
  check_plan(plan);
  const fs::path data = plan.recipes.front().config.data;
  const std::string doing = fmt::format("racing recipes into '{}'", folder.string());
  if (fs::exists(config_file(folder)) || is_seed_group(folder))
    fail_usage(doing, "a new folder, or one of a race", "a training", "choose another --out");
  if (DatasetReader(data).indices(Split::validation).empty())
    fail_plainly("racing recipes", "the dataset has no validation split to compare them on",
                 "import with a validation share");
  const std::string set = set_hash(data);
  for (const RaceRecipe& recipe : plan.recipes) {
    const fs::path own = folder / recipe.name;
    const RecipeRuns runs = read_runs(own);
    if (runs.epochs == 0) continue;
    const auto require = [&](bool good, const std::string& expected, const std::string& found) {
      if (!good) fail_usage(doing_of(recipe), expected, found, "choose another --out, or another name");
    };
    if (runs.set != set)
      fail_usage_plainly(doing_of(recipe),
                         fmt::format("its runs were trained on another dataset than '{}'", data.string()),
                         "choose another --out, or another name");
    require(runs.minutes == plan.minutes, fmt::format("--minutes {:g}, with which its runs were trained", runs.minutes),
            fmt::format("{:g}", plan.minutes));
    require(runs.threads == threads_of(plan.threads),
            fmt::format("--threads {}, with which its runs were trained", runs.threads),
            std::to_string(threads_of(plan.threads)));
    fixed_recipe(recipe.config, own, runs, doing_of(recipe));
  }
  return set;
}

void run_race(const RacePlan& plan, const fs::path& folder, const std::function<void()>& see, Listener& listener) {
  const std::string set = check_race(plan, folder);
  make_folder(folder);
  const FolderLock lock(folder, fmt::format("racing recipes into '{}'", folder.string()));
  const ChildOrders orders{plan.program, plan.threads, false};
  std::vector<RecipeRuns> all;
  for (const RaceRecipe& recipe : plan.recipes) {
    make_folder(folder / recipe.name);
    all.push_back(read_runs(folder / recipe.name));
    all.back().threads = threads_of(plan.threads);
    all.back().set = set;
  }
  fix_all_epochs(plan, orders, folder, all, listener);
  for (std::size_t i = 0; i < all.size() && !interrupted(); ++i) {
    if (all[i].epochs == 0) continue;
    const RaceRecipe& recipe = plan.recipes[i];  // with the current path of the dataset
    write_file_atomically(folder / recipe.name / "recipe.toml",
                          to_toml(fixed_recipe(recipe.config, folder / recipe.name, all[i], doing_of(recipe))));
  }
  for (std::int64_t seed = first_seed(plan); seed < first_seed(plan) + plan.seeds; ++seed) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (interrupted()) return;
      const std::string& name = plan.recipes[i].name;
      if (all[i].epochs == 0) continue;  // cannot be trained
      // Refused once, with another seed it is refused again.
      if (const SeedOutcome* first = find_outcome(all[i], first_seed(plan));
          seed > first_seed(plan) && first != nullptr && first->state == "refused")
        continue;
      if (is_kept(all[i], folder / name, seed)) {
        listener.say(fmt::format("== {}, seed {}: {} before, kept", name, seed, find_outcome(all[i], seed)->state));
        continue;
      }
      listener.say(fmt::format("== {}, seed {}", name, seed));
      train_seed(orders, folder / name, seed, all[i]);
      write_runs(folder / name, all[i]);
      if (const SeedOutcome* now = find_outcome(all[i], seed); now->state != "finished")
        listener.say(now->sentence.empty() ? now->state : fmt::format("{}: {}", now->state, now->sentence));
      see();
    }
  }
}

std::vector<RaceRow> read_race(const RacePlan& plan, const fs::path& folder) {
  std::vector<RaceRow> rows;
  std::vector<SeedErrors> errors;
  for (const RaceRecipe& recipe : plan.recipes) {
    RaceRow row;
    row.recipe = recipe;
    row.runs = read_runs(folder / recipe.name);
    errors.push_back(errors_of(plan, folder / recipe.name, row));
    rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) compare(errors.front(), errors[i], rows[i]);
    rows[i].verdict = verdict_of(plan, rows[i], rows.front());
  }
  return rows;
}

}  // namespace lano
