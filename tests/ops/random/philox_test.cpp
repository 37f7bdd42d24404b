// Philox 4x32-10 against its published answers, and the kernels against the scalar definitions, on every instruction
// set and number of threads.
#include "tandem/util/philox.hpp"

#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

void check_words(random::Words counter, std::uint32_t k0, std::uint32_t k1, random::Words want) {
  const random::Words got = random::philox(counter, k0, k1);
  for (int i = 0; i < 4; ++i) CHECK(got.w[i] == want.w[i]);
}
// Runs f on every instruction set of this machine.
template <class F>
void on_every_set(F f) {
  const auto before = cpu::isa_level.load();
  for (int level = cpu::best_isa(); level >= 0; --level) {
    cpu::isa_level = static_cast<signed char>(level);
    INFO("instruction set " << level);
    f();
  }
  cpu::isa_level = before;
}
constexpr std::array<i64, 2> seed{0x123456789abcdef, 42};
const random::Stream stream{static_cast<u64>(seed[0]), static_cast<u64>(seed[1])};

template <class T>
std::vector<T> draw(i64 n, DType dtype) {
  return random::stateless_uniform({n}, seed, {.dtype = dtype}).to_vector<T>();
}

}  // namespace

TEST_CASE("philox: known answers of the authors' library") {
  check_words({{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  check_words({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  check_words({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
              {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST_CASE("philox: bits are the words of the definition, on every set, for every length of tail") {
  for (const i64 n : {1, 15, 16, 17, 63, 64, 65, 128, 1000}) {
    on_every_set([&] {
      const auto narrow = random::stateless_bits({n}, seed).to_vector<std::uint32_t>();
      const auto wide = random::stateless_bits({n}, seed, {.dtype = uint64}).to_vector<u64>();
      for (i64 i = 0; i < n; ++i) {
        REQUIRE(narrow[static_cast<std::size_t>(i)] == random::word32(stream, i));
        REQUIRE(wide[static_cast<std::size_t>(i)] == random::word64(stream, i));
      }
    });
  }
}

TEST_CASE("philox: a block's counter uses all of seed and stream") {
  const random::Words a = random::Stream{1, 0}.block(0), b = random::Stream{u64(1) << 32, 0}.block(0),
                      c = random::Stream{1, u64(1) << 32}.block(0), d = random::Stream{1, 0}.block(u64(1) << 32),
                      e = random::Stream{1, 0}.block(0, 1);
  for (const random::Words& other : {b, c, d, e}) CHECK(a.w[0] != other.w[0]);
}

TEST_CASE("philox: uniform numbers are equal bit for bit on every set") {
  std::vector<float> want(5000);
  for (i64 i = 0; i < 5000; ++i) want[static_cast<std::size_t>(i)] = random::unit(random::word32(stream, i));
  std::vector<double> want_double(5000);
  for (i64 i = 0; i < 5000; ++i) want_double[static_cast<std::size_t>(i)] = random::unit(random::word64(stream, i));
  const auto scaled = random::stateless_uniform({5000}, seed, {.minval = -3.3, .maxval = 7.7}).to_vector<float>();
  on_every_set([&] {
    CHECK(draw<float>(5000, float32) == want);
    CHECK(draw<double>(5000, float64) == want_double);
    CHECK(random::stateless_uniform({5000}, seed, {.minval = -3.3, .maxval = 7.7}).to_vector<float>() == scaled);
  });
}

TEST_CASE("philox: normal numbers agree with the definition to 1e-6 on every set") {
  on_every_set([&] {
    const auto z = random::stateless_normal({20000}, seed).to_vector<float>();
    const auto d = random::stateless_normal({20000}, seed, {.dtype = float64}).to_vector<double>();
    for (i64 i = 0; i < 20000; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const random::Words b = stream.block(random::block_of(i, random::group32));
      const i64 word = i % 64 / 16;
      const random::Pair p = word < 2 ? random::normals32(b.w[0], b.w[1]) : random::normals32(b.w[2], b.w[3]);
      const double want = word % 2 ? p.second : p.first;
      REQUIRE(std::abs(static_cast<double>(z[k]) - want) <= 1e-6);
      const random::Words w = stream.block(random::block_of(i, random::group64));
      const random::Pair q = random::normals64(random::join(w.w[0], w.w[1]), random::join(w.w[2], w.w[3]));
      REQUIRE(std::abs(d[k] - (i % 32 < 16 ? q.first : q.second)) <= 4e-15);
    }
  });
}

TEST_CASE("philox: truncated normals take the same decisions on every set") {
  std::vector<float> first;
  on_every_set([&] {
    const auto z = random::stateless_truncated_normal({100'000}, seed).to_vector<float>();
    if (first.empty()) first = z;
    for (std::size_t i = 0; i < z.size(); ++i) REQUIRE(std::abs(z[i] - first[i]) <= 1e-6f);
  });
}

TEST_CASE("philox: the number of threads does not show") {
  const int before = config::intra_op_parallelism_threads();
  const auto all = [] {
    std::vector<Tensor> r{random::stateless_uniform({300'001}, seed), random::stateless_normal({300'001}, seed),
                          random::stateless_truncated_normal({300'001}, seed),
                          random::stateless_uniform({300'001}, seed, {.dtype = float64})};
    r.push_back(random::stateless_uniform({300'001}, seed, {.minval = -5, .maxval = 1000, .dtype = int32}));
    return r;
  };
  config::set_intra_op_parallelism_threads(1);
  const std::vector<Tensor> one = all();
  for (const int threads : {2, 8}) {
    config::set_intra_op_parallelism_threads(threads);
    const std::vector<Tensor> many = all();
    for (std::size_t i = 0; i < one.size(); ++i)
      CHECK(std::memcmp(one[i].raw(), many[i].raw(), one[i].spec().bytes()) == 0);
  }
  config::set_intra_op_parallelism_threads(before);
}
