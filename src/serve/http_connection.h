// One connection of the server, and what all of them share. Boost's headers are heavy: http_server.cpp alone includes
// this. A connection reads a head, lets the handler refuse it, reads the body piece by piece against the memory budget,
// hands the request on, waits for the reply (posted from any thread), writes it and starts again. Every wait has a
// deadline of its own.
#pragma once

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <limits>
#include <set>

#include "core/error.h"
#include "serve/http_error.h"
#include "serve/http_server.h"
#include "serve/target.h"

namespace lano::serve {

class Connection;

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using tcp = net::ip::tcp;
using Code = beast::error_code;

constexpr std::size_t kPiece = 65536;         // of a body, at a time
constexpr std::size_t kThrownAway = 1 << 26;  // of what a refused client still sends, for it to read the answer
constexpr double kLingerSeconds = 2, kGraceSeconds = 1;
constexpr const char* kKept[] = {"host",   "origin",           "authorization",  "content-type",
                                 "accept", "content-encoding", "sec-fetch-site", "if-none-match"};

inline std::chrono::steady_clock::duration span_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

struct HttpServer::Core : std::enable_shared_from_this<HttpServer::Core> {
  net::io_context io{1};
  tcp::acceptor acceptor{io};
  net::signal_set signals{io};
  net::steady_timer deadline{io}, grace{io};
  Limits limits;
  MemoryBudget& memory;
  Metrics& metrics;
  HttpHandler handler;
  bool ending = false;
  std::set<Connection*> open;

  Core(const Limits& l, MemoryBudget& b, Metrics& m, HttpHandler h)
      : limits(l), memory(b), metrics(m), handler(std::move(h)) {}

  void accept();
  void welcome(tcp::socket socket);
  void end();
  void closed(Connection* connection);
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<HttpServer::Core> core, tcp::socket socket)
      : core_(std::move(core)), stream_(std::move(socket)), buffer_(kHeaderBytes + kPiece) {
    Code ignored;
    stream_.socket().set_option(tcp::no_delay(true), ignored);
    core_->open.insert(this);
    ++core_->metrics.connections;
  }
  ~Connection() {
    --core_->metrics.connections;
    core_->closed(this);
  }

  // Waits for the first byte of a request as long as a connection may be idle.
  void start() {
    idle_ = true;
    if (buffer_.size() > 0) return read_head();
    stream_.expires_after(span_of(core_->limits.idle_seconds));
    stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](Code error, std::size_t bytes) {
      if (error) return self->close();
      self->buffer_.commit(bytes);
      self->read_head();
    });
  }

  bool idle() const { return idle_; }

  void close() {
    Code ignored;
    stream_.socket().close(ignored);
  }

  // A sentence for a connection beyond the limit.
  void turn_away() {
    idle_ = false;
    close_after_ = true;
    tell(error_response(503, "connecting", fmt::format("at most {} open connections", core_->limits.connections),
                        "more", "come back in a moment"));
  }

 private:
  void read_head() {
    idle_ = false;
    parser_.emplace();
    parser_->header_limit(kHeaderBytes);
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // counted here, piece by piece
    stream_.expires_after(span_of(core_->limits.header_seconds));
    http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](Code error, std::size_t) {
      if (error) return self->bad_head(error);
      self->head_read();
    });
  }

  void bad_head(Code error) {
    close_after_ = true;
    if (error == http::error::end_of_stream || error == net::error::operation_aborted) return close();
    if (error == beast::error::timeout) return slow("a head");
    if (error == http::error::header_limit)
      return tell(error_response(431, "reading a request", fmt::format("a head of at most {} bytes", kHeaderBytes),
                                 "a longer one", "send fewer or shorter headers"));
    if (error.category() != http::make_error_code(http::error::bad_method).category()) return close();
    tell(error_response(400, "reading a request", "an HTTP/1.1 request", error.message(),
                        "send one as RFC 9112 has it"));
  }

  void slow(const char* part) {
    ++core_->metrics.dropped_connections;
    close_after_ = true;
    tell(error_response(408, "reading a request", fmt::format("{} in time", part), "a client that sends too slowly",
                        "send it faster"));
  }

  void head_read() {
    const auto& head = parser_->get();
    request_ = std::make_shared<Request>();
    request_->method = std::string(head.method_string());
    keep_ = head.keep_alive() && !core_->ending;
    std::optional<Response> refusal;
    if (!split_target(std::string_view(head.target().data(), head.target().size()), request_->path, request_->query))
      refusal = error_response(400, "reading a request", "a path such as /v1/models", "another target");
    for (const char* name : kKept) {
      const auto range = head.equal_range(name);
      if (range.first == range.second) continue;
      request_->headers[name] = std::string(range.first->value());
      if (std::next(range.first) != range.second)
        refusal = error_response(400, "reading a request", fmt::format("one header '{}'", name), "several");
    }
    const bool chunked = parser_->chunked();
    const auto length = parser_->content_length();
    // Where two readers could disagree on the end of a request nothing behind it is read.
    if (head.find(http::field::transfer_encoding) != head.end() && (!chunked || length || head.version() < 11)) {
      keep_ = false;
      return tell(error_response(400, "reading a request", "Transfer-Encoding: chunked, or a Content-Length", "both",
                                 "send one of them"));
    }
    if (!refusal && core_->handler.refuses) refusal = core_->handler.refuses(*request_);
    if (!refusal && length && *length > core_->limits.body_bytes) refusal = too_large();
    refusal_ = std::move(refusal);
    const bool waits = beast::iequals(head[http::field::expect], "100-continue");
    // What is refused is read to its end where that is little, so that the connection stays of use.
    if (refusal_ && (waits || chunked || (length && *length > kPiece))) {
      keep_ = false;
      return write(std::move(*refusal_));
    }
    stream_.expires_after(span_of(core_->limits.body_seconds));
    if (!waits) return read_body();
    go_on_.emplace(http::status::continue_, 11);
    http::async_write(stream_, *go_on_, [self = shared_from_this()](Code error, std::size_t) {
      if (error) return self->close();
      self->read_body();
    });
  }

  Response too_large() const {
    return error_response(413, "reading a request", fmt::format("a body of at most {} bytes", core_->limits.body_bytes),
                          "a larger one", "send fewer samples at once, or .npy instead of JSON");
  }

  void read_body() {
    if (parser_->is_done()) return hand_on();
    if (piece_.empty()) piece_.resize(kPiece);
    parser_->get().body().data = piece_.data();
    parser_->get().body().size = piece_.size();
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](Code error, std::size_t) { self->piece_read(error); });
  }

  void piece_read(Code error) {
    if (error == http::error::need_buffer) error = {};
    if (error) {
      close_after_ = true;
      if (error == beast::error::timeout) return slow("a body");
      if (error == http::error::partial_message || error == http::error::end_of_stream) {
        ++core_->metrics.dropped_connections;
        return close();
      }
      if (error.category() != http::make_error_code(http::error::bad_method).category()) return close();
      return tell(error_response(400, "reading a request", "a body as its head announced it", error.message(),
                                 "send the chunks as RFC 9112 has them"));
    }
    const std::size_t got = piece_.size() - parser_->get().body().size;
    if (!refusal_ && request_->body.size() + got > core_->limits.body_bytes) {
      keep_ = false;
      return tell(too_large());
    }
    if (!refusal_) {
      if (!request_->held.grow(core_->memory, got)) {
        keep_ = false;
        request_->held.release();
        return tell(error_response(503, "reading a request", "memory for its body", "all of it taken by other requests",
                                   "come back in a moment"));
      }
      request_->body.append(piece_.data(), got);
    }
    read_body();
  }

  void hand_on() {
    piece_ = {};  // a thousand idle connections hold no buffers
    if (refusal_) return write(std::move(*refusal_));
    stream_.expires_never();
    core_->handler.answers(std::exchange(request_, nullptr), [self = shared_from_this()](Response response) {
      net::post(self->core_->io,
                [self, answer = std::make_shared<Response>(std::move(response))] { self->write(std::move(*answer)); });
    });
  }

  // What the service does not see is counted here.
  void tell(Response response) {
    core_->metrics.answered("none", response.status, 0);
    write(std::move(response));
  }

  void write(Response response) {
    if (core_->ending || close_after_) keep_ = false;
    held_ = std::move(response.held);
    const bool head_only = parser_ && parser_->is_header_done() && parser_->get().method() == http::verb::head;
    const std::size_t bytes = response.body.size();
    answer_.emplace(static_cast<http::status>(response.status), 11);
    answer_->set(http::field::content_type, response.type);
    answer_->set("X-Content-Type-Options", "nosniff");
    answer_->set("Cross-Origin-Resource-Policy", "same-origin");
    for (const auto& [name, value] : response.headers) answer_->set(name, value);
    if (answer_->find(http::field::cache_control) == answer_->end())
      answer_->set(http::field::cache_control, "no-store");
    answer_->keep_alive(keep_);
    if (!head_only) answer_->body() = std::move(response.body);
    if (response.status != 304) answer_->content_length(bytes);
    serializer_.emplace(*answer_);
    stream_.expires_after(span_of(core_->limits.write_seconds));
    const auto written = [self = shared_from_this()](Code error, std::size_t) { self->written(error); };
    if (head_only) return http::async_write_header(stream_, *serializer_, written);
    http::async_write(stream_, *serializer_, written);
  }

  void written(Code error) {
    serializer_.reset();
    answer_.reset();
    held_.reset();
    if (error) {
      if (error == beast::error::timeout) ++core_->metrics.dropped_connections;
      return close();
    }
    if (keep_) return start();
    linger();
  }

  // A socket that is closed with unread bytes takes the answer with it: what still comes is thrown away for a moment.
  void linger() {
    Code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(span_of(kLingerSeconds));
    throw_away();
  }
  void throw_away() {
    if (thrown_ > kThrownAway) return close();
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](Code error, std::size_t bytes) {
      if (error) return self->close();
      self->thrown_ += bytes;
      self->throw_away();
    });
  }

  std::shared_ptr<HttpServer::Core> core_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::buffer_body>> parser_;
  std::optional<http::response<http::empty_body>> go_on_;
  std::optional<http::response<http::string_body>> answer_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::shared_ptr<MemoryBudget::Hold> held_;
  std::shared_ptr<Request> request_;
  std::optional<Response> refusal_;
  std::string piece_;
  std::size_t thrown_ = 0;
  bool keep_ = true, idle_ = false, close_after_ = false;
};

}  // namespace lano::serve
