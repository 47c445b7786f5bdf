#include "core/nearest.h"

#include <algorithm>
#include <numeric>

namespace lano {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  name = name.substr(0, 200);  // a name from a file may be a megabyte; what is near is near at once
  const auto best = std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  return best == known.end() ? std::string() : *best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  name = name.substr(0, 200);
  const std::string best = nearest(name, known);
  const auto suggestion = [](const std::string& word) { return "did you mean '" + word + "'?"; };
  if (!best.empty() && edit_distance(name, best) <= std::max(name.size(), best.size()) / 2) return suggestion(best);
  constexpr std::size_t kTelling = 3;  // letters that a shortened name needs to say something
  for (const std::string& word : known) {
    if (name.size() >= kTelling && word.find(name) != std::string::npos) return suggestion(word);
  }
  return "";
}

}  // namespace lano
