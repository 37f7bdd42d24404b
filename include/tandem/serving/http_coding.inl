// Definitions of serving/http_coding.hpp.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>

#include "tandem/io/inflate.hpp"
#include "tandem/serving/http_coding.hpp"
#include "tandem/serving/http_text.hpp"

namespace TANDEM_NS::serving::impl {

#if TANDEM_HAS_ZLIB
struct BodySource {
  std::string_view body;
  void read_at(char* to, std::uint64_t at, std::size_t n) const { std::memcpy(to, body.data() + at, n); }
};
TANDEM_INLINE std::optional<std::string> inflated_body(std::string_view body, io::detail::Wrapper wrapper,
                                                       std::size_t most) {
  BodySource source{body};
  io::detail::Inflater<BodySource> inflater("serving", source, 0, body.size(), wrapper);
  std::string r;
  do {
    std::size_t n;
    do {
      const std::size_t at = r.size();
      const std::size_t step = std::min(std::max<std::size_t>(at, std::size_t{1} << 14), most - std::min(at, most) + 1);
      r.resize(at + step);
      n = inflater.read_some(r.data() + at, step);
      r.resize(at + n);
      if (r.size() > most) return {};
    } while (n);
    if (!inflater.ended())
      errors::raise<errors::InvalidArgumentError>("serving", "the compressed body is damaged or cut off");
  } while (wrapper == io::detail::Wrapper::gzip && inflater.next_member());
  return r;
}
#endif

TANDEM_INLINE std::optional<std::string> decoded_body(std::string_view coding, std::string_view body,
                                                      std::size_t most) {
  const bool is_gzip = equal_without_case(coding, "gzip") || equal_without_case(coding, "x-gzip");
#if TANDEM_HAS_ZLIB
  if (is_gzip || equal_without_case(coding, "deflate"))
    return inflated_body(body, is_gzip ? io::detail::Wrapper::gzip : io::detail::Wrapper::zlib, most);
  const char* const known = "gzip, deflate and identity";
#else
  (void)body, (void)most, (void)is_gzip;
  const char* const known = "identity, because this program was built without zlib";
#endif
  errors::raise<errors::UnimplementedError>("serving", "the Content-Encoding '" + std::string(coding.substr(0, 40)) +
                                                           "' is not supported; there is " + known);
}

TANDEM_INLINE bool accepts_gzip(std::string_view header) {
  bool any = false;
  while (!header.empty()) {
    const std::size_t comma = std::min(header.find(','), header.size());
    std::string_view item = header.substr(0, comma);
    header.remove_prefix(std::min(comma + 1, header.size()));
    const std::size_t semicolon = std::min(item.find(';'), item.size());
    const std::string_view coding = trimmed(item.substr(0, semicolon));
    std::string_view weight = trimmed(item.substr(std::min(semicolon + 1, item.size())));
    const bool refused = weight.starts_with("q=0") && weight.find_first_of("123456789") == weight.npos;
    if (equal_without_case(coding, "gzip")) return !refused;
    if (coding == "*") any = !refused;
  }
  return any;
}

TANDEM_INLINE std::optional<std::string> gzip_body(std::string_view body) {
#if TANDEM_HAS_ZLIB
  z_stream z{};
  if (body.size() > std::numeric_limits<uInt>::max()) return {};
  if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string r(deflateBound(&z, static_cast<uLong>(body.size())), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data())), z.avail_in = static_cast<uInt>(body.size());
  z.next_out = reinterpret_cast<Bytef*>(r.data()), z.avail_out = static_cast<uInt>(r.size());
  const bool ended = deflate(&z, Z_FINISH) == Z_STREAM_END;
  r.resize(r.size() - z.avail_out);
  deflateEnd(&z);
  if (ended) return r;
#else
  (void)body;
#endif
  return {};
}

}  // namespace TANDEM_NS::serving::impl
