// Definitions of strings/codec.hpp.
#pragma once
#include <glob.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "tandem/core/scope.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/strings/codec.hpp"
#include "tandem/strings/string_kernels.hpp"
#include "tandem/util/base64.hpp"

namespace TANDEM_NS {
namespace io::impl {

using strings::impl::host_spec;
using strings::impl::raise;

inline constexpr bool host_is_little = std::endian::native == std::endian::little;

// Reverses the bytes of each number (of each part of a complex one).
inline void swap_numbers(char* data, std::size_t bytes, DType d) {
  const std::size_t width = size_of(d) / (is_complex(d) ? 2 : 1);
  if (width > 1)
    for (std::size_t at = 0; at < bytes; at += width) std::reverse(data + at, data + at + width);
}
// Elements of bool_ must be 0 or 1.
inline void normalize(char* data, std::size_t bytes, DType d) {
  if (d == DType::bool_)
    for (std::size_t i = 0; i < bytes; ++i) data[i] = data[i] != 0;
}

TANDEM_INLINE Specs infer_decode_raw(const InferCall& c) {
  const DType d = c.get<rules::DecodeRawAttrs>().dtype;
  if (d == DType::string) raise(c.op.name, "out_type must be a number dtype or bool, not string");
  Specs r(host_spec(c.spec(0).shape, d));
  r[0].shape.push_back(none);
  return r;
}
TANDEM_INLINE Specs resolve_decode_raw(const KernelCall& c) {
  const DType d = c.attrs.get<rules::DecodeRawAttrs>().dtype;
  const Bytes* const x = c.in[0].as<const Bytes>();
  const std::size_t length = c.in[0].size() ? x[0].view().size() : 0;
  for (i64 i = 1; i < c.in[0].size(); ++i)
    if (x[i].view().size() != length)
      raise(c.op, "the strings have different lengths: " + std::to_string(length) + ", and " +
                      std::to_string(x[i].view().size()) + " in element " + std::to_string(i));
  if (length % size_of(d))
    raise(c.op, "the length " + std::to_string(length) + " is not a multiple of the " + std::to_string(size_of(d)) +
                    " bytes of " + name(d));
  Specs r(host_spec(c.in[0].shape(), d));
  r[0].shape.push_back(static_cast<i64>(length / size_of(d)));
  return r;
}
TANDEM_INLINE void decode_raw_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::DecodeRawAttrs>();
  if (c.out[0].size() == 0) return;
  const std::size_t length = c.in[0].as<const Bytes>()->view().size();  // of all strings
  const i64 grain = static_cast<i64>(65536 / length) + 1;
  cpu::parallel_for(c.in[0].size(), grain, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      char* const to = c.out[0].as<char>() + static_cast<std::size_t>(i) * length;
      std::memcpy(to, c.in[0].as<const Bytes>()[i].view().data(), length);
      if (a.little_endian != host_is_little) swap_numbers(to, length, a.dtype);
      normalize(to, length, a.dtype);
    }
  });
}

TANDEM_INLINE Specs infer_strings(const InferCall& c) { return Specs(host_spec(c.spec(0).shape, DType::string)); }
TANDEM_INLINE void encode_base64_kernel(const KernelCall& c) {
  const bool pad = c.attrs.get<rules::Base64Attrs>().pad;
  strings::impl::map_strings<Bytes>(c, [&](std::string_view s) {
    std::string r;
    tandem::detail::append_base64(r, s, tandem::detail::base64_url_digits, pad);
    return Bytes(r);
  });
}
TANDEM_INLINE void decode_base64_kernel(const KernelCall& c) {
  const Bytes* const x = c.in[0].as<const Bytes>();
  const i64 bad = strings::impl::first_failure(c.in[0].size(), 512, [&](i64 i) {
    std::string r;
    if (!tandem::detail::decode_base64(x[i].view(), r, tandem::detail::base64_url_digits)) return false;
    c.out[0].as<Bytes>()[i] = Bytes(r);
    return true;
  });
  if (bad < c.in[0].size())
    raise(c.op, strings::impl::in_quotes(x[bad].view()) + " is not valid base64 (element " + std::to_string(bad) + ")");
}

inline constexpr std::string_view tensor_magic{"TNDT\x01", 5};

inline void append_number(std::string& to, u64 n) {
  for (int k = 0; k < 8; ++k) to += static_cast<char>(n >> (8 * k));
}
TANDEM_INLINE Specs infer_serialize_tensor(const InferCall&) { return Specs(host_spec(Shape{}, DType::string)); }
TANDEM_INLINE void serialize_tensor_kernel(const KernelCall& c) {
  const Operand& x = c.in[0];
  const DType d = x.spec->dtype;
  std::string s(tensor_magic);
  s += static_cast<char>(d);
  s += static_cast<char>(x.shape().rank());
  s += '\0';
  for (const i64 n : x.shape()) append_number(s, static_cast<u64>(n));
  if (d == DType::string) {
    for (i64 i = 0; i < x.size(); ++i) {
      const std::string_view text = x.as<const Bytes>()[i].view();
      append_number(s, text.size());
      s += text;
    }
  } else if (const std::size_t bytes = x.spec->bytes()) {
    const std::size_t from = s.size();
    s.append(x.as<const char>(), bytes);
    if (!host_is_little) swap_numbers(s.data() + from, bytes, d);
  }
  *c.out[0].as<Bytes>() = Bytes(s);
}

// Reads a serialized tensor; every size is checked against the bytes that are left.
class TensorReader {
 public:
  explicit TensorReader(std::string_view s) : left_(s) {}

  Tensor read(DType out_type) {
    if (take(tensor_magic.size(), "header") != tensor_magic) fail("it does not begin as a serialized tensor");
    const std::string_view kind = take(3, "header");
    const auto dtype = static_cast<unsigned char>(kind[0]), rank = static_cast<unsigned char>(kind[1]);
    if (dtype >= dtype_count || rank > max_rank || kind[2] != 0) fail("its header is not valid");
    const auto d = static_cast<DType>(dtype);
    if (d != out_type) raise("parse_tensor", std::string("the tensor is ") + name(d) + ", not " + name(out_type));
    const Shape shape = read_shape(rank, d == DType::string ? 8 : size_of(d));
    const Tensor t = Tensor::allocate(host_spec(shape, d));
    d == DType::string ? read_texts(t) : read_numbers(t);
    if (!left_.empty()) fail("there are " + std::to_string(left_.size()) + " bytes behind its end");
    return t;
  }

 private:
  [[noreturn]] static void fail(const std::string& what) { errors::raise<errors::DataLossError>("parse_tensor", what); }
  std::string_view take(u64 n, const char* what) {
    if (n > left_.size()) fail(std::string("it ends within its ") + what);
    const std::string_view s = left_.substr(0, static_cast<std::size_t>(n));
    left_.remove_prefix(s.size());
    return s;
  }
  u64 number(const char* what) {
    const std::string_view s = take(8, what);
    u64 n = 0;
    for (std::size_t k = 8; k-- > 0;) n = n << 8 | static_cast<unsigned char>(s[k]);
    return n;
  }
  // A shape whose elements, of at least `least` bytes each, may be in the bytes that are left.
  Shape read_shape(int rank, std::size_t least) {
    Shape s;
    if (rank == 0 && left_.size() < least) fail("it ends within its elements");
    for (int d = 0; d < rank; ++d) {
      const u64 n = number("shape");
      if (n > static_cast<u64>(std::numeric_limits<i64>::max())) fail("its shape is not valid");
      s.push_back(static_cast<i64>(n));
    }
    // Without the sizes of 0: no part of the product may overflow.
    i64 size = 1;
    bool is_empty = false;
    for (const i64 n : s) {
      is_empty |= n == 0;
      if (n > 0 && __builtin_mul_overflow(size, n, &size)) fail("its shape is not valid");
    }
    if (!is_empty && static_cast<u64>(size) > left_.size() / least) fail("it ends within its elements");
    return s;
  }
  void read_texts(const Tensor& t) {
    for (i64 i = 0; i < t.size(); ++i) static_cast<Bytes*>(t.raw())[i] = Bytes(take(number("elements"), "elements"));
  }
  void read_numbers(const Tensor& t) {
    const std::string_view s = take(t.spec().bytes(), "elements");
    if (s.empty()) return;
    char* const to = static_cast<char*>(t.raw());
    std::memcpy(to, s.data(), s.size());
    if (!host_is_little) swap_numbers(to, s.size(), t.dtype());
    normalize(to, s.size(), t.dtype());
  }

  std::string_view left_;
};

}  // namespace io::impl

TANDEM_INLINE constexpr OpDef decode_raw_op{.name = "decode_raw",
                                            .infer = &io::impl::infer_decode_raw,
                                            .cpu = &io::impl::decode_raw_kernel,
                                            .dtypes = strings::impl::text,
                                            .host_inputs = strings::impl::all_on_host,
                                            .flags = {.non_differentiable = true},
                                            .attrs = &detail::attr_type<rules::DecodeRawAttrs>,
                                            .rare = {.resolve = &io::impl::resolve_decode_raw}};
TANDEM_INLINE constexpr OpDef encode_base64_op{.name = "encode_base64",
                                               .infer = &io::impl::infer_strings,
                                               .cpu = &io::impl::encode_base64_kernel,
                                               .dtypes = strings::impl::text,
                                               .host_inputs = strings::impl::all_on_host,
                                               .flags = {.non_differentiable = true},
                                               .attrs = &detail::attr_type<rules::Base64Attrs>};
TANDEM_INLINE constexpr OpDef decode_base64_op{.name = "decode_base64",
                                               .infer = &io::impl::infer_strings,
                                               .cpu = &io::impl::decode_base64_kernel,
                                               .dtypes = strings::impl::text,
                                               .host_inputs = strings::impl::all_on_host,
                                               .flags = {.non_differentiable = true}};
TANDEM_INLINE constexpr OpDef serialize_tensor_op{.name = "serialize_tensor",
                                                  .input_names = "x",
                                                  .infer = &io::impl::infer_serialize_tensor,
                                                  .cpu = &io::impl::serialize_tensor_kernel,
                                                  .host_inputs = strings::impl::all_on_host,
                                                  .flags = {.non_differentiable = true, .own_width = true}};

namespace io {

TANDEM_INLINE Tensor decode_raw(const Tensor& x, DType out_type, DecodeRawOptions o) {
  return apply1(decode_raw_op, rules::DecodeRawAttrs{out_type, o.little_endian}, {o.name, o.where}, x);
}
TANDEM_INLINE Tensor encode_base64(const Tensor& x, EncodeBase64Options o) {
  return apply1(encode_base64_op, rules::Base64Attrs{o.pad}, {o.name, o.where}, x);
}
TANDEM_INLINE Tensor decode_base64(const Tensor& x, OpOptions o) { return apply1(decode_base64_op, no_attrs, o, x); }
TANDEM_INLINE Tensor serialize_tensor(const Tensor& x, OpOptions o) {
  return apply1(serialize_tensor_op, no_attrs, o, x);
}
TANDEM_INLINE Tensor parse_tensor(const Tensor& x, DType out_type, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (x.dtype() != DType::string || x.rank() != 0)
    impl::raise("parse_tensor", "the operand must be one string: " + to_string(x.spec()));
  tandem::detail::check_value("parse_tensor", x);
  return impl::TensorReader(static_cast<const Bytes*>(x.raw())->view()).read(out_type);
}
TANDEM_INLINE Tensor matching_files(const std::string& pattern) {
  return matching_files(std::vector<std::string>{pattern});
}
TANDEM_INLINE Tensor matching_files(const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  for (const std::string& pattern : patterns) {
    glob_t found{};
    const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
    for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i) names.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    if (status == GLOB_NOSPACE) errors::raise<errors::ResourceExhaustedError>("matching_files", "not enough memory");
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return constant(names);
}

}  // namespace io
}  // namespace TANDEM_NS
