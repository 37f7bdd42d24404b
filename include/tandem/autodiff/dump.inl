// GradientTape::dump: what a tape has recorded, as text.
#pragma once
#include <algorithm>

#include "tandem/autodiff/log.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/core/print.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

TANDEM_INLINE std::string GradientTape::Log::dump() const {
  std::string s;
  for (const Reads& r : reads_) {
    s += "variable '" + r.variable.name() + "' " + to_string(r.variable.spec()) + ":";
    if (r.slots.empty()) s += " not read";
    for (unsigned i = 0; i < r.slots.size(); ++i) s += (i ? ", %" : " %") + std::to_string(r.slots[i]);
    s += "\n";
  }
  LeanVector<Entry*> entries;
  for (Entry* e = last_; e; e = e->prev) entries.push_back(e);
  std::reverse(entries.begin(), entries.end());
  for (Entry* const e : entries) {
    for (int k = 0; k < static_cast<int>(e->n_out); ++k) s += (k ? ", %" : "%") + std::to_string(e->first_out + k);
    s += " = " + display_name(*e->op) + "(";
    for (std::uint32_t i = 0; i < e->n_in; ++i) {
      const int slot = e->in_slots()[i];
      s += (i ? ", " : "") + (slot < 0 ? "_" : "%" + std::to_string(slot));
    }
    s += ")";
    if (const std::string attrs = to_string(e->attrs()); !attrs.empty()) s += " " + attrs;
    const char* before = "; keeps ";
    for (const Tensor& t : e->all_saved()) {
      if (!t.is_set() || t.is_symbolic()) continue;
      s += before + to_string(t.spec());
      before = ", ";
    }
    if (const std::string line = detail::line_text({e->file, nullptr, e->line}); !line.empty()) s += "  # " + line;
    s += "\n";
  }
  return s;
}
TANDEM_INLINE std::string GradientTape::dump() const { return log_->dump(); }

}  // namespace TANDEM_NS
