// Definitions of core/observer.hpp.
#pragma once
#include "tandem/core/observer.hpp"

namespace TANDEM_NS {

// The list is cleared when its thread ends.
TANDEM_INLINE void detail::observe(Observer& o) {
  struct End {
    ~End() { restore_observers(nullptr); }
  };
  static thread_local const End end;
  drop_ended(&context.observers);
  o.next = context.observers;
  context.observers = &o;
}
TANDEM_INLINE bool detail::unobserve(Observer& o) {
  for (Observer** at = &context.observers; *at; at = &(*at)->next)
    if (*at == &o) {
      *at = o.next;
      TANDEM_VIRTUAL(o, Observer::dropped)();
      return true;
    }
  return false;
}
TANDEM_INLINE void detail::drop_ended(Observer** list) {
  for (Observer** at = list; Observer* o = *at;) {
    if (!o->ended.load(std::memory_order_acquire)) {
      at = &o->next;
      continue;
    }
    *at = o->next;
    TANDEM_VIRTUAL(*o, Observer::dropped)();  // which may destroy other tapes
    at = list;
  }
}
TANDEM_INLINE void detail::restore_observers(Observer* outer) {
  while (Observer* o = context.observers) {
    context.observers = o->next;
    TANDEM_VIRTUAL(*o, Observer::dropped)();
  }
  drop_ended(&outer);
  context.observers = outer;
}

}  // namespace TANDEM_NS
