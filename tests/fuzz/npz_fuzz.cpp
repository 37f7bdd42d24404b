// libFuzzer target: any bytes given to the .npz reader are read or refused by one of the errors that it declares. The
// first byte of an input says what the others are: the archive, changes of a good archive, changes of the .npy file in
// one (whose checksum is then right), or the compressed data of a member. So all parsers are reached without a corpus.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tandem/io/npz.hpp"
#include "tandem/io/zip.hpp"
#include "tandem/ops/all.hpp"

namespace {

using namespace tandem;
using Changes = std::span<const std::uint8_t>;

void check_reader(const std::string& archive) {
  try {
    for (const auto& t : io::parse_npz(archive.data(), archive.size(), "fuzz")) (void)to_string(t.tensor);
  } catch (const errors::DataLossError&) {
  } catch (const errors::InvalidArgumentError&) {  // a dtype that a tensor cannot have
  } catch (const errors::UnimplementedError&) {    // encryption, another method
  }
}
// Replaces bytes: each change is a position (two bytes) and a value.
std::string changed(std::string s, Changes changes) {
  for (; changes.size() >= 3; changes = changes.subspan(3))
    s[(changes[0] + 256u * changes[1]) % s.size()] = static_cast<char>(changes[2]);
  return s;
}
std::string good_npy(bool wide) {
  const Tensor x = wide ? cast(reshape(range(24), {2, 3, 4}), complex64) : constant({{1.f, 2.f}, {3.f, 4.f}});
  return io::detail::npy_start("fuzz", x) + std::string(static_cast<const char*>(x.raw()), x.spec().bytes());
}
// An archive of one member, whose data are as they are in the file.
std::string archive_of(const std::string& data, const std::string& content, std::uint16_t method) {
  io::detail::ZipMember m;
  m.name = "x.npy", m.method = method;
  m.compressed = data.size(), m.size = content.size();
  m.crc = io::detail::crc_by_tables(content.data(), content.size());
  const std::string member = io::detail::local_header(m) + data;
  return member + io::detail::central_directory({m}, member.size());
}
// Deflate data of one block that is not compressed.
std::string as_deflated(const std::string& content) {
  std::string s(1, '\1');
  io::detail::append_number(s, content.size(), 2);
  io::detail::append_number(s, ~content.size(), 2);
  return s + content;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!size) return 0;
  const unsigned kind = data[0];
  const Changes rest(data + 1, size - 1);
  const std::string raw(rest.begin(), rest.end());
  const bool deflate = kind & 4, wide = kind & 8;
  const auto stored = [&](const std::string& npy) {
    return deflate ? archive_of(as_deflated(npy), npy, 8) : archive_of(npy, npy, 0);
  };
  switch (kind & 3) {
    case 0: check_reader(raw); break;
    case 1: check_reader(changed(stored(good_npy(wide)), rest)); break;
    case 2: check_reader(stored(changed(good_npy(wide), rest))); break;
    default: check_reader(archive_of(raw, std::string(std::min<std::size_t>(raw.size() * 4, 4096), 'x'), 8));
  }
  return 0;
}
