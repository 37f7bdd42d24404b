// Asset: what a module has learned from data and keeps outside of Variables.
#pragma once
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

/// What a module has learned from data and cannot keep in a Variable, because its size changes or it is text: a
/// vocabulary, the boundaries of bins. An asset never changes; its module replaces it. Copies of a module share its
/// assets, Model::clone() gives the copy its own, train::Checkpoint saves and restores them.
class TANDEM_API Asset : public Opaque {
 public:
  /// is_given: it was given when the module was made; a checkpoint must have the same.
  explicit Asset(bool is_given = false) : is_given_(is_given) {}
  /// What a file keeps, of any dtype; unset before anything was learned.
  virtual Tensor value() const = 0;
  /// The asset with a value from a file.
  ///   throws  errors::InvalidArgumentError if the module cannot have that value
  virtual Ref<Asset> with(const Tensor& value) const = 0;
  bool is_given() const { return is_given_; }

 private:
  bool is_given_;
};

}  // namespace TANDEM_NS
