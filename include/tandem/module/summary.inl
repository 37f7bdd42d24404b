// Module::summary(): a module's layers as a table.
#pragma once
#include <algorithm>
#include <map>

#include "tandem/module/module.hpp"
#include "tandem/module/state.hpp"
#include "tandem/module/walk.hpp"
#include "tandem/util/id_map.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace detail {
/// 12345 as "12,345".
inline std::string with_commas(i64 n) {
  std::string s = std::to_string(n);
  for (std::size_t i = s.size(); i > 3; i -= 3) s.insert(i - 3, 1, ',');
  return s;
}
}  // namespace detail

TANDEM_INLINE void Module::note_output(const Module& module, const Shape& shape) {
  Contents& c = module.contents();
  std::string text = to_string(shape);
  if (shape.rank() > 0) {  // the batch's size is that of one call
    Shape any = shape;
    any.set(0, none);
    text = to_string(any);
  }
  const std::lock_guard lock(c.mutex);
  c.output = std::move(text);
}

TANDEM_INLINE void Module::forget_output() const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  c.output.clear();
}

TANDEM_INLINE std::string Module::summary() const {
  struct Row {
    std::string name, output;
    i64 params = 0;
  };
  struct Rows final : Walk {
    LeanVector<Row> rows;
    std::map<std::string, std::size_t> last;  // by path: its last row; children of the module may have come after it
    IdMap seen;
    i64 total = 0, trainable = 0;
    void enter(Contents& c, const std::string& prefix, bool) override {
      const std::string path = prefix.empty() ? "" : prefix.substr(0, prefix.size() - 1);
      last[prefix] = rows.size();
      const std::string name = c.class_name();
      rows.push_back({prefix.empty() ? name : path + " (" + name + ")", c.output});
    }
    void variable(const Named& v, const std::string& prefix, bool is_frozen) override {
      const i64 n = v.variable.shape().size();
      rows[last[prefix]].params += n;
      if (seen.find(v.variable.id()) >= 0) return;
      seen.insert(v.variable.id(), 1);
      total += n;
      if (v.variable.trainable() && !is_frozen) trainable += n;
    }
  } all;
  all.visit(handle(), "");
  std::size_t names = 5, outputs = 12;
  for (const Row& r : all.rows) {
    names = std::max(names, r.name.size());
    outputs = std::max(outputs, r.output.size());
  }
  const auto line = [&](const std::string& name, const std::string& output, const std::string& params) {
    return name + std::string(names + 2 - name.size(), ' ') + output + std::string(outputs + 2 - output.size(), ' ') +
           std::string(12 - std::min<std::size_t>(12, params.size()), ' ') + params + "\n";
  };
  const std::string rule(names + outputs + 16, '-');
  std::string s = line("Layer", "Output shape", "Parameters") + rule + "\n";
  for (const Row& r : all.rows) s += line(r.name, r.output.empty() ? "-" : r.output, detail::with_commas(r.params));
  return s + rule + "\nTotal: " + detail::with_commas(all.total) +
         ", trainable: " + detail::with_commas(all.trainable) + "\n";
}

}  // namespace TANDEM_NS
