#include "data/import_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/error.h"

namespace lano {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// '*' stands for any characters.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// arr_0, arr_1, ... : names that differ in a number at their end alone, as numpy.savez(file, *list) gives them.
bool is_numbered(const std::vector<std::string>& names) {
  const auto stem = [](const std::string& name) {
    std::size_t end = name.size();
    while (end > 0 && is_digit(name[end - 1])) --end;
    return name.substr(0, end);
  };
  return names.size() > 1 && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
           return stem(name).size() < name.size() && stem(name) == stem(names.front());
         });
}

std::vector<std::string> readable_names(const fs::path& file) {
  std::vector<std::string> names;
  for (const ArrayInfo& info : list_arrays(file)) {
    if (info.readable) names.push_back(info.name);
  }
  return names;
}

// The keys of a list with one array per sample, or none where the key means one array.
std::vector<std::string> list_keys(const fs::path& file, const std::string& key) {
  const std::string extension = file.extension().string();
  const bool torch = extension == ".pt" || extension == ".pth";
  std::vector<std::string> keys;
  if (key.find('*') != std::string::npos) {
    const std::vector<std::string> names = readable_names(file);
    for (const std::string& name : names) {
      if (matches(key, name)) keys.push_back(name);
    }
    if (keys.empty()) fail_no_array(fmt::format("reading '{}'", file.string()), key, names);
  } else if (torch || (extension == ".npz" && key.empty())) {
    const std::vector<std::string> names = readable_names(file);
    if (std::find(names.begin(), names.end(), key) != names.end()) return {};
    const std::string prefix = key.empty() ? "" : key + "/";
    for (const std::string& name : names) {
      if (name.starts_with(prefix)) keys.push_back(name);
    }
    if (!is_numbered(keys)) return {};
  }
  std::sort(keys.begin(), keys.end(), natural_less);
  return keys;
}

std::vector<fs::path> folder_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".npy") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  if (files.empty())
    fail_usage_plainly(fmt::format("reading the folder '{}'", folder.string()), "it has no .npy files",
                       "it needs one per sample");
  return files;
}

// One array where all parts have one shape, else the list as it is.
void take_list(std::vector<std::unique_ptr<ArraySource>> parts, NamedArray& to) {
  to.by_sample = true;
  const bool same = std::all_of(parts.begin(), parts.end(),
                                [&](const auto& part) { return part->shape() == parts.front()->shape(); });
  if (same) {
    to.array = stack_arrays(std::move(parts));
  } else {
    for (auto& part : parts) to.list.push_back(std::move(part));
  }
}

bool is_folder(const std::string& word) {
  std::error_code none;
  return fs::is_directory(word, none);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto number = [](std::string_view text, std::size_t& at) {
        while (at < text.size() && text[at] == '0') ++at;
        const std::size_t begin = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return text.substr(begin, at - begin);
      };
      const std::string_view left = number(a, i), right = number(b, j);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

std::string without_split_mark(const std::string& name, SplitMark* mark) {
  constexpr std::pair<std::string_view, SplitMark> kMarks[] = {{"train", SplitMark::train},
                                                               {"training", SplitMark::train},
                                                               {"tr", SplitMark::train},
                                                               {"vali", SplitMark::validation},
                                                               {"val", SplitMark::validation},
                                                               {"valid", SplitMark::validation},
                                                               {"validation", SplitMark::validation},
                                                               {"test", SplitMark::test},
                                                               {"testing", SplitMark::test},
                                                               {"te", SplitMark::test}};
  std::string small = name;
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto& [word, split] : kMarks) {
    const bool behind = small.ends_with(fmt::format("_{}", word)), before = small.starts_with(fmt::format("{}_", word));
    if ((!behind && !before) || name.size() == word.size() + 1) continue;
    if (mark != nullptr) *mark = split;
    return behind ? name.substr(0, name.size() - word.size() - 1) : name.substr(word.size() + 1);
  }
  if (mark != nullptr) *mark = SplitMark::none;
  return name;
}

FieldWord parse_field_word(const std::string& word) {
  const auto equals = word.find('=');
  std::error_code none;
  if (equals == std::string::npos || fs::exists(word, none)) return {{}, word};
  FieldWord parsed;
  parsed.array = word.substr(equals + 1);
  std::string_view names = std::string_view(word).substr(0, equals);
  const auto complain = [&] {
    fail_usage("reading the name of a field", "NAME=ARRAY, NAME[UNIT]=ARRAY or NAME[UNIT],NAME[UNIT]=ARRAY",
               fmt::format("'{}'", word), "see 'lano import --help'");
  };
  while (true) {
    // A comma inside brackets belongs to the unit.
    std::size_t end = 0;
    for (int depth = 0; end < names.size() && (depth > 0 || names[end] != ','); ++end)
      depth += names[end] == '[' ? 1 : names[end] == ']' ? -1 : 0;
    const std::string_view one = names.substr(0, end);
    const auto open = one.find('[');
    FieldInfo field{std::string(one.substr(0, open)), "1"};
    if (open != std::string_view::npos) {
      if (!one.ends_with(']')) complain();
      const std::string_view unit = one.substr(open + 1, one.size() - open - 2);
      if (!unit.empty()) field.unit = unit;
    }
    if (field.name.empty() || parsed.array.empty()) complain();
    parsed.fields.push_back(std::move(field));
    if (end == names.size()) return parsed;
    names.remove_prefix(end + 1);
  }
}

bool names_its_file(const std::string& word) {
  const std::string array = parse_field_word(word).array;
  return parse_array_name(array).has_value() || is_folder(array);
}

NamedArray open_named(const fs::path& archive, const std::string& word) {
  FieldWord parsed = parse_field_word(word);
  NamedArray named;
  named.fields = std::move(parsed.fields);
  // With an archive a plain word is a name in it, though a folder may be called so, too.
  const bool plain = !archive.empty() && parsed.array.find('/') == std::string::npos;
  if (!plain && is_folder(parsed.array) && !parse_array_name(parsed.array)) {
    const fs::path folder(parsed.array);
    std::vector<std::unique_ptr<ArraySource>> parts;
    for (const fs::path& file : folder_files(folder)) parts.push_back(open_array(file, ""));
    named.name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
    named.origin = named.name;
    take_list(std::move(parts), named);
    return named;
  }
  const ArrayName array = parse_array_name(parsed.array).value_or(ArrayName{archive, parsed.array});
  named.origin = array.file.filename().string();
  named.name = array.key.empty() ? array.file.stem().string() : array.key;
  std::erase(named.name, '*');
  while (named.name.ends_with('/')) named.name.pop_back();
  if (const auto slash = named.name.rfind('/'); slash != std::string::npos) named.name.erase(0, slash + 1);
  if (const std::vector<std::string> keys = list_keys(array.file, array.key); !keys.empty()) {
    take_list(open_arrays(array.file, keys), named);
  } else {
    named.array = open_array(array.file, array.key);
  }
  return named;
}

}  // namespace lano
