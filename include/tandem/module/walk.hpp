// Module::Walk: visits a module and what is below it. For the definitions of module/module.hpp.
#pragma once
#include <string>

#include "tandem/module/state.hpp"
#include "tandem/util/id_map.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

// Visits a module, its children and its members, in the order in which they are listed.
struct Module::Walk {
  // Visits one module; its lock is held.
  virtual void enter(Contents&, const std::string& /*prefix*/, bool /*is_frozen*/) {}
  virtual void variable(const Named&, const std::string& /*prefix*/, bool /*is_frozen*/) {}

  // Children are visited after this module's lock is released: two modules may contain the same two children in
  // either order.
  void visit(const Handle& m, const std::string& prefix, bool is_frozen = false) {
    Contents& c = m.contents();
    seen_.insert(reinterpret_cast<u64>(&c), 1);
    is_frozen |= c.frozen.load(std::memory_order_relaxed);
    std::unique_lock lock(c.mutex, std::defer_lock);
    if (waits_) lock.lock();
    else if (!lock.try_lock()) return void(missed_ = true);
    TANDEM_VIRTUAL(*this, Walk::enter)(c, prefix, is_frozen);
    const LeanVector<Ref<Contents::Item>> items = c.items;
    Names names;
    if (m.members) names = c.names;
    lock.unlock();
    for (const Ref<Contents::Item>& item : items) {
      if (done_) return;
      if (item->is_module()) visit(item->module, prefix + item->named.path + "/", is_frozen);
      else TANDEM_VIRTUAL(*this, Walk::variable)(item->named, prefix, is_frozen);
    }
    if (!m.members || done_) return;
    for (const Handle& member : static_cast<const Members&>(*m.members).list) {
      if (seen_.find(reinterpret_cast<u64>(&member.contents())) >= 0) continue;
      const std::string name = names.free_name(member.contents().class_name());
      names.insert(name);
      visit(member, prefix + name + "/", is_frozen);
      if (done_) return;
    }
  }

 protected:
  ~Walk() = default;
  bool waits_ = true;    // for a module that another thread is building; otherwise it is left out,
  bool missed_ = false;  // which this says
  bool done_ = false;    // for enter() to end the walk

 private:
  IdMap seen_;  // by address: the Contents of modules visited so far
};

}  // namespace TANDEM_NS
