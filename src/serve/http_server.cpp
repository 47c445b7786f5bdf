// One io_context, one thread. Ending: new connections are taken no more, requests that have arrived are answered with
// "Connection: close", idle connections are given a moment and closed.
#include "serve/http_server.h"

#include <algorithm>
#include <csignal>

#include "serve/http_connection.h"

namespace lano::serve {

void HttpServer::Core::accept() {
  acceptor.async_accept([self = shared_from_this()](Code error, tcp::socket socket) {
    if (error == net::error::operation_aborted || !self->acceptor.is_open()) return;
    if (!error) self->welcome(std::move(socket));
    if (!error) return self->accept();
    // No descriptors left, say: not at once again.
    self->deadline.expires_after(std::chrono::milliseconds(100));
    self->deadline.async_wait([self](Code) {
      if (!self->ending) self->accept();
    });
  });
}

void HttpServer::Core::welcome(tcp::socket socket) {
  const bool full = metrics.connections >= limits.connections;
  const auto connection = std::make_shared<Connection>(shared_from_this(), std::move(socket));
  if (!full) return connection->start();
  ++metrics.refused_connections;
  connection->turn_away();
}

void HttpServer::Core::closed(Connection* connection) {
  open.erase(connection);
  if (ending && open.empty()) io.stop();
}

void HttpServer::Core::end() {
  if (std::exchange(ending, true)) return io.stop();
  // Who has connected is let in.
  Code error;
  acceptor.non_blocking(true, error);
  for (;;) {
    tcp::socket socket(io);
    acceptor.accept(socket, error);
    if (error) break;
    welcome(std::move(socket));
  }
  acceptor.close(error);
  // An idle connection has a moment for a request that is on its way.
  grace.expires_after(span_of(kGraceSeconds));
  grace.async_wait([this](Code failed) {
    if (failed) return;
    for (Connection* connection : open)
      if (connection->idle()) connection->close();
  });
  deadline.expires_after(span_of(limits.drain_seconds));
  deadline.async_wait([this](Code failed) {
    if (!failed) io.stop();
  });
  if (open.empty()) io.stop();
}

HttpServer::HttpServer(const std::string& address, std::uint16_t port, const Limits& limits, MemoryBudget& memory,
                       Metrics& metrics, HttpHandler handler)
    : core_(std::make_shared<Core>(limits, memory, metrics, std::move(handler))) {
  const std::string doing = fmt::format("listening on {} port {}", address, port);
  Code error;
  const net::ip::address at = net::ip::make_address(address, error);
  if (error)
    fail_usage(doing, "an address such as 127.0.0.1, ::1 or 0.0.0.0", fmt::format("'{}'", address), "see --address");
  const tcp::endpoint endpoint(at, port);
  const auto check = [&] {
    if (error)
      fail(doing, "an address and a port of this machine that are free", error.message(),
           "choose another --port, or end the program that has it");
  };
  core_->acceptor.open(endpoint.protocol(), error);
  check();
  core_->acceptor.set_option(net::socket_base::reuse_address(true), error);
  core_->acceptor.bind(endpoint, error);
  check();
  core_->acceptor.listen(4096, error);
  check();
}

// Handlers that still wait hold their connections, and those the core: they are told that it is over.
HttpServer::~HttpServer() {
  Code ignored;
  core_->acceptor.close(ignored);
  core_->signals.cancel(ignored);
  core_->deadline.cancel();
  core_->grace.cancel();
  core_->ending = true;
  for (Connection* connection : core_->open) connection->close();
  core_->io.restart();
  core_->io.poll();
}

std::uint16_t HttpServer::port() const { return core_->acceptor.local_endpoint().port(); }

std::int64_t HttpServer::run(bool signals) {
  std::signal(SIGPIPE, SIG_IGN);
  if (signals) {
    core_->signals.add(SIGTERM);
    core_->signals.add(SIGINT);
    const auto wait = [core = core_](auto again) -> void {
      core->signals.async_wait([core, again](Code error, int) {
        if (error) return;
        core->end();
        again(again);
      });
    };
    wait(wait);
  }
  core_->accept();
  core_->io.run();
  // Whoever calls may have work to end: another signal ends the process.
  Code ignored;
  core_->signals.clear(ignored);
  return std::count_if(core_->open.begin(), core_->open.end(), [](const Connection* c) { return c->owes(); });
}

void HttpServer::stop() {
  net::post(core_->io, [core = core_] { core->end(); });
}

}  // namespace lano::serve
