// RAII scopes, per thread: name_scope, device scopes, suspension of tapes, and the call site for error messages.
#pragma once
#include <string>

#include "tandem/base/device.hpp"
#include "tandem/base/error.hpp"
#include "tandem/base/location.hpp"
#include "tandem/core/observer.hpp"

namespace TANDEM_NS {

struct OpDef;

namespace detail {
TANDEM_API std::string scope_path(const std::string& name);
}

/// Prefixes the names of Variables and traced ops created in the scope: "scope/w". A second scope of the same name
/// within one trace becomes "scope_1".
class TANDEM_API name_scope {
 public:
  [[nodiscard]] explicit name_scope(const std::string& name) : path_(detail::scope_path(name)), outer_(context.scope) {
    context.scope = path_.c_str();
  }
  name_scope(const name_scope&) = delete;
  name_scope& operator=(const name_scope&) = delete;
  ~name_scope() { context.scope = outer_; }

 private:
  std::string path_;
  const char* outer_;
};

inline std::string scoped_name(const std::string& name) { return context.scope ? context.scope + ("/" + name) : name; }

/// Creates new tensors on this device within the scope: auto scope = tandem::DeviceScope({Device::gpu, 0}).
class TANDEM_API DeviceScope {
 public:
  [[nodiscard]] explicit DeviceScope(Device device) : device_(device), outer_(context.device) {
    context.device = &device_;
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() { context.device = outer_; }

 private:
  Device device_;
  const Device* outer_;
};

/// Creates a device scope by name: auto scope = tandem::device("GPU:0").
[[nodiscard]] inline DeviceScope device(std::string_view name) { return DeviceScope(device_named(name)); }

/// Layers that behave differently in training (Dropout, BatchNormalization) do so within the scope:
///     auto scope = training_scope(true);
/// Outside of all scopes they infer; dropout and batch normalization under a tape then warn once that a scope may have
/// been forgotten, which training_scope(false) answers. A traced function has a trace for each of the two modes.
class TANDEM_API training_scope {
 public:
  [[nodiscard]] explicit training_scope(bool training) : outer_(detail::training), was_set_(detail::training_is_set) {
    detail::training = training, detail::training_is_set = true;
  }
  training_scope(const training_scope&) = delete;
  training_scope& operator=(const training_scope&) = delete;
  ~training_scope() { detail::training = outer_, detail::training_is_set = was_set_; }

 private:
  bool outer_, was_set_;
};
/// Whether layers are in training mode on this thread.
inline bool is_training() { return detail::training; }

namespace detail {
// Active during a public function: adds the call's name and source location to errors raised before an op is
// applied. Ops add their own (core/apply.hpp). A function that is composed of other ops gives its name, which errors of
// these ops then have instead of theirs; not one that calls its user's code.
class CallSite {
 public:
  template <class Options>
  explicit CallSite(const Options& o, const char* op = nullptr)
      : name_(o.name), where_(o.where), op_(op), outer_(context.call) {
    context.call = this;
  }
  /// Of the gradient of an op that was applied at `where`.
  CallSite(const SourceLocation& where, const OpDef& gradient_of)
      : name_(no_options.name), where_(where), op_(nullptr), gradient_of_(&gradient_of), outer_(context.call) {
    context.call = this;
  }
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;
  ~CallSite() { context.call = outer_; }

  const Name& name() const { return name_; }
  const SourceLocation& where() const { return where_; }
  /// The name of the function, or null: errors keep the name of the op that raised them.
  const char* op() const { return op_; }
  /// The op whose gradient is computed, or null.
  const OpDef* gradient_of() const { return gradient_of_; }
  const CallSite* outer() const { return outer_; }
  /// The call that the user made: the outermost one.
  static const SourceLocation* users() {
    const CallSite* c = context.call;
    while (c && c->outer_) c = c->outer_;
    return c ? &c->where_ : nullptr;
  }

 private:
  const Name& name_;
  const SourceLocation& where_;
  const char* const op_;
  const OpDef* const gradient_of_ = nullptr;
  const CallSite* const outer_;
};
// Runs a part of a public function: errors of the ops that it consists of get the function's name. For where a CallSite
// does not do, which is for the whole function and lifts StrictShapes.
template <class F>
auto in_name_of(const char* function, const F& body) {
  try {
    return body();
  } catch (errors::OpError& e) {
    e.set_op(function);
    throw;
  }
}

// Suspends the thread's tapes for the scope.
class Unobserved {
 public:
  Unobserved() : outer_(context.observers) { context.observers = nullptr; }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;
  ~Unobserved() { restore_observers(outer_); }

 private:
  Observer* outer_;
};
}  // namespace detail

inline Device current_device() { return context.device ? *context.device : Device{}; }

}  // namespace TANDEM_NS
