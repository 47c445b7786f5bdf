#include "data/sample_feed.h"

#include <algorithm>

namespace lano {
namespace {

constexpr std::size_t kAhead = 4;  // batches waiting at most: memory is bounded by these and the one in use

}  // namespace

SampleFeed::SampleFeed(const DatasetReader& reader, std::vector<std::int64_t> ids, Samples samples,
                       const Normaliser& normaliser, const std::vector<double>& order_box)
    : reader_(reader), ids_(std::move(ids)), normaliser_(normaliser), order_box_(order_box) {
  if (samples.count > 0)
    whole_ = std::make_shared<SampleSet>(std::move(samples), reader.description(), normaliser, order_box);
}

SampleFeed::~SampleFeed() { stop(); }

void SampleFeed::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SampleFeed::plan(std::vector<std::vector<Item>> batches) {
  stop();
  planned_ = std::move(batches);
  taken_ = 0;
  ready_.clear();
  failure_ = nullptr;
  stopping_ = false;
  if (whole_ == nullptr) thread_ = std::thread([this] { read_ahead(); });
}

PreparedBatch SampleFeed::prepare(const std::vector<Item>& items) const {
  std::vector<std::int64_t> rows;  // each sample once, though several of its frames may be needed
  std::vector<Item> local;
  for (const Item& item : items) {
    auto found = std::find(rows.begin(), rows.end(), item.row);
    if (found == rows.end()) found = rows.insert(rows.end(), item.row);
    local.push_back({found - rows.begin(), item.frame});
  }
  for (std::int64_t& row : rows) row = ids_[static_cast<std::size_t>(row)];
  return {std::make_shared<SampleSet>(reader_.read(rows), reader_.description(), normaliser_, order_box_),
          std::move(local)};
}

void SampleFeed::read_ahead() {
  try {
    for (const auto& items : planned_) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || ready_.size() < kAhead; });
        if (stopping_) return;
      }
      PreparedBatch batch = prepare(items);
      const std::lock_guard lock(mutex_);
      ready_.push_back(std::move(batch));
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    changed_.notify_all();
  }
}

PreparedBatch SampleFeed::next() {
  if (whole_ != nullptr) return {whole_, planned_.at(taken_++)};
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ != nullptr || !ready_.empty(); });
  if (ready_.empty()) std::rethrow_exception(failure_);
  PreparedBatch batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batch;
}

std::int64_t sample_bytes(const DatasetReader& reader, std::span<const std::int64_t> ids) {
  const SetDescription& d = reader.description();
  const std::int64_t frames = d.time.empty() ? 1 : static_cast<std::int64_t>(d.time.size());
  const std::int64_t values =
      (reader.shared_coordinates() ? 0 : d.dims()) + d.input_channels() + frames * d.output_channels();
  std::int64_t points = 0;
  for (const std::int64_t id : ids)
    points += reader.counts().empty() ? d.points() : reader.counts()[static_cast<std::size_t>(id)];
  return points * values * static_cast<std::int64_t>(sizeof(float));
}

void read_in_pieces(const DatasetReader& reader, std::span<const std::int64_t> ids, std::int64_t bytes,
                    const std::function<void(const Samples&)>& see) {
  std::size_t first = 0;
  while (first < ids.size()) {
    std::size_t count = std::min<std::size_t>(8, ids.size() - first);
    while (first + count + 8 <= ids.size() && sample_bytes(reader, ids.subspan(first, count + 8)) <= bytes) count += 8;
    see(reader.read(ids.subspan(first, count)));
    first += count;
  }
}

}  // namespace lano
