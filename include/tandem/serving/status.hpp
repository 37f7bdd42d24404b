// How errors are told to clients: the status codes of gRPC and HTTP. Part of the component tandem::serving.
#pragma once
#include <exception>
#include <string>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::serving {

/// An error as clients see it.
struct Status {
  int grpc = 0;           ///< a code of google.rpc.Code; 0: no error
  int http = 200;         ///< the status of the answer
  std::string text = {};  ///< the message; of internal errors without what it tells of the machine
};

/// The status of an exception. Errors of the library have TensorFlow Serving's: InvalidArgumentError is 3 and 400,
/// NotFoundError 5 and 404, ResourceExhaustedError 8 and 429, UnavailableError 14 and 503, DeadlineExceededError 4 and
/// 504, CancelledError 1 and 499 and so on; every other exception is internal, 13 and 500.
TANDEM_API Status status_of(const std::exception_ptr& error);
/// The same where there may be no memory for the text.
TANDEM_API Status status_without_memory(const std::exception_ptr& error) noexcept;

/// The name of a gRPC code: "INVALID_ARGUMENT".
TANDEM_API const char* code_name(int grpc);

namespace impl {
/// The HTTP status of a gRPC code.
int http_of(int grpc);
/// An id of a request, by which its answer is found in the log; unlike those of other processes and earlier runs.
u64 new_request_id();
std::string text_of_request_id(u64 id);
/// The id of the request that has just ended with an internal error on this thread, for its status; 0: none. Protocols
/// set it to 0 where a request begins.
inline constinit thread_local u64 failed_request_id = 0;
}  // namespace impl

}  // namespace TANDEM_NS::serving
