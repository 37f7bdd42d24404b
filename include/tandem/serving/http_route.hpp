// HttpRoute: code of a program that answers HTTP requests beside the models, also piece by piece. Part of the component
// tandem::serving.
#pragma once
#include <string>

#include "tandem/serving/rest.hpp"

namespace TANDEM_NS::serving {

/// The body of an answer that comes in pieces, each of which is sent as soon as it is there (chunked transfer coding).
class TANDEM_API HttpStream {
 public:
  virtual ~HttpStream() = default;
  /// The next piece; empty at the end. Called by one thread at a time, not always the same, and not any more when the
  /// client is gone. If it throws, the connection ends before the body does, which clients tell by the missing last
  /// chunk.
  virtual std::string next() = 0;
};

/// Answers the POST requests for a path (Options::routes), for those whom the server lets in.
class TANDEM_API HttpRoute {
 public:
  virtual ~HttpRoute() = default;
  /// Called by several threads at once. What it throws is the answer (status_of).
  virtual HttpAnswer answer(const HttpRequest& request) = 0;
};

}  // namespace TANDEM_NS::serving
