// Definitions of io/npz.hpp: writing a ZIP archive, and reading one that may be damaged or hostile.
#pragma once
#include <algorithm>
#include <set>

#include "tandem/io/inflate.hpp"
#include "tandem/io/npz.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/io/zip.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS::io {

namespace detail {

inline constexpr std::string_view npy_suffix = ".npy";

[[noreturn]] inline void raise_npz(const std::string& path, const std::string& what) {
  errors::raise<errors::DataLossError>("load_npz", path + " is damaged or not an .npz file: " + what);
}

#if TANDEM_HAS_ZLIB
// Deflates the parts, one after the other, without a header.
TANDEM_INLINE std::string deflated(std::initializer_list<std::string_view> parts) {
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    errors::raise<errors::ResourceExhaustedError>("save_npz", "zlib has no memory");
  std::string out;
  constexpr std::size_t most = std::size_t{1} << 30, grow = std::size_t{1} << 16;
  const auto run = [&](int flush) {
    do {
      const std::size_t at = out.size();
      out.resize(at + grow);
      z.next_out = reinterpret_cast<Bytef*>(out.data() + at), z.avail_out = grow;
      deflate(&z, flush);
      out.resize(out.size() - z.avail_out);
    } while (z.avail_out == 0);
  };
  for (std::string_view part : parts)
    while (!part.empty()) {
      const std::size_t n = std::min(part.size(), most);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data())), z.avail_in = static_cast<uInt>(n);
      run(Z_NO_FLUSH);
      part.remove_prefix(n);
    }
  run(Z_FINISH);
  deflateEnd(&z);
  return out;
}
#endif

// The data of a stored member, with the functions of Inflater.
template <class Source>
struct StoredData {
  Source& source;
  std::uint64_t at;
  bool read(char* to, std::size_t n) {
    source.read_at(to, at, n);
    at += n;
    return true;
  }
  static bool at_end() { return true; }
};
// The content of a member as the source of read_npy. Data: StoredData or Inflater.
template <class Data>
class MemberSource {
 public:
  MemberSource(const ZipMember& m, Data& data, const std::string& path) : m_(m), data_(data), path_(path) {}
  std::size_t size() const { return m_.size; }
  void read(void* to, std::size_t n) {
    if (!data_.read(static_cast<char*>(to), n)) raise_npz(path_, "the compressed data of " + m_.name + " are damaged");
    crc_ = crc_of(to, n, crc_);
    done_ += n;
  }
  // Reads what is left and checks the whole.
  void finish() {
    char rest[4096];
    while (done_ < m_.size) read(rest, std::min<std::uint64_t>(m_.size - done_, sizeof rest));
    if (!data_.at_end()) raise_npz(path_, "the compressed data of " + m_.name + " are damaged");
    if (crc_ != m_.crc) raise_npz(path_, "the CRC-32 of " + m_.name + " does not match");
  }

 private:
  const ZipMember& m_;
  Data& data_;
  const std::string& path_;
  std::uint64_t done_ = 0;
  std::uint32_t crc_ = 0;
};

// Reads the members of an archive. Source: has size() and read_at(to, offset, n).
template <class Source>
class ZipReader {
 public:
  ZipReader(Source& source, const std::string& path) : source_(source), path_(path) {}

  std::vector<ZipMember> members() const {
    const Directory d = directory();
    const std::string bytes = part(d.offset, d.bytes, "its directory");
    std::vector<ZipMember> r;
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < d.count; ++i) r.push_back(member(bytes, at));
    if (at != bytes.size()) fail("its directory has more than " + std::to_string(d.count) + " entries");
    std::uint64_t room = source_.size();
    for (const ZipMember& m : r) {
      if (m.compressed > room || room - m.compressed < local_bytes)
        fail(m.name + " lies beyond its end, or its members overlap");
      room -= m.compressed + local_bytes;
    }
    return r;
  }
  // The tensor in a member, read straight from its data.
  Tensor tensor(const ZipMember& m) const {
    const std::string header = part(m.offset, local_bytes, m.name);
    if (number_at(header, 0, 4) != local_signature) fail(m.name + " has no header where the directory says");
    if (number_at(header, 6, 2) & 1)
      errors::raise<errors::UnimplementedError>("load_npz", path_ + ": " + m.name + " is encrypted");
    if (const std::string name = part(m.offset + local_bytes, number_at(header, 26, 2), m.name); name != m.name)
      fail("its directory has " + m.name + " for a member that is called " + name);
    const std::uint64_t begin = m.offset + local_bytes + number_at(header, 26, 2) + number_at(header, 28, 2);
    if (begin > source_.size() || m.compressed > source_.size() - begin) fail(m.name + " lies beyond its end");
    if (m.method == 0) {
      if (m.compressed != m.size) fail(m.name + " does not have the size that the directory says");
      StoredData<Source> data{source_, begin};
      return checked(m, data);
    }
    if (m.method != 8)
      errors::raise<errors::UnimplementedError>("load_npz", path_ + ": " + m.name + " is compressed by method " +
                                                                std::to_string(m.method) +
                                                                "; only deflate (8) is read");
#if TANDEM_HAS_ZLIB
    if (m.size / largest_deflate_ratio > m.compressed) fail(m.name + " is larger than its compressed data can hold");
    Inflater<Source> data("load_npz", source_, begin, m.compressed, Wrapper::none);
    return checked(m, data);
#else
    raise_no_zlib("load_npz", path_ + ": " + m.name + " is compressed");
#endif
  }

 private:
  struct Directory {
    std::uint64_t count, bytes, offset;
  };
  [[noreturn]] void fail(const std::string& what) const { raise_npz(path_, what); }
  std::string part(std::uint64_t offset, std::uint64_t bytes, const std::string& of) const {
    if (offset > source_.size() || bytes > source_.size() - offset) fail(of + " lies beyond its end");
    std::string r(bytes, '\0');
    source_.read_at(r.data(), offset, bytes);
    return r;
  }
  // The last record of the file, before a comment of up to 65,535 bytes.
  Directory directory() const {
    const std::size_t most = std::min<std::size_t>(source_.size(), end_bytes + 0xffff);
    if (most < end_bytes) fail("it is shorter than 22 bytes");
    const std::size_t begin = source_.size() - most;
    const std::string tail = part(begin, most, "its end");
    for (std::size_t at = most - end_bytes + 1; at-- > 0;) {
      if (number_at(tail, at, 4) != end_signature || number_at(tail, at + 20, 2) != most - end_bytes - at) continue;
      const Directory d{number_at(tail, at + 10, 2), number_at(tail, at + 12, 4), number_at(tail, at + 16, 4)};
      const bool wide = d.count == 0xffff || d.bytes == 0xffffffff || d.offset == 0xffffffff;
      return wide ? directory64(begin + at) : d;
    }
    fail("it has no end record");
  }
  Directory directory64(std::uint64_t end) const {
    if (end < locator64_bytes) fail("it has no 64-bit end record");
    const std::string locator = part(end - locator64_bytes, locator64_bytes, "its 64-bit end record");
    if (number_at(locator, 0, 4) != locator64_signature) fail("it has no 64-bit end record");
    const std::string record = part(number_at(locator, 8, 8), end64_bytes, "its 64-bit end record");
    if (number_at(record, 0, 4) != end64_signature) fail("it has no 64-bit end record");
    return {number_at(record, 32, 8), number_at(record, 40, 8), number_at(record, 48, 8)};
  }
  ZipMember member(const std::string& bytes, std::size_t& at) const {
    if (bytes.size() - at < central_bytes || number_at(bytes, at, 4) != central_signature)
      fail("its directory is not one");
    ZipMember m;
    m.method = static_cast<std::uint16_t>(number_at(bytes, at + 10, 2));
    m.crc = static_cast<std::uint32_t>(number_at(bytes, at + 16, 4));
    m.compressed = number_at(bytes, at + 20, 4), m.size = number_at(bytes, at + 24, 4),
    m.offset = number_at(bytes, at + 42, 4);
    const std::size_t name = number_at(bytes, at + 28, 2), extra = number_at(bytes, at + 30, 2),
                      comment = number_at(bytes, at + 32, 2);
    at += central_bytes;
    if (bytes.size() - at < name + extra + comment) fail("its directory is not one");
    m.name = bytes.substr(at, name);
    widen(m, std::string_view(bytes).substr(at + name, extra));
    at += name + extra + comment;
    return m;
  }
  // 64-bit sizes are in an extra field, in this order, each if the 32-bit field is full.
  void widen(ZipMember& m, std::string_view extra) const {
    while (extra.size() >= 4) {
      const std::uint64_t id = number_at(extra, 0, 2), bytes = number_at(extra, 2, 2);
      if (bytes > extra.size() - 4) fail("an extra field of " + m.name + " is longer than its header says");
      std::size_t at = 4;
      for (std::uint64_t* field : {&m.size, &m.compressed, &m.offset})
        if (id == 1 && *field == 0xffffffff) {
          if (at + 8 > 4 + bytes) fail("the 64-bit sizes of " + m.name + " are missing");
          *field = number_at(extra, at, 8);
          at += 8;
        }
      extra.remove_prefix(4 + bytes);
    }
  }
  template <class Data>
  Tensor checked(const ZipMember& m, Data& data) const {
    MemberSource<Data> member(m, data, path_);
    try {
      Tensor t = read_npy(ByteSource(member), path_ + ": " + m.name);
      member.finish();
      return t;
    } catch (const errors::InvalidArgumentError&) {  // perhaps the dtype's name is damaged
      member.finish();
      throw;
    }
  }

  Source& source_;
  const std::string& path_;
};

// Loads the members that `wanted` accepts.
template <class Source, class Wanted>
std::vector<NamedTensor> read_npz(Source& source, const std::string& path, const Wanted& wanted) {
  const ZipReader<Source> reader(source, path);
  std::vector<NamedTensor> r;
  std::set<std::string> seen;
  for (const ZipMember& m : reader.members()) {
    std::string name = m.name.ends_with(npy_suffix) ? m.name.substr(0, m.name.size() - npy_suffix.size()) : m.name;
    if (!seen.insert(name).second) raise_npz(path, "it has two members " + name);
    if (!wanted(name)) continue;
    r.push_back({std::move(name), reader.tensor(m)});
  }
  return r;
}

inline void check_npz_names(const std::vector<NamedTensor>& tensors) {
  std::set<std::string_view> seen;
  for (const NamedTensor& t : tensors) {
    if (t.name.empty() || t.name.size() > 0xffff - npy_suffix.size())
      errors::raise<errors::InvalidArgumentError>("save_npz", "a tensor's name is empty or longer than 65,531 bytes");
    if (!seen.insert(t.name).second)
      errors::raise<errors::InvalidArgumentError>("save_npz", "two tensors have the name '" + t.name + "'");
  }
  if (tensors.size() >= 0xffff)
    errors::raise<errors::InvalidArgumentError>("save_npz", "more than 65,534 tensors (see save_safetensors)");
}
// The parts of one member: the header of the archive, then its data.
struct NpzPart {
  std::string start;  // the local header; then the .npy header, or all data if they are compressed
  Tensor host;        // unset if compressed
};
TANDEM_INLINE NpzPart npz_part(ZipMember& m, const Tensor& t, NpzOptions options) {
  const std::string start = npy_start("save_npz", t);
  const Tensor host = t.cpu();
  const std::string_view data(static_cast<const char*>(host.raw()), host.spec().bytes());
  m.crc = crc_of(data.data(), data.size(), crc_of(start.data(), start.size()));
  m.size = m.compressed = start.size() + data.size();
  check_32_bits(m.size, m.name);
  if (!options.compressed) return {local_header(m) + start, host};
#if TANDEM_HAS_ZLIB
  const std::string bytes = deflated({start, data});
  m.method = 8, m.compressed = bytes.size();
  return {local_header(m) + bytes, Tensor()};
#else
  raise_no_zlib("save_npz", ".compressed is set");
#endif
}

}  // namespace detail

TANDEM_INLINE void save_npz(const std::string& path, const std::vector<NamedTensor>& tensors, NpzOptions options) {
  const tandem::detail::OutsideTrace outside;
  detail::check_npz_names(tensors);
  std::vector<detail::ZipMember> members;
  std::vector<detail::NpzPart> parts;
  std::uint64_t offset = 0;
  for (const NamedTensor& t : tensors) {
    detail::ZipMember& m = members.emplace_back();
    m.name = t.name + std::string(detail::npy_suffix), m.offset = offset;
    parts.push_back(detail::npz_part(m, t.tensor, options));
    offset += parts.back().start.size() + (parts.back().host.is_set() ? parts.back().host.spec().bytes() : 0);
    detail::check_32_bits(offset, t.name);
  }
  const std::string directory = detail::central_directory(members, offset);
  detail::check_32_bits(offset + directory.size(), "the directory");
  std::vector<std::pair<const void*, std::size_t>> bytes;
  for (const detail::NpzPart& p : parts) {
    bytes.push_back({p.start.data(), p.start.size()});
    if (p.host.is_set()) bytes.push_back({p.host.raw(), p.host.spec().bytes()});
  }
  bytes.push_back({directory.data(), directory.size()});
  replace_file(path, bytes);
}
TANDEM_INLINE std::vector<NamedTensor> load_npz(const std::string& path) {
  detail::RegularFile file("load_npz", path);
  return detail::read_npz(file, path, [](const std::string&) { return true; });
}
TANDEM_INLINE Tensor load_npz(const std::string& path, const std::string& name) {
  detail::RegularFile file("load_npz", path);
  std::string names;
  std::vector<NamedTensor> found = detail::read_npz(file, path, [&](const std::string& has) {
    names += (names.empty() ? "" : ", ") + has;
    return has == name;
  });
  if (found.empty())
    errors::raise<errors::NotFoundError>("load_npz", path + " has no tensor '" + name + "'; it has: " + names);
  return std::move(found[0].tensor);
}
TANDEM_INLINE std::vector<NamedTensor> parse_npz(const char* data, std::size_t size, const std::string& path) {
  detail::MemorySource source(data, size);
  return detail::read_npz(source, path, [](const std::string&) { return true; });
}

}  // namespace TANDEM_NS::io
