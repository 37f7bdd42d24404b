// Opener: looks up the functions of a library that is opened at run time. For the tables of such libraries.
#pragma once
#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::cuda {

/// Looks up functions one by one; a missing function invalidates the whole table. A loaded library is never closed: its
/// own handles may outlive this library.
class Opener {
 public:
  /// Opens the first of these files that can be opened.
  explicit Opener(const std::vector<std::string>& names) : handle_(nullptr) {
    for (const std::string& name : names) {
      handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_) return;
      if (error_.empty()) error_ = name + " cannot be opened: " + ::dlerror();
    }
  }
  template <class F>
  void find(F& function, const char* name) {
    if (!handle_ || !missing_.empty()) return;
    function = reinterpret_cast<F>(::dlsym(handle_, name));
    if (!function) missing_ = std::string("the library lacks ") + name + " (another version is needed)";
  }
  std::string error() const { return handle_ ? missing_ : error_; }

 private:
  void* handle_;
  std::string error_, missing_;
};

/// The default locations of toolkit libraries, for the case that the loader's own search fails.
inline std::vector<std::string> places_of(const std::string& name) {
  std::vector<std::string> r{name};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* folder = std::getenv(variable)) r.push_back(std::string(folder) + "/lib64/" + name);
  r.push_back("/usr/local/cuda/lib64/" + name);
  return r;
}

}  // namespace TANDEM_NS::cuda
