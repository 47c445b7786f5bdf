// Errors of the whole project, in one message form: what was being done, what was expected, what was found, what to do.
// They are thrown anywhere and stop at the edges only: the command line, the C interface, the Python module.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace lano {

// A failure of the work itself (bad file, wrong shape, full disk): exit code 1 at the command line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller asked for something that does not exist (unknown key, unknown benchmark, bad flag): exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Numbers of a training became NaN or infinite: the loss, a gradient, a weight, what a layer works with.
class DivergedError : public Error {
 public:
  using Error::Error;
};

// "<doing>: expected <expected>, found <found>; <advice>." The advice may be empty. Parts may hold untrusted bytes:
// control characters and bytes that are not UTF-8 become '?', and long parts are cut.
std::string error_message(std::string_view doing, std::string_view expected, std::string_view found,
                          std::string_view advice);

[[noreturn]] void fail(std::string_view doing, std::string_view expected, std::string_view found,
                       std::string_view advice = {});
[[noreturn]] void fail_usage(std::string_view doing, std::string_view expected, std::string_view found,
                             std::string_view advice = {});

// "<doing>: <problem>; <advice>." Where there is no value that `found` could show: something is missing, or two
// options exclude each other. The problem is a plain sentence.
std::string plain_error_message(std::string_view doing, std::string_view problem, std::string_view advice);

[[noreturn]] void fail_plainly(std::string_view doing, std::string_view problem, std::string_view advice = {});
[[noreturn]] void fail_usage_plainly(std::string_view doing, std::string_view problem, std::string_view advice = {});

bool is_utf8(std::string_view text);

// Untrusted text as it may appear in a message or on a terminal: valid UTF-8 without control characters and
// without the marks that change the direction of text, at most `most` bytes.
std::string plain_text(std::string_view text, std::size_t most);

// The text of an errno value, for the `found` part.
std::string errno_text(int error_number);

}  // namespace lano
