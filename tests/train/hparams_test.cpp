// HParams: types and defaults; texts, files, arguments; what is refused.
#include "tandem/train/hparams.hpp"

#include <limits>

#include "tandem/io/file.hpp"
#include "tandem/train/run_directory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hparams_test {
using namespace tandem;
using testing::error_of, testing::TemporaryFolder;
using Texts = std::vector<std::string>;

train::HParams declared() {
  return {{"lr", 0.01, "learning rate"}, {"units", 32},         {"augment", false}, {"optimizer", "adam"},
          {"layers", {64, 32}},          {"rates", {0.5, .25}}, {"names", {"a"}}};
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }
bool parses(train::HParams& h, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  return h.parse_arguments(static_cast<int>(arguments.size()), arguments.data());
}

TEST_CASE("hyper-parameters have types and defaults, and texts set them") {
  train::HParams h = declared();
  CHECK(h.get<double>("lr") == 0.01);
  h.parse("lr=0.1,units=64");
  CHECK(h.get<double>("lr") == 0.1);
  CHECK(h.get<float>("lr") == 0.1f);
  CHECK(h.get<i64>("units") == 64);
  CHECK(h.get<int>("units") == 64);
  CHECK(h.get<double>("units") == 64);
  CHECK(!h.get<bool>("augment"));  // what the text does not name keeps its default
  CHECK(h.get<std::string>("optimizer") == "adam");
  CHECK(h.get<std::vector<i64>>("layers") == std::vector<i64>{64, 32});

  h.parse(" lr = 1e-3 , layers=[128, 64,32],rates=[],augment=1, names=[\"x, y\",\"\",z] ,optimizer=\"a=\\\"b\\\\\"");
  CHECK(h.get<double>("lr") == 1e-3);
  CHECK(h.get<std::vector<i64>>("layers") == std::vector<i64>{128, 64, 32});
  CHECK(h.get<std::vector<double>>("rates").empty());
  CHECK(h.get<bool>("augment"));
  CHECK(h.get<Texts>("names") == Texts{"x, y", "", "z"});
  CHECK(h.get<std::string>("optimizer") == "a=\"b\\");
  h.parse("lr=2,rates=[1,2.5],augment=false,optimizer=");
  CHECK(h.get<double>("lr") == 2);
  CHECK(h.get<std::vector<double>>("rates") == std::vector<double>{1, 2.5});
  CHECK(!h.get<bool>("augment"));
  CHECK(h.get<std::string>("optimizer").empty());
  CHECK(h.parse("") == h);
}

TEST_CASE("set takes values of the type, and whole numbers for numbers") {
  train::HParams h = declared();
  h.set("lr", 3).set("units", 7).set("optimizer", "sgd").set("layers", {1}).set("augment", true);
  CHECK(to_string(h) == "lr=3,units=7,augment=true,optimizer=sgd,layers=[1],rates=[0.5,0.25],names=[a]");
  CHECK(h.get<double>("lr") == 3);
  CHECK(error_of([&] { h.set("units", 0.5); }) == "HParams: units is a whole number, and cannot be 0.5");
  CHECK(error_of([&] { h.set("units", true); }) == "HParams: units is a whole number, and cannot be true");
  CHECK(error_of([&] { h.set("lr", "x"); }) == "HParams: lr is a number, and cannot be x");
}

TEST_CASE("the text of hyper-parameters gives the same ones") {
  train::HParams h = declared();
  h.set("lr", 0.1 + 0.2).set("optimizer", " a,[\"\\\n]").set("names", {"", "[", "plain", "a b "});
  CHECK(declared().parse(to_string(h)) == h);
  h.set("lr", std::numeric_limits<double>::infinity()).set("optimizer", "").set("names", Texts{}).set("units", -1);
  CHECK(declared().parse(to_string(h)) == h);
  CHECK(to_string(h) == "lr=inf,units=-1,augment=false,optimizer=\"\",layers=[64,32],rates=[0.5,0.25],names=[]");
}

TEST_CASE("unknown names and values that do not fit raise, and nothing is set") {
  train::HParams h = declared();
  const auto refuses = [&](const char* text, const std::string& message) {
    INFO(text);
    CHECK(error_of<errors::InvalidArgumentError>([&] { h.parse(text); }) == "HParams: " + message);
    CHECK(h == declared());
  };
  refuses("lr=1,foo=1",
          "there is no parameter \"foo\"; there are: lr, units, augment, optimizer, layers, rates, names");
  refuses("lr=1,units=abc", "units is a whole number, not \"abc\"");
  refuses("units=64.5", "units is a whole number, not \"64.5\"");
  refuses("units=", "units is a whole number, not \"\"");
  refuses("units=9223372036854775808", "units is a whole number, not \"9223372036854775808\"");
  refuses("lr=fast", "lr is a number, not \"fast\"");
  refuses("augment=maybe", "augment is true or false, not \"maybe\"");
  refuses("layers=[1,x]", "layers is a list of whole numbers, not \"[1,x]\"");
  refuses("lr=1,lr=2", "lr is set twice");
  refuses("lr", "\"lr\" is not of the form name=value");
  refuses("lr=1,", "\"\" is not of the form name=value");
  refuses("layers=[1,2", "quotes or brackets are not closed in \"layers=[1,2\"");
  refuses("layers=1]", "quotes or brackets are not closed in \"layers=1]\"");
  refuses("optimizer=\"a\"b", "something follows the quotes of \"\\\"a\\\"b\"");
}

TEST_CASE("reading a value as another type, or one that is not declared, raises") {
  const train::HParams h = declared();
  CHECK(error_of<errors::NotFoundError>([&] { h.get<double>("momentum"); }) ==
        "HParams: there is no parameter \"momentum\"; there are: lr, units, augment, optimizer, layers, rates, names");
  CHECK(error_of([&] { h.get<i64>("lr"); }) == "HParams: lr is a number, and cannot be read as a whole number");
  CHECK(error_of([&] { h.get<bool>("units"); }) ==
        "HParams: units is a whole number, and cannot be read as true or false");
  CHECK(error_of([&] { h.get<double>("optimizer"); }) ==
        "HParams: optimizer is a text, and cannot be read as a number");
  train::HParams large = h;
  large.set("units", i64{300});
  CHECK(large.get<std::int16_t>("units") == 300);
  CHECK(error_of([&] { large.get<signed char>("units"); }) ==
        "HParams: units is 300, which must be from -128 to 127 here");
}

TEST_CASE("names are checked") {
  const auto message = [](const char* name) {
    return error_of<errors::InvalidArgumentError>([&] { train::HParams{{"lr", 1}, {name, 1}}; });
  };
  CHECK(message("lr") == "HParams: 'lr' is there twice");
  CHECK(has(message(""), "is not a name"));
  CHECK(has(message("a=b"), "is not a name"));
  CHECK(has(message("help"), "an argument of its own"));
  CHECK(has(message("hparams"), "an argument of its own"));
  CHECK(error_of([] { train::HParams({}).parse("x=1"); }) == "HParams: there is no parameter \"x\"; there are none");
}

TEST_CASE("a JSON file has the values") {
  const TemporaryFolder folder;
  train::HParams h = declared();
  h.set("lr", 0.3).set("names", {"ä", "\""}).set("layers", std::vector<i64>{});
  h.save(folder / "best.json");
  CHECK(has(io::read_file(folder / "best.json"), "{\n  \"lr\": 0.3,\n  \"units\": 32,\n"));
  CHECK(declared().load(folder / "best.json") == h);
  CHECK(declared().load(folder.file("some.json", "{\"lr\": 2, \"rates\": [1, 2.5]}")).get<double>("lr") == 2);

  const auto refuses = [&](const char* content, const std::string& part) {
    INFO(content);
    train::HParams again = declared();
    CHECK(has(error_of([&] { again.load(folder.file("bad.json", content)); }), part));
    CHECK(again == declared());
  };
  refuses("{\"lr\": 1, \"foo\": 1}", "there is no parameter \"foo\"");
  refuses("{\"units\": \"abc\"}", "units is a whole number, not \"abc\" (in ");
  refuses("{\"units\": 1.5}", "units is a whole number, not 1.5");
  refuses("{\"units\": true}", "units is a whole number, not true");
  refuses("{\"units\": 18446744073709551615}", "units is a whole number");
  refuses("{\"augment\": 1}", "augment is true or false, not 1");
  refuses("{\"layers\": [1, null]}", "layers is a list of whole numbers, not [1,null]");
  refuses("{\"layers\": [[1], 2]}", "layers is a list of whole numbers, not an array");
  refuses("{\"lr\": 1", "is not a JSON file of one object");
  refuses("[1]", "is not a JSON file of one object");
  CHECK_THROWS_AS(h.load(folder / "none.json"), errors::NotFoundError);
  CHECK(has(error_of([&] { h.set("optimizer", "\xff").save(folder / "best.json"); }), "not UTF-8"));
  CHECK(declared().load(folder / "best.json").get<double>("lr") == 0.3);  // the file is as it was
}

TEST_CASE("main's arguments set values") {
  const TemporaryFolder folder;
  train::HParams h = declared();
  CHECK(parses(h, {"--lr=0.1", "--units", "64", "--augment", "--layers=3,4", "--optimizer=a,b=\"c\"", "--lr=0.2"}));
  CHECK(h.get<double>("lr") == 0.2);
  CHECK(h.get<i64>("units") == 64);
  CHECK(h.get<bool>("augment"));
  CHECK(h.get<std::vector<i64>>("layers") == std::vector<i64>{3, 4});
  CHECK(h.get<std::string>("optimizer") == "a,b=\"c\"");  // the shell has removed the quotes that were its own
  CHECK(parses(h, {"--augment=false", "--units", "-5"}));
  CHECK(!h.get<bool>("augment"));
  CHECK(h.get<i64>("units") == -5);
  const std::string file = "--hparams=" + folder.file("a.json", "{\"units\": 7, \"lr\": 7}");
  CHECK(parses(h, {file.c_str(), "--lr=8"}));
  CHECK(h.get<i64>("units") == 7);
  CHECK(h.get<double>("lr") == 8);
  CHECK(h.parse_arguments(0, nullptr));

  const train::HParams before = h;
  CHECK(!parses(h, {"--lr=5", "--help"}));
  CHECK(!parses(h, {"-h"}));
  const auto message = [&](std::vector<const char*> arguments) { return error_of([&] { parses(h, arguments); }); };
  CHECK(has(message({"--lr=5", "--foo=1"}), "there is no parameter \"foo\"; there are: lr, units"));
  CHECK(has(message({"--units=abc"}), "units is a whole number, not \"abc\""));
  CHECK(message({"--units"}) == "HParams: a value must follow --units");
  CHECK(message({"lr=5"}) == "HParams: \"lr=5\" is not an argument of the form --name=value");
  CHECK(h == before);
}

TEST_CASE("the help lists all arguments") {
  const train::HParams h{{"lr", 0.01, "learning rate"}, {"augment", false}};
  CHECK(h.help() ==
        "  --lr=0.01        learning rate\n"
        "  --augment=false\n"
        "  --hparams=FILE   read values from a JSON file\n"
        "  --help           print this list\n");
}

TEST_CASE("hyper-parameters are the configuration of a run") {
  const TemporaryFolder folder;
  train::HParams h = declared();
  CHECK(h.configuration().at("optimizer") == "adam");
  CHECK(h.configuration().at("layers") == "[64,32]");
  CHECK(h.configuration().size() == 7);
  { const train::RunDirectory run(folder / "run", h.configuration()); }
  CHECK(!train::RunDirectory(folder / "run", h.configuration()).is_new());
  h.parse("lr=0.1,layers=[8]");
  const std::string message = error_of([&] { train::RunDirectory(folder / "run", h.configuration()); });
  CHECK(has(message, "layers was \"[64,32]\", is \"[8]\""));
  CHECK(has(message, "lr was \"0.01\", is \"0.1\""));
  CHECK(!has(message, "units"));
}

}  // namespace hparams_test
