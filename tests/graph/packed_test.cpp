// Packed forms of Variables (core/packed.hpp): made at the third use of a value, found by later calls, eager and
// traced, and gone when the value changes in any way. Not here: the layouts (tests/cpu, tests/ops/conv).
#include "tandem/core/packed.hpp"

#include <cstring>
#include <thread>

#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

namespace packed_test {
using namespace tandem;

bool has_forms(const Variable& v) {
  const PackedForms* const forms = v.value_untracked().packed_forms();
  return forms && !forms->is_empty();
}
bool same_bits(const Tensor& a, const Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.raw(), b.raw(), a.spec().bytes()) == 0;
}
Tensor numbers(const Shape& shape, i64 seed) { return random::stateless_normal(Dims(shape), constant({seed, i64{1}})); }
// The same numbers in a tensor that keeps no forms.
Tensor plain(const Variable& w) { return w.value_untracked() + 0.f; }

// Calls f(w) several times after each change of w and compares with f of a tensor that keeps no forms.
template <class F>
void check_changes(const Variable& w, const F& f) {
  const auto check = [&] {
    const Tensor want = f(plain(w));
    for (int i = 0; i < 4; ++i) CHECK(same_bits(f(w), want));
    CHECK(has_forms(w));
  };
  check();
  w.assign(numbers(w.shape(), 2));
  CHECK_FALSE(has_forms(w));
  check();
  const void* const buffer = w.value_untracked().raw();
  w.assign_add(numbers(w.shape(), 3));
  CHECK(w.value_untracked().raw() == buffer);
  CHECK_FALSE(has_forms(w));
  check();
  w.scatter_update(IndexedSlices{numbers({1, 48}, 4), constant({1}), plain(w)});
  CHECK_FALSE(has_forms(w));
  check();
}

Tensor transposed_product(const Tensor& x, const Tensor& w) { return matmul(x, w, {.transpose_b = true}); }

TEST_CASE("packed: one key is packed at the third request, at most four keys are kept") {
  PackedForms forms;
  int packed = 0;
  const auto get = [&](i64 number) {
    return forms.get({{number}}, 100, 100, [&](void* to) { ++packed, std::memset(to, int(number), 100); });
  };
  CHECK(forms.is_empty());
  CHECK(get(1) == nullptr);
  CHECK_FALSE(forms.is_empty());
  CHECK(get(1) == nullptr);
  const void* const first = get(1);
  REQUIRE(first);
  CHECK(static_cast<const unsigned char*>(first)[99] == 1);
  CHECK(get(1) == first);
  CHECK(packed == 1);
  for (i64 k = 2; k <= 5; ++k) CHECK((get(k) == nullptr && get(k) == nullptr));
  for (i64 k = 2; k <= 4; ++k) CHECK(get(k) != nullptr);
  CHECK(get(5) == nullptr);
  CHECK(packed == 4);
  forms.clear();
  CHECK(forms.is_empty());
  CHECK(get(1) == nullptr);
  CHECK(forms.get({{1}}, 49, 100, [](void*) {}) == nullptr);  // mostly padding
  forms.clear();
}

TEST_CASE("packed: the first value's forms go with it") {
  memory::trim();
  const i64 before = memory::info().live;
  const Variable w(numbers({1024, 1024}, 1));
  const Tensor x = numbers({4, 1024}, 2);
  for (int i = 0; i < 4; ++i) transposed_product(x, w);
  CHECK(memory::info().live - before > (7 << 20));  // the value and its panels
  w.assign(numbers({1024, 1024}, 3));               // the initial value and the new one
  CHECK(memory::info().live - before < (9 << 20));
}

TEST_CASE("packed: an instruction set finds its own forms") {
  const Variable w(numbers({200, 48}, 1));
  const Tensor x = numbers({5, 48}, 1);
  const signed char best = cpu::isa_level.load();
  for (signed char level = best; level >= 0; --level) {
    cpu::isa_level.store(level);
    const Tensor want = transposed_product(x, plain(w));
    for (int i = 0; i < 4; ++i) CHECK(same_bits(transposed_product(x, w), want));
  }
  cpu::isa_level.store(best);
}

TEST_CASE("packed: a memory limit leaves forms out") {
  const Variable w(numbers({512, 512}, 1));
  const Tensor x = numbers({3, 512}, 2), want = transposed_product(x, plain(w));
  memory::trim();
  memory::set_limit(memory::info().live + (1 << 20) + (256 << 10));
  for (int i = 0; i < 4; ++i) {
    CHECK(same_bits(transposed_product(x, w), want));
    CHECK(zeros({512, 512}).is_set());  // forms leave it the room
  }
  memory::set_limit(0);
  for (int i = 0; i < 4; ++i) CHECK(same_bits(transposed_product(x, w), want));
}

TEST_CASE("packed: products follow every change of a Variable") {
  const Tensor x = numbers({5, 48}, 1);
  check_changes(Variable(numbers({200, 48}, 1)), [&](const Tensor& w) { return transposed_product(x, w); });
  const Tensor tall = numbers({200, 100}, 1);
  check_changes(Variable(numbers({100, 48}, 1)), [&](const Tensor& w) { return matmul(tall, w); });
}

TEST_CASE("packed: small values, tensors and changed reads keep nothing") {
  const Variable small(numbers({16, 16}, 1));
  for (int i = 0; i < 4; ++i) transposed_product(numbers({4, 16}, 1), small);
  CHECK_FALSE(has_forms(small));
  const Tensor t = numbers({100, 100}, 1);
  for (int i = 0; i < 4; ++i) transposed_product(t, t);
  CHECK(t.packed_forms() == nullptr);
}

TEST_CASE("packed: a filter's forms follow the size of the image and the epilogue's op") {
  const Variable w(numbers({3, 3, 48, 48}, 1));
  for (const i64 size : {1, 2, 5, 7, 1, 5}) {  // in small images some taps read only zeros
    const Tensor x = numbers({2, size, size, 48}, size);
    const auto same = [&](const Tensor& filter) { return nn::conv2d(x, filter, {.padding = Padding::same}); };
    const Tensor want = same(plain(w));
    for (int i = 0; i < 4; ++i) CHECK(same_bits(same(w), want));
  }
  CHECK(has_forms(w));
  w.assign(numbers(w.shape(), 2));
  const Tensor g = numbers({2, 5, 5, 48}, 1);
  const auto back = [&](const Tensor& filter) {
    return nn::conv2d_transpose(g, filter, {2, 10, 10, 48}, {.strides = {1, 2, 2, 1}});
  };
  const Tensor want = back(plain(w));
  for (int i = 0; i < 4; ++i) CHECK(same_bits(back(w), want));
}

TEST_CASE("packed: traced inference and training steps see each new value") {
  const Variable w(numbers({200, 48}, 1));
  const Tensor x = numbers({5, 48}, 1);
  const auto infer = function([&](const Tensor& in) { return transposed_product(in, w); });
  const auto train = function([&](const Tensor& in) {
    GradientTape tape;
    const Tensor y = transposed_product(in, w), loss = reduce_sum(square(transposed_product(in, w) + y));
    const Tensor gradient = tape.gradient(loss, w);
    w.assign_sub(gradient * 1e-3f);
    return stack({loss, reduce_sum(transposed_product(in, w))});
  });
  for (int i = 0; i < 4; ++i) {
    const Tensor before = plain(w), want = transposed_product(x, before);
    for (int j = 0; j < 4; ++j) CHECK(same_bits(infer(x), want));
    CHECK(has_forms(w));
    const Tensor losses = train(x);
    CHECK(losses.at<float>({0}) == Approx(reduce_sum(square(2.f * want)).item<float>()));
    CHECK(losses.at<float>({1}) == Approx(reduce_sum(transposed_product(x, plain(w))).item<float>()).epsilon(1e-4));
  }
}

TEST_CASE("packed: the body of a loop finds the form of its captured weight") {
  const Variable w(numbers({64, 64}, 1));
  const auto f = function([&](const Tensor& x) {
    return std::get<1>(
        while_loop([](const Tensor& i, const Tensor&) { return i < 5; },
                   [&](const Tensor& i, const Tensor& h) { return std::tuple(i + 1, tanh(transposed_product(h, w))); },
                   std::tuple(constant(0), x)));
  });
  const Tensor x = numbers({3, 64}, 5);
  for (const i64 seed : {1, 2}) {
    w.assign(numbers(w.shape(), seed));
    Tensor want = x;
    for (int i = 0; i < 5; ++i) want = tanh(transposed_product(want, plain(w)));
    CHECK(same_bits(f(x), want));
    CHECK(has_forms(w));
  }
}

TEST_CASE("packed: threads share the forms of one value") {
  const Variable w(numbers({300, 64}, 1));
  const Tensor x = numbers({4, 64}, 1);
  for (const i64 seed : {2, 3, 4}) {
    w.assign(numbers(w.shape(), seed));
    const Tensor want = transposed_product(x, plain(w));
    std::vector<char> right(4, 1);
    std::vector<std::thread> threads;
    for (char& ok : right)
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) ok = ok && same_bits(transposed_product(x, w), want);
      });
    for (std::thread& t : threads) t.join();
    CHECK(right == std::vector<char>(4, 1));
  }
}

}  // namespace packed_test
