// Attrs: one struct type-erased: print, equality, hash, visits, inline and outside storage.
#include "tandem/attrs/attrs.hpp"

#include <vector>

#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

struct Named final : Opaque {
  static inline int alive = 0;
  Named() { ++alive; }
  ~Named() override { --alive; }
  const char* kind() const override { return "closure"; }
};

struct Some {
  i64 count;
  double rate;
  bool flag;
  DType mode;  // an enum
  Axes axis;
  TANDEM_ATTRS(Some, count, rate, flag, mode, axis);
};
struct Other {  // the same fields under the same names
  i64 count;
  TANDEM_ATTRS(Other, count);
};
struct Large {
  Shape shape, more;
  std::string text;
  Ref<Opaque> closure;
  TANDEM_ATTRS(Large, shape, more, text, closure);
};
struct Held {
  Ref<Opaque> closure;
  DType dtype;
  Device device;
  TANDEM_ATTRS(Held, closure, dtype, device);
};
static_assert(sizeof(Some) <= Attrs::inline_bytes);
static_assert(sizeof(Large) > Attrs::inline_bytes);

const Some some{3, 0.5, true, DType(1), {0, -1}};

}  // namespace

TEST_CASE("attrs: print by field") {
  CHECK(to_string(Attrs(some)) == "count=3 rate=0.5 flag=1 mode=1 axis=[0,-1]");
  CHECK(to_string(Attrs(Some{0, 0, false, DType(0), {}})) == "count=0 rate=0 flag=0 mode=0 axis=not given");
  CHECK(to_string(Attrs(Some{0, 0, false, DType(0), Axes::none()})) == "count=0 rate=0 flag=0 mode=0 axis=[]");
  CHECK(to_string(no_attrs).empty());
  const Large large{{2, none}, {}, "a \"b\"", Ref<Opaque>(new Named)};
  CHECK(to_string(Attrs(large)) == "shape=[2,None] more=[] text=\"a \"b\"\" closure=closure");
  CHECK(to_string(Attrs(Large{})) == "shape=[] more=[] text=\"\" closure=nothing");
}

TEST_CASE("attrs: hold what was put in, inline and outside") {
  const Attrs a(some), b(Large{{1, 2, 3}, {4}, "text", {}});
  REQUIRE(a.holds<Some>());
  CHECK(!a.holds<Other>());
  CHECK(!a.empty());
  CHECK(a.get<Some>().rate == 0.5);
  CHECK(a.get<Some>().axis == Axes({0, -1}));
  REQUIRE(b.holds<Large>());
  CHECK(b.get<Large>().shape == Shape{1, 2, 3});
  CHECK(b.get<Large>().text == "text");
  CHECK(no_attrs.empty());
  CHECK(!no_attrs.holds<Some>());
}

TEST_CASE("attrs: equality and hash go by type and fields, floats by their bits") {
  const Attrs a(some), same(some);
  CHECK(a == same);
  CHECK(hash(a) == hash(same));
  for (const Some& changed : {Some{4, 0.5, true, DType(1), {0, -1}}, Some{3, 0.25, true, DType(1), {0, -1}},
                              Some{3, 0.5, false, DType(1), {0, -1}}, Some{3, 0.5, true, DType(0), {0, -1}},
                              Some{3, 0.5, true, DType(1), {0}}, Some{3, 0.5, true, DType(1), {}}}) {
    CHECK(!(a == Attrs(changed)));
    CHECK(hash(a) != hash(Attrs(changed)));
  }
  CHECK(!(Attrs(Some{3, 0.0, true, DType(0), {}}) == Attrs(Some{3, -0.0, true, DType(0), {}})));
  CHECK(!(Attrs(Some{3, 1.0, true, DType(0), {}}) == Attrs(Some{3, 1.0 + 1e-15, true, DType(0), {}})));
  CHECK(!(Attrs(Other{3}) == no_attrs));
  CHECK(no_attrs == Attrs());
}

TEST_CASE("attrs: text fields with delimiters inside do not collide") {
  const Attrs a(Large{{}, {}, "x\" closure=\"y", {}}), b(Large{{}, {}, "x", {}});
  CHECK(!(a == b));
}

TEST_CASE("attrs: opaque fields are equal by identity and counted") {
  {
    const Ref<Opaque> one = Ref<Opaque>(new Named), two = Ref<Opaque>(new Named);
    const Held held{one, float32, {}};
    std::vector<Attrs> copies(20, Attrs(held));
    copies[3] = Attrs(Held{two, float32, {}});
    copies[4] = copies[3];
    copies[5] = no_attrs;
    CHECK(copies[0] == copies[19]);
    CHECK(!(copies[0] == copies[3]));
    CHECK(copies[3] == copies[4]);
    CHECK(copies[0].get<Held>().closure == one);
    CHECK(Named::alive == 2);
  }
  CHECK(Named::alive == 0);
}

TEST_CASE("attrs: a large struct is shared by copies and freed once") {
  {
    Attrs a(Large{{1}, {}, std::string(100, 'x'), Ref<Opaque>(new Named)});
    Attrs b(a), c;
    c = b;
    a = no_attrs;
    CHECK(&b.get<Large>() == &c.get<Large>());
    CHECK(c.get<Large>().text.size() == 100);
    const Attrs& same = c;
    c = same;
    b = Attrs(some);
    CHECK(c.get<Large>().closure->kind() == std::string("closure"));
    CHECK(Named::alive == 1);
  }
  CHECK(Named::alive == 0);
}

namespace {
struct Names final : AttrVisitor {
  std::string seen;
  void number(const char* name, i64 v) override { seen += std::string(name) + ":" + std::to_string(v) + " "; }
  void real(const char* name, double) override { seen += std::string(name) + ":real "; }
  void text(const char* name, const std::string&) override { seen += std::string(name) + ":text "; }
  void numbers(const char* name, const i64*, int n) override {
    seen += std::string(name) + "#" + std::to_string(n) + " ";
  }
  void opaque(const char* name, const Opaque*) override { seen += std::string(name) + ":opaque "; }
};
}  // namespace

TEST_CASE("attrs: a visitor sees every field with its kind") {
  Names names;
  Attrs(some).visit(names);
  Attrs(Large{{1, 2}, {}, "", {}}).visit(names);
  Attrs(Held{{}, int64, {Device::gpu, 2}}).visit(names);
  no_attrs.visit(names);
  CHECK(names.seen ==
        "count:3 rate:real flag:1 mode:1 axis#2 shape#2 more#0 text:text closure:opaque "
        "closure:opaque dtype:5 device:258 ");
}

namespace {
// Its copy raises.
struct Fragile {
  static inline int alive = 0;
  bool raises = false;
  Fragile() { ++alive; }
  Fragile(const Fragile& o) : raises(o.raises) {
    if (raises) throw 1;
    ++alive;
  }
  Fragile(Fragile&& o) noexcept : raises(o.raises) { ++alive; }
  ~Fragile() { --alive; }
};
template <int extra>
struct FragileAttrs {
  Fragile fragile;
  unsigned char more[extra];
  static constexpr auto fields = field_list();
};
template <int extra>
void check_fragile() {
  {
    FragileAttrs<extra> value{};
    Attrs good(value), other(value), none;
    value.fragile.raises = true;
    const int before = Fragile::alive;
    CHECK_THROWS_AS(Attrs(value), int);
    CHECK(Fragile::alive == before);
    CHECK_THROWS_AS(good = Attrs(value), int);
    CHECK(good.holds<FragileAttrs<extra>>());
    const_cast<FragileAttrs<extra>&>(other.get<FragileAttrs<extra>>()).fragile.raises = true;
    if (sizeof value <= Attrs::inline_bytes) {  // larger ones are shared
      CHECK_THROWS_AS(good = other, int);
      CHECK(!good.get<FragileAttrs<extra>>().fragile.raises);
    }
    const Attrs moved = std::move(good);
    CHECK(good.empty());
    CHECK(moved.holds<FragileAttrs<extra>>());
    none = std::move(other);
    CHECK(none.get<FragileAttrs<extra>>().fragile.raises);
    CHECK(Fragile::alive == 3);  // value, moved, none
  }
  CHECK(Fragile::alive == 0);
}
}  // namespace

TEST_CASE("attrs: a copy that raises leaves everything as it was; moves do not copy") {
  check_fragile<1>();
  check_fragile<200>();
}
