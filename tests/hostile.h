// For damaged and hostile files: a reader is run on one in a child process, which may neither crash, nor hang, nor take
// memory without bound, and must end with a value or with one sentence of ours.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "core/error.h"

namespace lano::test {

struct Verdict {
  bool taken = false;    // the reader returned
  std::string sentence;  // what it refused the file with
  std::string fault;     // anything else: a signal, another exception, too much memory
};

constexpr long kMostMegabytes = 512;
constexpr unsigned kMostSeconds = 30;

// The most memory the process has had: address space, so that memory requested and never touched counts too; under the
// address sanitizer, which reserves terabytes, the resident part.
inline long peak_megabytes() {
#ifdef __SANITIZE_ADDRESS__
  const std::string wanted = "VmHWM:";
#else
  const std::string wanted = "VmPeak:";
#endif
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long kilobytes = 0;
    if (word == wanted && status >> kilobytes) return kilobytes / 1024;
  }
  return 0;
}

inline Verdict bounded(const std::function<void()>& read) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return {false, "", "no pipe"};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::signal(SIGALRM, SIG_DFL);
    ::alarm(kMostSeconds);
    const long before = peak_megabytes();
    std::string said;
    try {
      read();
      said = "T";
    } catch (const Error& error) {
      said = std::string("E") + error.what();
    } catch (const std::exception& error) {
      said = std::string("Xexception ") + error.what();
    }
    const long rise = peak_megabytes() - before;
    if (rise > kMostMegabytes) said = "X" + std::to_string(rise) + " MB for it";
    for (std::size_t done = 0; done < said.size();) {
      const ssize_t written = ::write(ends[1], said.data() + done, said.size() - done);
      if (written <= 0) break;
      done += static_cast<std::size_t>(written);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char block[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], block, sizeof block)) > 0;)
    said.append(block, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  Verdict verdict;
  if (WIFSIGNALED(status))
    verdict.fault = std::string("signal ") + ::strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0 || said.empty())
    verdict.fault = "exit code " + std::to_string(WEXITSTATUS(status));
  else if (said[0] == 'T')
    verdict.taken = true;
  else if (said[0] == 'E')
    verdict.sentence = said.substr(1);
  else
    verdict.fault = said.substr(1);
  return verdict;
}

// One sentence in the project's form (core/error.h), "<doing>: expected ..., found ..." or "<doing>: <problem>",
// without control characters.
inline void expect_sentence(const std::string& sentence) {
  EXPECT_NE(sentence.find(": "), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find(": expected ") == std::string::npos, sentence.find(", found ") == std::string::npos)
      << sentence;
  EXPECT_LT(sentence.size(), 3000u) << sentence.substr(0, 300);
  for (const char c : sentence) {
    if (static_cast<unsigned char>(c) < 0x20) {
      ADD_FAILURE() << "a control character in: " << sentence;
      return;
    }
  }
}

inline void expect_refused(const std::string& name, const std::function<void()>& read) {
  SCOPED_TRACE(name);
  const Verdict verdict = bounded(read);
  EXPECT_EQ(verdict.fault, "");
  EXPECT_FALSE(verdict.taken) << "was taken";
  if (!verdict.sentence.empty()) expect_sentence(verdict.sentence);
}

// Refused or, where the damage hits nothing that is used, read.
inline bool expect_survived(const std::string& name, const std::function<void()>& read) {
  SCOPED_TRACE(name);
  const Verdict verdict = bounded(read);
  EXPECT_EQ(verdict.fault, "");
  if (!verdict.sentence.empty()) expect_sentence(verdict.sentence);
  return verdict.taken;
}

// As it is, whatever it is: no syncing as for a file that must last.
inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
}

template <class T>
void append_number(std::string& bytes, T value, bool swapped = false) {
  std::string raw(reinterpret_cast<const char*>(&value), sizeof value);
  if (swapped) raw.assign(raw.rbegin(), raw.rend());
  bytes += raw;
}

// `start` and then `zeros` zeros, as a deflate stream made piece by piece; window bits as zlib has them (15: with
// zlib's header, -15: raw).
inline std::string deflated_zeros(const std::string& start, std::uint64_t zeros, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY);
  std::string out, piece(std::size_t{1} << 20, '\0'), room(std::size_t{1} << 16, '\0');
  const auto feed = [&](const std::string& bytes, std::size_t count, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(count);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      deflate(&stream, flush);
      out.append(room, 0, room.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  feed(start, start.size(), Z_NO_FLUSH);
  for (std::uint64_t done = 0; done < zeros; done += piece.size())
    feed(piece, std::min<std::uint64_t>(piece.size(), zeros - done), Z_NO_FLUSH);
  feed(piece, 0, Z_FINISH);
  deflateEnd(&stream);
  return out;
}

}  // namespace lano::test
