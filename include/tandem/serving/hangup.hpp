// Hangup: notices that a client has gone. For the definitions of serving.
#pragma once
#include <poll.h>

#include "tandem/core/cancel.hpp"
#include "tandem/serving/crew.hpp"

namespace TANDEM_NS::serving::impl {

/// Cancels a request whose client has closed its connection.
class Hangup final : public CrewCheck {
 public:
  Hangup(int socket, const CancelToken& cancel) : socket_(socket), cancel_(cancel) {}
  void check() override {
    pollfd state{socket_, POLLRDHUP, 0};
    if (::poll(&state, 1, 0) == 1) cancel_.cancel();
  }

 private:
  const int socket_;
  const CancelToken& cancel_;
};

}  // namespace TANDEM_NS::serving::impl
