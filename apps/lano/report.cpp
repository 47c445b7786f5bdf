#include <fmt/format.h>

#include <filesystem>

#include "command.h"
#include "core/atomic_file.h"
#include "core/error.h"
#include "pictures.h"
#include "report/run_report.h"
#include "run/run_folder.h"

namespace lano::cli {
namespace {

namespace fs = std::filesystem;

void write_page(const fs::path& target, const std::string& page) {
  if (target.has_parent_path()) make_folder(target.parent_path());
  remove_leftovers(target);
  write_file_atomically(target, page);
  fmt::print("report: {}\n", target.string());
}

void run_report(const std::vector<std::string>& names, const std::string& out) {
  std::vector<fs::path> folders(names.begin(), names.end());
  for (const fs::path& folder : folders) {
    if (!fs::is_directory(folder) || (folders.size() > 1 && !is_run_folder(folder) && !is_seed_group(folder))) {
      const bool file = fs::exists(folder) && !fs::is_directory(folder);
      fail_plainly(fmt::format("reporting on '{}'", folder.string()),
                   file                 ? "it is a file"
                   : fs::exists(folder) ? "that folder holds no run"
                                        : "there is nothing at that path",
                   file && is_run_folder(folder.parent_path())
                       ? fmt::format("it belongs to the run '{}': name that", folder.parent_path().string())
                       : "name the --out of 'lano train'");
    }
  }
  if (folders.size() > 1) {
    write_page(out.empty() ? "report.html" : out, render_comparison(comparison_of_runs(folders)));
  } else if (is_seed_group(folders[0])) {
    write_page(out.empty() ? folders[0] / "report" / "index.html" : fs::path(out),
               render_comparison(comparison_of_runs(folders)));
  } else {
    write_page(out.empty() ? folders[0] / "report" / "index.html" : fs::path(out),
               render_report(report_of_run(folders[0])));
  }
}

void write_pictures(const std::vector<std::string>& names, const std::string& picture, const std::string& animation) {
  const std::string doing = fmt::format("drawing a picture of '{}'", names[0]);
  if (names.size() != 1) fail_usage(doing, "one run", fmt::format("{} folders", names.size()));
  if (is_seed_group(names[0])) fail_usage(doing, "one run", "a group of seeds", "name one of its seeds");
  if (!is_finished(names[0]) || !fs::exists(shown_samples_file(names[0])))
    fail(doing, "the test samples of a finished run",
         is_finished(names[0]) ? "a dataset without a test split" : "a run that is not finished",
         fmt::format("draw other samples with 'lano eval {} --data SET --split validation --picture FILE'",
                     model_file(names[0]).string()));
  write_judged_pictures(read_shown_of_run(names[0]), picture, animation);
  for (const auto& [what, path] : {std::pair("picture", picture), std::pair("animation", animation)}) {
    if (!path.empty()) fmt::print("{}: {}\n", what, path);
  }
}

}  // namespace

void add_report(CLI::App& app) {
  struct ReportOptions {
    std::vector<std::string> folders;
    std::string out, picture, animation;
  };
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "write the HTML report of a run (also during training), or compare several");
  command
      ->add_option("runs", options->folders, "the folder of the run, of several runs, or of one 'lano train --seeds'")
      ->required();
  command->add_option("--out", options->out,
                      "the page to write; default RUN/report/index.html, of several runs report.html");
  command->footer("Example: lano report runs/darcy\n         lano report runs/wide runs/deep --out comparison.html");
  command->add_option(
      "--picture", options->picture,
      "one run only: also this PNG with the best, median and worst test sample as input | truth | prediction | error");
  command->add_option("--animation", options->animation,
                      "one run on a dataset with time: also this animated PNG of the median test sample as truth | "
                      "prediction | error");
  command->callback([options] {
    run_report(options->folders, options->out);
    if (!options->picture.empty() || !options->animation.empty())
      write_pictures(options->folders, options->picture, options->animation);
  });
}

}  // namespace lano::cli
