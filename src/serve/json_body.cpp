// A SAX pass: no tree is built, which would take sixteen bytes for a digit and a comma. A list's shape is known when
// its first element has ended; the others must have the same.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/nearest.h"
#include "serve/fields_body.h"
#include "serve/http_error.h"

namespace lano::serve {
namespace {

constexpr const char* kReading = "reading a JSON body";
constexpr std::size_t kMostAxes = 8;
const std::vector<std::string> kArrays{"input", "coordinates", "state", "radius", "value", "slope"};
const std::vector<std::string> kWords{"answer"};

class BodyReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  BodyReader(FieldsBody& to, std::size_t most) : to_(to), most_(most) {}

  bool null() override { return unexpected("null"); }
  bool boolean(bool value) override { return unexpected(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool binary(binary_t&) override { return unexpected("bytes"); }

  bool string(string_t& value) override {
    if (depth_ != 1 || key_ != "answer") return unexpected("text");
    to_.words[key_] = value;
    return true;
  }

  bool start_object(std::size_t) override {
    if (depth_ > 0 || started_) return unexpected("an object");
    started_ = true;
    depth_ = 1;
    return true;
  }
  bool end_object() override {
    depth_ = 0;
    return true;
  }

  bool key(string_t& name) override {
    std::vector<std::string> all = kArrays;
    all.insert(all.end(), {"times", "steps", "answer"});
    if (std::find(all.begin(), all.end(), name) == all.end())
      refuse(422, kReading, fmt::format("keys among {}", fmt::join(all, ", ")), fmt::format("'{}'", name),
             did_you_mean(name, all));
    if (!seen_.insert({name, true}).second) refuse(422, kReading, "each key once", fmt::format("'{}' twice", name));
    key_ = name;
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ == 0 || key_ == "steps" || key_ == "answer") return unexpected("a list");
    if (lists_.size() == kMostAxes)
      refuse_plainly(400, kReading, fmt::format("the lists in '{}' are more than {} deep", key_, kMostAxes));
    if (!lists_.empty()) element();
    lists_.push_back(0);
    shape_known_.resize(std::max(shape_known_.size(), lists_.size()), -1);
    return true;
  }
  bool end_array() override {
    const std::size_t level = lists_.size() - 1;
    const std::int64_t count = lists_.back();
    if (shape_known_[level] >= 0 && shape_known_[level] != count)
      refuse(422, kReading, fmt::format("lists of one length in '{}': {} elements", key_, shape_known_[level]),
             std::to_string(count));
    shape_known_[level] = count;
    // An empty list has no level of numbers below it.
    if (count == 0) refuse_plainly(422, kReading, fmt::format("a list in '{}' is empty", key_));
    lists_.pop_back();
    if (lists_.empty()) finish_array();
    return true;
  }

  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    refuse(400, kReading, "JSON text", fmt::format("something else at byte {}", at));
  }

  bool started() const { return started_; }

 private:
  bool unexpected(const char* found) {
    if (!started_) refuse(400, kReading, "an object {...}", found);
    if (!lists_.empty()) refuse(422, kReading, fmt::format("numbers in '{}'", key_), found);
    const char* wanted = key_ == "answer" ? "text" : key_ == "steps" ? "a number" : "a list of numbers";
    refuse(422, kReading, fmt::format("{} for '{}'", wanted, key_), found);
  }

  // One element more in the list that is open; lists of numbers and lists of lists do not mix.
  void element() { ++lists_.back(); }

  bool number(double value) {
    if (!started_) return unexpected("a number");
    if (!std::isfinite(value) || std::abs(value) > std::numeric_limits<float>::max())
      refuse(422, kReading, fmt::format("finite numbers in '{}'", key_), "one beyond the range of float32");
    if (lists_.empty()) {
      if (key_ != "steps") return unexpected("a number");
      to_.steps = value;
      return true;
    }
    if (leaf_ == 0) leaf_ = lists_.size();
    if (leaf_ != lists_.size() || (lists_.size() < shape_known_.size()))
      refuse_plainly(422, kReading,
                     fmt::format("the numbers in '{}' are not all at the same depth of its lists", key_));
    element();
    if (++count_ > most_)
      refuse_plainly(422, kReading, fmt::format("there are more than {} numbers", most_), "send fewer samples at once");
    if (key_ == "times") {
      to_.times.push_back(value);
    } else {
      values_.push_back(static_cast<float>(value));
    }
    return true;
  }

  void finish_array() {
    if (key_ == "times") {
      if (shape_known_.size() != 1) refuse(422, kReading, "a list of numbers for 'times'", "lists of lists");
    } else {
      Shape shape(shape_known_.begin(), shape_known_.end());
      if (static_cast<std::int64_t>(values_.size()) != element_count(shape))
        refuse_plainly(422, kReading, fmt::format("the lists in '{}' differ in length", key_));
      to_.arrays[key_] = {std::move(shape), std::move(values_)};
    }
    values_ = {};
    shape_known_.clear();
    leaf_ = 0;
  }

  FieldsBody& to_;
  std::size_t most_, count_ = 0;
  int depth_ = 0;
  bool started_ = false;
  std::string key_;
  std::map<std::string, bool> seen_;
  std::vector<std::int64_t> lists_;        // elements so far of each open list
  std::vector<std::int64_t> shape_known_;  // of each level, -1 until its first list has ended
  std::size_t leaf_ = 0;                   // the level of numbers
  std::vector<float> values_;
};

}  // namespace

FieldsBody read_json_body(std::string_view text, std::size_t most_values) {
  FieldsBody body;
  BodyReader reader(body, most_values);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  if (!reader.started()) refuse_plainly(400, kReading, "it is empty", "send an object {...}");
  return body;
}

}  // namespace lano::serve
