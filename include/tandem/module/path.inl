// Where a module is: its path in the outermost module that contains it, for errors; whether a Model that refers to it
// has it as a child.
#pragma once
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>

#include "tandem/module/module.hpp"
#include "tandem/module/state.hpp"
#include "tandem/module/walk.hpp"
#include "tandem/util/at_fork.hpp"
#include "tandem/util/id_map.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

// Finds a module below another. The thread may hold locks of modules that it builds, hence never waits for one.
struct Module::Search final : Walk {
  const Contents& wanted;
  std::string path;

  explicit Search(const Contents& c) : wanted(c) { waits_ = false; }
  bool missed() const { return missed_; }
  void enter(Contents& c, const std::string& prefix, bool) override {
    if (&c == &wanted) path = prefix, done_ = true;
  }
};

// Handles of all modules, or of those alone that nothing contains, as far as that is known.
[[gnu::cold]] TANDEM_INLINE LeanVector<Module::Handle> Module::Places::handles(bool outermost) {
  LeanVector<Handle> all;
  LeanVector<const Module*> outside;
  IdMap inside;  // by address: the Contents of the members of Models
  const char* end = nullptr;
  const std::lock_guard lock(mutex);
  for (const auto& [module, size] : sizes) {
    const char* const at = reinterpret_cast<const char*>(module);
    if (at < end) inside.set(reinterpret_cast<u64>(&module->contents()), 1);
    else outside.push_back(module);
    end = std::max(end, at + size, std::less<>());
    if (!outermost) all.push_back(handle(*module));
  }
  if (!outermost) return all;
  for (const Module* m : outside)
    if (Contents& c = m->contents();
        !c.has_parent.load(std::memory_order_relaxed) && inside.find(reinterpret_cast<u64>(&c)) < 0)
      all.push_back(handle(*m));
  return all;
}
[[gnu::cold]] TANDEM_INLINE std::string Module::path_in_model() const { return path_of(contents()); }
[[gnu::cold]] TANDEM_INLINE std::string Module::path_of(Contents& wanted) {
  const u64 changes = places().changes.load(std::memory_order_acquire);
  if (wanted.alone.load(std::memory_order_relaxed) == changes) return {};
  std::string longest;
  bool missed = false;
  const auto depth = [](const std::string& path) { return std::count(path.begin(), path.end(), '/'); };
  for (const bool outermost : {true, false}) {  // what contains it may be left of something larger
    for (const Handle& m : places().handles(outermost)) {
      if (&m.contents() == &wanted) continue;
      Search search(wanted);
      search.visit(m, m.contents().class_name() + "/");
      missed |= search.missed();
      if (depth(search.path) > depth(longest)) longest = search.path;
      if (outermost && !longest.empty()) break;
    }
    if (!longest.empty()) return longest.substr(0, longest.size() - 1);  // without the slash at the end
  }
  if (!missed) wanted.alone.store(changes, std::memory_order_relaxed);
  return {};
}
[[gnu::cold]] TANDEM_INLINE void Module::place_error(Opaque& contents, errors::OpError& e) {
  if (const std::string path = path_of(static_cast<Contents&>(contents)); !path.empty()) e.set_context("in " + path);
}

namespace detail {
// Whether an object is on this thread's stack: a Model that refers to it does not own it.
[[gnu::cold]] TANDEM_INLINE bool is_on_stack(const void* object) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return true;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  const auto at = reinterpret_cast<std::uintptr_t>(object), from = reinterpret_cast<std::uintptr_t>(lowest);
  return !known || (at >= from && at - from < size);
}
// Whether one of an object's words is this address: a unique_ptr's, a shared_ptr's, or that of a vector's first
// element. Words may be padding, or change meanwhile in another thread; an equal one is not an accident.
__attribute__((cold, no_sanitize("thread", "address"))) TANDEM_INLINE bool has_word(const void* object,
                                                                                    std::size_t size,
                                                                                    const void* word) {
  using Word [[gnu::may_alias]] = std::uintptr_t;
  const auto* const words = static_cast<const volatile Word*>(object);
  const auto wanted = reinterpret_cast<std::uintptr_t>(word);
  for (std::size_t i = 0; i < size / sizeof(Word); ++i)
    if (words[i] == wanted) return true;
  return false;
}
}  // namespace detail

[[gnu::cold]] TANDEM_INLINE const Module* Module::Places::model_around(const void* address) const {
  for (auto at = models.upper_bound(static_cast<const Module*>(address)); at != models.begin();) {
    --at;
    if (address < reinterpret_cast<const char*>(at->first) + at->second) return at->first;
  }
  return nullptr;
}
// Whether something else than a layer contains it, perhaps: if a module is locked, that is not known.
[[gnu::cold]] TANDEM_INLINE bool Module::may_be_child() const {
  for (const Handle& m : places().handles(false)) {
    Search search(contents());
    search.visit(m, "/");
    if (search.missed() || (!search.path.empty() && !m.contents().is_layer)) return true;
  }
  return false;
}

[[gnu::cold]] TANDEM_INLINE void Module::check_registered() const {
  const auto passed = [this] { contents().is_checked.store(true, std::memory_order_relaxed); };
  const auto* called = this;  // the layer that the model called, which contains this one
  for (const detail::LayerCall* c = detail::layer_call; c; c = c->outer)
    if (c->layer) called = static_cast<const Module*>(c->layer);
  if (called->contents().has_parent.load(std::memory_order_relaxed)) return passed();
  const Module* model = nullptr;
  std::string name;
  {
    const std::lock_guard lock(places().mutex);
    if (places().models.empty() || places().model_around(called)) return passed();
    const auto find = [&](const Module* layer) {
      for (const auto& [holder, size] : places().models)
        if (detail::has_word(holder, size, layer)) model = holder, name = holder->contents().kind_name;
    };
    if (!detail::is_on_stack(called)) find(called);
    else  // a copy, perhaps, that a loop over layers has made
      for (const auto& [module, size] : places().sizes) {
        if (module == called || module->state_.get() != called->state_.get()) continue;
        if (places().model_around(module)) return passed();
        find(module);
      }
  }
  if (!model || called->may_be_child()) return passed();
  errors::raise<errors::FailedPreconditionError>(
      called->contents().class_name().c_str(),
      "this layer would not be trained or saved with '" + name +
          "', which holds it by a pointer or in a container: a Model knows the Modules that are stored in the object "
          "itself. Call add_module(\"name\", layer) in its constructor; a layer of something else belongs into a Model "
          "of "
          "its own");
}

}  // namespace TANDEM_NS
