// Definitions of core/scope.hpp.
#pragma once
#include "tandem/core/scope.hpp"

namespace TANDEM_NS {
TANDEM_INLINE void errors::detail::place_error(OpError& e) {
  if (const tandem::detail::LayerCall* c = tandem::detail::layer_call; c && !e.has_context()) c->place(*c->state, e);
  for (const tandem::detail::CallSite* c = context.call; c; c = c->outer())
    if (c->op()) e.set_op(c->op());  // the outermost one, which the user called
  for (const tandem::detail::CallSite* c = context.call; c; c = c->outer()) {
    const std::string line = tandem::detail::line_text(c->where());
    if (line.empty()) continue;  // a call made by the library
    if (c->name()) e.set_name(c->name().view());
    return e.set_place("at " + line);
  }
}
}  // namespace TANDEM_NS
