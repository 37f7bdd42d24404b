// The assets of modules. For module/module.hpp.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/base/bytes.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/module/module.hpp"
#include "tandem/module/state.hpp"
#include "tandem/module/walk.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE bool same_values(const Tensor& a, const Tensor& b) {
  if (!a.is_set() || !b.is_set() || a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  const Tensor x = a.cpu(), y = b.cpu();
  if (a.dtype() != DType::string) return std::memcmp(x.raw(), y.raw(), x.spec().bytes()) == 0;
  const auto* const first = static_cast<const Bytes*>(x.raw());
  return std::equal(first, first + x.size(), static_cast<const Bytes*>(y.raw()));
}
}  // namespace detail

TANDEM_INLINE Ref<Asset> TensorAsset::with(const std::vector<Tensor>& values) const {
  if (detail::same_values(TANDEM_VIRTUAL(*this, TensorAsset::value)(), values[0]))
    return Ref<Asset>(const_cast<TensorAsset*>(this));
  return TANDEM_VIRTUAL(*this, TensorAsset::with_value)(values[0]);
}
TANDEM_INLINE void Module::add_asset(const std::string& name, const Ref<Asset>& asset) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  c.check_new(name);
  c.assets.make_room();
  Contents::OwnAsset own{name, make_ref<AssetPlace>(asset)};
  c.names.insert(name);
  c.assets.push_back(std::move(own));
}
TANDEM_INLINE Ref<Asset> Module::asset_at(std::size_t i) const {
  Contents& c = contents();
  Ref<Asset> asset;
  PlaceRead read;
  {
    const std::lock_guard lock(c.mutex);
    const Ref<AssetPlace>& place = c.assets[i].place;
    asset = place->asset();
    if (context.stager) read = {Ref<Replaceable>(place.get()), place->version()};
  }
  if (read.place) TANDEM_VIRTUAL(*context.stager, Stager::reads_place)(read);
  return asset;
}
TANDEM_INLINE void Module::set_asset(std::size_t i, const Ref<Asset>& asset) const {
  Contents& c = contents();
  const std::lock_guard lock(c.mutex);
  c.assets[i].place->replace(asset);
}
TANDEM_INLINE std::vector<Module::NamedAsset> Module::named_assets() const {
  struct Listing final : Walk {
    std::vector<NamedAsset> out;
    void enter(Contents& c, const std::string& prefix, bool) override {
      for (std::size_t i = 0; i < c.assets.size(); ++i)
        out.push_back({prefix + c.assets[i].name, c.assets[i].place->asset(), Ref<Opaque>(&c), i});
    }
  } all;
  all.visit(handle(), "");
  return std::move(all.out);
}
TANDEM_INLINE void Module::replace(const NamedAsset& listed, const Ref<Asset>& asset) {
  Contents& c = static_cast<Contents&>(*listed.owner);
  const std::lock_guard lock(c.mutex);
  c.assets[listed.index].place->replace(asset);
}

}  // namespace TANDEM_NS
