// How tensors print: every dtype, nesting, what is left out, traced and unset tensors.
#include "tandem/core/print.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <sstream>

#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

template <class T>
Tensor make(const Shape& shape, std::initializer_list<T> values, DType dtype = dtype_of<T>()) {
  const Tensor t = Tensor::allocate({shape, dtype, {}});
  std::copy(values.begin(), values.end(), static_cast<T*>(t.raw()));
  return t;
}
Tensor make_text(const Shape& shape, std::initializer_list<std::string_view> values) {
  const Tensor t = Tensor::allocate({shape, string, {}});
  i64 i = 0;
  for (std::string_view s : values) static_cast<Bytes*>(t.raw())[i++] = Bytes(s);
  return t;
}
Tensor counting(const Shape& shape) {
  const Tensor t = Tensor::allocate({shape, int32, {}});
  for (i64 i = 0; i < shape.size(); ++i) static_cast<std::int32_t*>(t.raw())[i] = static_cast<std::int32_t>(i);
  return t;
}
std::string streamed(const Tensor& t) {
  std::ostringstream out;
  out << t;
  return out.str();
}

}  // namespace

TEST_CASE("print: scalars of every dtype") {
  CHECK(streamed(make<std::int32_t>({}, {3})) == "tandem.Tensor(3, shape=(), dtype=int32)");
  CHECK(streamed(make<float>({}, {1})) == "tandem.Tensor(1.0, shape=(), dtype=float32)");
  CHECK(streamed(make<double>({}, {0.1})) == "tandem.Tensor(0.1, shape=(), dtype=float64)");
  CHECK(values_to_string(make<float>({4}, {0.1f, -0.f, INFINITY, 1e20f})) == "[0.1, -0.0, inf, 1e+20]");
  CHECK(values_to_string(make<float>({2}, {NAN, 16777216.f})) == "[nan, 16777216.0]");
  CHECK(values_to_string(make<std::int8_t>({2}, {-128, 127})) == "[-128, 127]");
  CHECK(values_to_string(make<std::int16_t>({1}, {-32768})) == "[-32768]");
  CHECK(values_to_string(make<i64>({1}, {INT64_MIN})) == "[-9223372036854775808]");
  CHECK(values_to_string(make<std::uint8_t>({1}, {255})) == "[255]");
  CHECK(values_to_string(make<std::uint16_t>({1}, {65535})) == "[65535]");
  CHECK(values_to_string(make<std::uint32_t>({1}, {4294967295u})) == "[4294967295]");
  CHECK(values_to_string(make<u64>({1}, {UINT64_MAX})) == "[18446744073709551615]");
  CHECK(streamed(make<bool>({2}, {true, false})) == "tandem.Tensor([true, false], shape=(2,), dtype=bool)");
  CHECK(values_to_string(make<Half>({3}, {Half(0.1f), Half(65504.f), Half(1.f)})) == "[0.1, 65500.0, 1.0]");
  CHECK(values_to_string(make<BFloat16>({2}, {BFloat16(0.1f), BFloat16(-2.f)})) == "[0.1, -2.0]");
  CHECK(values_to_string(make<std::complex<float>>({2}, {{1, 2}, {-0.5f, -3}})) == "[1+2j, -0.5-3j]");
  CHECK(values_to_string(make<std::complex<double>>({1}, {{0, 1}})) == "[0+1j]");
  CHECK(values_to_string(make<std::int8_t>({1}, {-7}, qint8)) == "[-7]");
  CHECK(values_to_string(make<std::uint8_t>({1}, {200}, quint8)) == "[200]");
  CHECK(values_to_string(make<std::int32_t>({1}, {-70000}, qint32)) == "[-70000]");
}

TEST_CASE("print: half precision reads back the same") {
  for (unsigned bits = 0; bits < 0x7c00u; bits += 37) {
    Half h;
    h.bits = static_cast<std::uint16_t>(bits);
    const std::string s = values_to_string(make<Half>({}, {h}));
    INFO(s);
    REQUIRE(Half(std::strtof(s.c_str(), nullptr)).bits == bits);
  }
}

TEST_CASE("print: strings are quoted, bytes outside of UTF-8 escaped") {
  CHECK(streamed(make_text({}, {"a"})) == "tandem.Tensor(\"a\", shape=(), dtype=string)");
  CHECK(values_to_string(make_text({2}, {"", "say \"hi\"\\\n\t"})) == R"(["", "say \"hi\"\\\n\t"])");
  CHECK(values_to_string(make_text({1}, {std::string_view("\0\x1f\x7f\xff\xc3", 5)})) == R"(["\x00\x1f\x7f\xff\xc3"])");
  CHECK(values_to_string(make_text({1}, {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"})) ==
        "[\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"]");
  CHECK(values_to_string(make_text({1}, {"\xed\xa0\x80"})) == R"(["\xed\xa0\x80"])");  // a surrogate is not UTF-8
  CHECK(values_to_string(make_text({2, 1}, {"a", "long"})) == "[[\"a\"],\n [\"long\"]]");
}

TEST_CASE("print: nested brackets, columns of equal width, empty axes") {
  CHECK(streamed(make<std::int32_t>({2, 2}, {1, 2, 3, 10})) ==
        "tandem.Tensor(\n[[ 1,  2],\n [ 3, 10]], shape=(2, 2), dtype=int32)");
  CHECK(values_to_string(make<std::int32_t>({2, 1, 2}, {1, 2, 3, 4})) == "[[[1, 2]],\n\n [[3, 4]]]");
  CHECK(values_to_string(make<float>({2, 0}, {})) == "[[],\n []]");
  CHECK(streamed(make<float>({0}, {})) == "tandem.Tensor([], shape=(0,), dtype=float32)");
  CHECK(values_to_string(make<float>({0, 3}, {})) == "[]");
  CHECK(values_to_string(make<float>({1001, 0}, {})) == "[[],\n [],\n [],\n ...,\n [],\n [],\n []]");
}

TEST_CASE("print: all values up to 1000 elements, the edges above") {
  const std::string all = values_to_string(counting({1000}));
  CHECK(all.find("...") == std::string::npos);
  CHECK_THAT(all, ContainsSubstring("500, 501"));
  CHECK(values_to_string(counting({1001})) == "[0, 1, 2, ..., 998, 999, 1000]");
  CHECK(values_to_string(counting({300, 4})).substr(0, 40) == "[[   0,    1,    2,    3],\n [   4,    5,");
  const std::string both = values_to_string(counting({40, 40}));
  CHECK_THAT(both, ContainsSubstring("[   0,    1,    2, ...,   37,   38,   39],\n"));
  CHECK_THAT(both, ContainsSubstring("],\n ...,\n ["));
  CHECK(std::count(both.begin(), both.end(), '\n') == 6);
  CHECK(values_to_string(counting({8}), {.threshold = 4, .edge = 1}) == "[0, ..., 7]");
}

TEST_CASE("print: a tensor without a value and without a trace shows what is known of it") {
  const Tensor t = Tensor::symbol({{10, none}, float32, {}});
  CHECK(to_string(t) == "tandem.Tensor(\"?\", shape=(10, None), dtype=float32)");
  CHECK_THROWS_AS(values_to_string(t), errors::TraceError);
}

TEST_CASE("print: NaN has no sign") {
  const float f = std::copysign(NAN, -1.f);
  const double d = std::copysign(std::numeric_limits<double>::quiet_NaN(), -1.);
  CHECK(values_to_string(make<float>({3}, {f, NAN, -INFINITY})) == "[nan, nan, -inf]");
  CHECK(values_to_string(make<double>({1}, {d})) == "[nan]");
  Half h;
  h.bits = 0xfe00;
  BFloat16 b;
  b.bits = 0xffc0;
  CHECK(values_to_string(make<Half>({1}, {h})) == "[nan]");
  CHECK(values_to_string(make<BFloat16>({1}, {b})) == "[nan]");
  CHECK(values_to_string(make<std::complex<float>>({2}, {{f, f}, {1, f}})) == "[nan+nanj, 1+nanj]");
  const volatile float zero = 0;
  CHECK(values_to_string(make<float>({}, {zero / zero})) == "nan");
}

TEST_CASE("print: an unset tensor shows why") {
  CHECK_THAT(to_string(Tensor()), ContainsSubstring("unset"));
  CHECK_THAT(streamed(Tensor::unset("blocked at ArgMax")), ContainsSubstring("blocked at ArgMax"));
}
