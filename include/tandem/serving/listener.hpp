// Listener: a protocol that a Server speaks beside REST. Part of the component tandem::serving.
#pragma once
#include <memory>

#include "tandem/serving/engine.hpp"
#include "tandem/serving/options.hpp"

namespace TANDEM_NS::serving {

namespace impl {
class Certificates;
class Guard;
}  // namespace impl

/// What a Server gives to its listeners. All of it outlives them.
struct ListenerContext {
  const Options& options;
  Engine& engine;
  const impl::Guard& guard;
  const impl::Certificates& certificates;
};

/// Listens on a port of its own from its construction on, and answers by calls of the Engine.
class TANDEM_API Listener {
 public:
  virtual ~Listener() = default;
  virtual int port() const = 0;
  /// Takes no new connections and calls. Those that run may take so many seconds, then they are cancelled. Returns at
  /// once.
  virtual void stop_accepting(double seconds) = 0;
  /// Waits for those that run, after stop_accepting().
  virtual void finish() = 0;
};

/// Makes a listener: serving_grpc.hpp has one.
using MakeListener = std::unique_ptr<Listener> (*)(const ListenerContext& context);

}  // namespace TANDEM_NS::serving
