// How recurrent layers run over a sequence: the order of its steps, masks and lengths, and the loop over a cell that
// has no fused kernel. For the definitions of recurrent layers.
// Not here: the layers (rnn.hpp, rnn_stack.hpp), the cells (rnn_cells.hpp).
#pragma once
#include <vector>

#include "tandem/graph/control/control.hpp"
#include "tandem/layers/feature.hpp"
#include "tandem/layers/sequence_mask.hpp"

namespace TANDEM_NS::layers {

namespace detail {

/// A sequence as cells run it.
struct Sequence {
  Tensor x;                                                         // [time, batch, ...]
  Tensor lengths;                                                   // [batch], or unset
  Tensor mask;                                                      // [time, batch], or unset
  Tensor (*unpack)(const Tensor& y, const Tensor& mask) = nullptr;  // with a mask
};
TANDEM_API void reverse_steps(Sequence& s);
/// Moves the steps that the mask keeps to the front of their rows, and sets the lengths: a row then ends early, which
/// fused kernels know, and computes the same.
TANDEM_API void pack_steps(Sequence& s);
/// The inverse, for outputs. Masked steps get zeros.
TANDEM_API Tensor unpack_steps(const Tensor& y, const Tensor& mask);
/// Adds to the mask that steps past their row's length are masked; removes the lengths.
TANDEM_API void merge_lengths(const char* layer, Sequence& s);
/// Those three, for masks.
struct RnnMaskCode {
  void (*merge_lengths)(const char* layer, Sequence&);
  void (*pack)(Sequence&);
  Tensor (*unpack)(const Tensor& y, const Tensor& mask);
};
TANDEM_API extern const RnnMaskCode rnn_mask_code;
/// Drops inputs, the same features of a row at each step.
TANDEM_API Tensor drop_inputs(const Tensor& x, double rate);

}  // namespace detail

/// The mask of a sequence: bool_ [batch, time], true for the steps that count. ([time, batch] with .time_major.)
class RnnMask {
 public:
  constexpr RnnMask() = default;
  RnnMask(const Tensor& mask) : mask_(mask), code_(&detail::rnn_mask_code) {}
  RnnMask(const SequenceMask& mask) : mask_(mask.tensor()), code_(mask.is_set() ? mask.code()->rnn : nullptr) {}
  const Tensor& tensor() const { return mask_; }
  /// Another mask, with the code of this one.
  RnnMask with(const Tensor& mask) const {
    RnnMask r = *this;
    r.mask_ = mask;
    return r;
  }
  /// The same mask, where the steps past each row's length are masked too.
  TANDEM_API RnnMask within(const char* layer, const Tensor& lengths, bool time_major) const;

 private:
  friend struct RnnOrder;
  Tensor mask_;
  const detail::RnnMaskCode* code_ = nullptr;
};
/// The fraction of a recurrent layer's inputs that is dropped in training, in [0, 1).
class RnnDropout {
 public:
  constexpr RnnDropout() = default;
  constexpr RnnDropout(double rate) : rate_(rate), drop_(&detail::drop_inputs) {}
  constexpr double rate() const { return rate_; }
  Tensor operator()(const Tensor& x, bool training) const { return drop_ && training ? drop_(x, rate_) : x; }

 private:
  double rate_ = 0;
  Tensor (*drop_)(const Tensor&, double) = nullptr;
};
using GoBackwards = detail::Feature<&detail::reverse_steps>;

/// The order in which a layer runs a sequence.
struct RnnOrder {
  bool time_major;
  GoBackwards go_backwards;

  /// The input as cells run it.
  ///   throws  errors::InvalidArgumentError in the layer's name if x is not [batch, time, ...], or if the mask does
  ///           not match
  TANDEM_API detail::Sequence begin(const char* layer, const Tensor& x, const RnnMask& mask,
                                    const Tensor& lengths) const;
  /// The outputs of all its steps, [time, batch, ...], in the layout of the input.
  TANDEM_API Tensor end(const Tensor& y, const detail::Sequence& s) const;
};

namespace detail {

/// The result of a cell over all steps of a sequence.
template <class State>
struct RnnSteps {
  Tensor output;  // [time, batch, ...]; zeros past the length of a row
  State state;    // of each row, after its last step
};
/// Runs `step` over x [time, batch, ...]: (state..., step of x) -> (state..., output), type-erased. In a traced
/// function with many steps, or an unknown number of them, the loop is a node of the graph; otherwise it is unrolled.
///   throws  errors::InvalidArgumentError, in the layer's name, for lengths outside of [0, time]
TANDEM_API RnnSteps<std::vector<Tensor>> run_loop(const char* layer, const Tensor& x, const std::vector<Tensor>& start,
                                                  const Tensor& lengths, control::Code step);
/// The last output of each row: of outputs [time, batch, ...].
TANDEM_API Tensor last_step(const Tensor& outputs, const Tensor& lengths);

}  // namespace detail
}  // namespace TANDEM_NS::layers
