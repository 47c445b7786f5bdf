// The training samples as batches, in the order training asks for them: from memory if they fit, otherwise read from
// the file by a separate thread, some batches ahead. Both give the same numbers.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "data/sample_set.h"

namespace lano {

// A batch ready for training: items are rows of the samples next to them.
struct PreparedBatch {
  std::shared_ptr<const SampleSet> set;
  std::vector<Item> items;
  // Where ranks share a batch: items of it before these, and in all (0: these are all).
  std::int64_t before = 0, of = 0;
};

class SampleFeed {
 public:
  // ids: the split's samples in the file; item rows count in them. samples: the whole split, or empty (count 0) to read
  // ahead.
  SampleFeed(const DatasetReader& reader, std::vector<std::int64_t> ids, Samples samples, const Normaliser& normaliser,
             const std::vector<double>& order_box);
  ~SampleFeed();
  SampleFeed(const SampleFeed&) = delete;
  SampleFeed& operator=(const SampleFeed&) = delete;

  void plan(std::vector<std::vector<Item>> batches);  // what comes next; forgets what was planned before
  PreparedBatch next();                               // throws what reading threw

 private:
  PreparedBatch prepare(const std::vector<Item>& items) const;
  void read_ahead();
  void stop();

  const DatasetReader& reader_;
  std::vector<std::int64_t> ids_;
  Normaliser normaliser_;
  std::vector<double> order_box_;
  std::shared_ptr<const SampleSet> whole_;  // in memory
  std::vector<std::vector<Item>> planned_;
  std::size_t taken_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<PreparedBatch> ready_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread thread_;
};

// What is read at once of a split that is not kept in memory.
inline constexpr std::int64_t kPieceBytes = std::int64_t{256} << 20;

// Bytes that the samples take in memory, roughly: coordinates, input and output as float32, once.
std::int64_t sample_bytes(const DatasetReader& reader, std::span<const std::int64_t> ids);

// Calls see(samples) for the ids in order, in pieces of about `bytes` at most and of a multiple of 8 samples (at least
// 8).
void read_in_pieces(const DatasetReader& reader, std::span<const std::int64_t> ids, std::int64_t bytes,
                    const std::function<void(const Samples&)>& see);

}  // namespace lano
