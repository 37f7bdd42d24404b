// function(): ordinary C++ over tensors, traced once per signature into a graph that is run many times.
//
//   auto step = function([&](const Tensor& x, const Tensor& y) {
//     GradientTape tape;
//     Tensor loss = reduce_mean(square(model(x) - y));
//     optimizer.apply_gradients(tape.gradient(loss, weights), weights);
//     return loss;
//   });
//   for (...) loss = step(x, y);  // traces at the first call
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "tandem/core/cancel.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/graph/trace/function_cache.hpp"
#include "tandem/graph/trace/tree.hpp"
#include "tandem/ops/create/constant.hpp"

namespace TANDEM_NS {

namespace detail {

template <class T>
class Prototype final : public Opaque {
 public:
  explicit Prototype(T v) : value(std::move(v)) {}
  const char* kind() const override { return "result"; }
  const T value;
};
// One distinct address per type.
template <class T>
inline constexpr char type_tag = 0;
// The type as which f receives an argument; for a string literal, const char*.
template <class A>
using Argument = std::decay_t<const A&>;
// Converts an argument where f takes tensors in place of numbers.
template <class A>
decltype(auto) number_as_tensor(const A& x) {
  if constexpr (std::is_arithmetic_v<A>) return constant(x);
  else return (x);
}
template <class A>
using NumberAsTensor = std::conditional_t<std::is_arithmetic_v<A>, Tensor, A>;

}  // namespace detail

/// A traced function; copies share the cache. Thread-safe to call. It keeps the Variables of its traces alive, so
/// none can be destroyed while it exists.
template <class F>
class Function {
  template <class... A>
  static constexpr bool takes = std::is_invocable_v<F&, const detail::Argument<A>&...>;
  template <class... A>
  static constexpr bool wants_tensors = [] {
    if constexpr ((!std::is_arithmetic_v<A> && ...) || takes<A...>) return false;
    else return takes<detail::NumberAsTensor<A>...>;
  }();

 public:
  explicit Function(F f, FunctionOptions options = {})
      : f_(make_ref<detail::Prototype<Held>>(Held{std::move(f)})),
        cache_(make_ref<FunctionCache>(std::move(options))) {}

  /// Calls f: traces it if no existing trace matches, else runs the graph.
  ///   arguments  tensors, Variables (by identity), numbers, strings, enums (by value), and vectors, maps, tuples,
  ///              optionals and plain structs of them. Numbers become tensors (as by constant(number)) where f takes
  ///              tensors in their positions.
  ///   returns    what f returns, with the call's tensors; non-tensor values are those returned by the trace.
  ///              Gradients are dense
  ///   throws     what f throws while it is traced (then no trace is kept) and what kernels raise
  template <class... A>
    requires(!wants_tensors<A...>)
  auto operator()(const A&... arguments) const {
    static_assert(takes<A...>,
                  "f cannot be called with these arguments; it takes tensors as const Tensor& or Tensor, not Tensor&");
    if constexpr (!takes<A...>) return;
    else return run<Result<A...>>(arguments...);
  }

  template <class... A>
    requires(wants_tensors<A...>)
  auto operator()(const A&... arguments) const {
    return (*this).template operator()<detail::NumberAsTensor<A>...>(detail::number_as_tensor(arguments)...);
  }

  /// The same with a deadline or a token that ends the call before its next node (core/cancel.hpp).
  ///   throws  also errors::DeadlineExceededError, errors::CancelledError; the effects are then those of the nodes
  ///           before
  template <class... A>
  auto call_with(const CallOptions& options, const A&... arguments) const {
    const CallScope scope(options);
    scope.check("function", "before it began");
    return (*this)(arguments...);
  }

  /// Calls f and stores what it returns in `result`, whose containers keep their storage: no allocation if the
  /// result has the same structure as that of the previous call.
  ///   throws  as a call; `result` is then unchanged
  template <class R, class... A>
  void call_into(R& result, const A&... arguments) const {
    if constexpr (wants_tensors<A...>) {
      call_into<R, detail::NumberAsTensor<A>...>(result, detail::number_as_tensor(arguments)...);
    } else {
      static_assert(std::is_same_v<R, Result<A...>>, "call_into() takes an object of the type that f returns");
      static_assert(tree::detail::is_fillable<R>(), "call_into() needs a result that can be assigned part by part");
      Ref<Traced> traced;
      Tensors out = call<R>(traced, arguments...);
      Tensor* next = out.begin();
      tree::fill(result, prototype<R>(*traced), next);
    }
  }

  /// The trace for such arguments, created if necessary. A TensorSpec represents any tensor of that spec; one without
  /// a device is on that of the innermost device scope.
  template <class... A>
  Ref<ConcreteFunction> get_concrete_function(const A&... arguments) const {
    return [&]<class... B>(const B&... b) {
      using R = Result<B...>;
      tree::Flat flat;
      return find<R>(false, flat, b...)->function;
    }(placeholder(arguments)...);
  }

  /// What a call with such arguments takes of memory: "will it fit?". A TensorSpec stands for a tensor; f is traced if
  /// necessary, and nothing runs. A step that trains is a traced function, too.
  ///   throws  as get_concrete_function; errors::InvalidArgumentError for a spec that leaves a size open
  template <class... A>
  MemoryUse memory_for(const A&... arguments) const {
    return [&]<class... B>(const B&... b) {
      tree::Flat flat;
      const Ref<Traced> traced = find<Result<B...>>(false, flat, b...);
      std::vector<Spec> specs;
      for (const Tensor* t : flat.tensors) specs.push_back(t->spec());
      return traced->function->memory_for(specs);
    }(placeholder(arguments)...);
  }

  /// The number of times f has been traced.
  int trace_count() const { return cache_->trace_count(); }
  /// The reason for each trace; the latest 256, oldest first.
  std::vector<TraceRecord> trace_log() const { return cache_->trace_log(); }

 private:
  struct Held {
    mutable F f;
  };
  template <class... A>
  using Result = std::decay_t<std::invoke_result_t<F&, const detail::Argument<A>&...>>;
  template <class R>
  static const R& prototype(const Traced& traced) {
    return static_cast<const detail::Prototype<R>&>(*traced.result).value;
  }
  // The call operator, with f's result R.
  template <class R, class... A>
  R run(const A&... arguments) const {
    Ref<Traced> traced;
    Tensors out = call<R>(traced, arguments...);
    if constexpr (std::is_void_v<R>) {
      return;
    } else if constexpr (tree::detail::is_fillable<R>()) {
      R result{};
      Tensor* next = out.begin();
      tree::fill(result, prototype<R>(*traced), next);
      return result;
    } else {
      R result = prototype<R>(*traced);
      const Tensor* next = out.begin();
      tree::refill(result, next);
      return result;
    }
  }
  template <class R, class... A>
  Tensors call(Ref<Traced>& traced, const A&... arguments) const {
    tree::Flat flat;
    traced = find<R>(true, flat, arguments...);
    if (traced->checks_left.load(std::memory_order_relaxed) > 0) [[unlikely]] {
      const auto body = body_of<R>(arguments...);
      cache_->check(*traced, flat, erased(body));
    }
    return traced->function->call_fitting({flat.tensors.begin(), flat.tensors.size()});
  }
  static Tensor placeholder(const Spec& s) {
    const bool is_free = s.device == Device{} && s.dtype != DType::string;  // strings live on the host
    return Tensor::symbol({s.shape, s.dtype, is_free ? current_device() : s.device});
  }
  template <class T>
    requires(!std::is_same_v<Spec, T>)
  static const T& placeholder(const T& x) { return x; }

  // for_call: the arguments are values, not just specs.
  template <class R, class... A>
  Ref<Traced> find(bool for_call, tree::Flat& flat, const A&... arguments) const {
    const void* const type = &detail::type_tag<R(detail::Argument<A>...)>;
    flat.add(&type, sizeof type);
    flat.key.push_back(current_device().kind), flat.key.push_back(current_device().index);
    flat.key.push_back(static_cast<unsigned char>(is_training()));
    if (detail::replication) detail::add_replication(flat);
    (tree::flatten(arguments, flat), ...);
    if (Ref<Traced> hit = cache_->find(flat)) return hit;
    if (for_call) cache_->check_values(flat);
    const auto words = [&] {
      std::vector<std::string> r;
      tree::Flat again;
      again.words = &r;
      (tree::flatten(arguments, again), ...);
      return r;
    };
    const auto body = body_of<R>(arguments...);
    return cache_->trace(flat, words(), erased(body));
  }
  // f bound to the arguments, with their tensors to be replaced.
  template <class R, class... A>
  auto body_of(const A&... arguments) const {
    return [this, &arguments...](const Tensor* tensors) {
      std::tuple<detail::Argument<A>...> copies(arguments...);
      tree::refill(copies, tensors);
      return run_once<R>(copies);
    };
  }
  template <class Body>
  static Traced::Body erased(const Body& body) {
    return {[](const void* self, const Tensor* tensors) { return (*static_cast<const Body*>(self))(tensors); }, &body};
  }
  // Runs f on symbols; its result becomes the prototype of all results.
  template <class R, class T>
  Traced::Run run_once(const T& arguments) const {
    Traced::Run run;
    if constexpr (std::is_void_v<R>) {
      std::apply(f_->value.f, arguments);
    } else {
      R result = std::apply(f_->value.f, arguments);
      tree::make_dense(result);
      tree::Flat flat;
      tree::flatten(result, flat);
      for (const Tensor* t : flat.tensors) run.outputs.push_back(*t);
      run.plain.assign(flat.key.begin(), flat.key.end());
      run.result = Ref<Opaque>(new detail::Prototype<R>(std::move(result)));
    }
    return run;
  }

  Ref<detail::Prototype<Held>> f_;
  Ref<FunctionCache> cache_;
};

/// Makes f a traced function.
///   f  takes and returns what Function's call operator lists; captures what it trains by reference
template <class F>
Function<std::decay_t<F>> function(F&& f, FunctionOptions options = {}) {
  return Function<std::decay_t<F>>(std::forward<F>(f), std::move(options));
}

}  // namespace TANDEM_NS
