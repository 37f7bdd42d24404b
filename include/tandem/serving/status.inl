// Definitions of serving/status.hpp, and the names of states.
#pragma once
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/serving/request.hpp"
#include "tandem/serving/status.hpp"

namespace TANDEM_NS::serving {

namespace impl {

inline constexpr int internal_code = 13;

TANDEM_INLINE int http_of(int grpc) {
  switch (grpc) {
    case 0: return 200;
    case 1: return 499;
    case 3:
    case 9:
    case 11: return 400;
    case 4: return 504;
    case 5: return 404;
    case 6:
    case 10: return 409;
    case 7: return 403;
    case 8: return 429;
    case 12: return 501;
    case 14: return 503;
    case 16: return 401;
    default: return 500;
  }
}
TANDEM_INLINE u64 new_request_id() {
  static constinit std::atomic<std::uint64_t> count{0};
  std::uint64_t x = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) +
                    (static_cast<std::uint64_t>(::getpid()) << 32) + ++count * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;  // splitmix64
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
TANDEM_INLINE std::string text_of_request_id(u64 id) {
  std::string r;
  for (int i = 60; i >= 0; i -= 4) r += "0123456789abcdef"[id >> i & 15];
  return r;
}
// What went wrong inside is for the log, because it may name files of the machine.
TANDEM_INLINE Status internal_status(int grpc, const std::string& what) {
  const u64 of_request = std::exchange(failed_request_id, 0);
  const std::string id = text_of_request_id(of_request ? of_request : new_request_id());
  tandem::detail::warn(("serving: internal error " + id + ": " + what).c_str());
  return {grpc, http_of(grpc), "internal error " + id + " (the server's log says more)"};
}
// Clients match the texts of the server itself, which therefore do not begin with the name of a function.
TANDEM_INLINE std::string text_of(const errors::OpError& e) {
  const std::string text = e.message();
  const bool is_own = e.op() == "serving" || e.op() == "saved_model::Loaded";
  return is_own && text.starts_with(e.op() + ": ") ? text.substr(e.op().size() + 2) : text;
}

}  // namespace impl

TANDEM_INLINE Status status_of(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const errors::OpError& e) {
    const int grpc = static_cast<int>(e.code());
    if (impl::http_of(grpc) == 500) return impl::internal_status(grpc, e.what());
    return {grpc, impl::http_of(grpc), impl::text_of(e)};
  } catch (const std::bad_alloc&) {
    return {8, impl::http_of(8), "there is not enough memory for the request"};
  } catch (const std::exception& e) {
    return impl::internal_status(impl::internal_code, e.what());
  } catch (...) {
    return impl::internal_status(impl::internal_code, "an exception of an unknown type");
  }
}
TANDEM_INLINE Status status_without_memory(const std::exception_ptr& error) noexcept {
  try {
    return status_of(error);
  } catch (const std::exception&) {
    return {static_cast<int>(errors::Code::resource_exhausted), 0, {}};
  }
}
TANDEM_INLINE const char* code_name(int grpc) {
  static constexpr const char* names[] = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  return grpc >= 0 && grpc <= 16 ? names[grpc] : "UNKNOWN";
}
TANDEM_INLINE const char* name_of(State s) {
  switch (s) {
    case State::start: return "START";
    case State::loading: return "LOADING";
    case State::available: return "AVAILABLE";
    case State::unloading: return "UNLOADING";
    case State::end: return "END";
  }
  return "UNKNOWN";
}

}  // namespace TANDEM_NS::serving
