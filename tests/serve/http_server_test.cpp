// The HTTP side alone, with handlers of its own: on which thread a connection ends, deadlines, what is left at the end.
#include "serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "serve/http_error.h"
#include "serve/work_threads.h"

namespace lano::http_server_test {
namespace {

using namespace serve;
using Clock = std::chrono::steady_clock;

void rest(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Client {
 public:
  explicit Client(std::uint16_t port, int receive_buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    const timeval patience{60, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool send(std::string_view data) const {
    while (!data.empty()) {
      const ssize_t sent = ::send(socket_, data.data(), data.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      data.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  std::string read(std::size_t most) const {
    std::string data(most, '\0');
    const ssize_t got = ::recv(socket_, data.data(), most, 0);
    data.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return data;
  }
  std::string to_the_end() const {
    std::string all;
    for (std::string some = read(65536); !some.empty(); some = read(65536)) all += some;
    return all;
  }
  // One answer with a Content-Length, on a connection that stays.
  std::string answer() const {
    std::string all;
    for (;;) {
      const std::size_t head = all.find("\r\n\r\n"), at = all.find("Content-Length: ");
      if (head != std::string::npos && at < head && all.size() >= head + 4 + std::stoul(all.substr(at + 16)))
        return all;
      const std::string some = read(65536);
      if (some.empty()) return all;
      all += some;
    }
  }

 private:
  int socket_;
};

std::string post(const std::string& body, const char* connection = "keep-alive") {
  return "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: " + std::string(connection) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

Response text(std::string body) { return {200, "text/plain", std::move(body)}; }

// A server of one handler, with its thread.
struct Serving {
  Metrics metrics;
  MemoryBudget memory{std::size_t{1} << 30};
  HttpServer server;
  std::int64_t unanswered = -1;
  std::thread thread;

  Serving(const Limits& limits, std::function<void(std::shared_ptr<Request>, Reply)> answers, bool signals = false)
      : server("127.0.0.1", 0, limits, memory, metrics, {nullptr, std::move(answers)}),
        thread([this, signals] { unanswered = server.run(signals); }) {}
  ~Serving() { end(); }
  std::int64_t end() {
    if (thread.joinable()) {
      server.stop();
      thread.join();
    }
    return unanswered;
  }
  std::uint16_t port() const { return server.port(); }
  bool has(std::int64_t connections) const {
    for (int i = 0; i < 2000 && metrics.connections != connections; ++i) rest(0.01);
    return metrics.connections == connections;
  }
};

void echo(const std::shared_ptr<Request>& request, const Reply& reply) { reply(text(request->body)); }

TEST(HttpServer, AConnectionEndsOnItsOwnThreadHoweverLongItsReplyIsKept) {
  std::vector<Reply> kept;
  Serving s({}, [&](const std::shared_ptr<Request>& request, const Reply& reply) {
    kept.push_back(reply);
    echo(request, reply);
  });
  const std::string got = [&] {
    const Client client(s.port());
    client.send(post("hello", "close"));
    return client.to_the_end();
  }();
  EXPECT_TRUE(got.ends_with("\r\n\r\nhello")) << got;
  EXPECT_TRUE(s.has(0)) << "a copy of the reply holds the connection";
  EXPECT_EQ(s.end(), 0);
}

TEST(HttpServer, AnswersOfManyThreadsToClientsThatClose) {
  auto workers = std::make_unique<WorkThreads>(4);
  Serving s({}, [&](const std::shared_ptr<Request>& request, const Reply& reply) {
    workers->add([request, reply] {
      echo(request, reply);
      std::this_thread::yield();  // the copies of the reply end here, after the client has gone
    });
  });
  std::atomic<int> right = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 60; ++i) {
        const Client client(s.port());
        const std::string body = std::to_string(1000 * c + i);
        client.send(post(body, "close"));
        if (i % 4 == 3) continue;  // leaves without its answer
        if (client.to_the_end().ends_with("\r\n\r\n" + body)) ++right;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 8 * 45);
  EXPECT_TRUE(s.has(0));
  EXPECT_EQ(s.end(), 0);
  workers.reset();
}

TEST(HttpServer, WhereNoReplyIsGivenTheClientIsToldSo) {
  Serving s({}, [](const std::shared_ptr<Request>&, const Reply&) {});
  const Client client(s.port());
  client.send(post("hello"));
  EXPECT_TRUE(client.answer().starts_with("HTTP/1.1 503"));
  client.send(post("again"));
  EXPECT_TRUE(client.answer().starts_with("HTTP/1.1 503"));
}

TEST(HttpServer, ASlowHeadIsTold408) {
  Limits limits;
  limits.header_seconds = 0.5;
  Serving s(limits, echo);
  const Client client(s.port());
  client.send("POST / HTTP/1.1\r\nHost: loc");
  const auto start = Clock::now();
  const std::string got = client.to_the_end();
  EXPECT_TRUE(got.starts_with("HTTP/1.1 408")) << got;
  EXPECT_NE(got.find("its head did not arrive in time"), std::string::npos) << got;
  EXPECT_GE(since(start), 0.4);
  EXPECT_EQ(s.metrics.dropped_connections, 1u);
}

TEST(HttpServer, ABodyThatStopsOrTricklesIsTold408) {
  Limits limits;
  limits.body_seconds = 0.6;
  limits.least_rate = 1000;
  Serving s(limits, echo);
  const std::string head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n";
  const Client stopped(s.port());
  stopped.send(head + std::string(5000, 'x'));
  const std::string got = stopped.to_the_end();
  EXPECT_TRUE(got.starts_with("HTTP/1.1 408")) << got;
  // Always soon another byte, and still no end: 100 bytes a second are below the least rate.
  const Client trickling(s.port());
  const auto start = Clock::now();
  trickling.send(head);
  while (since(start) < 20 && s.metrics.dropped_connections < 2) {
    trickling.send("x");
    rest(0.01);
  }
  EXPECT_TRUE(trickling.to_the_end().starts_with("HTTP/1.1 408"));
  EXPECT_LT(since(start), 15);
}

TEST(HttpServer, ASteadyBodyMayTakeLongerThanOnePieceOfIt) {
  Limits limits;
  limits.body_seconds = 1.5;
  Serving s(limits, echo);
  const Client client(s.port());
  const std::string piece(30000, 'x');
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n");
  const auto start = Clock::now();
  for (int i = 0; i < 10; ++i) {
    rest(0.25);
    ASSERT_TRUE(client.send(piece));
  }
  EXPECT_GT(since(start), 1.6);
  const std::string got = client.answer();
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200")) << got.substr(0, 300);
  EXPECT_TRUE(got.ends_with(piece));
}

TEST(HttpServer, ASteadyReaderHasItsWholeAnswerAndOneThatStopsIsDropped) {
  Limits limits;
  limits.write_seconds = 1.5;
  constexpr std::size_t kSize = std::size_t{48} << 20;  // more than the system's buffers take
  Serving s(limits, [](const std::shared_ptr<Request>&, const Reply& reply) { reply(text(std::string(kSize, 'y'))); });
  const Client steady(s.port());
  steady.send(post("", "close"));
  const auto start = Clock::now();
  std::size_t got = 0;
  for (std::size_t paused = 0;;) {
    const std::string some = steady.read(1 << 20);
    if (some.empty()) break;
    got += some.size();
    if (got - paused > kSize / 12) {
      rest(0.25);
      paused = got;
    }
  }
  EXPECT_GT(got, kSize);
  EXPECT_GT(since(start), 1.6);
  EXPECT_EQ(s.metrics.dropped_connections, 0u);
  const Client stopped(s.port(), 65536);
  stopped.send(post("", "close"));
  EXPECT_FALSE(stopped.read(10).empty());
  EXPECT_TRUE(s.has(0));
  EXPECT_EQ(s.metrics.dropped_connections, 1u);
}

TEST(HttpServer, TheEndCountsWhatWasNotAnswered) {
  Limits limits;
  limits.drain_seconds = 0.5;
  std::vector<Reply> kept;  // and never called
  Serving s(limits, [&](const std::shared_ptr<Request>&, const Reply& reply) { kept.push_back(reply); });
  const Client one(s.port()), two(s.port()), idle(s.port());
  one.send(post("a"));
  two.send(post("b"));
  for (int i = 0; i < 1000 && s.metrics.connections < 3; ++i) rest(0.01);
  rest(0.3);
  EXPECT_EQ(s.end(), 2);
  kept.clear();
}

TEST(HttpServer, ASecondStopEndsAtOnce) {
  std::vector<Reply> kept;
  Serving s({}, [&](const std::shared_ptr<Request>&, const Reply& reply) { kept.push_back(reply); });
  const Client client(s.port());
  client.send(post("a"));
  rest(0.3);
  const auto start = Clock::now();
  s.server.stop();
  EXPECT_EQ(s.end(), 1);
  EXPECT_LT(since(start), 20);  // the drain's default is 75
  kept.clear();
}

TEST(HttpServer, AfterASignalTheNextOneIsTheSystems) {
  const auto handler = [](int number) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    return action.sa_handler;
  };
  Serving s({}, echo, /*signals=*/true);
  {
    const Client client(s.port());
    client.send(post("a"));
    client.answer();
  }
  EXPECT_NE(handler(SIGTERM), SIG_DFL);
  ::kill(::getpid(), SIGTERM);
  s.thread.join();
  EXPECT_EQ(s.unanswered, 0);
  EXPECT_EQ(handler(SIGTERM), SIG_DFL);
  EXPECT_EQ(handler(SIGINT), SIG_DFL);
}

#ifndef __SANITIZE_ADDRESS__
TEST(HttpServer, IdleConnectionsHoldNoBuffers) {
  const auto resident = [] {
    std::int64_t all = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> all >> pages;
    return pages * ::sysconf(_SC_PAGE_SIZE);
  };
  Serving s({}, echo);
  const std::string body(70000, 'x');
  std::vector<std::unique_ptr<Client>> clients;
  const auto ask = [&](int count) {
    for (int i = 0; i < count; ++i) {
      clients.push_back(std::make_unique<Client>(s.port()));
      clients.back()->send(post(body));
      ASSERT_TRUE(clients.back()->answer().ends_with(body));
    }
  };
  ask(50);
  const std::int64_t before = resident();
  ask(250);
  EXPECT_LT(resident() - before, 250 * 32768);
}
#endif

}  // namespace
}  // namespace lano::http_server_test
