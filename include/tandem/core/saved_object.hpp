// SavedObject: what an op refers to and a graph file keeps as tensors, such as a lookup table. The graph layer does not
// know the kinds of objects: their classes say what they are made of, and make them again.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tandem/core/tensor.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS {

/// An attribute of ops that is saved with a graph. The namespace of its class also has
///   void read_field(AttrReader&, const char* name, Ref<Class>& to);
/// which argument-dependent lookup finds: it makes an object of the ObjectParts that the reader gives as `name`, keeps
/// it in ObjectParts::made for other ops that refer to it, or calls misfit() for parts that parts() could not have
/// returned.
class TANDEM_API SavedObject : public Opaque {
 public:
  /// The tensors from which read_field() makes an equal object, with data, on the CPU.
  virtual std::vector<Tensor> parts() const = 0;
  /// Whether it never changes: only then a graph may keep a copy of it.
  virtual bool is_fixed() const = 0;
  /// What it takes of memory, about.
  virtual i64 bytes() const = 0;
};

/// What a graph file has of an object.
class TANDEM_API ObjectParts final : public Opaque {
 public:
  ObjectParts(std::string k, std::vector<Tensor> t) : of_kind(std::move(k)), tensors(std::move(t)) {}
  const char* kind() const override { return "object"; }
  const std::string of_kind;  // SavedObject::kind()
  const std::vector<Tensor> tensors;
  Ref<Opaque> made;  // the object, once the first op that refers to it has been read
};

}  // namespace TANDEM_NS
