// Model: a Module whose members register themselves.
#pragma once
#include <string_view>

#include "tandem/module/module.hpp"

namespace TANDEM_NS {

namespace detail {
/// Converts the compiler's name of a class to snake case: "MyNet" becomes "my_net".
TANDEM_API std::string snake_case(std::string_view type);
template <class T>
std::string_view type_name() {
  return __PRETTY_FUNCTION__;
}
}  // namespace detail

/// A Module whose members are its children, named after their classes as in Keras: "dense", "dense_1", "lstm".
///
///   struct Net : Model<Net> {
///     layers::Dense hidden{64, nn::relu}, out{10};
///     Tensor operator()(const Tensor& x) const { return out(hidden(x)); }
///   };
///
/// Members are the Modules stored in the object itself, in declaration order, also those in a std::array, std::pair or
/// std::optional, and the Variables that are made there: `Variable scale{1.f, {.name = "scale"}};`, without a name
/// "variable", "variable_1". A Variable that was made elsewhere and then assigned or moved to a member is not the
/// Model's; add_variable() makes one that is. A Variable in the bytes of a member, such as a layer of one's own, is the
/// Model's too, under the Model's names.
///
/// Modules stored elsewhere, in a vector or behind a pointer, must be registered with add_module(), and so must those
/// of a class derived from Net. A layer on the heap that Net refers to by a unique_ptr, a shared_ptr, a plain pointer
/// or as the first element of a vector, and that nothing has registered, raises at its first call, and so does a copy
/// of it; layers in maps, in lists or behind two pointers are not noticed. add_module() can also give a member another
/// name.
template <class Self>
class Model : public Module {
 public:
  Model() {
    set_kind(detail::snake_case(detail::type_name<Self>()));
    set_extent(extent());
  }
  Model(const Model& other) : Module(other) { set_extent(extent()); }
  Model& operator=(const Model&) = default;

  /// Copies the model with new Variables that start with the same values; tied Variables stay tied. The copy
  /// constructor, in contrast, shares the Variables.
  ///   throws  errors::FailedPreconditionError if a member that is not a layer has Variables, because it may keep
  ///           handles to them (an optimizer, a Module with add_variable)
  Self clone() const {
    const Noted noted;
    Self copy(static_cast<const Self&>(*this));
    this->separate(noted.list());
    return copy;
  }

 private:
  // The bytes from here to the end of the object: other base classes may come before this one.
  __attribute__((no_sanitize("vptr"))) std::size_t extent() const {
    const char* const here = reinterpret_cast<const char*>(static_cast<const Module*>(this));
    return static_cast<std::size_t>(reinterpret_cast<const char*>(static_cast<const Self*>(this) + 1) - here);
  }
};

}  // namespace TANDEM_NS
