#include "serve/target.h"

#include <algorithm>

namespace lano::serve {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool decode(std::string_view text, std::string& to) {
  to.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      to += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1, low = high < 0 ? -1 : digit(text[i + 2]);
    if (low < 0 || high * 16 + low < 0x20) return false;
    to += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

}  // namespace

bool split_target(std::string_view target, std::string& path, std::map<std::string, std::string>& query) {
  const auto printable = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!target.starts_with('/') || !std::all_of(target.begin(), target.end(), printable)) return false;
  const std::size_t mark = target.find('?');
  path = std::string(target.substr(0, mark));
  std::string_view rest = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string name, value;
    if (!decode(pair.substr(0, equals), name) ||
        !decode(equals < pair.size() ? pair.substr(equals + 1) : std::string_view(), value))
      return false;
    if (!name.empty() && !query.emplace(name, value).second) return false;
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return true;
}

}  // namespace lano::serve
