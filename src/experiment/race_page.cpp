#include "experiment/race_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "data/dataset.h"

namespace lano {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string percent(double share) { return fmt::format("{:+.1f}", 100 * share); }

// "-9.1 to -4.8 %".
std::string interval_text(const PairedDifference& found) {
  return std::isfinite(found.low) ? fmt::format("{} to {} %", percent(found.low), percent(found.high)) : "";
}

std::string probability_text(double p) {
  if (!std::isfinite(p)) return "";
  return p < 1e-4 ? "< 0.0001" : fmt::format("{:.2g}", p);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The seeds of the plan that ended otherwise than finished: "diverged".
std::string why_incomplete(const RacePlan& plan, const RaceRow& row) {
  for (std::int64_t seed = row.recipe.config.seed; seed < row.recipe.config.seed + plan.seeds; ++seed) {
    const SeedOutcome* const known = find_outcome(row.runs, seed);
    if (known != nullptr && known->state != "finished") return known->state;
  }
  return "waiting";
}

std::string verdict_text(const RacePlan& plan, const RaceRow& row) {
  switch (row.verdict) {
    case Verdict::reference:
      return "reference";
    case Verdict::better:
      return "better, beyond the seeds' spread";
    case Verdict::worse:
      return "worse, beyond the seeds' spread";
    case Verdict::undecided:
      return "within the seeds' spread";
    case Verdict::few_seeds:
      return fmt::format("{}: too few to tell", counted(row.over_seeds.count, "seed"));
    case Verdict::incomplete:
      return row.finished == plan.seeds
                 ? "the reference is incomplete"
                 : fmt::format("{} of {} seeds: {}", row.finished, plan.seeds, why_incomplete(plan, row));
  }
  return "?";
}

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::reference:
      return "reference";
    case Verdict::better:
      return "better";
    case Verdict::worse:
      return "worse";
    case Verdict::undecided:
      return "undecided";
    case Verdict::few_seeds:
      return "few seeds";
    case Verdict::incomplete:
      return "incomplete";
  }
  return "?";
}

std::string with_deviation(const MeanAndDeviation& values) {
  return fmt::format("{:.4e}{}", values.mean,
                     std::isfinite(values.deviation) ? fmt::format(" ± {:.1e}", values.deviation) : "");
}

std::vector<std::string> cells_of(const RacePlan& plan, const RaceRow& row) {
  std::vector<std::string> cells{row.recipe.name};
  if (row.finished == 0) {
    cells.insert(cells.end(), 7, "");
  } else {
    cells.push_back(fmt::format("{:.0f}", row.parameters));
    cells.push_back(fmt::format("{:.3g}", row.passes));
    cells.push_back(fmt::format("{:.{}f}", row.seconds, row.seconds < 10 ? 1 : 0));
    cells.push_back(with_deviation(row.validation));
    cells.push_back(row.over_seeds.count > 0 ? percent(row.over_seeds.difference) + " %" : "");
    cells.push_back(interval_text(row.over_seeds));
    cells.push_back(interval_text(row.over_samples));
    const std::string p = probability_text(row.over_samples.probability);
    if (!p.empty()) cells.back() += fmt::format(", p {}{}", p.front() == '<' ? "" : "= ", p);
  }
  cells.push_back(verdict_text(plan, row));
  return cells;
}

// Code points: what a terminal shows, for text without wide or combined characters.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string aligned_table(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths(lines.front().size(), 3);
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], width_of(line[c]));
  }
  std::string text;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (std::size_t c = 0; c < widths.size(); ++c)
      text += fmt::format("| {}{} ", lines[l][c], std::string(widths[c] - width_of(lines[l][c]), ' '));
    text += "|\n";
    if (l > 0) continue;
    for (const std::size_t width : widths) text += fmt::format("|{}", std::string(width + 2, '-'));
    text += "|\n";
  }
  return text;
}

// Every sentence of a run that did not finish, once.
std::string failures_text(const RacePlan& plan, const RaceRow& row) {
  std::string text;
  for (std::int64_t seed = row.recipe.config.seed; seed < row.recipe.config.seed + plan.seeds; ++seed) {
    const SeedOutcome* const known = find_outcome(row.runs, seed);
    if (known == nullptr || known->state == "finished" || known->sentence.empty()) continue;
    text += fmt::format("- {}, seed {}: {}: {}\n", row.recipe.name, seed, known->state, first_line(known->sentence));
  }
  return text;
}

// What the intervals are about; empty before there are any.
std::string explanation(const std::vector<RaceRow>& rows) {
  const auto compared =
      std::find_if(rows.begin(), rows.end(), [](const RaceRow& row) { return std::isfinite(row.over_samples.low); });
  if (compared == rows.end()) return "";
  std::string text = fmt::format(
      "\nDifferences are against {}, paired, with intervals of {:.0f} %. Over seeds: would other seeds say the same? "
      "(Student's t)\nOver samples: would other validation samples say the same of these models? (bootstrap; p by sign "
      "flips, n = {})\n",
      rows.front().recipe.name, 100 * kConfidence, compared->over_samples.count);
  const auto comparisons =
      std::count_if(rows.begin(), rows.end(), [](const RaceRow& row) { return row.over_seeds.count > 0; });
  if (comparisons > 2)
    text += fmt::format(
        "Of many comparisons one in {:.0f} shows a difference by luck: race the best two again with new "
        "seeds (--set train.seed).\n",
        1 / (1 - kConfidence));
  return text;
}

std::string set_words(const fs::path& data) {
  const DatasetReader reader(data);
  const SetDescription& set = reader.description();
  return fmt::format("{}: {} {}{}, {} training and {} validation samples", set.name, geometry_name(set.geometry),
                     shape_text(set.shape), set.time.empty() ? "" : fmt::format(" at {} times", set.time.size()),
                     reader.indices(Split::train).size(), reader.indices(Split::validation).size());
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string inner;
  for (const char c : text) inner.append(c == '"' ? 2 : 1, c);
  return fmt::format("\"{}\"", inner);
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

ordered_json to_json(const PairedDifference& found) {
  return {{"count", found.count},
          {"difference", found.difference},
          {"low", found.low},
          {"high", found.high},
          {"p", found.probability}};
}

}  // namespace

std::string race_markdown(const RacePlan& plan, const std::vector<RaceRow>& rows, const std::string& set) {
  const std::int64_t first = rows.front().recipe.config.seed;
  std::string text = fmt::format(
      "{}. {}, {}, {}.\nJudged on validation; the test split has no part in it.\n\n", set,
      plan.seeds == 1 ? fmt::format("Seed {}", first) : fmt::format("Seeds {} to {}", first, first + plan.seeds - 1),
      plan.minutes > 0 ? fmt::format("{:g} {} of training each", plan.minutes, plan.minutes == 1 ? "minute" : "minutes")
                       : "the recipes' epochs",
      counted(threads_of(plan.threads), "thread"));
  std::vector<std::vector<std::string>> lines{{"recipe", "parameters", "epochs", "seconds", "validation rel. L2",
                                               "difference", "over seeds", "over samples", "verdict"}};
  for (const RaceRow& row : rows) lines.push_back(cells_of(plan, row));
  text += aligned_table(lines);
  std::string failures;
  for (const RaceRow& row : rows) failures += failures_text(plan, row);
  if (!failures.empty()) text += "\n" + failures;
  text += explanation(rows) + "\n";
  for (const RaceRow& row : rows) {
    text += fmt::format("- {}: {}\n", row.recipe.name,
                        row.recipe.text.empty() ? "the base" : fmt::format("`{}`", row.recipe.text));
  }
  return text;
}

std::string race_csv(const std::vector<RaceRow>& rows) {
  std::string text =
      "recipe,seeds,parameters,epochs,seconds,validation_l2,deviation,difference,seeds_low,seeds_high,seeds_p,samples,"
      "samples_low,samples_high,samples_p,verdict,sentence\n";
  for (const RaceRow& row : rows) {
    const bool any = row.finished > 0;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.recipe.name), row.finished,
        any ? csv_number(row.parameters) : "", any ? csv_number(row.passes) : "", any ? csv_number(row.seconds) : "",
        csv_number(row.validation.mean), csv_number(row.validation.deviation), csv_number(row.over_seeds.difference),
        csv_number(row.over_seeds.low), csv_number(row.over_seeds.high), csv_number(row.over_seeds.probability),
        row.over_samples.count, csv_number(row.over_samples.low), csv_number(row.over_samples.high),
        csv_number(row.over_samples.probability), verdict_name(row.verdict), csv_field(first_line(row.runs.reason())));
  }
  return text;
}

ordered_json race_json(const RacePlan& plan, const std::vector<RaceRow>& rows) {
  ordered_json recipes = ordered_json::array();
  for (const RaceRow& row : rows) {
    recipes.push_back({{"name", row.recipe.name},
                       {"recipe", row.recipe.text},
                       {"verdict", verdict_name(row.verdict)},
                       {"seeds", row.finished},
                       {"parameters", row.parameters},
                       {"epochs", row.passes},
                       {"training_seconds", row.seconds},
                       {"validation_l2", {{"mean", row.validation.mean}, {"deviation", row.validation.deviation}}},
                       {"over_seeds", to_json(row.over_seeds)},
                       {"over_samples", to_json(row.over_samples)},
                       {"runs", lano::to_json(row.runs)}});
  }
  return {{"reference", rows.front().recipe.name}, {"seeds", plan.seeds},       {"minutes", plan.minutes},
          {"threads", threads_of(plan.threads)},   {"confidence", kConfidence}, {"recipes", recipes}};
}

std::string write_race(const RacePlan& plan, const fs::path& folder) {
  const std::vector<RaceRow> rows = read_race(plan, folder);
  const std::string table = race_markdown(plan, rows, set_words(plan.recipes.front().config.data));
  write_file_atomically(folder / "race.md", table);
  write_file_atomically(folder / "race.csv", race_csv(rows));
  write_file_atomically(folder / "race.json", race_json(plan, rows).dump(1) + "\n");
  return table;
}

}  // namespace lano
