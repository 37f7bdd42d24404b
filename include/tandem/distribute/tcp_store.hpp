// TcpStore, TcpStoreServer: a table of texts in one process that the others of a group read and write over TCP. By it
// processes find each other and say that they live. Not here: what they say (liveness.hpp).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::distribute {

/// A port of a host.
struct TANDEM_API Endpoint {
  std::string host = "127.0.0.1";
  int port = 0;

  /// "node1:29500"; an address of version 6 is in brackets.
  std::string text() const;
  /// The reverse of text().
  ///   throws  errors::InvalidArgumentError in the name of `op` for other texts
  static Endpoint parse(const char* op, std::string_view text);
};

/// Keeps the table, on a thread of its own, as long as it lives. Whoever reaches the port may read and write: use
/// it only in a trusted network.
class TANDEM_API TcpStoreServer {
 public:
  ///   address  where it listens: "127.0.0.1"; empty: at all addresses of the machine
  ///   port     0: one that is free
  /// It raises the process's limit of open files to the highest one allowed (RLIMIT_NOFILE).
  ///   throws   errors::UnavailableError if the port is in use
  explicit TcpStoreServer(const std::string& address = {}, int port = 0);
  TcpStoreServer(const TcpStoreServer&) = delete;
  TcpStoreServer& operator=(const TcpStoreServer&) = delete;
  ~TcpStoreServer();

  int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A connection to a TcpStoreServer. Threads may use it at the same time. Each call raises errors::UnavailableError if
/// the server does not answer within the timeout; from then on all calls raise.
class TANDEM_API TcpStore {
 public:
  /// An entry of the table.
  struct Entry {
    std::string key, value;
    double age = 0;        ///< seconds since it was last written, by the server's clock
    bool is_lost = false;  ///< the connection that the key was tied to has ended since
    double lost_for = 0;   ///< if so, the seconds since
  };

  /// Connects; tries again until the server listens.
  ///   timeout  seconds for that, and for each answer
  ///   throws   errors::UnavailableError if nobody listens by then
  explicit TcpStore(Endpoint server, double timeout = 30);
  TcpStore(TcpStore&&) noexcept;
  TcpStore& operator=(TcpStore&&) noexcept;
  ~TcpStore();

  /// Writes a value.
  ///   returns  how many keys of the same folder, "alive/" of "alive/2", are lost
  i64 set(std::string_view key, std::string_view value);
  /// The value of a key, if there is one.
  std::optional<std::string> find(std::string_view key);
  /// Waits until the key has a value.
  ///   throws  errors::UnavailableError if it has none after `timeout` seconds
  std::string get(std::string_view key, double timeout);
  /// Adds to the number that the value is (0 if there is none) and returns the sum, which no other call returns.
  ///   throws  errors::InvalidArgumentError if the value is not a number
  i64 add(std::string_view key, i64 number);
  /// All entries whose keys begin so, sorted by key.
  std::vector<Entry> list(std::string_view prefix);
  /// Ties the key to this connection, and to no other any more: once it ends, list() says so to the others. untie()
  /// before an orderly end.
  void tie(std::string_view key);
  void untie(std::string_view key);
  /// Changes the timeout of later calls.
  void set_timeout(double seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::distribute
