// Definitions of strings/text.hpp.
#pragma once
#include <vector>

#include "tandem/core/scope.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/strings/string_kernels.hpp"
#include "tandem/strings/text.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {
namespace strings::impl {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline std::string_view stripped(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}
TANDEM_INLINE Specs infer_same_strings(const InferCall& c) { return Specs(host_spec(c.spec(0).shape, DType::string)); }

TANDEM_INLINE Specs infer_join(const InferCall& c) {
  for (std::size_t i = 1; i < c.in.size(); ++i) check_dtype(c, i, "operands", text);
  return Specs(host_spec(broadcast_inputs(c), DType::string));
}
TANDEM_INLINE void join_kernel(const KernelCall& c) {
  const std::string& separator = c.attrs.get<rules::StringJoinAttrs>().separator;
  cpu::parallel_for(c.out[0].size(), 512, [&](i64 begin, i64 end) {
    std::vector<BroadcastIndex> at;
    for (const Operand& x : c.in) at.emplace_back(x.shape(), c.out[0].shape(), begin);
    std::string s;
    for (i64 k = begin; k < end; ++k) {
      s.clear();
      for (std::size_t i = 0; i < c.in.size(); ++i) {
        if (i) s += separator;
        s += c.in[i].as<const Bytes>()[at[i].next()].view();
      }
      c.out[0].as<Bytes>()[k] = Bytes(s);
    }
  });
}

TANDEM_INLINE Specs infer_reduce_join(const InferCall& c) {
  const auto& a = c.get<rules::ReduceJoinAttrs>();
  const Shape& x = c.spec(0).shape;
  const std::uint32_t mask = a.axis.mask(c.op.name, x.rank());
  Shape s;
  for (int d = 0; d < x.rank(); ++d) {
    if (!(mask >> d & 1u)) s.push_back(x.dim(d));
    else if (a.keepdims) s.push_back(1);
  }
  return Specs(host_spec(s, DType::string));
}
TANDEM_INLINE void reduce_join_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::ReduceJoinAttrs>();
  const Shape& x = c.in[0].shape();
  const std::uint32_t mask = a.axis.mask(c.op, x.rank());
  // The axes of x from the slowest to the fastest: those that stay, then the listed ones from the last to the first.
  Shape order;
  i64 joined = 1;
  for (int d = 0; d < x.rank(); ++d)
    if (!(mask >> d & 1u)) order.push_back(d);
  for (int i = a.axis.size() - 1; i >= 0; --i) order.push_back((a.axis[i] + x.rank()) % x.rank());
  for (int d = 0; d < x.rank(); ++d) {
    if (!a.axis.given()) order.push_back(d);
    if (mask >> d & 1u) joined *= x.dim(d);
  }
  BroadcastIndex at = BroadcastIndex::permuted(x, order);
  std::string s;
  for (i64 k = 0; k < c.out[0].size(); ++k) {
    s.clear();
    for (i64 j = 0; j < joined; ++j) {
      if (j) s += a.separator;
      s += c.in[0].as<const Bytes>()[at.next()].view();
    }
    c.out[0].as<Bytes>()[k] = Bytes(s);
  }
}

// Calls piece(text) for each piece of s; returns how many there are.
template <class F>
i64 split_at_spaces(std::string_view s, i64 most, const F& piece) {
  const auto without_spaces = [](std::string_view rest) {
    while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
    return rest;
  };
  i64 count = 0;
  for (s = without_spaces(s); !s.empty(); s = without_spaces(s)) {
    std::size_t end = 0;
    while (end < s.size() && (!is_space(s[end]) || count == most)) ++end;
    piece(s.substr(0, end));
    ++count;
    s.remove_prefix(end);
  }
  return count;
}
template <class F>
i64 split_string(std::string_view s, const rules::SplitTextAttrs& a, const F& piece) {
  if (a.sep.empty()) return split_at_spaces(s, a.maxsplit, piece);
  for (i64 count = 0;; ++count) {
    const std::size_t at = count == a.maxsplit ? s.npos : s.find(a.sep);
    piece(s.substr(0, at));
    if (at == s.npos) return count + 1;
    s.remove_prefix(at + a.sep.size());
  }
}
TANDEM_INLINE Specs infer_split(const InferCall& c) {
  if (c.get<rules::SplitTextAttrs>().maxsplit < -1)
    raise(c.op.name, "maxsplit is " + std::to_string(c.get<rules::SplitTextAttrs>().maxsplit) +
                         "; give a number of separators, or -1 for all");
  return {host_spec(c.spec(0).shape, DType::int64), host_spec(Shape{none}, DType::string)};
}
TANDEM_INLINE Specs resolve_split(const KernelCall& c) {
  i64 n = 0;
  for (i64 i = 0; i < c.in[0].size(); ++i)
    n += split_string(c.in[0].as<const Bytes>()[i].view(), c.attrs.get<rules::SplitTextAttrs>(),
                      [](std::string_view) {});
  return {host_spec(c.in[0].shape(), DType::int64), host_spec(Shape{n}, DType::string)};
}
TANDEM_INLINE void split_kernel(const KernelCall& c) {
  Bytes* to = c.out[1].as<Bytes>();
  for (i64 i = 0; i < c.in[0].size(); ++i)
    c.out[0].as<i64>()[i] = split_string(c.in[0].as<const Bytes>()[i].view(), c.attrs.get<rules::SplitTextAttrs>(),
                                         [&](std::string_view s) { *to++ = Bytes(s); });
}

TANDEM_INLINE void strip_kernel(const KernelCall& c) { map_strings<Bytes>(c, &stripped); }
template <char First, char Last>
void change_case(const KernelCall& c) {
  map_strings<Bytes>(c, [](std::string_view s) {
    std::string r(s);
    for (char& x : r)
      if (x >= First && x <= Last) x = static_cast<char>(x ^ 0x20);
    return Bytes(r);
  });
}

// Where the next character begins. What unicode_decode replaces by one character counts as one.
inline std::size_t next_character(std::string_view s, std::size_t at) {
  return at + tandem::detail::utf8_unit(s, at).bytes;
}
inline i64 count_units(std::string_view s, Unit unit) {
  if (unit == Unit::byte) return static_cast<i64>(s.size());
  i64 n = 0;
  for (std::size_t at = 0; at < s.size(); at = next_character(s, at)) ++n;
  return n;
}
inline std::size_t offset_of(std::string_view s, i64 k, Unit unit) {
  if (unit == Unit::byte) return static_cast<std::size_t>(k) < s.size() ? static_cast<std::size_t>(k) : s.size();
  std::size_t at = 0;
  for (; k > 0 && at < s.size(); --k) at = next_character(s, at);
  return at;
}
TANDEM_INLINE Specs infer_length(const InferCall& c) { return Specs(host_spec(c.spec(0).shape, DType::int32)); }
TANDEM_INLINE void length_kernel(const KernelCall& c) {
  const Unit unit = c.attrs.get<rules::UnitAttrs>().unit;
  map_strings<std::int32_t>(c, [&](std::string_view s) { return static_cast<std::int32_t>(count_units(s, unit)); });
}

TANDEM_INLINE Specs infer_substr(const InferCall& c) {
  check_dtype(c, 1, "position", dtypes::index);
  check_dtype(c, 2, "length", dtypes::index);
  return Specs(host_spec(broadcast_inputs(c), DType::string));
}
inline i64 number_at(const Operand& x, i64 i) {
  return x.spec->dtype == DType::int64 ? x.as<const i64>()[i] : x.as<const std::int32_t>()[i];
}
inline std::string_view part_of(const char* op, std::string_view s, i64 pos, i64 len, Unit unit) {
  const i64 n = count_units(s, unit);
  if (pos > n || pos < -n)
    raise(op, "position " + std::to_string(pos) + " is out of range for " + in_quotes(s) + " of length " +
                  std::to_string(n));
  if (len < 0) raise(op, "the length " + std::to_string(len) + " is negative");
  s.remove_prefix(offset_of(s, pos < 0 ? pos + n : pos, unit));
  return s.substr(0, offset_of(s, len, unit));
}
TANDEM_INLINE void substr_kernel(const KernelCall& c) {
  const Unit unit = c.attrs.get<rules::UnitAttrs>().unit;
  const Shape& s = c.out[0].shape();
  for_each_or_raise(c.out[0].size(), 512, [&](i64 k) {
    BroadcastIndex x(c.in[0].shape(), s, k), pos(c.in[1].shape(), s, k), len(c.in[2].shape(), s, k);
    const Bytes& from = c.in[0].as<const Bytes>()[x.next()];
    const i64 first = number_at(c.in[1], pos.next()), count = number_at(c.in[2], len.next());
    c.out[0].as<Bytes>()[k] = Bytes(part_of(c.op, from.view(), first, count, unit));
  });
}

}  // namespace strings::impl

TANDEM_INLINE constexpr OpDef string_join_op{.name = "string_join",
                                             .input_names = "list...",
                                             .infer = &strings::impl::infer_join,
                                             .cpu = &strings::impl::join_kernel,
                                             .dtypes = strings::impl::text,
                                             .inputs = at_least(1),
                                             .host_inputs = strings::impl::all_on_host,
                                             .flags = {.non_differentiable = true},
                                             .attrs = &detail::attr_type<rules::StringJoinAttrs>,
                                             .rare = {.in_errors = "join"}};
TANDEM_INLINE constexpr OpDef reduce_join_op{.name = "reduce_join",
                                             .infer = &strings::impl::infer_reduce_join,
                                             .cpu = &strings::impl::reduce_join_kernel,
                                             .dtypes = strings::impl::text,
                                             .host_inputs = strings::impl::all_on_host,
                                             .flags = {.non_differentiable = true},
                                             .attrs = &detail::attr_type<rules::ReduceJoinAttrs>};
TANDEM_INLINE constexpr OpDef string_split_op{.name = "string_split",
                                              .infer = &strings::impl::infer_split,
                                              .cpu = &strings::impl::split_kernel,
                                              .dtypes = strings::impl::text,
                                              .outputs = 2,
                                              .host_inputs = strings::impl::all_on_host,
                                              .flags = {.non_differentiable = true},
                                              .attrs = &detail::attr_type<rules::SplitTextAttrs>,
                                              .rare = {.resolve = &strings::impl::resolve_split, .in_errors = "split"}};
TANDEM_INLINE constexpr OpDef string_strip_op{.name = "string_strip",
                                              .infer = &strings::impl::infer_same_strings,
                                              .cpu = &strings::impl::strip_kernel,
                                              .dtypes = strings::impl::text,
                                              .host_inputs = strings::impl::all_on_host,
                                              .flags = {.non_differentiable = true},
                                              .rare = {.in_errors = "strip"}};
TANDEM_INLINE constexpr OpDef string_lower_op{.name = "string_lower",
                                              .infer = &strings::impl::infer_same_strings,
                                              .cpu = &strings::impl::change_case<'A', 'Z'>,
                                              .dtypes = strings::impl::text,
                                              .host_inputs = strings::impl::all_on_host,
                                              .flags = {.non_differentiable = true},
                                              .rare = {.in_errors = "lower"}};
TANDEM_INLINE constexpr OpDef string_upper_op{.name = "string_upper",
                                              .infer = &strings::impl::infer_same_strings,
                                              .cpu = &strings::impl::change_case<'a', 'z'>,
                                              .dtypes = strings::impl::text,
                                              .host_inputs = strings::impl::all_on_host,
                                              .flags = {.non_differentiable = true},
                                              .rare = {.in_errors = "upper"}};
TANDEM_INLINE constexpr OpDef string_length_op{.name = "string_length",
                                               .infer = &strings::impl::infer_length,
                                               .cpu = &strings::impl::length_kernel,
                                               .dtypes = strings::impl::text,
                                               .host_inputs = strings::impl::all_on_host,
                                               .flags = {.non_differentiable = true},
                                               .attrs = &detail::attr_type<rules::UnitAttrs>,
                                               .rare = {.in_errors = "length"}};
TANDEM_INLINE constexpr OpDef substr_op{.name = "substr",
                                        .input_names = "x, pos, len",
                                        .infer = &strings::impl::infer_substr,
                                        .cpu = &strings::impl::substr_kernel,
                                        .dtypes = strings::impl::text,
                                        .inputs = 3,
                                        .host_inputs = strings::impl::all_on_host,
                                        .flags = {.non_differentiable = true},
                                        .attrs = &detail::attr_type<rules::UnitAttrs>};

namespace strings {

TANDEM_INLINE Tensor join(const TensorList& list, JoinOptions o) {
  const tandem::detail::CallSite call(o);
  if (list.list().empty()) impl::raise("join", "the list is empty");
  InlinedVector<const Tensor*, 8> in;
  for (const Tensor& t : list.list()) in.push_back(&t);
  return apply_one(string_join_op, {in.begin(), in.size()}, rules::StringJoinAttrs{o.separator}, {o.name, o.where});
}
TANDEM_INLINE Tensor reduce_join(const Tensor& x, ReduceJoinOptions o) {
  return apply1(reduce_join_op, rules::ReduceJoinAttrs{o.axis, o.keepdims, o.separator}, {o.name, o.where}, x);
}
TANDEM_INLINE Pieces split(const Tensor& x, SplitOptions o) {
  const Tensor* const in[] = {&x};
  const Tensors out = apply(string_split_op, in, rules::SplitTextAttrs{o.sep, o.maxsplit}, {o.name, o.where});
  return {out[0], out[1]};
}
TANDEM_INLINE Tensor strip(const Tensor& x, OpOptions o) { return apply1(string_strip_op, no_attrs, o, x); }
TANDEM_INLINE Tensor lower(const Tensor& x, OpOptions o) { return apply1(string_lower_op, no_attrs, o, x); }
TANDEM_INLINE Tensor upper(const Tensor& x, OpOptions o) { return apply1(string_upper_op, no_attrs, o, x); }
TANDEM_INLINE Tensor length(const Tensor& x, LengthOptions o) {
  return apply1(string_length_op, rules::UnitAttrs{o.unit}, {o.name, o.where}, x);
}
TANDEM_INLINE Tensor substr(const Tensor& x, const Tensor& pos, const Tensor& len, SubstrOptions o) {
  return apply1(substr_op, rules::UnitAttrs{o.unit}, {o.name, o.where}, x, pos, len);
}
TANDEM_INLINE Tensor substr(const Tensor& x, i64 pos, i64 len, SubstrOptions o) {
  return substr(x, constant(pos), constant(len), o);
}
TANDEM_INLINE Tensor ngrams(const Tensor& x, i64 ngram_width, NgramsOptions o) {
  const tandem::detail::CallSite call(o);
  if (ngram_width < 1) impl::raise("ngrams", "ngram_width must be at least 1, not " + std::to_string(ngram_width));
  if (x.rank() == 0) impl::raise("ngrams", "a scalar has no axis of strings: " + to_string(x.spec()));
  const auto n = x.shape()[-1];
  if (n != none && ngram_width > n) return slice_by(x, {Ellipsis, Slice(0, 0)}, {.name = o.name, .where = o.where});
  std::vector<Tensor> parts;
  for (i64 i = 0; i < ngram_width; ++i) {
    const i64 dropped = ngram_width - 1 - i;
    parts.push_back(slice_by(x, {Ellipsis, dropped ? Slice(i, -dropped) : Slice(i, none)}));
  }
  return join(parts, {.name = o.name, .where = o.where, .separator = o.separator});
}

}  // namespace strings
}  // namespace TANDEM_NS
