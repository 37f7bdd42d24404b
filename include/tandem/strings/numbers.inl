// Definitions of strings/numbers.hpp.
#pragma once
#include <complex>

#include "tandem/core/scope.hpp"
#include "tandem/ops/debug/summary.hpp"
#include "tandem/strings/numbers.hpp"
#include "tandem/strings/string_kernels.hpp"
#include "tandem/util/fnv1a.hpp"
#include "tandem/util/parse_number.hpp"

namespace TANDEM_NS {
namespace strings::impl {

TANDEM_INLINE Specs infer_to_number(const InferCall& c) {
  const DType d = c.get<rules::ToNumberAttrs>().dtype;
  if (!dtypes::real.has(d))
    raise(c.op.name, std::string("cannot parse ") + name(d) + "; out_type is float32, float64 or an integer dtype");
  return Specs(host_spec(c.spec(0).shape, d));
}
template <class T>
void parse_all(const KernelCall& c) {
  const Bytes* const x = c.in[0].as<const Bytes>();
  T* const y = c.out[0].as<T>();
  const i64 bad =
      first_failure(c.in[0].size(), 512, [=](i64 i) { return tandem::detail::parse_number(x[i].view(), y[i]); });
  if (bad < c.in[0].size())
    raise(c.op, in_quotes(x[bad].view()) + " is not a valid " + name(dtype_of<T>()) + " (element " +
                    std::to_string(bad) + ")");
}
TANDEM_INLINE void to_number_kernel(const KernelCall& c) {
  switch (c.out[0].spec->dtype) {
    case DType::float64: return parse_all<double>(c);
    case DType::int8: return parse_all<std::int8_t>(c);
    case DType::int16: return parse_all<std::int16_t>(c);
    case DType::int32: return parse_all<std::int32_t>(c);
    case DType::int64: return parse_all<std::int64_t>(c);
    case DType::uint8: return parse_all<std::uint8_t>(c);
    case DType::uint16: return parse_all<std::uint16_t>(c);
    case DType::uint32: return parse_all<std::uint32_t>(c);
    case DType::uint64: return parse_all<std::uint64_t>(c);
    default: return parse_all<float>(c);
  }
}

inline constexpr i64 most_digits = 1000;

TANDEM_INLINE Specs infer_as_string(const InferCall& c) {
  const auto& a = c.get<rules::AsStringAttrs>();
  const DType d = c.spec(0).dtype;
  for (const auto& [value, what] : {std::pair(a.precision, "precision"), std::pair(a.width, "width")})
    if (value < -1 || value > most_digits)
      raise(c.op.name, std::string(what) + " is " + std::to_string(value) + ", out of [-1, 1000]");
  if (a.fill != "" && a.fill != "0" && a.fill != "-" && a.fill != "+" && a.fill != " ")
    raise(c.op.name, "fill is " + in_quotes(a.fill) + "; use \"0\", \"-\", \"+\" or \" \"");
  if (a.scientific && a.shortest) raise(c.op.name, "scientific and shortest exclude each other");
  if (!is_floating(d) && !is_complex(d) && (a.precision >= 0 || a.scientific || a.shortest))
    raise(c.op.name, std::string("precision, scientific and shortest are for floating numbers, not ") + name(d));
  return Specs(host_spec(c.spec(0).shape, DType::string));
}
template <class T>
std::string number_text(const rules::AsStringAttrs& a, T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(x);
  } else {
    if (x != x) return "nan";
    char room[1600];  // the longest number, 309 digits, and most_digits after the point
    const int digits = a.precision < 0 ? 6 : static_cast<int>(a.precision);
    const std::chars_format form = a.scientific ? std::chars_format::scientific
                                   : a.shortest ? std::chars_format::general
                                                : std::chars_format::fixed;
    return {room, std::to_chars(room, room + sizeof room, x, form, digits).ptr};
  }
}
// As printf's flags and width do.
inline std::string padded(std::string s, const rules::AsStringAttrs& a) {
  const bool finite = s.find_first_of("0123456789") != s.npos;
  if ((a.fill == "+" || a.fill == " ") && s[0] != '-') s.insert(0, a.fill);
  if (static_cast<i64>(s.size()) >= a.width) return s;
  const std::size_t missing = static_cast<std::size_t>(a.width) - s.size();
  if (a.fill == "-") s.append(missing, ' ');
  else if (a.fill == "0" && finite) s.insert(s[0] == '-', missing, '0');
  else s.insert(0, missing, ' ');
  return s;
}
template <class T>
void write_all(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::AsStringAttrs>();
  cpu::parallel_for(c.in[0].size(), 512, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const T x = c.in[0].as<const T>()[i];
      std::string s;
      if constexpr (tandem::detail::ComplexLike<T>)
        s = "(" + number_text(a, x.real()) + "," + number_text(a, x.imag()) + ")";
      else s = number_text(a, x);
      c.out[0].as<Bytes>()[i] = Bytes(padded(std::move(s), a));
    }
  });
}
TANDEM_INLINE void as_string_kernel(const KernelCall& c) {
  switch (c.in[0].spec->dtype) {
    case DType::float64: return write_all<double>(c);
    case DType::int8: return write_all<std::int8_t>(c);
    case DType::int16: return write_all<std::int16_t>(c);
    case DType::int32: return write_all<std::int32_t>(c);
    case DType::int64: return write_all<std::int64_t>(c);
    case DType::uint8: return write_all<std::uint8_t>(c);
    case DType::uint16: return write_all<std::uint16_t>(c);
    case DType::uint32: return write_all<std::uint32_t>(c);
    case DType::uint64: return write_all<std::uint64_t>(c);
    case DType::bool_: return write_all<bool>(c);
    case DType::complex64: return write_all<std::complex<float>>(c);
    case DType::complex128: return write_all<std::complex<double>>(c);
    default: return write_all<float>(c);
  }
}

TANDEM_INLINE Specs infer_format(const InferCall& c) {
  const auto& a = c.get<rules::FormatAttrs>();
  debugging::impl::check_summarize(c.op.name, a.summarize);
  if (a.placeholder.empty()) raise(c.op.name, "the placeholder is empty");
  std::size_t count = 0;
  for (std::size_t at = 0; (at = a.text.find(a.placeholder, at)) != a.text.npos; at += a.placeholder.size()) ++count;
  if (count != c.in.size())
    raise(c.op.name, "the text " + in_quotes(a.text) + " has " + std::to_string(count) + " placeholders for " +
                         std::to_string(c.in.size()) + " tensors");
  return Specs(host_spec(Shape{}, DType::string));
}
TANDEM_INLINE void format_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::FormatAttrs>();
  std::string r;
  std::size_t at = 0;
  for (const Operand& x : c.in) {
    const std::size_t next = a.text.find(a.placeholder, at);
    r.append(a.text, at, next - at);
    if (x.spec->dtype == DType::string && x.shape().rank() == 0) r += x.as<const Bytes>()->view();
    else r += debugging::impl::summary(x, a.summarize);
    at = next + a.placeholder.size();
  }
  *c.out[0].as<Bytes>() = Bytes(r.append(a.text, at, r.npos));
}

TANDEM_INLINE u64 stable_hash(std::string_view s) {
  u64 h = tandem::detail::fnv1a(s);
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 33);
}
TANDEM_INLINE Specs infer_to_hash_bucket(const InferCall& c) {
  const i64 n = c.get<rules::BucketAttrs>().buckets;
  if (n < 1) raise(c.op.name, "num_buckets must be at least 1, not " + std::to_string(n));
  return Specs(host_spec(c.spec(0).shape, DType::int64));
}
TANDEM_INLINE void to_hash_bucket_kernel(const KernelCall& c) {
  const u64 n = static_cast<u64>(c.attrs.get<rules::BucketAttrs>().buckets);
  map_strings<i64>(c, [&](std::string_view s) { return static_cast<i64>(stable_hash(s) % n); });
}

}  // namespace strings::impl

TANDEM_INLINE constexpr OpDef string_to_number_op{.name = "string_to_number",
                                                  .infer = &strings::impl::infer_to_number,
                                                  .cpu = &strings::impl::to_number_kernel,
                                                  .dtypes = strings::impl::text,
                                                  .host_inputs = strings::impl::all_on_host,
                                                  .flags = {.non_differentiable = true},
                                                  .attrs = &detail::attr_type<rules::ToNumberAttrs>,
                                                  .rare = {.in_errors = "to_number"}};
TANDEM_INLINE constexpr OpDef as_string_op{.name = "as_string",
                                           .infer = &strings::impl::infer_as_string,
                                           .cpu = &strings::impl::as_string_kernel,
                                           .dtypes = dtypes::number | dtypes::boolean | DType::complex128,
                                           .host_inputs = strings::impl::all_on_host,
                                           .flags = {.non_differentiable = true},
                                           .attrs = &detail::attr_type<rules::AsStringAttrs>};
TANDEM_INLINE constexpr OpDef string_format_op{.name = "string_format",
                                               .input_names = "inputs...",
                                               .infer = &strings::impl::infer_format,
                                               .cpu = &strings::impl::format_kernel,
                                               .dtype_input = -1,
                                               .inputs = at_least(0),
                                               .host_inputs = strings::impl::all_on_host,
                                               .flags = {.non_differentiable = true},
                                               .attrs = &detail::attr_type<rules::FormatAttrs>,
                                               .rare = {.in_errors = "format"}};
TANDEM_INLINE constexpr OpDef to_hash_bucket_op{.name = "to_hash_bucket",
                                                .infer = &strings::impl::infer_to_hash_bucket,
                                                .cpu = &strings::impl::to_hash_bucket_kernel,
                                                .dtypes = strings::impl::text,
                                                .host_inputs = strings::impl::all_on_host,
                                                .flags = {.non_differentiable = true},
                                                .attrs = &detail::attr_type<rules::BucketAttrs>};

namespace strings {

TANDEM_INLINE Tensor to_number(const Tensor& x, DType out_type, OpOptions o) {
  return apply1(string_to_number_op, rules::ToNumberAttrs{out_type}, o, x);
}
TANDEM_INLINE Tensor as_string(const Tensor& x, AsStringOptions o) {
  return apply1(as_string_op, rules::AsStringAttrs{o.precision, o.width, o.scientific, o.shortest, o.fill},
                {o.name, o.where}, x);
}
TANDEM_INLINE Tensor format(const std::string& text, const TensorList& inputs, FormatOptions o) {
  InlinedVector<const Tensor*, 8> in;
  for (const Tensor& t : inputs.list()) in.push_back(&t);
  return apply_one(string_format_op, {in.begin(), in.size()}, rules::FormatAttrs{text, o.placeholder, o.summarize},
                   {o.name, o.where});
}
TANDEM_INLINE Tensor format(const std::string& text, const Tensor& input, FormatOptions o) {
  return format(text, {Span<const Tensor>(&input, 1)}, o);
}
TANDEM_INLINE Tensor to_hash_bucket(const Tensor& x, i64 num_buckets, OpOptions o) {
  return apply1(to_hash_bucket_op, rules::BucketAttrs{num_buckets}, o, x);
}

}  // namespace strings
}  // namespace TANDEM_NS
