// A request and its answer as the service sees them, whatever library carries them over the wire. A header's name is
// lower case, each is there once at most, and a path has neither query nor fragment.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/memory_budget.h"

namespace lano::serve {

struct Request {
  std::string method, path;
  std::map<std::string, std::string> query;    // of the target, decoded
  std::map<std::string, std::string> headers;  // those the service looks at
  std::string body;
  MemoryBudget::Hold held;  // for the body

  std::string_view header(const std::string& name) const {
    const auto at = headers.find(name);
    return at == headers.end() ? std::string_view() : at->second;
  }
  std::string_view asked(const std::string& name) const {
    const auto at = query.find(name);
    return at == query.end() ? std::string_view() : at->second;
  }
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::shared_ptr<MemoryBudget::Hold> held{};  // for the body, until it is written
};

// Called once, from any thread.
using Reply = std::function<void(Response)>;

}  // namespace lano::serve
