// AnyFunction: a function of any type, as std::function, whose header is too heavy for declarations.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

#include "tandem/config.hpp"

namespace TANDEM_NS::train {

template <class Signature>
class AnyFunction;

/// A copyable function; copies refer to the same object. Calling an unset one is undefined.
template <class R, class... A>
class AnyFunction<R(A...)> {
 public:
  AnyFunction() = default;
  template <class F>
    requires(!std::is_same_v<F, AnyFunction> && std::is_invocable_r_v<R, F&, A...>)
  AnyFunction(F f) : held_(std::make_shared<Holder<F>>(std::move(f))) {}
  R operator()(A... arguments) const { return held_->call(std::forward<A>(arguments)...); }
  explicit operator bool() const { return held_ != nullptr; }

 private:
  struct Held {
    virtual R call(A... arguments) = 0;
    virtual ~Held() = default;
  };
  template <class F>
  struct Holder final : Held {
    explicit Holder(F f) : function(std::move(f)) {}
    R call(A... arguments) override { return static_cast<R>(function(std::forward<A>(arguments)...)); }
    F function;
  };
  std::shared_ptr<Held> held_;
};

}  // namespace TANDEM_NS::train
