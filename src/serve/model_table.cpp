#include "serve/model_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/error.h"

namespace lano::serve {
namespace {

bool good_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !name.empty() && name.size() <= 100 && name.front() != '.' && std::all_of(name.begin(), name.end(), plain);
}

}  // namespace

ModelTable::ModelTable(const std::vector<std::string>& words, double look_seconds, Metrics& metrics, Listener& listener)
    : metrics_(metrics), listener_(listener) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool named = equals != std::string::npos && good_name(word.substr(0, equals));
    Entry entry;
    entry.file = named ? word.substr(equals + 1) : word;
    const std::string name = named ? word.substr(0, equals) : name_of(entry.file);
    if (find(name))
      fail_usage("serving models", "a name of its own for each model", fmt::format("'{}' twice", name),
                 "name them: NAME=FILE");
    entry.seen = identity_of(entry.file);
    entry.model = std::make_shared<const ServedModel>(name, Operator::load(entry.file));
    entries_.push_back(std::move(entry));
  }
  watcher_ = std::thread([this, look_seconds] { watch(look_seconds); });
}

ModelTable::~ModelTable() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ended_.notify_all();
  watcher_.join();
}

std::shared_ptr<const ServedModel> ModelTable::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.model->name == name; });
  return at == entries_.end() ? nullptr : at->model;
}

std::vector<std::shared_ptr<const ServedModel>> ModelTable::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const ServedModel>> models;
  for (const Entry& entry : entries_) models.push_back(entry.model);
  return models;
}

void ModelTable::watch(double seconds) {
  const auto span = std::chrono::duration<double>(seconds);
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, span, [this] { return ending_; })) {
    lock.unlock();
    for (std::size_t i = 0; i < entries_.size(); ++i)
      look(i);  // files and names never change, the watcher alone writes
    lock.lock();
  }
}

// A file that looks the same twice is no longer being written.
void ModelTable::look(std::size_t index) {
  Entry& entry = entries_[index];
  const FileIdentity now = identity_of(entry.file);
  if (now == entry.seen || now == FileIdentity{}) return;
  if (now != entry.candidate) {
    entry.candidate = now;
    return;
  }
  entry.seen = now;
  try {
    ServedModel fresh(entry.model->name, Operator::load(entry.file));
    fresh.revision = entry.model->revision + 1;
    auto model = std::make_shared<const ServedModel>(std::move(fresh));
    const std::lock_guard lock(mutex_);
    entry.model = std::move(model);
  } catch (const std::exception& error) {
    ++metrics_.failed_reloads;
    listener_.warn(fmt::format("{}; '{}' goes on with the model it has", error.what(), entry.model->name));
    return;
  }
  ++metrics_.reloads;
  listener_.say(fmt::format("took the changed '{}' as revision {}", entry.file.string(), entry.model->revision));
}

}  // namespace lano::serve
