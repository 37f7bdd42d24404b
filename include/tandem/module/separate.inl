// Clones modules: gives a copy of modules its own Variables.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/module/module.hpp"
#include "tandem/module/state.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

// Maps Contents and Variables to the copies made of them.
struct Module::Separation {
  std::map<const Opaque*, Ref<Opaque>> contents;
  std::map<u64, Variable> variables;

  Variable copy(const Variable& v) {
    const auto [at, fresh] = variables.try_emplace(v.id());
    if (fresh)
      at->second = Variable(v.value(), {.name = v.name(),
                                        .trainable = v.trainable(),
                                        .aggregate = v.aggregate(),
                                        .whole_rows = v.whole_rows(),
                                        .constraint = v.constraint()});
    return at->second;
  }
  void separate(Ref<Opaque>& state, Ref<Opaque>& members) {
    state = copy(static_cast<Contents&>(*state));
    if (!members) return;
    auto* const fresh = new Members;
    const Ref<Opaque> old = std::exchange(members, Ref<Opaque>(fresh));
    fresh->list = static_cast<const Members&>(*old).list;
    for (Handle& member : fresh->list) separate(member.state, member.members);
  }
  Ref<Opaque> copy(Contents& old) {
    if (const auto at = contents.find(&old); at != contents.end()) return at->second;
    const std::lock_guard lock(old.mutex);
    if (!old.is_layer && !old.variables.empty())
      errors::raise<errors::FailedPreconditionError>(
          "clone", "a " + old.class_name() + " may keep handles to its Variables ('" + old.variables[0]->named.path +
                       "'), which would still refer to the original; construct a new one and copy the weights with "
                       "get_weights() and set_weights()");
    auto* const fresh = new Contents;
    const Ref<Opaque> kept = contents[&old] = Ref<Opaque>(fresh);
    fresh->built = old.built.load();
    fresh->freeze(old.frozen.load());
    fresh->set_in_frozen(old.in_frozen.load());
    fresh->has_parent = old.has_parent.load();
    fresh->names = old.names;
    for (const Contents::OwnAsset& a : old.assets) {
      const Ref<Asset> own = TANDEM_VIRTUAL(*a.place->asset(), Asset::own_copy)();
      fresh->assets.push_back({a.name, make_ref<AssetPlace>(own ? own : a.place->asset())});
    }
    fresh->kind_name = old.class_name();
    fresh->is_layer = old.is_layer;
    fresh->output = old.output;
    fresh->expected = old.expected;
    fresh->path = old.path;
    fresh->paths = old.paths;
    for (const Ref<Contents::Item>& item : old.items) {
      Contents::Item& mine = fresh->add(item->copy());
      if (mine.is_module()) separate(mine.module.state, mine.module.members);
      else mine.named.variable = copy(item->named.variable);
    }
    return kept;
  }
};
TANDEM_INLINE void Module::separate(const LeanVector<Module*>& modules) {
  const detail::Unobserved quiet;
  Separation all;
  for (Module* m : modules) {
    Handle own{m->state_, m->members_};
    all.separate(own.state, own.members);
    const std::lock_guard lock(places().mutex);  // other threads list all modules meanwhile
    ++places().changes;
    std::swap(m->state_, own.state);
    std::swap(m->members_, own.members);
  }
}

}  // namespace TANDEM_NS
