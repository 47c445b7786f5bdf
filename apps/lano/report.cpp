#include <fmt/format.h>

#include <filesystem>

#include "command.h"
#include "core/atomic_file.h"
#include "core/error.h"
#include "report/run_report.h"
#include "report/sheet.h"
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
      fail(fmt::format("reporting on '{}'", folder.string()), "the folder of a run",
           fs::exists(folder) ? "none there" : "none", "name the --out of 'lano train'");
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

void write_picture(const std::vector<std::string>& names, const std::string& path) {
  const auto samples = shown_samples_file(names[0]);
  if (names.size() != 1 || !fs::exists(samples))
    fail("drawing a picture", "one finished run with a test split", "none", "name the --out of 'lano train'");
  const ShownSamples picked = read_shown_of_run(names[0]);
  write_file_atomically(path, encode_png(join_images(draw_judged(picked.set, picked.samples))));
  fmt::print("picture: {}\n", path);
}

}  // namespace

void add_report(CLI::App& app) {
  struct ReportOptions {
    std::vector<std::string> folders;
    std::string out, picture;
  };
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "draw the HTML report of a finished run, or compare several");
  command
      ->add_option("runs", options->folders, "the folder of the run, of several runs, or of one 'lano train --seeds'")
      ->required();
  command->add_option("--out", options->out,
                      "the page to write; default RUN/report/index.html, of several runs report.html");
  command->footer("Example: lano report runs/darcy\n         lano report runs/wide runs/deep --out comparison.html");
  command->add_option(
      "--picture", options->picture,
      "of one run: also this PNG, best, median and worst test sample as input | truth | prediction | error");
  command->callback([options] {
    run_report(options->folders, options->out);
    if (!options->picture.empty()) write_picture(options->folders, options->picture);
  });
}

}  // namespace lano::cli
