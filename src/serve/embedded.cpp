#include "serve/embedded.h"

namespace lano::serve {
namespace {

constexpr std::string_view kScripts[] = {"colours.js",     "raster.js", "files.js", "problems.js", "engine_server.js",
                                         "engine_wasm.js", "editor.js", "view.js",  "page.js"};

}  // namespace

std::string_view embedded(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name) return file.bytes;
  }
  return {};
}

std::string page_script() {
  std::string all = "\"use strict\";\n";
  for (const std::string_view name : kScripts) {
    all += embedded(name);
    all += '\n';
  }
  return all;
}

}  // namespace lano::serve
