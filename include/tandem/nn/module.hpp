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
class TANDEM_API Module {
 public:
  struct Named {
    std::string path;  ///< "hidden/kernel"
    Variable variable;
  };

  Module();
  /// All Variables, children's included, in the order they were added. A layer has none before its first call.
  std::vector<Variable> variables() const;
  /// Those of them that optimizers change.
  std::vector<Variable> trainable_variables() const;
  std::vector<Named> named_variables() const;
  /// The Variables whose path is `name` or ends in "/name".
  std::vector<Variable> variables_by_name(const std::string& name) const;
  /// The number of elements in the trainable variables.
  i64 count_params() const;

 protected:
  /// throws errors::AlreadyExistsError if this module has a variable or child of that name
  Variable add_variable(const std::string& name, const Tensor& initial, bool trainable = true) const;
  void add_module(const std::string& name, const Module& child) const;
  /// Variable number i of this module itself.
  const Variable& variable(std::size_t i) const;
  /// Runs build() once for all copies of this handle, outside of tapes and traces. For layers whose shapes depend on
  /// their first input.
  template <class F>
  void build_once(const F& build) const {
    if (!is_built()) build_locked({[](void* f) { (*static_cast<const F*>(f))(); }, const_cast<F*>(&build)});
  }

 private:
  struct Contents;
  bool is_built() const;
  void build_locked(Callable build) const;
  void collect(const std::string& prefix, std::vector<Named>& out) const;
  Contents& contents() const;
  Ref<Opaque> state_;  // a Contents
};

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_LAYERS
#include <deque>
#include <mutex>

#include "tandem/core/scope.hpp"

namespace TANDEM_NS {

struct Module::Contents final : Opaque {
  std::atomic<bool> built{false};
  std::recursive_mutex mutex;   // guards building; a module's build may call its children
  std::deque<Named> variables;  // addresses stay
  struct Child {
    std::string name;
    Module module;
  };
  std::deque<Child> children;
  std::vector<char> order;  // 'v' or 'm', as added

  const char* kind() const override { return "module"; }
  void check_new(const std::string& name) const {
    bool taken = false;
    for (const Named& v : variables) taken |= v.path == name;
    for (const Child& c : children) taken |= c.name == name;
    if (taken)
      errors::raise<errors::AlreadyExistsError>("module", "has a variable or module named '" + name + "' already");
  }
};

TANDEM_INLINE Module::Module() : state_(new Contents) {}
TANDEM_INLINE Module::Contents& Module::contents() const { return static_cast<Contents&>(*state_); }
TANDEM_INLINE Variable Module::add_variable(const std::string& name, const Tensor& initial, bool trainable) const {
  contents().check_new(name);
  Variable v(initial, {.name = name.c_str(), .trainable = trainable});
  contents().variables.push_back({name, v});
  contents().order.push_back('v');
  return v;
}
TANDEM_INLINE void Module::add_module(const std::string& name, const Module& child) const {
  contents().check_new(name);
  contents().children.push_back({name, child});
  contents().order.push_back('m');
}
TANDEM_INLINE const Variable& Module::variable(std::size_t i) const { return contents().variables[i].variable; }
TANDEM_INLINE bool Module::is_built() const { return contents().built.load(std::memory_order_acquire); }
TANDEM_INLINE void Module::build_locked(Callable build) const {
  const std::lock_guard lock(contents().mutex);
  if (is_built()) return;
  const detail::Unobserved quiet;
  if (context.stager) context.stager->lift(build);
  else build.call(build.self);
  contents().built.store(true, std::memory_order_release);
}
TANDEM_INLINE void Module::collect(const std::string& prefix, std::vector<Named>& out) const {
  std::size_t v = 0, m = 0;
  for (char kind : contents().order) {
    if (kind == 'v') {
      const Named& n = contents().variables[v++];
      out.push_back({prefix + n.path, n.variable});
    } else {
      const Contents::Child& c = contents().children[m++];
      c.module.collect(prefix + c.name + "/", out);
    }
  }
}
TANDEM_INLINE std::vector<Module::Named> Module::named_variables() const {
  std::vector<Named> all;
  collect("", all);
  return all;
}
TANDEM_INLINE std::vector<Variable> Module::variables() const {
  std::vector<Variable> r;
  for (Named& n : named_variables()) r.push_back(std::move(n.variable));
  return r;
}
TANDEM_INLINE std::vector<Variable> Module::trainable_variables() const {
  std::vector<Variable> r;
  for (Named& n : named_variables())
    if (n.variable.trainable()) r.push_back(std::move(n.variable));
  return r;
}
TANDEM_INLINE std::vector<Variable> Module::variables_by_name(const std::string& name) const {
  std::vector<Variable> r;
  for (Named& n : named_variables())
    if (n.path == name || n.path.ends_with("/" + name)) r.push_back(std::move(n.variable));
  return r;
}
TANDEM_INLINE i64 Module::count_params() const {
  i64 n = 0;
  for (const Variable& v : trainable_variables()) n += v.shape().size();
  return n;
}

}  // namespace TANDEM_NS
#endif
