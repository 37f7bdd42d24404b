// Repetition and padding: broadcast_to, tile, pad. Ops that broadcast never need broadcast_to.
// Not here: broadcast_like (ops/reduce/like), concat.
#pragma once
#include <utility>
#include <vector>

#include "tandem/base/scalar.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {

/// Broadcasts x to a shape: repeats it along its axes of size 1 and along new leading axes. Copies.
///   x         any dtype
///   shape     a shape that x's shape broadcasts to
///   throws    errors::InvalidArgumentError if x's shape does not broadcast to it
///   gradient  g summed to x's shape
TANDEM_API Tensor broadcast_to(const Tensor& x, const Dims& shape, OpOptions = {});
/// Repeats x multiples[i] times along axis i.
///   multiples  one entry per axis, numbers or integer tensors; 0 gives an empty tensor
///   throws     errors::InvalidArgumentError for a negative entry or the wrong number of entries
///   gradient   the sum of the repetitions of g
TANDEM_API Tensor tile(const Tensor& x, const Dims& multiples, OpOptions = {});

enum class PadMode : std::uint8_t { constant, reflect, symmetric };  ///< a number; mirrored, without or with the edge
struct PadOptions {
  TANDEM_OP_OPTIONS;
  PadMode mode = PadMode::constant;
  Scalar constant_values = 0;  ///< strings are padded with ""
};
/// The numbers of elements that pad() adds before and after each axis: {{1, 1}, {0, n}}, whose entries are numbers
/// or integer scalar tensors, a vector of pairs, or an integer tensor of shape [rank, 2].
class TANDEM_API Paddings {
 public:
  Paddings(std::initializer_list<std::pair<Dim, Dim>> list) {
    for (const auto& [b, a] : list) before_.push_back(b), after_.push_back(a);
  }
  Paddings(const std::vector<std::pair<i64, i64>>& list) {
    for (const auto& [b, a] : list) before_.push_back(b), after_.push_back(a);
  }
  Paddings(const Tensor& list);

  const Dims& before() const { return before_; }
  const Dims& after() const { return after_; }

 private:
  Dims before_, after_;
};
/// Pads x: adds paddings[i] = {before, after} elements along axis i.
///   mode      constant: .constant_values; reflect: mirrored without the edge (before, after < size); symmetric:
///             mirrored including the edge (<= size)
///   throws    errors::InvalidArgumentError for negative paddings, the wrong number of pairs, an axis too short to
///             be mirrored, or mirrored paddings that are computed while a function is traced
///   gradient  the unpadded part of g; gradients of mirrored elements are added to the elements they were copied
///             from
TANDEM_API Tensor pad(const Tensor& x, const Paddings& paddings, PadOptions = {});

TANDEM_OPS(tile_ops, broadcast_to, broadcast_dynamic, tile, tile_grad, pad)

namespace rules {
struct BroadcastAttrs {
  Shape shape;
  TANDEM_ATTRS(BroadcastAttrs, shape);
};
struct TileAttrs {
  Shape multiples;
  TANDEM_ATTRS(TileAttrs, multiples);
};
struct PadAttrs {
  Shape before, after;
  TANDEM_ATTRS(PadAttrs, before, after);
};
}  // namespace rules
}  // namespace TANDEM_NS
