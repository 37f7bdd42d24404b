// Restoring a checkpoint from a file that has other names, more or less than the checkpoint: options and report.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::train {

/// The tensors of a file, by name.
using TensorMap = std::map<std::string, Tensor>;
/// Names in a file, and what they become. A key that is empty or ends in '/' or '.' is a prefix, which is replaced in
/// all names that begin with it; other keys are whole names. A whole name goes before a prefix, a long prefix before a
/// short one: {{"", "model/"}, {"fc.", "model/out/"}}.
using NameMap = std::map<std::string, std::string>;

/// A Variable of a checkpoint that restore() looks for.
struct WantedTensor {
  std::string path;
  Spec spec;
};
/// Turns the tensors of a file of another framework into those that are wanted; what it cannot use, it leaves. One of
/// from_pytorch and from_keras (train/convert.hpp), or a function of one's own.
using Conversion = void (*)(TensorMap& values, const std::vector<WantedTensor>& wanted);

struct RestoreOptions {
  bool partial = false;           ///< the file may have tensors that are not restored
  bool allow_missing = false;     ///< Variables that the file does not have keep their values
  bool allow_mismatched = false;  ///< Variables that have another shape or dtype in the file keep their values
  NameMap map = {};               ///< applied to the names of the file first
  Conversion convert = nullptr;   ///< then to its tensors; the model must have its Variables: call it first
};

/// What restore() did, by the names of the checkpoint.
struct RestoreReport {
  std::vector<std::string> restored;
  std::vector<std::string> deferred;    ///< kept for layers that create their Variables later
  std::vector<std::string> missing;     ///< not in the file
  std::vector<std::string> mismatched;  ///< of another shape or dtype in the file
  std::vector<std::string> unused;      ///< only in the file

  /// Checks that checkpoint and file match as a whole, whatever the options have let pass, as TensorFlow's
  /// assert_consumed() does:
  ///   checkpoint.restore(path, {.partial = true, .allow_missing = true}).assert_consumed();
  /// TensorFlow's expect_partial() is the option .partial, without which restore() itself raises for unused tensors.
  ///   throws  errors::InvalidArgumentError naming each Variable of the checkpoint and each tensor of the file that has
  ///           found no partner, values that were kept for Variables that do not exist yet included
  TANDEM_API void assert_consumed() const;
};
/// "restored 12, deferred 0, missing 1: out/bias, ..."; with the names of all but those that were restored.
TANDEM_API std::string to_string(const RestoreReport& report);

namespace impl {
/// Renames the tensors of a file.
///   throws  errors::InvalidArgumentError if two get one name, or a key of the map fits none
TANDEM_API void rename(TensorMap& values, const NameMap& map);
}  // namespace impl

}  // namespace TANDEM_NS::train
