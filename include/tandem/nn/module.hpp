// Module: a handle on named Variables and child Modules. Models and layers derive from it.
#pragma once
#include <string>
#include <vector>

#include "tandem/core/variable.hpp"

namespace TANDEM_NS {

/// Owns Variables and child modules by name. Copies are handles on the same ones.
///
///   struct Net : Module {
///     layers::Dense hidden{64, {.activation = Activation::relu}}, out{10};
///     Net() { add_module("hidden", hidden), add_module("out", out); }
///     Tensor operator()(const Tensor& x) const { return out(hidden(x)); }
///   };
///
/// Lists may be asked for while another thread builds: they show a build as a whole or not at all.
class TANDEM_API Module {
 public:
  struct Named {
    std::string path;  ///< "hidden/kernel"
    Variable variable;
    Variable weight = {};   ///< of an optimizer's slot: what it belongs to
    std::string slot = {};  ///< of an optimizer's slot: "momentum"
  };

  Module();
  /// All Variables, children's included, in the order they were added, each once. A layer has none before its first
  /// call.
  std::vector<Variable> variables() const;
  /// Those of them that optimizers change.
  std::vector<Variable> trainable_variables() const;
  /// The same with their paths; a Variable of a module that was added under two names is listed under both.
  std::vector<Named> named_variables() const;
  /// The Variables that have a path which is `name` or ends in "/name", each once.
  std::vector<Variable> variables_by_name(const std::string& name) const;
  /// The number of elements in the trainable variables.
  i64 count_params() const;

 protected:
  /// throws errors::AlreadyExistsError if this module has a variable or child of that name
  Variable add_variable(const std::string& name, const Tensor& initial, bool trainable = true) const;
  /// Adds Variables that were made elsewhere, under their paths as names: all of them or, if one is taken, none.
  void add_variables(const std::vector<Named>& named) const;
  ///   throws  errors::AlreadyExistsError as add_variable; errors::InvalidArgumentError for the module itself
  void add_module(const std::string& name, const Module& child) const;
  /// Variable number i of this module itself.
  const Variable& variable(std::size_t i) const;
  /// Runs build() once for all copies of this handle, outside of tapes and traces. For layers whose shapes depend on
  /// their first input. If it raises, what it added to this module is gone, and the next call builds anew.
  template <class F>
  void build_once(const F& build) const {
    if (!is_built()) build_locked({[](void* f) { (*static_cast<const F*>(f))(); }, const_cast<F*>(&build)});
  }
  bool is_built() const;

 private:
  struct Contents;
  void build_locked(Callable build) const;
  void collect(const std::string& prefix, std::vector<Named>& out) const;
  Contents& contents() const;
  Ref<Opaque> state_;  // a Contents
};

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_LAYERS
#include <deque>
#include <mutex>
#include <unordered_set>

#include "tandem/autodiff/slots.hpp"
#include "tandem/core/scope.hpp"

namespace TANDEM_NS {

struct Module::Contents final : Opaque {
  std::atomic<bool> built{false};
  // Guards all below, and is held while the module is built. A build may call children, never the other way round; no
  // two modules are locked but by such calls.
  std::recursive_mutex mutex;
  std::deque<Named> variables;  // addresses stay
  struct Child {
    std::string name;
    Module module;
  };
  std::deque<Child> children;
  std::vector<char> order;  // 'v' or 'm', as added
  std::unordered_set<std::string> names;

  const char* kind() const override { return "module"; }
  void check_new(const std::string& name) const {
    if (names.contains(name))
      errors::raise<errors::AlreadyExistsError>("module", "has a variable or module named '" + name + "' already");
  }
  void add(const Named& v) {
    names.insert(v.path);
    variables.push_back(v);
    order.push_back('v');
  }
  // Takes away what was added since there were `count` variables and children.
  void shrink_to(std::size_t count) {
    for (; order.size() > count; order.pop_back()) {
      if (order.back() == 'v') names.erase(variables.back().path), variables.pop_back();
      else names.erase(children.back().name), children.pop_back();
    }
  }
};

TANDEM_INLINE Module::Module() : state_(new Contents) {}
TANDEM_INLINE Module::Contents& Module::contents() const { return static_cast<Contents&>(*state_); }
TANDEM_INLINE Variable Module::add_variable(const std::string& name, const Tensor& initial, bool trainable) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  c.check_new(name);
  Variable v(initial, {.name = name.c_str(), .trainable = trainable});
  c.add({name, v});
  return v;
}
TANDEM_INLINE void Module::add_variables(const std::vector<Named>& named) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  const std::size_t before = c.order.size();
  try {
    for (const Named& n : named) c.check_new(n.path), c.add(n);
  } catch (...) {
    c.shrink_to(before);
    throw;
  }
}
TANDEM_INLINE void Module::add_module(const std::string& name, const Module& child) const {
  if (child.state_ == state_)
    errors::raise<errors::InvalidArgumentError>("module", "cannot have itself as its child '" + name + "'");
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  c.check_new(name);
  c.names.insert(name);
  c.children.push_back({name, child});
  c.order.push_back('m');
}
TANDEM_INLINE const Variable& Module::variable(std::size_t i) const { return contents().variables[i].variable; }
TANDEM_INLINE bool Module::is_built() const { return contents().built.load(std::memory_order_acquire); }
TANDEM_INLINE void Module::build_locked(Callable build) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  if (is_built()) return;
  const detail::Unobserved quiet;
  const std::size_t before = c.order.size();
  try {
    if (context.stager) context.stager->lift(build);
    else build.call(build.self);
  } catch (...) {
    c.shrink_to(before);
    throw;
  }
  c.built.store(true, std::memory_order_release);
}
// Children are asked for theirs after this module's lock is gone: two modules may have two children in either order.
TANDEM_INLINE void Module::collect(const std::string& prefix, std::vector<Named>& out) const {
  Contents& c = contents();
  std::unique_lock lock(c.mutex);
  const std::vector<char> order = c.order;
  const std::vector<Named> variables(c.variables.begin(), c.variables.end());
  const std::vector<Contents::Child> children(c.children.begin(), c.children.end());
  lock.unlock();
  std::size_t v = 0, m = 0;
  for (char kind : order) {
    if (kind == 'v') {
      out.push_back(variables[v++]);
      out.back().path.insert(0, prefix);
    } else {
      const Contents::Child& child = children[m++];
      child.module.collect(prefix + child.name + "/", out);
    }
  }
}

namespace detail {
// Those of the Variables that `wanted` takes, each once.
template <class F>
std::vector<Variable> distinct(std::vector<Module::Named>&& named, const F& wanted) {
  std::vector<Variable> r;
  IdMap seen;
  for (Module::Named& n : named) {
    if (!wanted(n) || seen.find(n.variable.id()) >= 0) continue;
    seen.insert(n.variable.id(), 1);
    r.push_back(std::move(n.variable));
  }
  return r;
}
}  // namespace detail

TANDEM_INLINE std::vector<Module::Named> Module::named_variables() const {
  std::vector<Named> all;
  collect("", all);
  return all;
}
TANDEM_INLINE std::vector<Variable> Module::variables() const {
  return detail::distinct(named_variables(), [](const Named&) { return true; });
}
TANDEM_INLINE std::vector<Variable> Module::trainable_variables() const {
  return detail::distinct(named_variables(), [](const Named& n) { return n.variable.trainable(); });
}
TANDEM_INLINE std::vector<Variable> Module::variables_by_name(const std::string& name) const {
  return detail::distinct(named_variables(),
                          [&](const Named& n) { return n.path == name || n.path.ends_with("/" + name); });
}
TANDEM_INLINE i64 Module::count_params() const {
  i64 n = 0;
  for (const Variable& v : trainable_variables()) n += v.shape().size();
  return n;
}

}  // namespace TANDEM_NS
#endif
