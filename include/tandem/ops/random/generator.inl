// Definitions of ops/random/generator.hpp.
#pragma once
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "tandem/core/replication.hpp"
#include "tandem/cpu/random/random.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/random/element_keys.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/util/at_fork.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE void check_key(const InferCall& c, std::size_t i) {
  const Spec& s = c.spec(i);
  if (s.dtype != DType::int64 || !s.shape.is_compatible_with(Shape{2})) raise_specs(c, "the key must be int64[2]");
}
TANDEM_INLINE Specs infer_advance(const InferCall& c) {
  check_key(c, 0);
  return Specs(c.spec(0));
}
}  // namespace detail
TANDEM_INLINE constexpr OpDef random_advance_op{.name = "random_advance",
                                                .input_names = "state",
                                                .infer = &detail::infer_advance,
                                                .cpu = &cpu::random_advance,
                                                .dtypes = dtypes_of(DType::int64),
                                                .saves = Saves::nothing,
                                                .flags = {.in_place = true, .non_differentiable = true}};

namespace random {

namespace impl {
TANDEM_INLINE Tensor state_tensor(i64 seed) {
  Tensor t = Tensor::allocate({Shape{2}, DType::int64, {}});
  static_cast<i64*>(t.raw())[0] = seed;
  static_cast<i64*>(t.raw())[1] = 0;
  return t;
}
// The seed of an op's own sequence: both numbers, mixed with the SplitMix64 finalizer, twice.
TANDEM_INLINE i64 mixed(i64 global, i64 op) {
  u64 x = static_cast<u64>(global);
  for (const u64 add : {0x9e3779b97f4a7c15u, static_cast<u64>(op)}) {
    x += add;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
  }
  return static_cast<i64>(x);
}
TANDEM_INLINE i64 entropy() {
  i64 seed = 0;
  if (getentropy(&seed, sizeof seed) != 0) seed = static_cast<i64>(reinterpret_cast<std::uintptr_t>(&seed));
  return seed;
}

// Suspends scopes, tapes and traces for generators that the library creates itself.
class OutsideAll {
 public:
  OutsideAll() : scope_(std::exchange(context.scope, nullptr)) {}
  OutsideAll(const OutsideAll&) = delete;
  ~OutsideAll() { context.scope = scope_; }

 private:
  tandem::detail::OutsideTrace trace_;
  const ReplicationScope alone_{nullptr};
  const char* scope_;
};
// Never destroyed, because draws may still happen during program exit.
struct Sequences {
  tandem::detail::ForkMutex mutex{tandem::detail::ForkMutex::seeds};
  std::atomic<const Generator*> global{nullptr};  // created on first use, like those of op seeds
  i64 seed = 0;                                   // guarded by mutex, as is by_op_seed
  std::map<i64, Generator> by_op_seed;
};
inline Sequences& sequences() {
  static Sequences* const s = new Sequences;
  return *s;
}
TANDEM_INLINE const bool sequences_made = (sequences(), true);  // created when the library is loaded (at_fork.hpp)
}  // namespace impl

struct Generator::Shared final : Opaque {
  const Variable state;
  explicit Shared(i64 seed) : state(impl::state_tensor(seed), {.name = "Generator", .trainable = false}) {}
  const char* kind() const override { return "generator"; }
};

TANDEM_INLINE Generator::Generator(i64 seed) : shared_(new Shared(seed)) {}
TANDEM_INLINE Generator Generator::from_non_deterministic_state() { return Generator(impl::entropy()); }
TANDEM_INLINE Generator::Shared& Generator::shared() const { return static_cast<Shared&>(*shared_); }
TANDEM_INLINE const Variable& Generator::state() const { return shared().state; }
TANDEM_INLINE void Generator::reset(i64 seed) const { state().assign(impl::state_tensor(seed)); }
// Traced programs hold the Variable's lock from their reads on. Under the same lock, no two draws get the same key.
TANDEM_INLINE Tensor Generator::next_key() const { return fetch_update(random_advance_op, state(), {}); }

namespace detail {

TANDEM_INLINE constinit thread_local ElementKeys* element_keys = nullptr;

TANDEM_INLINE ElementKeys::ElementKeys(u64 seed, u64 stream)
    : seed_(seed), stream_(stream), outer_(std::exchange(element_keys, this)) {}
TANDEM_INLINE ElementKeys::~ElementKeys() { element_keys = outer_; }
TANDEM_INLINE ElementKeys* ElementKeys::current() { return element_keys; }

struct ElementDraw {
  // The state of a sequence of the element, after as many draws as it has made.
  static Tensor state(const ElementKeys& element, std::optional<i64> op_seed) {
    i64 seed = static_cast<i64>(element.seed_);
    {
      impl::Sequences& s = impl::sequences();
      const std::lock_guard lock(s.mutex);
      seed = impl::mixed(s.seed, seed);
    }
    if (op_seed) seed = impl::mixed(seed, *op_seed);
    Tensor t = impl::state_tensor(impl::mixed(seed, static_cast<i64>(element.stream_)));
    static_cast<i64*>(t.raw())[1] = static_cast<i64>(element.draws_);
    return t;
  }
  static Tensor next_key(ElementKeys& element, std::optional<i64> op_seed) {
    if (const auto* own = element.find(op_seed)) return fetch_update(random_advance_op, own->state, {});
    Tensor key = state(element, op_seed);
    ++element.draws_;
    return key;
  }
};
TANDEM_INLINE const ElementKeys::Sequence* ElementKeys::find(std::optional<i64> op_seed) const {
  for (const Sequence& s : own_)
    if (s.op_seed == op_seed) return &s;
  return nullptr;
}
TANDEM_INLINE const Variable& ElementKeys::own_state(std::optional<i64> op_seed) {
  if (const Sequence* made = find(op_seed)) return made->state;
  const impl::OutsideAll outside;
  const VariableOptions options{.name = "Generator", .trainable = false};
  own_.push_back({op_seed, Variable(ElementDraw::state(*this, op_seed), options)});
  return own_[own_.size() - 1].state;
}
TANDEM_INLINE bool is_sequence(const Variable& state, std::optional<i64>& op_seed) {
  if (state.trainable() || state.dtype() != DType::int64) return false;
  impl::Sequences& s = impl::sequences();
  const Generator* const global = s.global.load(std::memory_order_acquire);
  op_seed = std::nullopt;
  if (global && global->state().is_same(state)) return true;
  const std::lock_guard lock(s.mutex);
  for (const auto& [seed, generator] : s.by_op_seed)
    if (generator.state().is_same(state)) {
      op_seed = seed;
      return true;
    }
  return false;
}
TANDEM_INLINE const Variable& own_or_same(const Variable& variable) {
  ElementKeys* const element = element_keys;
  std::optional<i64> op_seed;
  return element && is_sequence(variable, op_seed) ? element->own_state(op_seed) : variable;
}

}  // namespace detail

TANDEM_INLINE const Generator& global_generator() {
  impl::Sequences& s = impl::sequences();
  if (const Generator* made = s.global.load(std::memory_order_acquire)) return *made;
  const impl::OutsideAll outside;
  const std::lock_guard lock(s.mutex);
  if (!s.global.load(std::memory_order_relaxed))
    s.global.store(new Generator(impl::entropy()), std::memory_order_release);
  return *s.global.load(std::memory_order_relaxed);
}
TANDEM_INLINE void set_seed(i64 n) {
  impl::Sequences& s = impl::sequences();
  const Generator& global = global_generator();
  const std::lock_guard lock(s.mutex);
  s.seed = n;
  global.reset(n);
  for (const auto& [op_seed, generator] : s.by_op_seed) generator.reset(impl::mixed(n, op_seed));
}
TANDEM_INLINE Tensor next_key(const char* op, const KeySource& source) {
  if (source.seed && source.generator)
    errors::raise<errors::InvalidArgumentError>(op,
                                                "both .seed and .generator are given; a generator has its own seed");
  if (source.generator) return source.generator->next_key();
  if (detail::ElementKeys* const element = detail::ElementKeys::current(); element && !context.stager) [[unlikely]]
    return detail::ElementDraw::next_key(*element, source.seed);
  if (!source.seed) return global_generator().next_key();
  const Generator own = [&] {
    impl::Sequences& s = impl::sequences();
    const impl::OutsideAll outside;
    const std::lock_guard lock(s.mutex);
    const auto at = s.by_op_seed.find(*source.seed);
    if (at != s.by_op_seed.end()) return at->second;
    return s.by_op_seed.emplace(*source.seed, Generator(impl::mixed(s.seed, *source.seed))).first->second;
  }();
  return own.next_key();
}

}  // namespace random
}  // namespace TANDEM_NS
