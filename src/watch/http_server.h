// A small HTTP/1.1 server for pages that are read, on 127.0.0.1 only and on a thread of its own.
//
// It answers GET and closes the connection. Bounded in every way: at most 16 connections, 4 KiB a
// request, five seconds from a connection's begin to its end. RFC 9112; a body is not read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace hone::watch {

class HttpServer {
 public:
  struct Page {
    std::string type, body;
  };
  // Of a path without its query; none is 404. Called on the server's thread; what it throws is 500.
  using Handler = std::function<std::optional<Page>(std::string_view path)>;

  // Port 0: any that is free. Throws Error when the port cannot be had.
  HttpServer(int64_t port, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }

 private:
  struct Connection;

  void serve();
  void accept_one(std::vector<Connection>& connections) const;
  void go_on(Connection& c) const;
  std::string answer(std::string_view request) const;

  Handler handler_;
  int listener_ = -1, stop_ = -1;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace hone::watch
