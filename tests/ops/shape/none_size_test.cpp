// `none` stands for a size that is not known. In a shape argument, as a count or as an amount it raises in the op's
// name, before anything is allocated or computed; texts about shapes do not print it as the number that it is made of.
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

template <class F>
std::string refuses_count(const std::string& op, const F& f) {
  INFO(op);
  try {
    f();
    FAIL_CHECK("no error");
  } catch (const errors::InvalidArgumentError& e) {
    CHECK(e.op() == op);
    return e.what();
  }
  return {};
}
template <class F>
void refuses(const std::string& op, const F& f) {
  CHECK_THAT(refuses_count(op, f), !ContainsSubstring("9223372036854775808"));
}
const Tensor x = ones({3, 4});

}  // namespace

TEST_CASE("none: a size of what is created raises") {
  refuses("zeros", [] { return zeros({none, 2}); });
  refuses("ones", [] { return ones({2, none}); });
  refuses("fill", [] { return fill({none, 2}, 1.f); });
  refuses("fill", [] { return fill({none, 2}, constant(1.f)); });
  refuses("eye", [] { return eye(none); });
  refuses("random::uniform", [] { return random::uniform({none, 2}); });
  refuses("random::normal", [] { return random::normal({none}); });
  refuses("random::gamma", [] { return random::gamma({none}, ones({2})); });
  refuses("random::poisson", [] { return random::poisson({none}, ones({2})); });
  refuses_count("linspace", [] { return linspace(0, 1, none); });
  refuses_count("one_hot", [] { return one_hot(constant({1, 2}), none); });
}

TEST_CASE("none: a size of a result raises") {
  refuses("broadcast_to", [] { return broadcast_to(ones({1, 4}), {none, 4}); });
  refuses("reshape", [] { return reshape(x, {none, none}); });
  refuses("tile", [] { return tile(x, {1, none}); });
  refuses("slice", [] { return slice(x, {0, 0}, {none, 1}); });
  refuses("slice", [] { return slice(x, {none, 0}, {1, 1}); });
  refuses_count("repeat", [] { return repeat(x, {none}, {.axis = 0}); });
  refuses("scatter_nd", [] { return scatter_nd(constant({{1}}), constant({1.f}), {none}); });
  refuses("unravel_index", [] { return unravel_index(constant({1}), {none, 2}); });
  refuses_count("top_k", [] { return nn::top_k(x, none).values; });
  refuses_count("unsorted_segment_sum", [] { return unsorted_segment_sum(x, constant({0, 1, 1}), none); });
}

TEST_CASE("none: the size of what a transposed convolution makes raises") {
  const Tensor w = ones({2, 2, 1, 1}), image = ones({1, 4, 4, 1});
  refuses("conv2d_transpose", [&] { return nn::conv2d_transpose(image, w, {none, 5, 5, 1}); });
  refuses("conv2d_transpose", [&] { return nn::conv2d_transpose(image, w, {1, none, 5, 1}); });
  refuses("conv2d_transpose", [&] {
    return nn::conv2d_transpose(ones({1, 1, 4, 4}), w, {1, 1, none, 5}, {.data_format = DataFormat::channels_first});
  });
  refuses("conv1d_transpose", [&] { return nn::conv1d_transpose(ones({1, 4, 1}), ones({2, 1, 1}), {1, none, 1}); });
  refuses("conv3d_transpose", [&] {
    return nn::conv3d_transpose(ones({1, 4, 4, 4, 1}), ones({2, 2, 2, 1, 1}), {1, 5, none, 5, 1});
  });
}

TEST_CASE("none: an amount of padding raises, whatever is put there") {
  for (const PadMode mode : {PadMode::constant, PadMode::reflect, PadMode::symmetric})
    for (const bool before : {true, false}) {
      CAPTURE(int(mode), before);
      refuses("pad", [&] {
        return pad(x, {{0, 0}, {before ? none : Dimension(1), before ? Dimension(1) : none}}, {.mode = mode});
      });
    }
  const auto traced = function([](const Tensor& rows) { return pad(x, {{reduce_max(rows), 0}, {0, none}}); });
  CHECK_THROWS_AS(traced(constant({1})), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(traced(constant({1})), ContainsSubstring("pad: "));
}
