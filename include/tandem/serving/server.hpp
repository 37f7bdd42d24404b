// Server: serves models to clients of TensorFlow Serving and of the Open Inference Protocol. Part of the component
// tandem::serving.
#pragma once
#include <memory>

#include "tandem/serving/engine.hpp"
#include "tandem/serving/listener.hpp"
#include "tandem/serving/options.hpp"

namespace TANDEM_NS::serving {

/// A model server.
///
///   serving::ShutdownSignals signals;  // before the server
///   serving::Server server({.models = {{"half", "models/half"}}});
///   signals.wait();
///   server.stop();
///
/// answers `curl -d '{"instances": [1, 2, 5]}' localhost:8501/v1/models/half:predict`. It listens from the start;
/// models are available when they are loaded.
class TANDEM_API Server {
 public:
  /// Begins to load the models and to listen.
  ///   other   a protocol beside REST: serving::grpc_listener (serving_grpc.hpp)
  ///   throws  errors::InvalidArgumentError as Engine, and for an address that others reach without tokens,
  ///           TLS or .allow_insecure, and for files of tokens or TLS that cannot be used; errors::UnavailableError for
  ///           an address that it cannot have; errors::NotFoundError for a file of tokens or TLS that is not there
  explicit Server(const Options& options, MakeListener other = nullptr);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  Engine& engine();
  /// The port of REST.
  int rest_port() const;
  /// The port of the other protocol; 0 without one.
  int port() const;
  /// Reads the files of tokens and of TLS again. Connections keep the certificate that they began with.
  ///   throws  as the constructor; then what was read before stays, of the file that is wrong
  void reload_access();
  /// Shuts down: says that it is not ready, answers requests for .drain_seconds more, refuses new ones, waits for those
  /// that run up to .grace_seconds, and cancels the rest.
  void stop();

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

/// Leaves SIGTERM, SIGINT and SIGHUP to one thread, which waits for them. To be made before other threads are: they
/// take these signals no more than the thread that makes it.
class TANDEM_API ShutdownSignals {
 public:
  ShutdownSignals();
  ShutdownSignals(const ShutdownSignals&) = delete;
  ShutdownSignals& operator=(const ShutdownSignals&) = delete;
  ~ShutdownSignals();
  /// Waits for one of the signals and returns its number. After SIGTERM or SIGINT the next one ends the process at
  /// once.
  int wait();
  /// The same for so many seconds at most; 0 if none of them comes.
  int wait(double seconds);

 private:
  struct Before;
  static int taken(int number);
  const std::unique_ptr<Before> before_;
};

}  // namespace TANDEM_NS::serving
