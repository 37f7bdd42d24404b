// The options that convolutions and pooling share: Padding and WindowSizes. Not here: the ops (conv.hpp, pool.hpp).
#pragma once
#include <concepts>
#include <initializer_list>
#include <utility>
#include <vector>

#include "tandem/attrs/conv.hpp"
#include "tandem/ops/data_format.hpp"

namespace TANDEM_NS {

/// What surrounds an image under a moving window. `valid`: nothing; the window stays inside. `same`: as many pixels as
/// let result size ceil(size / stride) come out, the smaller half first. `causal`, for conv1d only: as many before the
/// sequence that no result depends on later elements. Or explicit numbers of pixels, {before, after} of each spatial
/// axis: {{1, 1}, {0, 2}}, or of each axis of the image, with {0, 0} for batch and channels.
class Padding {
 public:
  static const Padding valid, same, causal;

  Padding(std::initializer_list<std::pair<i64, i64>> pads) : kind_(PaddingKind::given) {
    for (const auto& p : pads) push_back(p);
  }
  Padding(const std::vector<std::pair<i64, i64>>& pads) : kind_(PaddingKind::given) {
    for (const auto& p : pads) push_back(p);
  }
  template <std::same_as<const char*> Text>
  Padding(Text) = delete;  // not a name, "same": write Padding::same
  constexpr PaddingKind kind() const { return kind_; }
  constexpr bool is_causal() const { return count_ == causal_count; }
  /// The number of pairs that were given, and the entries of pair i.
  constexpr int size() const { return count_; }
  constexpr i64 before(int i) const { return pads_[2 * i]; }
  constexpr i64 after(int i) const { return pads_[2 * i + 1]; }

 private:
  static constexpr int causal_count = -1;
  constexpr explicit Padding(PaddingKind kind, int count = 0) : kind_(kind), count_(count) {}
  void push_back(const std::pair<i64, i64>& p) {
    if (count_ < max_rank) pads_[2 * count_] = p.first, pads_[2 * count_ + 1] = p.second;
    ++count_;
  }

  PaddingKind kind_;
  int count_ = 0;
  i64 pads_[2 * max_rank] = {};
};
inline constexpr Padding Padding::valid{PaddingKind::valid};
inline constexpr Padding Padding::same{PaddingKind::same};
inline constexpr Padding Padding::causal{PaddingKind::given, Padding::causal_count};

/// Strides, dilations or window sizes: one number for all spatial axes, one for each of them, or one for each axis of
/// the image, which is 1 for batch and channels: 2, {2, 1}, {1, 2, 1, 1}. Empty: not given.
class WindowSizes {
 public:
  WindowSizes() = default;
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  WindowSizes(I all) { push_back(static_cast<i64>(all)); }
  WindowSizes(std::initializer_list<i64> sizes) {
    for (i64 n : sizes) push_back(n);
  }
  WindowSizes(const std::vector<i64>& sizes) {
    for (i64 n : sizes) push_back(n);
  }
  int size() const { return count_; }
  i64 operator[](int i) const { return sizes_[i]; }

 private:
  void push_back(i64 n) {
    if (count_ < max_rank) sizes_[count_] = n;
    ++count_;
  }

  i64 sizes_[max_rank] = {};
  int count_ = 0;
};

namespace detail {
/// The entries for `spatial` axes.
///   throws  errors::InvalidArgumentError, in the op's name, for another number of entries, an entry below 1, or one
///           for batch or channels that is not 1
TANDEM_API Shape spatial_sizes(const char* op, const char* what, const WindowSizes& sizes, int spatial,
                               DataFormat format);
/// Sets kind and pads of the attributes.
///   throws  errors::InvalidArgumentError, in the op's name, as spatial_sizes, or for a negative entry
TANDEM_API void set_padding(const char* op, const Padding& padding, int spatial, DataFormat format,
                            rules::WindowAttrs& to);
}  // namespace detail

}  // namespace TANDEM_NS
