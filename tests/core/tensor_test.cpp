// Tensor handles: counts, views, borrowed memory, unset values, reading elements.
#include "tandem/core/tensor.hpp"

#include <complex>

#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
using Floats = std::vector<float>;

struct Owner final : Opaque {
  bool& gone;
  explicit Owner(bool& flag) : gone(flag) {}
  ~Owner() override { gone = true; }
  const char* kind() const override { return "owner"; }
};
}  // namespace

TEST_CASE("tensor: handles share one value") {
  Tensor a = constant({1.f, 2.f});
  CHECK(a.is_unique());
  const Tensor b = a;
  CHECK(!a.is_unique());
  CHECK(a.is_same(b));
  CHECK(a.raw() == b.raw());
  CHECK(a.id() == b.id());
  Tensor c = std::move(a);
  CHECK(!a.is_set());
  CHECK(c.is_same(b));
  const Tensor& same = c;
  c = same;
  CHECK(c.to_vector<float>() == Floats{1, 2});
  c = Tensor();
  CHECK(b.is_unique());
  CHECK(!constant({1.f, 2.f}).is_same(b));
}

TEST_CASE("tensor: views keep the storage, not the other way round") {
  Tensor base = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  const void* storage = base.raw();
  Tensor row = base[1], part = base(Slice(1, 3));
  CHECK(row.raw() == static_cast<const float*>(storage) + 2);
  CHECK(!base.is_unique());
  base = Tensor();
  const Tensor last = part[-1][0];
  CHECK(last.raw() == static_cast<const float*>(storage) + 4);
  part = Tensor();
  CHECK(last.item<float>() == 5);
  CHECK(row.to_vector<float>() == Floats{3, 4});
  CHECK(!row.is_unique());  // a view never is: its root may be anybody's
}

TEST_CASE("tensor: views of everything that aliases") {
  const Tensor x = reshape(range(12.f), {3, 4});
  CHECK(reshape(x, {4, 3}).raw() == x.raw());
  CHECK(expand_dims(x, 0).raw() == x.raw());
  CHECK(squeeze(expand_dims(x, 1)).raw() == x.raw());
  CHECK(identity(x).raw() == x.raw());
  CHECK(identity(x).id() != x.id());
  CHECK(x(Slice(1, 1)).size() == 0);
  CHECK(transpose(x).raw() != x.raw());
}

TEST_CASE("tensor: borrowed memory goes with the last handle") {
  const float data[] = {1, 2, 3};
  bool gone = false;
  {
    Tensor t = from_blob(data, {3}, Ref<Opaque>(new Owner(gone)));
    CHECK(t.raw() == data);
    CHECK(!t.is_unique());
    const Tensor view = t(Slice(1, 3));
    t = Tensor();
    CHECK(!gone);
    CHECK(view.to_vector<float>() == Floats{2, 3});
  }
  CHECK(gone);
  CHECK((from_blob(data, {3}) + 1).to_vector<float>() == Floats{2, 3, 4});
}

TEST_CASE("tensor: an unset tensor raises its reason at any use") {
  const Tensor nothing, reason = Tensor::unset("no path from w");
  CHECK(!nothing.is_set());
  CHECK(!reason.is_set());
  CHECK_THROWS_AS(nothing.shape(), errors::FailedPreconditionError);
  CHECK_THROWS_WITH(nothing.item<float>(), ContainsSubstring("unset"));
  CHECK_THROWS_WITH(reason + 1, ContainsSubstring("no path from w"));
  CHECK_THROWS_WITH(to_string(reason.spec()), ContainsSubstring("no path from w"));
  const Tensor copy = reason;
  CHECK_THROWS_WITH(copy.cpu(), ContainsSubstring("no path from w"));
}

TEST_CASE("tensor: reading elements") {
  const Tensor m = constant({{1.f, 2.f}, {3.f, 4.f}});
  CHECK(m.at<float>({1, 0}) == 3);
  CHECK(m.at<float>({-1, -1}) == 4);
  CHECK(m[1].at<float>({1}) == 4);
  CHECK(constant(5.f).at<float>({}) == 5);
  CHECK(constant({7}).item<std::int32_t>() == 7);
  CHECK(m.data<float>().size() == 4);
  CHECK(m.data<float>()[3] == 4);
  CHECK(constant({true, false}).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(constant({"a", ""}).to_vector<std::string>() == std::vector<std::string>{"a", ""});
  CHECK(constant("text").item<std::string>() == "text");
  CHECK(constant(std::complex<float>(1, 2)).item<std::complex<float>>() == std::complex<float>(1, 2));
  CHECK(cast(constant(1.5f), float16).item<Half>().bits == 0x3e00);
  CHECK(zeros({0, 3}).to_vector<float>().empty());
}

TEST_CASE("tensor: reading elements wrongly") {
  const Tensor m = constant({{1.f, 2.f}, {3.f, 4.f}});
  CHECK_THROWS_WITH(m.item<float>(), ContainsSubstring("item") && ContainsSubstring("float32[2,2]"));
  CHECK_THROWS_WITH(zeros({0}).item<float>(), ContainsSubstring("needs one element"));
  CHECK_THROWS_WITH(m[0][0].item<double>(), ContainsSubstring("float64") && ContainsSubstring("cast"));
  CHECK_THROWS_AS(m.to_vector<std::int32_t>(), errors::InvalidArgumentError);
  CHECK_THROWS_AS(m.data<double>(), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(m.at<float>({2, 0}), ContainsSubstring("index 2 is out of range on axis 0"));
  CHECK_THROWS_WITH(m.at<float>({0, -3}), ContainsSubstring("index -3 is out of range on axis 1"));
  CHECK_THROWS_WITH(m.at<float>({0}), ContainsSubstring("1 indices for float32[2,2]"));
  CHECK_THROWS_AS(m[2], errors::InvalidArgumentError);
  CHECK_THROWS_AS(constant(1.f)[0], errors::InvalidArgumentError);
}

TEST_CASE("tensor: strings are copied and destroyed with their tensor") {
  const std::string large(1000, 'x');
  const Tensor t = constant({large, "", "b"});
  {
    const Tensor joined = add(t, t);
    CHECK(joined.at<std::string>({0}).size() == 2000);
    CHECK(joined.at<std::string>({1}).empty());
  }
  const Tensor picked = gather(t, constant({2, 0, 0}));
  CHECK(picked.to_vector<std::string>() == std::vector<std::string>{"b", large, large});
  CHECK(t.at<std::string>({0}) == large);
}

TEST_CASE("tensor: a value of a trace cannot be used outside of it") {
  const Tensor s = Tensor::symbol({{2}, float32, {}});
  CHECK(s.is_symbolic());
  CHECK_THROWS_AS(s + 1, errors::TraceError);
  CHECK_THROWS_AS(s[0].item<float>(), errors::TraceError);
  CHECK_THROWS_AS(where(cast(constant({1.f}), bool_)) + Tensor::symbol({{1, 1}, int64, {}}), errors::TraceError);
  CHECK_THROWS_AS(where(Tensor::symbol({{2}, bool_, {}})), errors::TraceError);
  CHECK(zeros_like(s).to_vector<float>() == Floats{0, 0});  // its shape is known
}
