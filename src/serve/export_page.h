// The page as one file that needs no server: the page of `lano serve`, the runtime as WebAssembly, the model and a few
// test samples, all inside.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lano::serve {

// The WebAssembly runtime next to the program or where it is installed; fails with a sentence where it was not built.
std::string read_web_runtime(const std::filesystem::path& program_folder);

// samples: JSON objects as GET .../samples/K gives them.
std::string page_with_model(const std::filesystem::path& model_file, const std::string& web_runtime,
                            const std::vector<std::string>& samples);

}  // namespace lano::serve
