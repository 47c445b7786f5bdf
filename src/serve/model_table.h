// The models in service, and a thread that looks at their files: a changed one is loaded next to the old one and takes
// its place between two requests. A file that cannot be read leaves the old model in service.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/atomic_file.h"
#include "core/listener.h"
#include "serve/metrics.h"
#include "serve/served_model.h"

namespace lano::serve {

class ModelTable {
 public:
  // words: "FILE" or "NAME=FILE". Fails where a file is no model of this runtime or a name is given twice.
  ModelTable(const std::vector<std::string>& words, double look_seconds, Metrics& metrics, Listener& listener);
  ~ModelTable();

  std::shared_ptr<const ServedModel> find(const std::string& name) const;  // null where there is none
  std::vector<std::shared_ptr<const ServedModel>> all() const;             // in the order they were given

 private:
  struct Entry {
    std::filesystem::path file;
    FileIdentity seen, candidate;
    std::shared_ptr<const ServedModel> model;
  };
  void watch(double seconds);
  void look(std::size_t index);

  Metrics& metrics_;
  Listener& listener_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;
  std::vector<Entry> entries_;
  std::thread watcher_;
};

}  // namespace lano::serve
