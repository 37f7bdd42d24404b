// Loading saved models in programs that have none of the code that traced them. Part of the component
// tandem::saved_model.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tandem/core/cancel.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/io/failure_file.hpp"
#include "tandem/saved_model/signature.hpp"

namespace TANDEM_NS::saved_model {

struct LoadOptions {
  /// The ops that may occur besides those of the core without print, which writes to files: {strings::all_ops()} of
  /// strings_op_table.hpp for models with lookup tables or texts.
  OpLists ops = {};
  /// By saved name: Variables that the model uses in place of its own, for instance those that are trained meanwhile.
  std::vector<std::pair<std::string, Variable>> variables = {};
  /// In bytes: a model that takes more is refused; if its Variables and graphs alone do, before they are read. 0: no
  /// limit.
  i64 memory_limit = 0;
  /// Whether Variables are the pages of their file, which processes share (io::LoadTensorsOptions). The directory must
  /// then stay as it is while the model is used; removing it is safe.
  bool map = true;
};

/// Tensors by name.
using NamedTensors = std::map<std::string, Tensor>;

/// A model that was loaded. Copies share it; threads may call it at the same time.
class TANDEM_API Loaded {
 public:
  /// Calls a signature.
  ///   inputs   a tensor for each of the signature's inputs
  ///   options  when the call gives up
  ///   returns  a tensor for each of its outputs
  ///   throws   errors::InvalidArgumentError for a signature that there is not, for inputs that are missing, surplus or
  ///            of another dtype or shape, with the names of all, and for tf.Examples that lack a feature;
  ///            errors::DataLossError for what is not a tf.Example; errors::DeadlineExceededError and
  ///            errors::CancelledError as core/cancel.hpp; what kernels raise
  NamedTensors operator()(const std::string& signature, const NamedTensors& inputs,
                          const CallOptions& options = {}) const;
  /// The same; if the graph raises, a failure file is left (io::call_or_save), but not of signatures that take
  /// tf.Examples.
  ///   failure  .ops are those of LoadOptions::ops
  NamedTensors call_or_save(const std::string& signature, const NamedTensors& inputs,
                            const io::FailureOptions& failure) const;
  /// The signatures by name, without their graphs.
  const std::map<std::string, Signature>& signatures() const;
  /// The function of a signature, which takes its inputs, or features, in their order; under a tape it is
  /// differentiable.
  ///   throws   errors::InvalidArgumentError for a signature that there is not
  ConcreteFunction& function(const std::string& signature) const;
  /// The Variables by their saved names.
  const std::vector<std::pair<std::string, Variable>>& variables() const;
  /// Replaces values of Variables as one set (assign_all): a call that another thread makes meanwhile sees all of the
  /// old ones or all of the new ones. Nothing is loaded or planned again, and the files stay as they are.
  ///   values   by saved names; the other Variables stay
  ///   throws   errors::InvalidArgumentError for names that the model does not have, and values of another shape or
  ///            dtype; then none has changed
  void assign(const NamedTensors& values) const;
  /// The path of a file of the model, as it was saved: "assets/labels.txt".
  ///   throws   errors::NotFoundError for one that it does not have
  std::string file(const std::string& name) const;
  const std::string& directory() const;
  /// The library that saved it: "tandem 0.1.0".
  const std::string& producer() const;
  /// What the model takes of memory: values of Variables, those that are mapped too, constants, and lookup tables.
  i64 bytes() const;
  /// What it takes while a call runs, besides what the callers hold: bytes(), and of all signatures the most that a
  /// call adds (MemoryUse::call). Nothing runs.
  ///   batch   the size of the first dimensions that are unknown
  ///   throws  errors::InvalidArgumentError for a negative batch, one of more elements than a tensor may have, and if
  ///           other dimensions are unknown, too
  i64 memory_for(i64 batch) const;

 private:
  friend TANDEM_API Loaded load(const std::string&, const LoadOptions&);
  struct Model;
  explicit Loaded(Ref<Model> model);
  Ref<Opaque> model_;  // a Model, a complete type only inside the library
  const Model& model() const;
};

/// Loads a version of a model that save() has written. All files are compared with their checksums. A version that is
/// replaced meanwhile (SaveOptions::overwrite) is read again from the start, up to 3 times in all: what is returned is
/// the old one or the new one.
///   throws  errors::NotFoundError if there is no such directory, or for an op that is not among the allowed ones, or a
///           name of .variables that the model does not have; errors::DataLossError, naming the file and what is wrong,
///           for a directory that is damaged, half a copy, or has links or files that do not belong to it;
///           errors::FailedPreconditionError for a newer format, and for Variables on a device that is not there;
///           errors::ResourceExhaustedError for .memory_limit; errors::InvalidArgumentError for a Variable of another
///           shape, dtype or device; errors::UnavailableError if the system cannot read a file, or if the version was
///           replaced 3 times
TANDEM_API Loaded load(const std::string& directory, const LoadOptions& options = {});

/// The versions of a model, the folders in `base` whose names are numbers, in ascending order. What else is there, such
/// as versions that are being saved, is ignored.
///   others  gets the names of what is ignored; null: nothing
///   throws  errors::NotFoundError if there is no such folder
TANDEM_API std::vector<i64> versions(const std::string& base, std::vector<std::string>* others = nullptr);

}  // namespace TANDEM_NS::saved_model
