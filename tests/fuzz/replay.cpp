// The replay of a fuzz target: its seeds, the files of a folder of old findings, and a number of seeds changed at
// random, the same every time. Ends with 0 where nothing ended it before, and memory stayed within bounds. The input at
// work is kept in a file, to be looked at after a crash. Usage: replay_NAME FINDINGS CHANGES LAST
//        replay_NAME --write FOLDER    (the seeds as files, for libFuzzer)
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/random.h"
#include "fuzzer.h"

namespace lano::fuzz {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 16;
constexpr long kMostMegabytes = 2048;

// A file in memory, so that what was fed last outlives a crash.
class LastInput {
 public:
  explicit LastInput(const char* path) : file_(::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (file_ < 0 || ::ftruncate(file_, kLongest) != 0) fail("replaying", "a file for the last input", path);
    bytes_ = static_cast<char*>(::mmap(nullptr, kLongest, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
    if (bytes_ == MAP_FAILED) fail("replaying", "a file in memory", path);
  }
  ~LastInput() {
    ::munmap(bytes_, kLongest);
    ::close(file_);
  }
  LastInput(const LastInput&) = delete;
  LastInput& operator=(const LastInput&) = delete;
  void keep(const std::string& input) {
    std::memcpy(bytes_, input.data(), std::min(input.size(), kLongest));
    std::memset(bytes_ + std::min(input.size(), kLongest), 0, kLongest - std::min(input.size(), kLongest));
  }

 private:
  int file_;
  char* bytes_ = nullptr;
};

// A heap block of exactly the input's size, so that the address sanitizer sees a read behind its end.
void feed(const std::string& input) {
  const std::vector<std::uint8_t> exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

// One change: bits, bytes, whole numbers at the edges of their range, pieces taken out, doubled or from another seed,
// words of the format.
void change(std::string& text, RandomStream& stream, const std::vector<std::string>& all,
            const std::vector<std::string>& vocabulary) {
  const auto place = [&](std::size_t size) {
    return static_cast<std::size_t>(stream.below(std::max<std::size_t>(1, size)));
  };
  const std::size_t at = place(text.size()), length = std::min(1 + place(32), text.size() - at);
  switch (stream.below(9)) {
    case 0:
      if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << stream.below(8)));
      break;
    case 1:
      if (!text.empty()) text[at] = static_cast<char>(stream.below(256));
      break;
    case 2: {
      constexpr std::uint64_t edges[] = {0,
                                         1,
                                         0x7f,
                                         0x80,
                                         0xff,
                                         0x7fff,
                                         0xffff,
                                         0x7fffffff,
                                         0x80000000,
                                         0xffffffff,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         0xffffffffffffffff};
      const std::uint64_t value = edges[stream.below(std::size(edges))];
      std::memcpy(text.data() + at, &value, std::min<std::size_t>(text.size() - at, std::size_t{1} << stream.below(4)));
      break;
    }
    case 3:
      text.erase(at, length);
      break;
    case 4:
      text.insert(at, text.substr(at, length));
      break;
    case 5: {
      const std::string& other = all[place(all.size())];
      text.replace(at, length, other.substr(place(other.size()), 1 + place(64)));
      break;
    }
    case 6:
    case 7:
      if (!vocabulary.empty())
        text.replace(at, stream.below(2) == 0 ? 0 : length, vocabulary[place(vocabulary.size())]);
      break;
    default:
      text.resize(at);
      break;
  }
}

int run(const std::filesystem::path& findings, std::uint64_t changes, const char* last_path) {
  LastInput last(last_path);
  const auto begun = std::chrono::steady_clock::now();
  const std::vector<std::string> all = seeds(), vocabulary = words();
  std::size_t fed = 0;
  const auto use = [&](const std::string& input) {
    last.keep(input);
    feed(input);
    ++fed;
  };
  for (const std::string& seed : all) use(seed);
  std::size_t found = 0;
  std::error_code none;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(findings, none)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    use(read_file(file, "replaying"));
    ++found;
  }
  for (std::uint64_t i = 0; i < changes; ++i) {
    RandomStream stream(1, Purpose::test, i);
    std::string input = all[stream.below(all.size())];
    for (std::uint64_t k = 0; k <= stream.below(5); ++k) change(input, stream, all, vocabulary);
    input.resize(std::min(input.size(), kLongest));
    use(input);
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const long megabytes = usage.ru_maxrss / 1024;
  fmt::print("{} inputs ({} seeds, {} old findings) in {:.1f} s, {} MB\n", fed, all.size(), found,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(), megabytes);
  if (megabytes > kMostMegabytes)
    fail("replaying", fmt::format("at most {} MB", kMostMegabytes), fmt::format("{} MB", megabytes));
  return 0;
}

int write(const std::filesystem::path& folder) {
  make_folder(folder);
  std::size_t number = 0;
  for (const std::string& seed : seeds()) write_file_atomically(folder / fmt::format("seed-{:03}", number++), seed);
  std::string dictionary;  // libFuzzer's form: one quoted word per line
  for (const std::string& word : words()) {
    dictionary += '"';
    for (const char c : word)
      dictionary += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    dictionary += "\"\n";
  }
  write_file_atomically(std::filesystem::path(folder.string() + ".words"), dictionary);
  return 0;
}

}  // namespace
}  // namespace lano::fuzz

int main(int count, char** arguments) {
  try {
    const std::vector<std::string> given(arguments + 1, arguments + count);
    if (given.size() == 2 && given[0] == "--write") return lano::fuzz::write(given[1]);
    if (given.size() == 3) return lano::fuzz::run(given[0], std::stoull(given[1]), arguments[3]);
    fmt::print(stderr, "usage: replay_NAME FINDINGS CHANGES LAST | --write FOLDER\n");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
