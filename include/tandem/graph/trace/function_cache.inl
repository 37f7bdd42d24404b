// Signatures, and retraces with their reasons.
#pragma once
#include <algorithm>
#include <atomic>

#include "tandem/base/warning.hpp"
#include "tandem/core/profile.hpp"
#include "tandem/core/replication.hpp"
#include "tandem/graph/debug/texts.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/graph/trace/function_cache.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/util/id_map.hpp"
#include "tandem/util/lean_vector.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS {

namespace detail {

inline constexpr int retraces_before_warning = 5;
inline constexpr std::size_t deepest_recursion = 64;
inline constexpr int checked_calls = 3;
inline constexpr std::size_t most_log_records = 256;

TANDEM_LAZY inline bool same_key(const tree::Key& a, const tree::Key& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}
// Whether a tensor of spec `got` may be passed where the trace has `want`; a symbol's unknown dim requires an
// unknown one.
TANDEM_LAZY inline bool accepts(const Spec& want, const Spec& got) {
  if (want.dtype != got.dtype || !(want.device == got.device) || want.shape.rank() != got.shape.rank()) return false;
  for (int i = 0; i < want.shape.rank(); ++i)
    if (want.shape.dim(i) != none && want.shape.dim(i) != got.shape.dim(i)) return false;
  return true;
}
TANDEM_LAZY inline int open_dims(const std::vector<Spec>& specs) {
  int n = 0;
  for (const Spec& s : specs)
    for (i64 d : s.shape) n += d == none;
  return n;
}
TANDEM_LAZY inline std::string joined(const std::vector<std::string>& words) {
  std::string s;
  for (const std::string& w : words) s += (s.empty() ? "" : ", ") + w;
  return s;
}

// The dtype in a tensor's word, "float32[2,3]"; empty for other words ("3", "\"a[0]\"", "variable 'w[0]'").
TANDEM_LAZY inline std::string_view dtype_word(std::string_view word) {
  const std::string_view dtype = word.substr(0, word.find('['));
  return dtype.size() == word.size() || dtype.find_first_of(" \"") != dtype.npos ? std::string_view() : dtype;
}
/// How to avoid the trace of an argument that differs from that of the nearest trace.
TANDEM_LAZY inline const char* retrace_advice(std::string_view now, std::string_view before) {
  const std::string_view dtype = dtype_word(now);
  if (dtype.empty()) return "plain values are part of the signature; pass a tensor if it changes often";
  if (dtype != dtype_word(before)) return "a trace serves one dtype: cast the argument before the call";
  if (std::count(now.begin(), now.end(), ',') != std::count(before.begin(), before.end(), ',') ||
      now.ends_with("[]") != before.ends_with("[]"))
    return "a trace serves one rank: reshape the argument before the call, or use one function for each rank";
  return "give an input signature that leaves the dim unknown ({none, ...}), or set .reduce_retracing";
}

}  // namespace detail

TANDEM_LAZY_INLINE bool Traced::fits(const tree::Flat& call) const {
  if (!detail::same_key(key, call.key) || !is_current()) return false;
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (!detail::accepts(specs[i], call.tensors[i]->spec())) return false;
  return true;
}

TANDEM_LAZY_INLINE void Traced::tell_dependence() const {
  if (!context.stager) return;
  if (depends_on_frozen) detail::tell_frozen_read();
  for (const PlaceRead& read : places) TANDEM_VIRTUAL(*context.stager, Stager::reads_place)(read);
}

TANDEM_LAZY_INLINE FunctionCache::FunctionCache(FunctionOptions options) : options_(std::move(options)) {}
TANDEM_LAZY_INLINE int FunctionCache::trace_count() const {
  const std::lock_guard lock(mutex_);
  return trace_count_;
}
TANDEM_LAZY_INLINE std::vector<TraceRecord> FunctionCache::trace_log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

TANDEM_LAZY_INLINE Ref<Traced> FunctionCache::find(const tree::Flat& call) {
  if (!options_.input_signature.empty()) check_signature(call);
  const std::lock_guard lock(mutex_);
  for (const Ref<Traced>& t : traces_)
    if (t->fits(call)) {
      t->used = ++clock_;
      t->tell_dependence();
      return t;
    }
  return {};
}
TANDEM_LAZY_INLINE void FunctionCache::check_values(const tree::Flat& call) const {
  if (context.stager) return;
  for (const Tensor* t : call.tensors) detail::check_value(options_.name.c_str(), *t);
}
TANDEM_LAZY_INLINE void FunctionCache::check_signature(const tree::Flat& call) const {
  const std::vector<Spec>& want = options_.input_signature;
  if (call.tensors.size() != want.size())
    errors::raise<errors::InvalidArgumentError>(options_.name.c_str(),
                                                "is called with " + std::to_string(call.tensors.size()) +
                                                    " tensors; its input signature has " + std::to_string(want.size()));
  for (std::size_t i = 0; i < want.size(); ++i)
    if (const Spec& got = call.tensors[i]->spec(); !detail::accepts({want[i].shape, want[i].dtype, got.device}, got))
      errors::raise<errors::InvalidArgumentError>(options_.name.c_str(),
                                                  "argument " + std::to_string(i) + " is " + to_string(got) +
                                                      "; the input signature says " + to_string(want[i]));
}

TANDEM_LAZY_INLINE std::vector<Spec> FunctionCache::specs_to_trace(const tree::Flat& call) const {
  std::vector<Spec> specs = detail::specs_of({call.tensors.begin(), call.tensors.size()});
  if (const std::vector<Spec>& given = options_.input_signature; !given.empty())
    for (std::size_t i = 0; i < specs.size(); ++i) specs[i].shape = given[i].shape;  // one trace for each device
  if (!options_.reduce_retracing || !options_.input_signature.empty()) return specs;
  const std::lock_guard lock(mutex_);
  for (const Ref<Traced>& t : traces_) {
    bool alike = detail::same_key(t->key, call.key);
    for (std::size_t i = 0; alike && i < specs.size(); ++i)
      alike = specs[i].dtype == t->specs[i].dtype && specs[i].shape.rank() == t->specs[i].shape.rank();
    if (!alike) continue;
    for (std::size_t i = 0; i < specs.size(); ++i)
      for (int d = 0; d < specs[i].shape.rank(); ++d)
        if (specs[i].shape.dim(d) != t->specs[i].shape.dim(d)) specs[i].shape.set(d, none);
  }
  return specs;
}

// Compares with the trace that has the fewest differences.
TANDEM_LAZY_INLINE TraceRecord FunctionCache::explain(const std::vector<std::string>& words, const Open* caller) const {
  TraceRecord r{detail::joined(words), "the first call", "", {}, 0};
  if (caller) {
    r.reason = "its own trace for (" + caller->signature + ") calls it";
    r.advice =
        "a graph has no recursion, so each depth is a trace of its own: use while_loop, or call the function "
        "without function()";
    return r;
  }
  const std::lock_guard lock(mutex_);
  const Traced* nearest = nullptr;
  std::size_t fewest = SIZE_MAX;
  bool outdated = false;                  // one that would fit had modules not been frozen or unfrozen since,
  const Replaceable* replaced = nullptr;  // or had this not been replaced
  for (const Ref<Traced>& t : traces_) {
    if (t->words.size() != words.size()) continue;
    std::size_t differ = 0;
    for (std::size_t i = 0; i < words.size(); ++i) differ += words[i] != t->words[i];
    if (differ <= fewest) fewest = differ, nearest = t.get();
    if (differ != 0 || t->is_current()) continue;
    outdated = true;
    if (!replaced) replaced = t->replaced();
  }
  if (traces_.empty()) return r;
  if (replaced) {
    r.reason = std::string("the ") + TANDEM_VIRTUAL(*replaced, Opaque::kind)() +
               " of a layer was replaced (adapt, restore) since the trace for such arguments";
    r.advice = "adapt layers and restore checkpoints before the first call";
    return r;
  }
  if (outdated) {
    r.reason = "modules were frozen or unfrozen (set_trainable) since the trace for such arguments";
    r.advice = "freeze them before the first call; a trace is found again when the same modules are frozen";
    return r;
  }
  if (!nearest || fewest == 0) {
    r.reason = nearest ? "an argument has a different type, or the default device, training_scope or strategy differs"
                       : "the number or structure of the arguments differs";
    r.advice = "always call it with the same structure of arguments, or use one function for each";
    return r;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == nearest->words[i]) continue;
    r.reason = "argument " + std::to_string(i) + " is " + words[i] + "; the nearest trace has " + nearest->words[i];
    r.advice = detail::retrace_advice(words[i], nearest->words[i]);
    break;
  }
  return r;
}

TANDEM_LAZY_INLINE Ref<Traced> FunctionCache::make(const tree::Flat& call, std::vector<std::string> words,
                                                   Traced::Body body) {
  auto traced = make_ref<Traced>();
  traced->key = call.key;
  traced->specs = specs_to_trace(call);
  traced->words = std::move(words);
  traced->frozen = detail::frozen_state();
  const bool first = trace_count() == 0;
  Tracer tracer(options_.name, {.may_create_variables = first});
  std::vector<Tensor> symbols;
  for (const Spec& s : traced->specs) symbols.push_back(tracer.argument(s));
  Traced::Run run = body.call(body.self, symbols.data());
  Ref<Graph> graph = tracer.finish(run.outputs);
  IdMap used;
  for (const Variable& v : graph->variables) used.insert(v.id(), 1);
  for (const Variable& v : tracer.created_variables()) {
    const unsigned handles = used.find(v.id()) >= 0 ? 2 : 1;  // of the tracer, and of the graph
    if (VariableAccess::is_kept_by(v, handles))
      errors::raise<errors::FailedPreconditionError>(
          options_.name.c_str(),
          "makes the Variable '" + v.name() +
              "' and releases it when it returns, so each call would need a new one; make it outside "
              "the function and keep it");
  }
  traced->depends_on_frozen = tracer.depends_on_frozen();
  traced->places = tracer.places();
  if (traced->frozen != detail::frozen_state())  // it may have seen some modules before the change, others after it:
    traced->frozen = detail::frozen_mark(new_id(context));  // a state that does not come again
  traced->function = make_ref<ConcreteFunction>(std::move(graph), options_.execution);
  traced->result = std::move(run.result);
  traced->plain = std::move(run.plain);
  if (options_.debug) {
    trace_again(*traced, body);
    traced->checks_left = detail::checked_calls;
  }
  if (detail::replication) traced->must_agree = true, ++traced->checks_left;
  return traced;
}
TANDEM_LAZY_INLINE void FunctionCache::trace_again(const Traced& first, Traced::Body body) const {
  const Graph& graph = first.function->graph();
  const detail::Perturbed other_state(graph);
  Tracer tracer(options_.name, {.may_create_variables = false});
  std::vector<Tensor> symbols;
  for (const Spec& s : first.specs) symbols.push_back(tracer.argument(s));
  const Traced::Run run = body.call(body.self, symbols.data());
  std::string d = trace_difference(graph, *tracer.finish(run.outputs));
  if (d.empty() && run.plain != first.plain) d = "a plain value in the result differs";
  if (!d.empty())
    errors::raise<errors::FailedPreconditionError>(
        options_.name.c_str(), "two traces give different graphs: " + d + ". " + detail::frozen_remedy);
}
TANDEM_LAZY_INLINE void FunctionCache::check(Traced& traced, const tree::Flat& call, Traced::Body body) {
  if (context.stager || detail::is_checking()) return;
  if (traced.must_agree) {
    agree(traced);
    if (traced.must_agree.exchange(false)) --traced.checks_left;
  }
  if (!options_.debug || traced.checks_left == 0) return;
  --traced.checks_left;
  check_against_eager(*traced.function, {call.tensors.begin(), call.tensors.size()}, traced.plain, body);
}

// Once for each strategy: the processes make their first calls at the same time, but need not trace again at the same
// time, as their batches may have other sizes.
TANDEM_LAZY_INLINE void FunctionCache::agree(Traced& traced) {
  Replication* const r = detail::replication;
  if (!r) return;
  const u64 id = TANDEM_VIRTUAL(*r, Replication::id)();
  {
    const std::lock_guard lock(mutex_);
    if (std::find(agreed_.begin(), agreed_.end(), id) != agreed_.end()) return;
  }
  if (!TANDEM_VIRTUAL(*r, Replication::agree)(traced.function->graph(), options_.name)) return;
  const std::lock_guard lock(mutex_);
  agreed_.push_back(id);
}

// The innermost trace in progress on this thread, if any.
TANDEM_LAZY_INLINE const FunctionCache::Open* FunctionCache::check_recursion(const tree::Flat& call) const {
  const Open* caller = nullptr;
  std::size_t depth = 0;
  bool same = false;
  for (const Open& o : open_) {
    if (o.thread != &context) continue;
    caller = &o;
    ++depth;
    same |= detail::same_key(o.call->key, call.key);
  }
  if (same || depth >= detail::deepest_recursion)
    errors::raise<errors::FailedPreconditionError>(
        options_.name.c_str(),
        "is being traced and calls itself; a graph has no recursion: use while_loop, or call the "
        "function without function()");
  return caller;
}
TANDEM_LAZY_INLINE Ref<Traced> FunctionCache::trace(const tree::Flat& call, std::vector<std::string> words,
                                                    Traced::Body body) {
  const Turn::Taken one_at_a_time(turn_);
  if (Ref<Traced> other = find(call)) return other;  // another thread was first
  TraceRecord record = explain(words, check_recursion(call));
  open_.push_back({&context, &call, record.signature});
  struct Opened {
    LeanVector<Open>& list;
    ~Opened() { list.pop_back(); }
  } opened{open_};
  const ProfileScope span("trace", options_.name);
  const i64 start = detail::nanoseconds_now();
  Ref<Traced> traced = make(call, std::move(words), body);
  record.seconds = static_cast<double>(detail::nanoseconds_now() - start) * 1e-9;
  record.hints = advice(traced->function->graph());
  Ref<Traced> kept = keep(std::move(traced), std::move(record));
  kept->tell_dependence();
  return kept;
}

// Returns the trace to keep: another thread that took over the turn while the body waited may have traced the same.
TANDEM_LAZY_INLINE Ref<Traced> FunctionCache::keep(Ref<Traced> traced, TraceRecord record) {
  std::string warning;
  {
    const std::lock_guard lock(mutex_);
    for (const Ref<Traced>& t : traces_)
      if (detail::same_key(t->key, traced->key) && t->specs == traced->specs && t->is_current()) return t;
    if (options_.warn_on_retracing && trace_count_ == detail::retraces_before_warning)
      warning = "function '" + options_.name + "' has been traced " + std::to_string(trace_count_ + 1) +
                " times, which is slow; last because " + record.reason +
                (record.advice.empty() ? "" : ". Remedy: " + record.advice);
    for (std::size_t i = traces_.size(); i-- > 0;)  // these keep what was replaced, and no call can find them
      if (traces_[i]->replaced()) traces_.erase(traces_.begin() + i);
    traces_.make_room();
    log_.reserve(log_.size() + 1);  // nothing below raises: the trace is kept and has its record
    traced->used = ++clock_;
    if (traces_.size() >= static_cast<std::size_t>(std::max(options_.max_traces, 1)))
      traces_.erase(std::min_element(traces_.begin(), traces_.end(),
                                     [](const auto& a, const auto& b) { return a->used < b->used; }));
    const auto at = std::find_if(traces_.begin(), traces_.end(), [&](const Ref<Traced>& t) {
      return detail::open_dims(t->specs) > detail::open_dims(traced->specs);
    });
    traces_.insert(at, traced);
    ++trace_count_;
    if (log_.size() == detail::most_log_records) log_.erase(log_.begin());
    log_.push_back(std::move(record));
  }
  if (!warning.empty()) detail::warn(warning.c_str());
  return traced;
}

TANDEM_LAZY_INLINE void detail::add_replication(tree::Flat& flat) {
  const u64 id = TANDEM_VIRTUAL(*replication, Replication::id)();
  flat.add(&id, sizeof id);
}

}  // namespace TANDEM_NS
