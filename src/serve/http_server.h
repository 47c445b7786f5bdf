// HTTP/1.1 over Boost.Beast and Asio on one thread, however many connections are open: reads requests within limits,
// hands them on, writes the answers. Knows nothing of models; the work is done on other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "serve/http_message.h"
#include "serve/limits.h"
#include "serve/metrics.h"

namespace lano::serve {

// What a server asks of whoever answers.
struct HttpHandler {
  // Looks at the head of a request before its body is read: an answer here spares reading it.
  std::function<std::optional<Response>(const Request& head)> refuses;
  // Answers a whole request; Reply may be called at once or later, from any thread. Where all its copies are gone and
  // none was called, the client is told 503. Not after the server is gone.
  std::function<void(std::shared_ptr<Request>, Reply)> answers;
};

class HttpServer {
 public:
  // Listens at once; port 0 takes a free one.
  HttpServer(const std::string& address, std::uint16_t port, const Limits& limits, MemoryBudget& memory,
             Metrics& metrics, HttpHandler handler);
  ~HttpServer();

  std::uint16_t port() const;
  // Serves until stop() or, where `signals`, SIGTERM or SIGINT; then what has arrived is answered and all is closed. A
  // second one ends it at once, as does the end of limits.drain_seconds. Gives the number of requests that were left
  // without their answer; whoever has work queued for them may drop it.
  std::int64_t run(bool signals);
  void stop();  // from any thread

  struct Core;

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace lano::serve
