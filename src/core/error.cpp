#include "core/error.h"

#include <cstring>

namespace lano {

std::string error_message(std::string_view doing, std::string_view expected, std::string_view found,
                          std::string_view advice) {
  // What was found may come from a stranger's file: a sentence stays a sentence.
  constexpr std::size_t kMost = 600;
  std::string message(doing);
  message.append(": expected ").append(expected).append(", found ").append(found.substr(0, kMost));
  if (found.size() > kMost) message.append("...");
  if (!advice.empty()) message.append("; ").append(advice);
  return message;
}

void fail(std::string_view doing, std::string_view expected, std::string_view found, std::string_view advice) {
  throw Error(error_message(doing, expected, found, advice));
}

void fail_usage(std::string_view doing, std::string_view expected, std::string_view found, std::string_view advice) {
  throw UsageError(error_message(doing, expected, found, advice));
}

std::string errno_text(int error_number) { return std::strerror(error_number); }

}  // namespace lano
