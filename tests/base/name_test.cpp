// Name: the user's names of calls, from all kinds of texts.
#include "tandem/base/name.hpp"

#include <type_traits>

#include "tandem/base/location.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

static_assert(std::is_convertible_v<const char*, Name> && std::is_convertible_v<std::string, Name> &&
              std::is_convertible_v<std::string_view, Name>);
static_assert(!std::is_convertible_v<int, Name> && !std::is_convertible_v<std::nullptr_t, Name> &&
              !std::is_convertible_v<bool, Name> && !std::is_convertible_v<char, Name>);
static_assert(std::is_trivially_copyable_v<Name> && std::is_trivially_destructible_v<OpOptions>);

TEST_CASE("name: made from literals, strings and views; empty by default") {
  const std::string text = "some text";
  const char* const null = nullptr;
  CHECK(OpOptions{.name = "x"}.name.view() == "x");
  CHECK(OpOptions{.name = text}.name.view() == text);
  CHECK(OpOptions{.name = std::string_view(text).substr(5)}.name.view() == "text");
  CHECK(OpOptions{.name = text + "s"}.name.str() == "some texts");
  CHECK(!OpOptions{}.name);
  CHECK(!OpOptions{.name = null}.name);
  CHECK(OpOptions{}.name.str("otherwise") == "otherwise");
  CHECK(OpOptions{.name = "x"}.name.str("otherwise") == "x");
  CHECK(static_cast<bool>(OpOptions{.name = "x"}.name));
}
