// name_scope, device scopes, and the scope that hides tapes: RAII, per thread.
#pragma once
#include <string>

#include "tandem/base/device.hpp"
#include "tandem/core/observer.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_API std::string scope_path(const std::string& name);
}

/// Prefixes the names of Variables and traced ops made while it lives: "scope/w". The second scope of a name within one
/// trace is "scope_1".
class TANDEM_API name_scope {
 public:
  explicit name_scope(const std::string& name) : path_(detail::scope_path(name)), outer_(context.scope) {
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

/// New tensors are made on this device while it lives: auto scope = tandem::DeviceScope({Device::gpu, 0}).
class TANDEM_API DeviceScope {
 public:
  explicit DeviceScope(Device device) : device_(device), outer_(context.device) { context.device = &device_; }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() { context.device = outer_; }

 private:
  Device device_;
  const Device* outer_;
};

/// The same by name: auto scope = tandem::device("GPU:0").
inline DeviceScope device(std::string_view name) { return DeviceScope(device_named(name)); }

namespace detail {
// Hides the thread's tapes while it lives.
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
