#include "watch/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"

namespace hone::watch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostConnections = 16, kMostBytes = 4096;
constexpr std::chrono::seconds kLongest{5};

std::string response(std::string_view status, std::string_view type, std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n\r\n{}",
      status, type, body.size(), body);
}

std::string refusal(std::string_view status) {
  return response(status, "text/plain; charset=utf-8", fmt::format("{}\n", status));
}

}  // namespace

struct HttpServer::Connection {
  int fd = -1;
  Clock::time_point begun = Clock::now();
  std::string request = {}, reply = {};
  size_t sent = 0;
  bool done = false;
};

HttpServer::HttpServer(int64_t port, Handler handler) : handler_(std::move(handler)) {
  const auto fail = [&](std::string_view step) {
    const int reason = errno;
    if (listener_ >= 0) close(listener_);
    throw Error("cannot {} 127.0.0.1:{}: {}; give another port, or 0 for none", step, port,
                std::strerror(reason));
  };
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) fail("open");
  const int yes = 1;  // the port of a run that has just ended
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (bind(listener_, plain, size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, plain, &size) != 0)
    fail("listen on");
  port_ = ntohs(address.sin_port);
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (stop_ < 0) fail("watch");
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(stop_, &one, sizeof one);
  thread_.join();
  close(listener_);
  close(stop_);
}

void HttpServer::serve() {
  std::vector<Connection> connections;
  std::vector<pollfd> waits;
  while (true) {
    const bool room = connections.size() < kMostConnections;  // others wait in the kernel's queue
    waits = {{stop_, POLLIN, 0}, {room ? listener_ : -1, POLLIN, 0}};
    for (const Connection& c : connections)
      waits.push_back({c.fd, static_cast<short>(c.reply.empty() ? POLLIN : POLLOUT), 0});
    if (poll(waits.data(), waits.size(), connections.empty() ? -1 : 250) < 0 && errno != EINTR)
      break;
    if (waits[0].revents != 0) break;
    for (size_t i = 0; i < connections.size(); ++i) {
      if (waits[i + 2].revents != 0) go_on(connections[i]);
      if (Clock::now() - connections[i].begun > kLongest) connections[i].done = true;
    }
    std::erase_if(connections, [](const Connection& c) {
      if (c.done) close(c.fd);
      return c.done;
    });
    if (waits[1].revents != 0) accept_one(connections);
  }
  for (const Connection& c : connections) close(c.fd);
}

void HttpServer::accept_one(std::vector<Connection>& connections) const {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) connections.push_back({.fd = fd});
}

// Reads until the request's head is whole, then writes the reply.
void HttpServer::go_on(Connection& c) const {
  if (c.reply.empty()) {
    std::array<char, 1024> bytes;
    const ssize_t n = recv(c.fd, bytes.data(), bytes.size(), 0);
    if (n <= 0) {
      c.done = n == 0 || (errno != EAGAIN && errno != EINTR);
      return;
    }
    c.request.append(bytes.data(), static_cast<size_t>(n));
    if (c.request.find("\r\n\r\n") != std::string::npos)
      c.reply = answer(c.request);
    else if (c.request.size() > kMostBytes)
      c.reply = refusal("431 Request Header Fields Too Large");
    if (c.reply.empty()) return;
  }
  const ssize_t n = send(c.fd, c.reply.data() + c.sent, c.reply.size() - c.sent, MSG_NOSIGNAL);
  if (n < 0) {
    c.done = errno != EAGAIN && errno != EINTR;
    return;
  }
  c.sent += static_cast<size_t>(n);
  c.done = c.sent == c.reply.size();
  if (c.done) shutdown(c.fd, SHUT_WR);
}

std::string HttpServer::answer(std::string_view request) const try {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const size_t space = line.find(' '), last = line.rfind(' ');
  if (space == std::string_view::npos || space == last ||
      !line.substr(last + 1).starts_with("HTTP/1."))
    return refusal("400 Bad Request");
  if (line.substr(0, space) != "GET") return refusal("405 Method Not Allowed");
  const std::string_view target = line.substr(space + 1, last - space - 1);
  const std::optional<Page> page = handler_(target.substr(0, target.find('?')));
  return page ? response("200 OK", page->type, page->body) : refusal("404 Not Found");
} catch (const std::exception&) {
  return refusal("500 Internal Server Error");
}

}  // namespace hone::watch
