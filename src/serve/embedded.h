// The page's files (web/) and the interface's description, put into the program when it is built
// (cmake/LanoEmbed.cmake).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lano::serve {

struct EmbeddedFile {
  std::string_view name, bytes;
};

std::span<const EmbeddedFile> embedded_files();
std::string_view embedded(std::string_view name);  // empty where there is none
// All scripts of the page in their order, as one.
std::string page_script();

}  // namespace lano::serve
