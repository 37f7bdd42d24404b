// Model: a Module whose members register themselves.
#pragma once
#include <string_view>

#include "tandem/nn/module.hpp"

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

#ifdef TANDEM_IMPLEMENT_LAYERS
#include <cctype>

namespace TANDEM_NS {

TANDEM_INLINE std::string detail::snake_case(std::string_view type) {
  type.remove_prefix(type.find("T = ") + 4);
  type = type.substr(0, type.find_first_of("]<;"));
  if (const auto colon = type.rfind(':'); colon != type.npos) type.remove_prefix(colon + 1);
  std::string r;
  for (std::size_t i = 0; i < type.size(); ++i) {
    const auto is = [&](int (*test)(int), std::size_t k) {
      return k < type.size() && test(static_cast<unsigned char>(type[k]));
    };
    if (i && is(std::isupper, i) && (is(std::islower, i - 1) || is(std::islower, i + 1))) r += '_';
    r += static_cast<char>(std::tolower(static_cast<unsigned char>(type[i])));
  }
  return r;
}

}  // namespace TANDEM_NS
#endif
