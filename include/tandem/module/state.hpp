// The state of a Module: its Variables and children, and the registry of all Modules. For the definitions of
// module/module.hpp.
#pragma once
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tandem/module/frozen.hpp"
#include "tandem/module/module.hpp"
#include "tandem/util/at_fork.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

// A module that is not in the registry: the type of children, members and visited modules.
struct Module::Handle {
  Ref<Opaque> state;    // a Contents
  Ref<Opaque> members;  // a Members, or null
  Contents& contents() const;
};

// The names in use in one module. A name that is derived from a kind, "dense_1", is found in constant time on average:
// the search for the next one goes on where the last one ended.
class Module::Names {
 public:
  bool contains(const std::string& name) const { return numbers_.contains(name); }
  void insert(const std::string& name) { numbers_.try_emplace(name, 1); }
  using Entry = std::map<std::string, int>::node_type;
  /// Removes a name, which put_back() makes one again without an allocation; restart() must follow.
  Entry take(const std::string& name) noexcept { return numbers_.extract(name); }
  void put_back(Entry&& entry) noexcept { numbers_.insert(std::move(entry)); }
  /// Removes a name; restart() must follow.
  void erase(const std::string& name) noexcept { numbers_.erase(name); }
  /// Lets all searches begin anew.
  void restart() {
    for (auto& [kind, number] : numbers_) number = 1;
  }
  /// Returns "dense", or the first of "dense_1", "dense_2", ... that is not in use.
  std::string free_name(const std::string& kind) {
    const auto at = numbers_.find(kind);
    if (at == numbers_.end()) return kind;
    for (;; ++at->second)
      if (std::string name = kind + "_" + std::to_string(at->second); !contains(name)) return name;
  }

 private:
  std::map<std::string, int> numbers_;  // by name: all derived from it with a lower number are in use
};

struct Module::Contents final : Opaque {
  // In detail::frozen_modules while this module is frozen, and while it is in a frozen one.
  const u64 mark = detail::frozen_mark(new_id(context)), in_mark = detail::frozen_mark(mark);
  std::atomic<bool> built{false}, frozen{false};
  std::atomic<bool> has_parent{false};  // by add_module
  std::atomic<bool> is_checked{false};  // by check_registered
  std::atomic<bool> in_frozen{false};   // it is frozen, or an enclosing module was when that was frozen or it was added
  std::atomic<u64> alone{0};            // Places::changes when no other module contained it
  // Guards all members below, and is held while the module is built. A build may call children, never the reverse;
  // no two modules are locked except by such calls.
  std::recursive_mutex mutex;
  // A Variable, or a child with its name as `path`; immutable once it is in the list.
  struct Item final : Opaque {
    Named named;
    Handle module;
    const void* member = nullptr;  // the Variable in a Model's bytes that own_member() found

    explicit Item(Named n) : named(std::move(n)) {}
    Item(const std::string& name, Handle m) : named{.path = name, .variable = {}}, module(std::move(m)) {}
    const char* kind() const override { return "item"; }
    Ref<Item> copy() const { return is_module() ? make_ref<Item>(named.path, module) : make_ref<Item>(named); }
    bool is_module() const { return static_cast<bool>(module.state); }
  };
  LeanVector<Ref<Item>> items;  // in the order added
  LeanVector<Item*> variables;  // those that are Variables
  struct OwnAsset {
    std::string name;
    Ref<AssetPlace> place;
  };
  LeanVector<OwnAsset> assets;
  Names names;
  std::string kind_name = "module";  // Places::mutex guards it; class_name() copies it
  bool is_layer = false, makes_slots = false;
  Tensor call_loss;                        // of the latest call, or unset
  std::string output;                      // the shape of a result, or empty
  std::map<std::string, Tensor> expected;  // by name: the checkpoint's values for Variables that do not exist yet
  std::string path;                        // in that checkpoint: "model/hidden/"
  Ref<Opaque> paths;                       // a Paths, of the modules of that checkpoint

  Contents() = default;
  explicit Contents(const char* layer) : kind_name(layer), is_layer(true) {}
  ~Contents() override { freeze(false), set_in_frozen(false); }
  const char* kind() const override { return "module"; }
  std::string class_name() const;
  void freeze(bool now) noexcept { flip(frozen, now, mark); }
  void set_in_frozen(bool now) noexcept { flip(in_frozen, now, in_mark); }
  static void flip(std::atomic<bool>& flag, bool now, u64 mark) noexcept {
    if (flag.exchange(now, std::memory_order_acq_rel) != now)
      detail::frozen_modules.fetch_xor(mark, std::memory_order_acq_rel);
  }
  void check_new(const std::string& name) const {
    if (names.contains(name))
      errors::raise<errors::AlreadyExistsError>("module", "'" + name + "' is already the name of a variable or module");
  }
  // Adds all of the item or, if anything raises, nothing.
  Item& add(const Ref<Item>& item) {
    items.make_room(), variables.make_room();
    names.insert(item->named.path);
    items.push_back(item);
    if (!item->is_module()) variables.push_back(item.get());
    return *item;
  }
  // What replace() has replaced.
  struct Replaced {
    Ref<Item> now, before;
    Names::Entry name;  // that of `before`, unless it is kept
  };
  // Replaces an item by one of another name, which is free or its own, or of another Variable.
  Replaced replace(Ref<Item>& item, const Ref<Item>& now) {
    Replaced r{now, item, {}};
    if (now->named.path != item->named.path) {
      names.insert(now->named.path);
      r.name = names.take(item->named.path), names.restart();
    }
    *std::find(variables.begin(), variables.end(), item.get()) = now.get();
    item = now;
    return r;
  }
  // Undoes it, as the latest change but for items that were added.
  void undo(Replaced& r) noexcept {
    if (r.name) names.erase(r.now->named.path), names.put_back(std::move(r.name)), names.restart();
    *std::find(variables.begin(), variables.end(), r.now.get()) = r.before.get();
    *std::find(items.begin(), items.end(), r.now) = r.before;
  }
  // The item of a Variable that own_member() has added, by the Variable, or null.
  Ref<Item>* member(const Variable& v) {
    const auto at = std::find_if(items.begin(), items.end(), [&](const Ref<Item>& item) {
      return item->member && item->named.variable.is_same(v);
    });
    return at == items.end() ? nullptr : &*at;
  }
  // The same, by the place where it was made.
  Ref<Item>* member_at(const void* place) {
    const auto at = std::find_if(items.begin(), items.end(), [&](const Ref<Item>& i) { return i->member == place; });
    return at == items.end() ? nullptr : &*at;
  }
  // Removes what was added since there were `count` items.
  void shrink_to(std::size_t count) noexcept {
    for (; items.size() > count; items.pop_back()) {
      names.erase(items.back()->named.path);
      if (!items.back()->is_module()) variables.pop_back();
    }
    names.restart();
  }
  std::string path_of(const Named& slot) const;
  // The checkpoint's value for a Variable, or null.
  [[gnu::cold]] const Tensor* expected_for(const std::string& name, const Spec& spec) const {
    const auto found = expected.find(name);
    if (found == expected.end()) return nullptr;
    const Tensor& t = found->second;
    if (t.dtype() != spec.dtype || !(t.shape() == spec.shape))
      errors::raise<errors::InvalidArgumentError>(
          "restore", "'" + name + "' is " + to_string(spec) + ", but the checkpoint has " + to_string(t.spec()));
    return &t;
  }
};

// Maps ids to paths in a checkpoint, including those of Variables that its modules create later.
struct Module::Paths final : Opaque {
  const char* kind() const override { return "paths"; }
  std::mutex mutex;
  std::map<u64, std::string> of;
};

inline Module::Contents& Module::Handle::contents() const { return static_cast<Contents&>(*state); }

// The members of a Model at one point in time; immutable.
struct Module::Members final : Opaque {
  const char* kind() const override { return "members"; }
  LeanVector<Handle> list;
};

// What freezing or unfreezing a module changes: listed first, which may raise, and then set.
struct Module::Marks {
  struct Mark {
    Ref<Opaque> contents;
    bool in_frozen;
  };
  LeanVector<Mark> list;

  void set() const noexcept {
    for (const Mark& m : list) static_cast<Contents&>(*m.contents).set_in_frozen(m.in_frozen);
  }
};

namespace detail {
// Exists while modules are frozen or unfrozen: a trace made meanwhile, which may see some of them changed and others
// not, is of a state that does not come again.
class FrozenChange {
 public:
  FrozenChange() : mark_(frozen_mark(new_id(context))) { frozen_modules.fetch_xor(mark_, std::memory_order_acq_rel); }
  FrozenChange(const FrozenChange&) = delete;
  FrozenChange& operator=(const FrozenChange&) = delete;
  ~FrozenChange() { frozen_modules.fetch_xor(mark_, std::memory_order_acq_rel); }

 private:
  const u64 mark_;
};
}  // namespace detail

// The registry of all Modules by address, with the sizes of those that are Models.
struct Module::Places {
  detail::ForkMutex mutex{detail::ForkMutex::modules};
  std::map<const Module*, std::size_t, std::less<>> sizes;
  std::map<const Module*, std::size_t, std::less<>> models;  // those alone
  std::atomic<u64> changes{1};                               // counts what may have put one module into another

  /// The innermost Model in whose bytes the address is, or null.
  const Module* model_around(const void* address) const;
  LeanVector<Handle> handles(bool outermost);

  // A handle with the members directly inside a Model, in address order, or those of the Model that it was copied
  // from. The mutex is held.
  Handle handle(const Module& m) const {
    const auto end_of = [](const auto& place) { return reinterpret_cast<const char*>(place.first) + place.second; };
    auto at = sizes.find(&m);
    const char* const end = end_of(*at);
    const char* behind = nullptr;  // the end of the previous member
    LeanVector<Handle> inside;
    for (++at; at != sizes.end() && reinterpret_cast<const char*>(at->first) < end; ++at) {
      if (reinterpret_cast<const char*>(at->first) < behind) continue;
      inside.push_back(handle(*at->first));
      behind = end_of(*at);
    }
    if (inside.empty()) return {m.state_, m.members_};
    auto* const members = new Members;
    members->list = std::move(inside);
    return {m.state_, Ref<Opaque>(members)};
  }
};

inline std::string Module::Contents::class_name() const {
  const std::lock_guard lock(places().mutex);
  return kind_name;
}

}  // namespace TANDEM_NS
