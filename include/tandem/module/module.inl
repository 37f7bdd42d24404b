// Definitions of module/module.hpp: how a Module's Variables are listed, built, restored and copied.
#pragma once
#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "tandem/core/scope.hpp"
#include "tandem/module/frozen.hpp"
#include "tandem/module/module.hpp"
#include "tandem/module/state.hpp"
#include "tandem/module/walk.hpp"
#include "tandem/util/at_fork.hpp"
#include "tandem/util/id_map.hpp"

namespace TANDEM_NS {

TANDEM_INLINE Module::Places& Module::places() {
  alignas(Places) static unsigned char room[sizeof(Places)];
  static Places* const made = ::new (room) Places;
  return *made;
}
TANDEM_INLINE const bool Module::places_made = (places(), true);  // at library load (base/at_fork)

TANDEM_INLINE Module::Noted*& Module::Noted::innermost() {
  static constinit thread_local Noted* noted = nullptr;
  return noted;
}
TANDEM_INLINE Module::Noted::Noted() : outer_(innermost()) { innermost() = this; }
TANDEM_INLINE Module::Noted::~Noted() { innermost() = outer_; }

TANDEM_INLINE void Module::Noted::forget(const Module* m) {
  for (std::size_t i = list_.size(); i-- > 0;)  // the latest first: they are destroyed in the reverse order
    if (list_[i] == m) return void(list_.erase(&list_[i]));
}

TANDEM_INLINE void Module::enter() {
  Noted* const n = Noted::innermost();
  if (n) n->list_.make_room();
  {
    const std::lock_guard lock(places().mutex);
    places().sizes[this] = 0;
    ++places().changes;
  }
  if (n) n->list_.push_back(this);
}
TANDEM_INLINE Module::Module() : state_(new Contents) { enter(); }
TANDEM_INLINE Module::Module(const char* kind) : state_(new Contents(kind)) { enter(); }
TANDEM_INLINE Module::Handle Module::handle() const {
  const std::lock_guard lock(places().mutex);
  return places().handle(*this);
}
TANDEM_INLINE Module::Module(const Module& o) : state_(o.state_), members_(o.handle().members) { enter(); }
TANDEM_INLINE Module& Module::operator=(const Module& o) {
  Handle theirs = o.handle();
  const std::lock_guard lock(places().mutex);
  ++places().changes;
  std::swap(state_, theirs.state);
  if (places().sizes[this] == 0) std::swap(members_, theirs.members);
  return *this;
}
TANDEM_INLINE Module::~Module() {
  if (Noted* n = Noted::innermost()) n->forget(this);
  const std::lock_guard lock(places().mutex);
  places().sizes.erase(this);
  places().models.erase(this);
}
TANDEM_INLINE void Module::set_extent(std::size_t size) {
  Ref<Opaque> before;  // released after the lock
  const std::lock_guard lock(places().mutex);
  places().sizes[this] = places().models[this] = size;
  ++places().changes;
  std::swap(before, members_);
  detail::variable_made.store(&own_member, std::memory_order_release);
}

// The Variable becomes one of the Model's under its `.name`, or as "variable", "variable_1"; it replaces an earlier one
// at the same address.
[[gnu::cold]] TANDEM_INLINE void Module::own_member(const Variable& v, std::string_view name) {
  Handle model;
  {
    const std::lock_guard lock(places().mutex);
    const Module* const at = places().model_around(&v);
    if (!at) return;
    model.state = at->state_;
  }
  std::string own = name.empty() ? "variable" : std::string(name);
  std::replace(own.begin(), own.end(), '/', '_');  // separates the names of a path
  Contents& c = model.contents();
  const std::lock_guard lock(c.mutex);
  Ref<Contents::Item>* const before = c.member_at(&v);
  const std::string path = before && (*before)->named.path == own ? own : c.names.free_name(own);
  const auto item = make_ref<Contents::Item>(Named{.path = path, .variable = v});
  item->member = &v;
  if (before) c.replace(*before, item);
  else c.add(item);
}

// The name of an expected slot, derived from its weight's path.
TANDEM_INLINE std::string Module::Contents::path_of(const Named& slot) const {
  Paths& all = static_cast<Paths&>(*paths);
  const std::lock_guard lock(all.mutex);
  const auto at = all.of.find(slot.weight.id());
  return at == all.of.end() ? slot.path : at->second + "/" + slot.slot;
}
TANDEM_INLINE Module::Contents& Module::contents() const { return static_cast<Contents&>(*state_); }
TANDEM_INLINE void Module::set_kind(std::string kind) const {
  const std::lock_guard lock(places().mutex);
  contents().kind_name.swap(kind);
}
TANDEM_INLINE std::string Module::class_name() const { return contents().class_name(); }
TANDEM_INLINE void Module::set_makes_slots() const { contents().makes_slots = true; }
[[gnu::cold]] TANDEM_INLINE Variable Module::add_variable(const std::string& name, const Tensor& initial,
                                                          bool trainable, const Regularizer& regularizer,
                                                          const Constraint& constraint) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  c.check_new(name);
  const Tensor* expected = c.expected_for(name, initial.spec());
  const Tensor value = expected ? expected->to(initial.device()) : initial;
  Variable v(value, {.name = name.c_str(), .trainable = trainable, .constraint = constraint});
  if (expected) {  // before the Variable is added: an id in the map whose Variable is not added does no harm
    Paths& paths = static_cast<Paths&>(*c.paths);
    const std::lock_guard lock_paths(paths.mutex);
    paths.of[v.id()] = c.path + name;
  }
  c.add(make_ref<Contents::Item>(Named{.path = name, .variable = v, .regularizer = regularizer}));
  return Variable(v);  // not made in the caller's object, where own_member() would find it
}
[[gnu::cold]] TANDEM_INLINE void Module::add_variables(const std::vector<Named>& named) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  const std::size_t before = c.items.size();
  LeanVector<std::string> restored;  // they are expected until all have been added
  LeanVector<std::pair<Variable, Tensor>> values;
  LeanVector<Contents::Replaced> replaced;
  try {
    for (const Named& n : named) {
      Ref<Contents::Item>* const member = c.member(n.variable);
      if (!member || (*member)->named.path != n.path) c.check_new(n.path);
      if (!c.expected.empty() && n.weight.is_set()) {
        restored.push_back(c.path_of(n));
        if (const Tensor* t = c.expected_for(restored.back(), n.variable.spec()))
          values.emplace_back(n.variable, t->to(n.variable.device()));
      }
      replaced.make_room();
      if (member) replaced.push_back(c.replace(*member, make_ref<Contents::Item>(n)));
      else c.add(make_ref<Contents::Item>(n));
    }
    for (const auto& [variable, value] : values) VariableAccess::check_free(variable);  // before any value changes
    for (const auto& [variable, value] : values) variable.set_untracked(value);
  } catch (...) {
    c.shrink_to(before);
    while (!replaced.empty()) c.undo(replaced.back()), replaced.pop_back();
    throw;
  }
  for (const std::string& path : restored) c.expected.erase(path);
}
TANDEM_INLINE void Module::add_module(const std::string& name, const Module& child) const {
  if (child.state_ == state_)
    errors::raise<errors::InvalidArgumentError>("module", "cannot have itself as its child '" + name + "'");
  Contents& c = contents();
  Marks marks;
  if (c.in_frozen.load(std::memory_order_acquire)) marks = child.frozen_marks(true);
  {
    const std::lock_guard lock(c.mutex);
    c.check_new(name);
    c.add(make_ref<Contents::Item>(name, child.handle()));
  }
  child.contents().has_parent.store(true, std::memory_order_relaxed);
  ++places().changes;
  if (marks.list.empty()) return;
  const detail::FrozenChange change;
  marks.set();
}
TANDEM_INLINE void Module::add_module(const Module& child) const {
  std::string name;
  {
    Contents& c = contents();
    const std::lock_guard lock(c.mutex);
    name = c.names.free_name(child.contents().class_name());
  }
  add_module(name, child);
}
TANDEM_INLINE void Module::set_call_loss(const Tensor& loss) const {
  const bool is_symbolic = loss.is_set() && loss.is_symbolic();
  if (is_symbolic && (!context.stager || TANDEM_VIRTUAL(*context.stager, Stager::name_of)(loss).empty()))
    return;  // only shapes are inferred
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  c.call_loss = loss;
}
TANDEM_INLINE const Variable& Module::variable(std::size_t i) const { return contents().variables[i]->named.variable; }
TANDEM_INLINE std::size_t Module::weight_count() const { return contents().variables.size(); }
TANDEM_INLINE bool Module::is_checked() const { return contents().is_checked.load(std::memory_order_relaxed); }
TANDEM_INLINE bool Module::is_built() const { return contents().built.load(std::memory_order_acquire); }
TANDEM_INLINE bool Module::is_expected() const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  return !c.expected.empty();
}
TANDEM_INLINE void Module::build_locked(Callable build) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  if (is_built()) return;
  const detail::Unobserved quiet;
  const std::size_t before = c.items.size();
  try {
    if (context.stager) TANDEM_VIRTUAL(*context.stager, Stager::lift)(build);
    else build.call(build.self);
    for (const auto& [name, value] : c.expected)
      if (!c.names.contains(name))
        errors::raise<errors::InvalidArgumentError>("restore", "the checkpoint has '" + name + "' " +
                                                                   to_string(value.spec()) + " for a " +
                                                                   c.class_name() + ", which does not create it");
  } catch (...) {
    c.shrink_to(before);
    throw;
  }
  c.expected.clear();
  c.built.store(true, std::memory_order_release);
}

TANDEM_INLINE Module::Expected::Expected(const std::map<std::string, Variable>& made, std::vector<std::string> names)
    : names_(std::move(names)) {
  auto* const paths = new Paths;
  paths_ = Ref<Opaque>(paths);
  for (const auto& [path, variable] : made) paths->of[variable.id()] = path;
}
TANDEM_INLINE void Module::Expected::give(const Module& module, const std::string& prefix,
                                          std::map<std::string, Tensor>& values) {
  struct Giving final : Walk {
    Expected& all;
    std::map<std::string, Tensor>& values;

    Giving(Expected& a, std::map<std::string, Tensor>& v) : all(a), values(v) {}
    void enter(Contents& c, const std::string& prefix, bool) override {
      if (!c.makes_slots && (!c.is_layer || c.built)) return;
      std::map<std::string, Tensor> mine;
      for (auto i = values.lower_bound(prefix); i != values.end() && i->first.starts_with(prefix);) {
        std::string name = i->first.substr(prefix.size());
        const auto slash = name.rfind('/');
        const bool is_leaf = slash == std::string::npos;
        const auto has_weight = [&] {
          return std::binary_search(all.names_.begin(), all.names_.end(), name.substr(0, slash));
        };
        if (c.makes_slots ? !is_leaf && has_weight() : is_leaf) {
          mine.emplace(std::move(name), i->second);
          i = values.erase(i);
        } else {
          ++i;
        }
      }
      if (!mine.empty()) all.given_.push_back({Ref<Opaque>(&c), prefix, std::move(mine)});
    }
  };
  Giving(*this, values).visit(module.handle(), prefix);
}
TANDEM_INLINE void Module::Expected::set() {
  for (Given& g : given_) {
    Contents& c = static_cast<Contents&>(*g.contents);
    const std::lock_guard lock(c.mutex);
    if (!c.makes_slots && c.built) continue;
    c.expected = std::move(g.values), c.paths = paths_, c.path = std::move(g.prefix);
  }
  given_.clear();
}

namespace detail {
// Returns the Variables that satisfy `wanted`, each once.
template <class F>
std::vector<Module::Named> distinct(std::vector<Module::Named>&& named, const F& wanted) {
  std::vector<Module::Named> r;
  IdMap seen;
  for (Module::Named& n : named) {
    if (!wanted(n) || seen.find(n.variable.id()) >= 0) continue;
    seen.insert(n.variable.id(), 1);
    r.push_back(std::move(n));
  }
  return r;
}
TANDEM_INLINE std::vector<Variable> variables_of(const std::vector<Module::Named>& named) {
  std::vector<Variable> r;
  for (const Module::Named& n : named) r.push_back(n.variable);
  return r;
}
}  // namespace detail

TANDEM_INLINE std::vector<Module::Named> Module::named_variables() const {
  struct Listing final : Walk {
    std::vector<Named> out;
    void variable(const Named& v, const std::string& prefix, bool is_frozen) override {
      out.push_back(v);
      out.back().path.insert(0, prefix);
      out.back().is_frozen = is_frozen;
    }
  } all;
  all.visit(handle(), "");
  return std::move(all.out);
}
TANDEM_INLINE std::vector<Variable> Module::variables() const {
  return detail::variables_of(detail::distinct(named_variables(), [](const Named&) { return true; }));
}
TANDEM_INLINE std::vector<Variable> Module::trainable_variables() const {
  detail::tell_frozen_read();
  return detail::variables_of(
      detail::distinct(named_variables(), [](const Named& n) { return n.variable.trainable() && !n.is_frozen; }));
}
TANDEM_INLINE std::vector<Variable> Module::variables_by_name(const std::string& name) const {
  return detail::variables_of(detail::distinct(
      named_variables(), [&](const Named& n) { return n.path == name || n.path.ends_with("/" + name); }));
}
TANDEM_INLINE i64 Module::count_params() const {
  i64 n = 0;
  for (const Variable& v : trainable_variables()) n += v.shape().size();
  return n;
}
TANDEM_INLINE std::vector<Tensor> Module::losses() const {
  struct Losses final : Walk {
    std::vector<Tensor> out;
    IdMap seen;
    IdMap entered;  // by address: a module that was added under two names is visited twice
    void enter(Contents& c, const std::string&, bool) override {
      if (!c.call_loss.is_set() || entered.find(reinterpret_cast<u64>(&c)) >= 0) return;
      entered.insert(reinterpret_cast<u64>(&c), 1);
      out.push_back(c.call_loss);
    }
    void variable(const Named& v, const std::string&, bool is_frozen) override {
      if (!v.regularizer || is_frozen || !v.variable.trainable() || seen.find(v.variable.id()) >= 0) return;
      seen.insert(v.variable.id(), 1);
      out.push_back(v.regularizer(v.variable));
    }
  } all;
  detail::tell_frozen_read();
  all.visit(handle(), "");
  return std::move(all.out);
}
TANDEM_INLINE Module::Marks Module::frozen_marks(bool in_frozen) const {
  struct Marking final : Walk {
    Marks marks;
    void enter(Contents& c, const std::string&, bool is_frozen) override {
      marks.list.push_back({Ref<Opaque>(&c), is_frozen});
    }
  } marking;
  marking.visit(handle(), "", in_frozen);
  return std::move(marking.marks);
}
TANDEM_INLINE void Module::set_trainable(bool trainable) const {
  Contents& c = contents();
  const bool before = c.frozen.load(std::memory_order_relaxed);
  const detail::FrozenChange change;
  c.freeze(!trainable);
  try {
    frozen_marks(false).set();
  } catch (...) {
    c.freeze(before);
    throw;
  }
}
TANDEM_INLINE bool Module::is_frozen() const {
  detail::tell_frozen_read();
  return contents().in_frozen.load(std::memory_order_acquire);
}
TANDEM_INLINE std::vector<Tensor> Module::get_weights() const {
  std::vector<Tensor> r;
  for (const Variable& v : variables()) r.push_back(v.value());
  return r;
}
TANDEM_INLINE void Module::set_weights(const std::vector<Tensor>& values) const {
  const std::vector<Named> named = detail::distinct(named_variables(), [](const Named&) { return true; });
  if (named.size() != values.size())
    errors::raise<errors::InvalidArgumentError>(
        "set_weights",
        std::to_string(values.size()) + " values for " + std::to_string(named.size()) + " Variables" +
            (named.empty() ? "; layers create theirs at the first call: call the model or build() it first" : ""));
  for (std::size_t i = 0; i < named.size(); ++i)
    if (const Spec& want = named[i].variable.spec(), &got = values[i].spec();
        want.dtype != got.dtype || !(want.shape == got.shape))
      errors::raise<errors::InvalidArgumentError>("set_weights", "'" + named[i].path + "' is " + to_string(want) +
                                                                     ", but value " + std::to_string(i) + " is " +
                                                                     to_string(got));
  std::vector<Tensor> there;  // copied before the first Variable changes
  for (std::size_t i = 0; i < named.size(); ++i) there.push_back(values[i].to(named[i].variable.device()));
  for (std::size_t i = 0; i < named.size(); ++i) named[i].variable.assign(there[i]);
}

}  // namespace TANDEM_NS
