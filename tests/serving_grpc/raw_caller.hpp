// A client of gRPC that speaks HTTP/2 by itself, to do what gRPC's clients do not.
#pragma once
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "tests/serving_grpc/client.hpp"

namespace testing {

/// HTTP/2 by hand: the frames of one call of Predict, whose message the test sends as it wants.
class RawCaller {
 public:
  enum Kind : std::uint8_t { data = 0, headers = 1, reset = 3, settings = 4, window = 8 };

  explicit RawCaller(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET, to.sin_port = htons(static_cast<std::uint16_t>(port)),
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    const timeval limit{60, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    // The server may send 2^31 - 1 bytes of an answer at once.
    const std::string any_size("\0\x04\x7f\xff\xff\xff", 6), more("\x7f\xff\0\0", 4);
    send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(settings, 0, 0, any_size) + frame(window, 0, 0, more));
    const std::string method = grpc_predict_path;
    // POST and http by their numbers in HPACK's table, then texts that are not in it.
    send(frame(headers, 4, 1,
               "\x83\x86" + field("\x04", method) + field("\x01", "localhost") +
                   field(text("content-type").insert(0, 1, '\0'), "application/grpc") +
                   field(text("te").insert(0, 1, '\0'), "trailers")));
  }
  RawCaller(const RawCaller&) = delete;
  ~RawCaller() { ::close(socket_); }

  bool send_data(const std::string& bytes) { return send(frame(data, 0, 1, bytes)); }
  /// A whole message; the call has no other one.
  bool send_message(const std::string& message) {
    const std::string head{'\0', '\0', '\0', static_cast<char>(message.size() >> 8), static_cast<char>(message.size())};
    return send(frame(data, 1, 1, head + message));
  }
  /// The beginning of what the server sends.
  void read_some() { (void)receive(100); }
  /// Says that the connection ends with a reset, as that of a process that is killed.
  void close_by_reset() const {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  /// The kinds of the frames of the call that come until the server ends it.
  std::string read_to_the_end() {
    std::string kinds;
    for (;;) {
      const std::string head = receive(9);
      if (head.size() < 9) return kinds + "closed";
      const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<std::uint8_t>(head[i])); };
      (void)receive(byte(0) << 16 | byte(1) << 8 | byte(2));
      if (byte(8) != 1) continue;
      kinds += byte(3) == headers ? "headers " : byte(3) == reset ? "reset " : "other ";
      constexpr std::size_t end_of_stream = 1;
      if (byte(3) == reset || (byte(4) & end_of_stream)) return kinds;
    }
  }

 private:
  static std::string text(const std::string& s) { return std::string(1, static_cast<char>(s.size())) + s; }
  static std::string field(const std::string& name, const std::string& value) { return name + text(value); }
  static std::string frame(Kind kind, int flags, int stream, const std::string& payload) {
    const std::size_t n = payload.size();
    std::string r;
    for (const std::size_t byte : {n >> 16, n >> 8 & 255, n & 255, std::size_t{kind}, static_cast<std::size_t>(flags),
                                   std::size_t{0}, std::size_t{0}, std::size_t{0}, static_cast<std::size_t>(stream)})
      r += static_cast<char>(byte);
    return r + payload;
  }
  bool send(const std::string& bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  std::string receive(std::size_t n) {
    std::string r(n, '\0');
    std::size_t got = 0;
    while (got < n) {
      const ssize_t k = ::recv(socket_, r.data() + got, n - got, 0);
      if (k <= 0) break;
      got += static_cast<std::size_t>(k);
    }
    r.resize(got);
    return r;
  }

  const int socket_;
};

}  // namespace testing
