// The target of a request line: a path, and what is asked behind the '?'. Paths are compared, never opened, and no name
// on this server needs an escape: one in a path is no path of ours.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace lano::serve {

// False where the target is no path of printable characters, or its query no list of names and values.
bool split_target(std::string_view target, std::string& path, std::map<std::string, std::string>& query);

}  // namespace lano::serve
