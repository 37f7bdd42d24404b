// The assets of modules. For module/module.hpp.
#pragma once
#include "tandem/module/module.hpp"
#include "tandem/module/state.hpp"
#include "tandem/module/walk.hpp"

namespace TANDEM_NS {

TANDEM_INLINE void Module::add_asset(const std::string& name, const Ref<Asset>& asset) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  c.check_new(name);
  c.assets.make_room();
  Contents::OwnAsset own{name, asset};
  c.names.insert(name);
  c.assets.push_back(std::move(own));
}
TANDEM_INLINE Ref<Asset> Module::asset_at(std::size_t i) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  return c.assets[i].asset;
}
TANDEM_INLINE void Module::set_asset(std::size_t i, const Ref<Asset>& asset) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  c.assets[i].asset = asset;
}
TANDEM_INLINE std::vector<Module::NamedAsset> Module::named_assets() const {
  struct Listing final : Walk {
    std::vector<NamedAsset> out;
    void enter(Contents& c, const std::string& prefix, bool) override {
      for (std::size_t i = 0; i < c.assets.size(); ++i)
        out.push_back({prefix + c.assets[i].name, c.assets[i].asset, Ref<Opaque>(&c), i});
    }
  } all;
  all.visit(handle(), "");
  return std::move(all.out);
}
TANDEM_INLINE void Module::replace(const NamedAsset& listed, const Ref<Asset>& asset) {
  Contents& c = static_cast<Contents&>(*listed.owner);
  const std::lock_guard lock(c.mutex);
  c.assets[listed.index].asset = asset;
}

}  // namespace TANDEM_NS
