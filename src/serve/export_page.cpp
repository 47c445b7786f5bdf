#include "serve/export_page.h"

#include <fmt/format.h>

#include "core/atomic_file.h"
#include "core/error.h"
#include "report/png_file.h"
#include "runtime/operator.h"
#include "serve/answer.h"
#include "serve/embedded.h"
#include "serve/served_model.h"

namespace lano::serve {
namespace {

// Nothing is fetched, and no script but this file's own runs.
constexpr std::string_view kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline' "
    "'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:\">\n";

void replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) fail_plainly("writing a page", fmt::format("the page lacks '{}'", from));
  text.replace(at, from.size(), to);
}

}  // namespace

std::string read_web_runtime(const std::filesystem::path& program_folder) {
  for (const char* place : {"../lib/lano.wasm", "../share/lano/lano.wasm"}) {
    const std::filesystem::path file = program_folder / place;
    if (std::filesystem::exists(file)) return read_file(file, "reading the runtime for pages", 1 << 26);
  }
  fail_plainly("exporting a page", "the runtime as WebAssembly (lano.wasm) was not built, for want of emscripten",
               "scripts/packages web installs emscripten; then build again");
}

std::string page_with_model(const std::filesystem::path& model_file, const std::string& web_runtime,
                            const std::vector<std::string>& samples) {
  const std::string model = read_file(model_file, "reading the model");
  // What a browser would find out is found out here.
  const Operator op(parse_model_file(model, fmt::format("reading '{}'", model_file.string())));
  std::string parts = fmt::format("{{\"name\":{},\"wasm\":\"{}\",\"model\":\"{}\",\"samples\":[",
                                  json_text(name_of(model_file)), base64(web_runtime), base64(model));
  for (std::size_t i = 0; i < samples.size(); ++i) parts += (i > 0 ? "," : "") + samples[i];
  parts += "]}";
  std::string page(embedded("index.html"));
  replace(page, "<meta charset=\"utf-8\">\n", fmt::format("<meta charset=\"utf-8\">\n{}", kPolicy));
  replace(page, "<link rel=\"icon\" href=\"favicon.svg\" type=\"image/svg+xml\">\n",
          fmt::format("<link rel=\"icon\" href=\"data:image/svg+xml;base64,{}\">\n", base64(embedded("favicon.svg"))));
  replace(page, "<link rel=\"stylesheet\" href=\"page.css\">",
          fmt::format("<style>\n{}</style>", embedded("page.css")));
  replace(page, "<script src=\"page.js\"></script>",
          fmt::format("<script type=\"application/json\" id=\"lano-parts\">{}</script>\n<script>\n{}</script>", parts,
                      page_script()));
  return page;
}

}  // namespace lano::serve
