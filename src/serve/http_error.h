// A request that cannot be answered, as a status and the sentence of core/error.h. Thrown where the fault is found,
// made an answer at the edge of the service.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "serve/http_message.h"

namespace lano::serve {

class HttpError : public Error {
 public:
  HttpError(int status, const std::string& message) : Error(message), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

[[noreturn]] inline void refuse(int status, std::string_view doing, std::string_view expected, std::string_view found,
                                std::string_view advice = {}) {
  throw HttpError(status, error_message(doing, expected, found, advice));
}
// Where nothing was found that a message could show: fail_plainly of core/error.h.
[[noreturn]] inline void refuse_plainly(int status, std::string_view doing, std::string_view problem,
                                        std::string_view advice = {}) {
  throw HttpError(status, plain_error_message(doing, problem, advice));
}

// {"error": {"status": 422, "message": "..."}}, with Retry-After where it is worth coming back.
Response error_response(int status, std::string_view message);
inline Response error_response(int status, std::string_view doing, std::string_view expected, std::string_view found,
                               std::string_view advice = {}) {
  return error_response(status, error_message(doing, expected, found, advice));
}
inline Response plain_error_response(int status, std::string_view doing, std::string_view problem,
                                     std::string_view advice = {}) {
  return error_response(status, plain_error_message(doing, problem, advice));
}

}  // namespace lano::serve
