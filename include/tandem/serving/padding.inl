// Definitions of serving/padding.hpp.
#pragma once
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/serving/padding.hpp"
#include "tandem/serving/rows.hpp"
#include "tandem/serving/warm_up.hpp"

namespace TANDEM_NS::serving::impl {

// A tensor that has so many more elements at the end of an axis.
TANDEM_INLINE Tensor pad_end(const Tensor& t, int axis, i64 more) {
  if (more <= 0) return t;
  std::vector<i64> dims(t.shape().begin(), t.shape().end());
  dims[static_cast<std::size_t>(axis)] = more;
  return concat({t, zeros(dims, {.dtype = t.dtype()})}, axis);
}
// The first elements of an axis.
TANDEM_INLINE Tensor cut_end(const Tensor& t, int axis, i64 size) {
  if (t.shape().dim(axis) <= size) return t;
  std::vector<i64> begin(static_cast<std::size_t>(t.rank()), 0), sizes(t.shape().begin(), t.shape().end());
  sizes[static_cast<std::size_t>(axis)] = size;
  return slice(t, begin, sizes);
}

TANDEM_INLINE bool Padding::fits(const NamedTensors& request) const {
  std::map<int, i64> sizes;
  for (const auto& [name, axes] : inputs) {
    const auto at = request.find(name);
    if (at == request.end()) return false;
    for (const Axis& a : axes) {
      if (at->second.rank() <= a.axis) return false;
      const i64 size = at->second.shape().dim(a.axis);
      if (sizes.try_emplace(a.group, size).first->second != size) return false;
    }
  }
  return true;
}

TANDEM_INLINE bool PaddedSizes::add(const NamedTensors& inputs) {
  constexpr double always = 1 << 20, most = 4;
  std::map<std::string, std::vector<i64>> sizes = sizes_;
  const i64 rows = rows_ + inputs.begin()->second.shape().dim(0);
  double bytes = bytes_, padded = 0;
  for (const auto& [name, t] : inputs) {
    double row = static_cast<double>(size_of(t.dtype()));
    const auto at = padding_.inputs.find(name);
    for (int axis = 1; axis < t.rank(); ++axis) {
      i64 size = t.shape().dim(axis);
      if (at != padding_.inputs.end())
        for (std::size_t i = 0; i < at->second.size(); ++i) {
          if (at->second[i].axis != axis) continue;
          std::vector<i64>& longest = sizes[name];
          longest.resize(at->second.size());
          size = longest[i] = std::max(longest[i], size);
        }
      row *= static_cast<double>(size);
    }
    padded += row * static_cast<double>(rows);
    bytes += static_cast<double>(t.spec().bytes());
  }
  if (padded > always && padded > most * bytes) return false;
  sizes_ = std::move(sizes), rows_ = rows, bytes_ = bytes;
  return true;
}
TANDEM_INLINE NamedTensors PaddedSizes::pad(const NamedTensors& inputs) const {
  NamedTensors r = inputs;
  for (auto& [name, t] : r) {
    const auto sizes = sizes_.find(name);
    if (sizes == sizes_.end()) continue;
    const std::vector<Padding::Axis>& axes = padding_.inputs.at(name);
    for (std::size_t i = 0; i < axes.size(); ++i)
      t = pad_end(t, axes[i].axis, sizes->second[i] - t.shape().dim(axes[i].axis));
  }
  return r;
}
TANDEM_INLINE NamedTensors without_padding(NamedTensors outputs, const NamedTensors& inputs, const Padding& padding) {
  for (const auto& [name, cuts] : padding.outputs) {
    const auto at = outputs.find(name);
    if (at == outputs.end()) continue;
    for (const Padding::Cut& cut : cuts)
      at->second = cut_end(at->second, cut.axis, inputs.at(cut.input).shape().dim(cut.input_axis));
  }
  return outputs;
}

// The lengths of a try: the trial's, but of long ones about a quarter, so that padding makes them no longer than the
// trial; or as short as they can be, because sizes such as min(length, 3) show there alone.
enum class Lengths { doubled, tripled, shortest };
enum class Numbers { given, negative, positive };
struct PaddingTry {
  Lengths lengths;
  Numbers numbers;
};
// Padding with 0 does not change the largest of numbers that are positive in part, nor the smallest of negative ones.
inline constexpr PaddingTry padding_tries[] = {{Lengths::doubled, Numbers::given},
                                               {Lengths::tripled, Numbers::given},
                                               {Lengths::shortest, Numbers::given},
                                               {Lengths::doubled, Numbers::negative},
                                               {Lengths::tripled, Numbers::positive}};

// An axis of an input of a try: its size, and what is added to it. Both are other ones for each group, so it is told
// which group the sizes of outputs follow.
struct PaddedAxis {
  std::string input;
  int axis;
  i64 size, more;
};
// Axes of the same size are a group. Groups are numbered from 1 by size.
TANDEM_INLINE void find_groups(Padding& padding, const NamedTensors& trial) {
  std::set<i64> sizes;
  for (const auto& [name, axes] : padding.inputs)
    for (const Padding::Axis& a : axes) sizes.insert(trial.at(name).shape().dim(a.axis));
  for (auto& [name, axes] : padding.inputs)
    for (Padding::Axis& a : axes)
      a.group = 1 + static_cast<int>(std::distance(sizes.begin(), sizes.find(trial.at(name).shape().dim(a.axis))));
}
TANDEM_INLINE std::vector<PaddedAxis> padded_axes(const Padding& padding, const NamedTensors& trial, Lengths lengths) {
  constexpr i64 short_size = 16;
  std::vector<PaddedAxis> r;
  for (const auto& [name, axes] : padding.inputs)
    for (const Padding::Axis& a : axes) {
      const i64 all = trial.at(name).shape().dim(a.axis), group = a.group;
      // Each of these grows with the group.
      const i64 least = std::min(all, group);
      const i64 some = std::min(all, short_size + std::max<i64>(0, all - short_size) / 4 + group);
      switch (lengths) {
        case Lengths::doubled: r.push_back({name, a.axis, some, some + group}); break;
        case Lengths::tripled: r.push_back({name, a.axis, some, 2 * some + 3 * group + 1}); break;
        case Lengths::shortest: r.push_back({name, a.axis, least, std::max<i64>(1, all - least)}); break;
      }
    }
  return r;
}
// Whether a tensor of floating numbers may be a mask: it has 0 and 1 alone.
TANDEM_INLINE bool is_mask(const Tensor& t) {
  const Tensor x = cast(t.cpu(), DType::float64);
  const auto* const p = static_cast<const double*>(x.raw());
  return std::all_of(p, p + x.size(), [](double v) { return v == 0 || v == 1; });
}
// The trial with other numbers, none of them 0, in the floating inputs of unknown lengths that are not masks. Empty if
// there are no such inputs.
TANDEM_INLINE NamedTensors with_numbers(const Padding& padding, NamedTensors trial, Numbers numbers) {
  if (numbers == Numbers::given) return trial;
  bool has_some = false;
  for (auto& [name, t] : trial) {
    if (!padding.inputs.contains(name) || !is_floating(t.dtype()) || is_mask(t)) continue;
    const Tensor positive = abs(t) + 0.5f;
    t = numbers == Numbers::negative ? -positive : positive;
    has_some = true;
  }
  return has_some ? trial : NamedTensors();
}
// How an output that grows from one shape to another is cut; false if it grows in another way than inputs do.
TANDEM_INLINE bool find_cuts(const Shape& from, const Shape& to, const std::vector<PaddedAxis>& axes,
                             std::vector<Padding::Cut>& cuts) {
  if (from.rank() != to.rank()) return false;
  for (int i = 0; i < from.rank(); ++i) {
    if (from.dim(i) == to.dim(i)) continue;
    const auto of = std::find_if(axes.begin(), axes.end(), [&](const PaddedAxis& a) {
      return a.size == from.dim(i) && a.size + a.more == to.dim(i);
    });
    if (i == 0 || of == axes.end()) return false;
    cuts.push_back({i, of->input, of->axis});
  }
  return true;
}
// Runs the signature with and without padding. Gets the cuts of its outputs, and returns why it is not padded, or
// nothing.
TANDEM_INLINE std::string try_padding(const saved_model::Loaded& model, const std::string& name,
                                      const NamedTensors& trial, const std::vector<PaddedAxis>& axes,
                                      bool may_be_refused, Padding& padding) {
  NamedTensors inputs = trial;
  for (const PaddedAxis& a : axes) inputs.at(a.input) = cut_end(inputs.at(a.input), a.axis, a.size);
  NamedTensors padded = inputs, alone;
  for (const PaddedAxis& a : axes) padded.at(a.input) = pad_end(padded.at(a.input), a.axis, a.more);
  try {
    alone = model(name, inputs);
  } catch (const errors::InvalidArgumentError&) {
    if (!may_be_refused) throw;
    return {};  // there is nothing to compare
  }
  const NamedTensors all = model(name, padded);
  std::map<std::string, std::vector<Padding::Cut>> cuts;
  for (const auto& [output, t] : alone) {
    const Tensor& longer = all.at(output);
    if (!find_cuts(t.shape(), longer.shape(), axes, cuts[output]))
      return "its output '" + output + "' is " + to_string(t.spec()) + " without padding and " +
             to_string(longer.spec()) + " with it, which is no length of an input";
    const auto before = padding.outputs.find(output);
    if (before != padding.outputs.end() && before->second != cuts[output])
      return "its output '" + output + "' is " + to_string(t.spec()) + " without padding and " +
             to_string(longer.spec()) + " with it, but follows other lengths for other inputs";
  }
  padding.outputs = std::move(cuts);
  const NamedTensors cut = without_padding(all, inputs, padding);
  for (const auto& [output, t] : alone)
    if (!agree(t, cut.at(output))) return "its output '" + output + "' changes when inputs are padded with zeros";
  return {};
}

TANDEM_INLINE std::optional<Padding> find_padding(const saved_model::Loaded& model, const std::string& name,
                                                  const saved_model::Signature& s, const NamedTensors& trial,
                                                  std::string& why) {
  constexpr i64 most_rows = 8;
  Padding padding;
  for (const TensorInfo& in : s.inputs)
    for (int axis = 1; axis < in.spec.shape.rank(); ++axis)
      if (in.spec.shape.dim(axis) == none) padding.inputs[in.name].push_back({axis, 0});
  if (padding.inputs.empty()) return std::nullopt;
  find_groups(padding, trial);
  const NamedTensors rows = rows_of(trial, 0, std::min(most_rows, trial.begin()->second.shape().dim(0)));
  try {
    for (const PaddingTry& t : padding_tries) {
      const NamedTensors inputs = with_numbers(padding, rows, t.numbers);
      if (inputs.empty()) continue;
      // Models may refuse lengths and numbers that no client has sent.
      const bool may_be_refused = t.lengths == Lengths::shortest || t.numbers != Numbers::given;
      why = try_padding(model, name, inputs, padded_axes(padding, rows, t.lengths), may_be_refused, padding);
      if (!why.empty()) return std::nullopt;
    }
  } catch (const errors::CancelledError&) {
    throw;  // the server ends
  } catch (const std::exception& e) {
    why = std::string("it raises for padded inputs: ") + e.what();
    return std::nullopt;
  }
  return padding;
}

}  // namespace TANDEM_NS::serving::impl
