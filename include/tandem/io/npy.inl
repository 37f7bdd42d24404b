// Writing and reading .npy files. A file is the bytes 93 "NUMPY", two bytes of version, the header's length (2 bytes,
// little-endian; 4 from version 2 on), the header, the data. The header is the text of a Python dictionary: {'descr':
// '<f4', 'fortran_order': False, 'shape': (2, 3), }.
#pragma once
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>

#include "tandem/io/npy.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/ops/transfer.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::io {

namespace detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
inline constexpr std::size_t longest_npy_header = 1 << 20;  // a tensor's has about 100 bytes
static_assert(std::endian::native == std::endian::little);

// A dtype and NumPy's kind letter for it; in a descr the byte count follows the letter.
struct NpyType {
  DType dtype;
  char kind;
};
inline constexpr NpyType npy_types[] = {{DType::float16, 'f'},   {DType::float32, 'f'},   {DType::float64, 'f'},
                                        {DType::int8, 'i'},      {DType::int16, 'i'},     {DType::int32, 'i'},
                                        {DType::int64, 'i'},     {DType::uint8, 'u'},     {DType::uint16, 'u'},
                                        {DType::uint32, 'u'},    {DType::uint64, 'u'},    {DType::bool_, 'b'},
                                        {DType::complex64, 'c'}, {DType::complex128, 'c'}};

[[noreturn]] inline void raise_npy(const std::string& path, const std::string& what) {
  errors::raise<errors::DataLossError>("load_npy", path + " is damaged or not an .npy file: " + what);
}

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// Parses the dictionary of the header: its three keys in any order and nothing else.
class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}
  NpyHeader read() {
    NpyHeader h;
    unsigned seen = 0;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      unsigned bit = 0;
      if (key == "descr") bit = 1, h.descr = descr();
      else if (key == "fortran_order") bit = 2, h.fortran_order = boolean();
      else if (key == "shape") bit = 4, h.shape = shape();
      if (!bit || seen & bit) fail("its header has the key " + escaped(key) + (bit ? " twice" : ""));
      seen |= bit;
      if (!take(',') && peek() != '}') fail("its header is not a Python dictionary");
    }
    if (seen != 7) fail("its header lacks one of descr, fortran_order, shape");
    if (peek()) fail("its header continues after the dictionary");
    return h;
  }

 private:
  static std::string escaped(const std::string& s) { return tandem::detail::escaped_text(s); }
  [[noreturn]] void fail(const std::string& what) const { raise_npy(path_, what); }
  // The next non-blank character; 0 at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("its header has no '") + c + "' where one is expected");
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("its header is not a Python dictionary");
    const std::size_t end = text_.find(quote, ++at_);
    if (end == text_.npos) fail("its header ends within a string");
    std::string r(text_.substr(at_, end - at_));
    at_ = end + 1;
    return r;
  }
  std::string descr() {
    if (peek() == '[')
      errors::raise<errors::InvalidArgumentError>("load_npy", path_ + " holds structures, not a single dtype");
    return quoted();
  }
  bool boolean() {
    peek();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    fail("fortran_order is neither True nor False");
  }
  Shape shape() {
    Shape s;
    expect('(');
    while (!take(')')) {
      i64 n = -1;
      peek();
      const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
      if (result.ec != std::errc() || n < 0) fail("its shape is not a tuple of non-negative integers");
      if (s.rank() == max_rank)
        errors::raise<errors::InvalidArgumentError>(
            "load_npy", path_ + " has more than the " + std::to_string(max_rank) + " axes that a tensor can have");
      at_ = static_cast<std::size_t>(result.ptr - text_.data());
      s.push_back(n);
      if (!take(',') && peek() != ')') fail("its shape is not a tuple of non-negative integers");
    }
    return s;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

inline std::string descr_of(DType dtype) {
  for (const NpyType& t : npy_types)
    if (t.dtype == dtype) return (size_of(dtype) == 1 ? "|" : "<") + (t.kind + std::to_string(size_of(dtype)));
  return {};
}
struct StoredType {
  DType dtype;
  bool swapped;  // big-endian
};
TANDEM_INLINE StoredType stored_type(const std::string& descr, const std::string& path) {
  for (const NpyType& t : npy_types) {
    const std::string kind = t.kind + std::to_string(size_of(t.dtype));
    if (descr == "<" + kind || descr == "|" + kind || descr == "=" + kind) return {t.dtype, false};
    if (descr == ">" + kind) return {t.dtype, size_of(t.dtype) > 1};
  }
  const bool objects = descr.find('O') != descr.npos;
  errors::raise<errors::InvalidArgumentError>(
      "load_npy", path + " holds " +
                      (objects ? "pickled Python objects" : "NumPy's " + tandem::detail::escaped_text(descr)) +
                      ", which is not a tensor dtype" + (objects ? " and may run code when it is read" : ""));
}
// The size in bytes of a tensor of this shape; raises unless it equals `available`, the size of the data in the
// file.
inline std::size_t npy_bytes(const Shape& shape, DType dtype, std::size_t available, const std::string& path) {
  std::size_t n = size_of(dtype);
  bool empty = false;
  for (const i64 d : shape) empty |= d == 0;
  for (const i64 d : shape)
    if (!empty && __builtin_mul_overflow(n, static_cast<std::size_t>(d), &n)) n = available + 1;
  if (empty) n = 0;
  if (n > available)
    raise_npy(path, "a tensor of " + to_string(Spec{shape, dtype, {}}) + " does not fit its " +
                        std::to_string(available) + " bytes of data");
  if (n < available) raise_npy(path, std::to_string(available - n) + " bytes follow the tensor");
  return n;
}
inline void swap_bytes(unsigned char* p, std::size_t bytes, DType dtype) {
  const std::size_t width = is_complex(dtype) ? size_of(dtype) / 2 : size_of(dtype);
  for (std::size_t i = 0; i < bytes; i += width) std::reverse(p + i, p + i + width);
}

// What precedes the data.
struct NpyStart {
  StoredType type;
  Shape shape;  // of the data in their order: reversed if they are column-major
  bool fortran_order;
  std::size_t bytes;
};
TANDEM_INLINE NpyStart read_npy_start(const ByteSource& source, const std::string& path) {
  unsigned char start[12];  // magic, version, length
  const std::size_t size = source.size();
  if (size < 10) raise_npy(path, "it is shorter than 10 bytes");
  source.read(start, 10);
  if (std::memcmp(start, npy_magic.data(), npy_magic.size()) != 0) raise_npy(path, "it does not begin as one");
  const unsigned version = start[6];
  if (version < 1 || version > 3) raise_npy(path, "its version is " + std::to_string(version));
  const std::size_t fixed = version == 1 ? 10 : 12;
  if (size < fixed) raise_npy(path, "it ends within its header");
  if (version > 1) source.read(start + 10, 2);
  std::size_t length = 0;
  for (std::size_t i = 8; i < fixed; ++i) length |= std::size_t{start[i]} << (8 * (i - 8));
  if (length > size - fixed) raise_npy(path, "it ends within its header");
  if (length > longest_npy_header) raise_npy(path, "its header has " + std::to_string(length) + " bytes");
  std::string text(length, '\0');
  source.read(text.data(), length);
  NpyHeader h = NpyHeaderReader(text, path).read();
  const StoredType type = stored_type(h.descr, path);
  const std::size_t bytes = npy_bytes(h.shape, type.dtype, size - fixed - length, path);

  if (h.fortran_order) {
    Shape reversed;
    for (int i = h.shape.rank() - 1; i >= 0; --i) reversed.push_back(h.shape.dim(i));
    h.shape = reversed;
  }
  return {type, h.shape, h.fortran_order && h.shape.rank() > 1, bytes};
}
inline Tensor read_npy_data(const ByteSource& source, const NpyStart& start, const std::string& path) {
  Tensor t = Tensor::allocate({start.shape, start.type.dtype, {}});
  auto* const data = static_cast<unsigned char*>(t.raw());
  source.read(data, start.bytes);
  if (start.type.swapped) swap_bytes(data, start.bytes, start.type.dtype);
  if (start.type.dtype == DType::bool_ && std::any_of(data, data + start.bytes, [](unsigned char b) { return b > 1; }))
    raise_npy(path, "a bool is neither 0 nor 1");
  return start.fortran_order ? transpose(t) : t;
}
TANDEM_INLINE Tensor read_npy(const ByteSource& source, const std::string& path) {
  const tandem::detail::OutsideTrace outside;
  const NpyStart start = read_npy_start(source, path);
  return read_npy_data(source, start, path);
}

}  // namespace detail

TANDEM_INLINE std::string detail::npy_start(const char* op, const Tensor& tensor) {
  if (tensor.is_symbolic())
    errors::raise<errors::TraceError>(op, "a traced tensor has no value to save: " + to_string(tensor.spec()));
  const std::string descr = descr_of(tensor.dtype());
  if (descr.empty())
    errors::raise<errors::InvalidArgumentError>(op,
                                                "NumPy has no dtype for " + to_string(tensor.spec()) +
                                                    (tensor.dtype() == DType::bfloat16 ? ": cast it to float32" : ""));
  std::string shape;
  for (const i64 d : tensor.shape()) shape += std::to_string(d) + ", ";
  if (tensor.rank() > 1) shape.resize(shape.size() - 2);
  else if (tensor.rank() == 1) shape.pop_back();
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t fixed = 10;
  header.resize((fixed + header.size() + 1 + 63) / 64 * 64 - fixed - 1, ' ');  // aligns the data to 64 bytes
  header += '\n';
  std::string start(npy_magic);
  start += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  return start + header;
}
TANDEM_INLINE void save_npy(const std::string& path, const Tensor& tensor) {
  const tandem::detail::OutsideTrace outside;
  const std::string start = detail::npy_start("save_npy", tensor);
  const Tensor host = tensor.cpu();
  replace_file(path, {{start.data(), start.size()}, {host.raw(), host.spec().bytes()}});
}
TANDEM_INLINE Tensor load_npy(const std::string& path, LoadTensorsOptions options) {
  const tandem::detail::OutsideTrace outside;
  detail::RegularFile file("load_npy", path);
  const detail::ByteSource source(file);
  const detail::NpyStart start = detail::read_npy_start(source, path);
  Tensor mapped;
  if (options.map && !start.type.swapped && !start.fortran_order)
    mapped = detail::mapped_tensor(make_ref<detail::MappedFile>("load_npy", file, path), file.size() - start.bytes,
                                   {start.shape, start.type.dtype, {}});
  return mapped.is_set() ? mapped : detail::read_npy_data(source, start, path);
}
TANDEM_INLINE Tensor parse_npy(const char* data, std::size_t size, const std::string& path) {
  detail::MemorySource source(data, size);
  return detail::read_npy(detail::ByteSource(source), path);
}

}  // namespace TANDEM_NS::io
