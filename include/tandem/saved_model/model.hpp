// Loaded::Model: what a loaded model has in memory. For the definitions of saved_model/load.hpp.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/saved_model/load.hpp"
#include "tandem/saved_model/manifest.hpp"

namespace TANDEM_NS::saved_model {

namespace impl {
/// The ops of the core that a file may name: none that writes to files.
std::vector<const OpDef*> allowed_ops();
}  // namespace impl

struct Loaded::Model final : Opaque {
  struct Callable {
    Ref<ConcreteFunction> function;
    std::unique_ptr<const io::ExampleParser> examples;  // of a signature with features
  };
  const char* kind() const override { return "saved model"; }
  /// Reads a directory once, which may be exchanged meanwhile.
  static Ref<Model> read(const std::string& directory, const LoadOptions& options);
  void add(const std::string& name, const Signature& signature, const Ref<Graph>& graph);
  /// The signature of that name.
  ///   throws  errors::InvalidArgumentError, with the text of TensorFlow Serving
  const Signature& signature(const std::string& name) const;

  std::string directory;
  impl::Manifest manifest;
  std::map<std::string, Signature> signatures;
  std::map<std::string, Callable> callables;
  std::vector<std::pair<std::string, Variable>> variables;
  i64 bytes = 0;
};

}  // namespace TANDEM_NS::saved_model
