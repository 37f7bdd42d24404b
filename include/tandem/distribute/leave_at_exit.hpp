// leave_at_exit(): a last call to an object when the process exits. For definitions only.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "tandem/config.hpp"

namespace TANDEM_NS::distribute::detail {

/// Calls object->leave(status) in exit(status), if the object still exists then; not in a child that fork() has made.
/// Needs the C library of GNU, whose on_exit() passes the status; others call nothing.
template <class T>
void leave_at_exit(const std::shared_ptr<T>& object) {
#if defined(__GLIBC__)
  struct Last {
    std::weak_ptr<T> object;
    pid_t process;
  };
  ::on_exit(
      [](int status, void* p) {
        const std::unique_ptr<Last> last(static_cast<Last*>(p));
        const std::shared_ptr<T> alive = last->object.lock();
        if (alive && last->process == ::getpid()) alive->leave(status);
      },
      new Last{object, ::getpid()});
#else
  static_cast<void>(object);
#endif
}

}  // namespace TANDEM_NS::distribute::detail
