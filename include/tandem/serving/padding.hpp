// Padding: requests of different lengths in one batch. For the definitions of serving.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tandem/saved_model/load.hpp"
#include "tandem/serving/request.hpp"

namespace TANDEM_NS::serving::impl {

/// Which sizes of a signature may differ among the requests of a batch: those that are unknown, but the first. Inputs
/// are padded at the ends of these axes, with 0, false or the empty text.
struct Padding {
  struct Cut {
    int axis;           // of an output: as long as
    std::string input;  // this axis of this input
    int input_axis;
    bool operator==(const Cut&) const = default;
  };
  struct Axis {
    int axis;
    int group;  // axes that had the same size when the signature was tried: the ids and the mask of a text, for example
  };
  std::map<std::string, std::vector<Axis>> inputs;
  std::map<std::string, std::vector<Cut>> outputs;

  /// Whether the inputs of a request have equal sizes within each group. Others are not padded.
  TANDEM_API bool fits(const NamedTensors& request) const;
};

/// The padding of a signature with inputs of unknown lengths. It is tried with several lengths and amounts of padding,
/// and with floating inputs that are all negative and all positive; these are samples, which prove nothing.
///   trial   rows to try it with, of which the first 8 are used
///   why     gets why there is none: outputs change with what is padded, or their sizes in another way
std::optional<Padding> find_padding(const saved_model::Loaded& model, const std::string& name,
                                    const saved_model::Signature& s, const NamedTensors& trial, std::string& why);

/// The longest sizes among requests that may become one batch.
class TANDEM_API PaddedSizes {
 public:
  explicit PaddedSizes(const Padding& padding) : padding_(padding) {}
  /// Adds a request. False, and nothing has changed, if the batch would take more than 1 MiB and more than four times
  /// what its requests have.
  bool add(const NamedTensors& inputs);
  /// The inputs of a request with these sizes.
  NamedTensors pad(const NamedTensors& inputs) const;

 private:
  const Padding& padding_;
  std::map<std::string, std::vector<i64>> sizes_;  // of the axes of Padding::inputs
  i64 rows_ = 0;
  double bytes_ = 0;
};
/// The outputs of a request in the sizes that its inputs give.
NamedTensors without_padding(NamedTensors outputs, const NamedTensors& inputs, const Padding& padding);

}  // namespace TANDEM_NS::serving::impl
