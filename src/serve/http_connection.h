// One connection of the server, and what all of them share. Boost's headers are heavy: http_server.cpp alone includes
// this. A connection reads a head, lets the handler refuse it, reads the body piece by piece against the memory budget,
// hands the request on, waits for the reply (posted from any thread), writes it and starts again. Every wait for the
// client has a deadline. The timer is our own, not that of beast::tcp_stream: that one closes the socket, and then
// nobody can be told 408.
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
#include <thread>

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
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPiece = 65536;         // of a body, at a time
constexpr std::size_t kThrownAway = 1 << 26;  // of what a refused client still sends, for it to read the answer
constexpr double kLingerSeconds = 2, kGraceSeconds = 1;
constexpr const char* kKept[] = {"host",   "origin",           "authorization",  "content-type",
                                 "accept", "content-encoding", "sec-fetch-site", "if-none-match"};

inline Clock::duration span_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
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
      : core_(std::move(core)), socket_(std::move(socket)), timer_(core_->io), buffer_(kHeaderBytes + kPiece) {
    Code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    core_->open.insert(this);
    ++core_->metrics.connections;
  }
  ~Connection() {
    --core_->metrics.connections;
    core_->closed(this);
  }

  // Waits for the first byte of a request as long as a connection may be idle.
  void start() {
    now_ = Now::idle;
    if (buffer_.size() > 0) return read_head();
    allow(core_->limits.idle_seconds);
    socket_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](Code error, std::size_t bytes) {
      if (error) return self->close();
      self->buffer_.commit(bytes);
      self->read_head();
    });
  }

  bool idle() const { return now_ == Now::idle; }
  // A request has arrived and its answer is not with the client yet.
  bool owes() const { return now_ == Now::waiting || now_ == Now::writing; }

  void close() {
    Code ignored;
    timer_.cancel();
    socket_.close(ignored);
  }

  // A sentence for a connection beyond the limit.
  void turn_away() {
    close_after_ = true;
    tell(plain_error_response(503, "connecting",
                              fmt::format("all {} connections of this server are in use", core_->limits.connections),
                              "come back in a moment"));
  }

 private:
  enum class Now { idle, reading, waiting, writing, leaving };

  // What a reply holds of its connection. The copies of a Reply end on any thread, and the connection may not end with
  // one of them: it is the I/O thread's, as is all it touches. So the answer takes it there, and where all copies are
  // gone without an answer, the last one sends it there with a 503.
  struct Asked : std::enable_shared_from_this<Asked> {
    const std::shared_ptr<HttpServer::Core> core;
    std::shared_ptr<Connection> connection;  // once an answer was given, the I/O thread's

    Asked(std::shared_ptr<HttpServer::Core> c, std::shared_ptr<Connection> from)
        : core(std::move(c)), connection(std::move(from)) {}
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;
    ~Asked() {
      while (connection) {
        try {
          auto last = std::make_shared<Asked>(core, nullptr);
          auto none =
              plain_error_response(503, "answering a request", "the server gave it up", "come back in a moment");
          last->connection = std::move(connection);
          last->give(std::move(none));
        } catch (const std::exception&) {  // no memory for a few bytes: it comes back with the next answer
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
      }
    }

    void give(Response response) {
      net::post(core->io, [asked = shared_from_this(), answer = std::make_shared<Response>(std::move(response))] {
        if (const auto self = std::exchange(asked->connection, nullptr)) self->write(std::move(*answer));
      });
    }
  };

  // Sets the deadline of what the connection waits for now. The timer is left as it is where it runs out earlier: it
  // then goes on to the deadline of that time, so that a piece costs no timer of its own.
  void allow(double seconds) {
    deadline_ = Clock::now() + span_of(seconds);
    late_ = false;
    if (!timing_ || deadline_ < timer_.expiry()) time();
  }
  void time() {
    timing_ = true;
    timer_.expires_at(deadline_);
    timer_.async_wait([weak = weak_from_this()](Code error) {
      if (error) return;
      if (const auto self = weak.lock()) self->timed();
    });
  }
  void timed() {
    timing_ = false;
    if (now_ == Now::waiting) return;  // for us
    if (deadline_ > Clock::now()) return time();
    late_ = true;
    if (now_ != Now::reading) return close();
    Code ignored;
    socket_.cancel(ignored);  // the read ends, and whoever asked for it says why
  }

  // For what comes or goes in pieces: so many seconds for each, and in all as many as the least rate allows.
  void begin_pieces(double seconds) {
    began_ = Clock::now();
    moved_ = 0;
    allow(seconds);
  }
  void piece(std::size_t bytes, double seconds) {
    moved_ += bytes;
    const double whole = seconds + static_cast<double>(moved_) / core_->limits.least_rate,
                 spent = std::chrono::duration<double>(Clock::now() - began_).count();
    allow(std::min(seconds, whole - spent));
  }

  void read_head() {
    now_ = Now::reading;
    parser_.emplace();
    parser_->header_limit(kHeaderBytes);
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // counted here, piece by piece
    allow(core_->limits.header_seconds);
    http::async_read_header(socket_, buffer_, *parser_, [self = shared_from_this()](Code error, std::size_t) {
      if (error) return self->bad_head(error);
      self->head_read();
    });
  }

  void bad_head(Code error) {
    close_after_ = true;
    if (late_) return slow("head");
    if (error == http::error::end_of_stream || error == net::error::operation_aborted) return close();
    if (error == http::error::header_limit)
      return tell(plain_error_response(431, "reading a request",
                                       fmt::format("its head is longer than {} bytes", kHeaderBytes),
                                       "send fewer or shorter headers"));
    if (error.category() != http::make_error_code(http::error::bad_method).category()) return close();
    tell(error_response(400, "reading a request", "an HTTP/1.1 request", error.message(),
                        "send one as RFC 9112 has it"));
  }

  void slow(const char* part) {
    ++core_->metrics.dropped_connections;
    close_after_ = true;
    tell(plain_error_response(408, "reading a request", fmt::format("its {} did not arrive in time", part),
                              "send it faster"));
  }

  void head_read() {
    const auto& head = parser_->get();
    request_ = std::make_shared<Request>();
    request_->method = std::string(head.method_string());
    keep_ = head.keep_alive() && !core_->ending;
    std::optional<Response> refusal;
    if (!split_target(std::string_view(head.target().data(), head.target().size()), request_->path, request_->query))
      refusal = plain_error_response(400, "reading a request", "its target is no path such as /v1/models");
    for (const char* name : kKept) {
      const auto range = head.equal_range(name);
      if (range.first == range.second) continue;
      request_->headers[name] = std::string(range.first->value());
      if (std::next(range.first) != range.second)
        refusal = plain_error_response(400, "reading a request", fmt::format("it has several headers '{}'", name));
    }
    const bool chunked = parser_->chunked();
    const auto length = parser_->content_length();
    // Where two readers could disagree on the end of a request nothing behind it is read.
    if (head.find(http::field::transfer_encoding) != head.end() && (!chunked || length || head.version() < 11)) {
      keep_ = false;
      return tell(plain_error_response(400, "reading a request", "the length of its body is ambiguous",
                                       "send a Content-Length, or in HTTP/1.1 Transfer-Encoding: chunked"));
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
    begin_pieces(core_->limits.body_seconds);
    if (!waits) return read_body();
    go_on_.emplace(http::status::continue_, 11);
    http::async_write(socket_, *go_on_, [self = shared_from_this()](Code error, std::size_t) {
      if (error) return self->close();
      self->read_body();
    });
  }

  Response too_large() const {
    return plain_error_response(413, "reading a request",
                                fmt::format("its body is longer than {} bytes", core_->limits.body_bytes),
                                "send fewer samples at once, or .npy instead of JSON");
  }

  void read_body() {
    if (parser_->is_done()) return hand_on();
    if (piece_.empty()) piece_.resize(kPiece);
    parser_->get().body().data = piece_.data();
    parser_->get().body().size = piece_.size();
    http::async_read_some(socket_, buffer_, *parser_,
                          [self = shared_from_this()](Code error, std::size_t) { self->piece_read(error); });
  }

  void piece_read(Code error) {
    if (error == http::error::need_buffer) error = {};
    if (error) {
      close_after_ = true;
      if (late_) return slow("body");
      if (error == http::error::partial_message || error == http::error::end_of_stream) {
        ++core_->metrics.dropped_connections;
        return close();
      }
      if (error.category() != http::make_error_code(http::error::bad_method).category()) return close();
      return tell(error_response(400, "reading a request", "a body as its head announced it", error.message(),
                                 "send the chunks as RFC 9112 has them"));
    }
    const std::size_t got = piece_.size() - parser_->get().body().size;
    piece(got, core_->limits.body_seconds);
    if (!refusal_ && request_->body.size() + got > core_->limits.body_bytes) {
      keep_ = false;
      return tell(too_large());
    }
    if (!refusal_) {
      if (!request_->held.grow(core_->memory, got)) {
        keep_ = false;
        request_->held.release();
        return tell(plain_error_response(503, "reading a request", "other requests take all the memory for bodies",
                                         "come back in a moment"));
      }
      request_->body.append(piece_.data(), got);
    }
    read_body();
  }

  void hand_on() {
    std::string().swap(piece_);  // a thousand idle connections hold no buffers
    if (refusal_) return write(std::move(*refusal_));
    now_ = Now::waiting;
    core_->handler.answers(
        std::exchange(request_, nullptr),
        [asked = std::make_shared<Asked>(core_, shared_from_this())](Response r) { asked->give(std::move(r)); });
  }

  // What the service does not see is counted here.
  void tell(Response response) {
    core_->metrics.answered("none", response.status, 0);
    write(std::move(response));
  }

  void write(Response response) {
    now_ = Now::writing;
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
    begin_pieces(core_->limits.write_seconds);
    if (!head_only) return write_body();
    http::async_write_header(socket_, *serializer_,
                             [self = shared_from_this()](Code error, std::size_t) { self->written(error); });
  }

  void write_body() {
    http::async_write_some(socket_, *serializer_, [self = shared_from_this()](Code error, std::size_t bytes) {
      if (error || self->serializer_->is_done()) return self->written(error);
      self->piece(bytes, self->core_->limits.write_seconds);
      self->write_body();
    });
  }

  void written(Code error) {
    serializer_.reset();
    answer_.reset();
    held_.reset();
    if (error) {
      if (late_) ++core_->metrics.dropped_connections;
      return close();
    }
    if (keep_) return start();
    linger();
  }

  // A socket that is closed with unread bytes takes the answer with it: what still comes is thrown away for a moment.
  void linger() {
    Code ignored;
    now_ = Now::leaving;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    allow(kLingerSeconds);
    throw_away();
  }
  void throw_away() {
    if (thrown_ > kThrownAway) return close();
    buffer_.clear();
    socket_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](Code error, std::size_t bytes) {
      if (error) return self->close();
      self->thrown_ += bytes;
      self->throw_away();
    });
  }

  std::shared_ptr<HttpServer::Core> core_;
  tcp::socket socket_;
  net::steady_timer timer_;
  Clock::time_point deadline_, began_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::buffer_body>> parser_;
  std::optional<http::response<http::empty_body>> go_on_;
  std::optional<http::response<http::string_body>> answer_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::shared_ptr<MemoryBudget::Hold> held_;
  std::shared_ptr<Request> request_;
  std::optional<Response> refusal_;
  std::string piece_;
  std::size_t thrown_ = 0, moved_ = 0;  // moved: of this body or answer
  Now now_ = Now::reading;
  bool keep_ = true, close_after_ = false, timing_ = false, late_ = false;
};

}  // namespace lano::serve
