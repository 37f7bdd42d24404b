// Model: a Module whose members register themselves.
#pragma once
#include <string_view>

#include "tandem/core/module.hpp"

namespace TANDEM_NS {

namespace detail {
/// "MyNet" as "my_net", from the compiler's name of a class.
TANDEM_API std::string snake_case(std::string_view type);
template <class T>
std::string_view type_name() {
  return __PRETTY_FUNCTION__;
}
}  // namespace detail

/// A Module whose members are its children, named by their classes as Keras names them: "dense", "dense_1", "lstm".
///
///   struct Net : Model<Net> {
///     layers::Dense hidden{64, nn::relu}, out{10};
///     Tensor operator()(const Tensor& x) const { return out(hidden(x)); }
///   };
///
/// Members are the Modules inside of the object itself, in the order of their declaration. Those elsewhere, in a vector
/// or behind a pointer, need add_module(), as do those of a class that is derived from Net in its turn. add_module()
/// also gives a member another name.
template <class Self>
class Model : public Module {
 public:
  Model() {
    set_kind(detail::snake_case(detail::type_name<Self>()));
    set_extent(sizeof(Self));
  }
  Model(const Model& other) : Module(other) { set_extent(sizeof(Self)); }
  Model& operator=(const Model&) = default;

  /// A model with Variables of its own that begin with the same values; those that are tied stay tied. Copies made by
  /// the copy constructor share their Variables.
  ///   throws  errors::FailedPreconditionError if a member that is not a layer has Variables, on which it may keep
  ///           handles (an optimizer, a Module with add_variable)
  Self clone() const {
    const Noted noted;
    Self copy(static_cast<const Self&>(*this));
    this->separate(noted.list());
    return copy;
  }
};

}  // namespace TANDEM_NS
