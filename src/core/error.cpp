#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lano {
namespace {

// Bytes of the UTF-8 character at the start of `text`, 0 if there is none: overlong forms, surrogates and anything
// above U+10FFFF are rejected.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool overlong = first == 0xe0 && byte(1) < 0xa0, surrogate = first == 0xed && byte(1) >= 0xa0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool overlong = first == 0xf0 && byte(1) < 0x90, beyond = first == 0xf4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

// Characters that are not seen but change the order or the lines of those that are: marks, embeddings, overrides and
// isolates of bidirectional text, line and paragraph separators.
bool reorders(std::string_view character) {
  static constexpr std::string_view kMarks[] = {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b",
                                                "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"};
  return std::find(std::begin(kMarks), std::end(kMarks), character) != std::end(kMarks);
}

// The longest part of a message, so that it remains one sentence whatever a file holds.
constexpr std::size_t kMost = 600;

std::string message_of(std::string_view doing, const std::string& problem, std::string_view advice) {
  std::string message = plain_text(doing, 6000);  // may name a path of 4096 bytes
  message.append(": ").append(problem);
  if (!advice.empty()) message.append("; ").append(plain_text(advice, kMost));
  return message;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string plain_text(std::string_view text, std::size_t most) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (plain.size() + std::max<std::size_t>(1, bytes) > most) return plain + "...";
    const auto first = static_cast<unsigned char>(text.front());
    // C0, DEL, and C1 (U+0080 to U+009F), which terminals interpret as commands too.
    const bool control = bytes == 1 ? first < 0x20 || first == 0x7f
                                    : bytes == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
    if (bytes == 0 || control || reorders(text.substr(0, bytes)))
      plain += first == '\n' || first == '\t' ? ' ' : '?';
    else
      plain.append(text.substr(0, bytes));
    text.remove_prefix(std::max<std::size_t>(1, bytes));
  }
  return plain;
}

std::string error_message(std::string_view doing, std::string_view expected, std::string_view found,
                          std::string_view advice) {
  const std::string problem =
      fmt::format("expected {}, found {}", plain_text(expected, kMost), plain_text(found, kMost));
  return message_of(doing, problem, advice);
}

std::string plain_error_message(std::string_view doing, std::string_view problem, std::string_view advice) {
  return message_of(doing, plain_text(problem, kMost), advice);
}

void fail(std::string_view doing, std::string_view expected, std::string_view found, std::string_view advice) {
  throw Error(error_message(doing, expected, found, advice));
}

void fail_usage(std::string_view doing, std::string_view expected, std::string_view found, std::string_view advice) {
  throw UsageError(error_message(doing, expected, found, advice));
}

void fail_plainly(std::string_view doing, std::string_view problem, std::string_view advice) {
  throw Error(plain_error_message(doing, problem, advice));
}

void fail_usage_plainly(std::string_view doing, std::string_view problem, std::string_view advice) {
  throw UsageError(plain_error_message(doing, problem, advice));
}

std::string errno_text(int error_number) { return std::strerror(error_number); }

}  // namespace lano
