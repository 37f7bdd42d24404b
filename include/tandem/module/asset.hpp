// Asset: what a module has learned from data and keeps outside of Variables.
#pragma once
#include <utility>
#include <vector>

#include "tandem/core/replaceable.hpp"
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

/// What a module has learned from data and cannot keep in a Variable, because its size changes or it is text: a
/// vocabulary, the boundaries of bins. An asset never changes; its module replaces it. Copies of a module share its
/// assets, Model::clone() gives the copy its own, train::Checkpoint saves and restores them. A traced function that has
/// read an asset is traced again when it was replaced.
///
/// One that ops refer to and change, such as a MutableHashTable's, overrides take() and own_copy(): it is not replaced,
/// and traced functions see the change.
class TANDEM_API Asset : public Opaque {
 public:
  /// A tensor that a file keeps under the asset's path with `suffix` behind it.
  struct Part {
    const char* suffix;
    Tensor value;  // unset before anything was learned
  };
  /// is_given: it was given when the module was made; a checkpoint must have the same.
  explicit Asset(bool is_given = false) : is_given_(is_given) {}
  /// What a file keeps, all of one moment.
  virtual std::vector<Part> parts() const = 0;
  /// The asset with values from a file, one for each part.
  ///   throws  errors::InvalidArgumentError if the module cannot have these values
  virtual Ref<Asset> with(const std::vector<Tensor>& values) const = 0;
  /// Takes the content of an asset that with() has made, and is not replaced by it. False: it never changes.
  virtual bool take(Asset&) noexcept { return false; }
  /// An asset of the same content that changes by itself. Null: this one, since it never changes.
  virtual Ref<Asset> own_copy() const { return {}; }
  bool is_given() const { return is_given_; }

 private:
  bool is_given_;
};

/// An asset whose content is one tensor.
class TANDEM_API TensorAsset : public Asset {
 public:
  using Asset::Asset;
  /// Unset before anything was learned.
  virtual Tensor value() const = 0;
  /// The asset with a value from a file.
  ///   throws  as with() of several
  virtual Ref<Asset> with_value(const Tensor& value) const = 0;
  std::vector<Part> parts() const final { return {{"", TANDEM_VIRTUAL(*this, TensorAsset::value)()}}; }
  /// This one if that is its value, which is then not replaced.
  TANDEM_INLINE Ref<Asset> with(const std::vector<Tensor>& values) const final;
};

/// Where a module has an asset.
class AssetPlace final : public Replaceable {
 public:
  explicit AssetPlace(Ref<Asset> asset) : kind_(asset->kind()), asset_(std::move(asset)) {}
  const char* kind() const override { return kind_; }
  /// The module's lock is held for these.
  const Ref<Asset>& asset() const { return asset_; }
  void replace(const Ref<Asset>& asset) {
    if (asset == asset_ || TANDEM_VIRTUAL(*asset_, Asset::take)(*asset)) return;
    asset_ = asset;
    changed();
  }

 private:
  const char* const kind_;
  Ref<Asset> asset_;
};

}  // namespace TANDEM_NS
