// Reports: the page as HTML.
#include "tandem/plot/report.hpp"

#include <filesystem>
#include <set>
#include <string>

#include "tandem/plot/lines.hpp"
#include "tandem/plot/png.hpp"
#include "tests/plot/markup.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/hex.hpp"
#include "tests/support/temporary_folder.hpp"

namespace plot_report_test {
using namespace tandem;
using plot::Report;
using testing::Element, testing::error_of, testing::parse_html;
using Texts = std::vector<std::string>;

const std::string png =
    testing::from_hex("89504e470d0a1a0a0000000d49484452 00000030 00000020 0806000000 00000000 00000000");
const char* const nasty = "</p></style><script src=\"http://x/y.js\"></script>&\"'\x02\xfe";

Report full() {
  Report r("Run <1>");
  r.facts({{"seed", "1"}}).facts(plot::machine_facts());
  r.text("Before all sections.");
  r.section("Training & test").text("First.\n\nSecond,\nstill.\n\n \n\n");
  r.figure(plot::lines({{"loss", {3, 2, 1}}}, {.title = "Loss"}), "The loss.");
  r.figure(plot::lines({{"loss", {3, 2, 1}}}, {.width = 1400, .height = 400}));
  r.table({"epoch", "loss", "note"}, {{"1", "0.5", "x"}, {"2", "1e-3"}}, "Epochs");
  r.section("Pictures").picture(png, "a square", "A square.").parameters({{"rate", "0.1"}});
  return r;
}

TEST_CASE("plot: a report is one well-formed page") {
  const Element root = parse_html(full().html());
  CHECK(root.name == "html");
  CHECK(root.get("lang") == "en");
  const Element& head = root.first("head");
  CHECK(head.first("title").text == "Run <1>");
  CHECK(head.first("meta").get("charset") == "utf-8");
  CHECK(head.all("meta")[1]->get("content") == "width=device-width, initial-scale=1");
  CHECK(root.all("style").size() == 1);
  CHECK_THAT(root.first("style").text, ContainsSubstring(std::string(plot::Figure::style_sheet())));
  const Element& main = root.first("main");
  Texts order;
  for (const Element& e : main.children) order.push_back(e.name);
  CHECK(order == Texts{"h1", "div", "nav", "p", "section", "section"});
  CHECK(main.words("h2") == Texts{"Training & test", "Pictures"});
  CHECK(main.words("p") == Texts{"Before all sections.", "First.", "Second, still."});
  const auto links = main.first("nav").all("a"), sections = main.all("section");
  REQUIRE(links.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(links[i]->get("href") == "#" + sections[i]->get("id"));
}

TEST_CASE("plot: blank lines divide texts, those of Windows too") {
  const Element root = parse_html(Report("x").text("a\r\nb\r\n\r\nc\r\n").html());
  CHECK(root.words("p") == Texts{"a b", "c "});
}

TEST_CASE("plot: figures of a report are inside it, side by side") {
  const Element root = parse_html(full().html());
  const auto groups = root.all("div", "figures");
  REQUIRE(groups.size() == 2);
  const auto figures = groups[0]->all("figure");
  REQUIRE(figures.size() == 2);
  CHECK(figures[0]->first("title").text == "Loss");
  CHECK(figures[0]->first("figcaption").text == "The loss.");
  CHECK(figures[0]->get("class").empty());
  CHECK(figures[1]->get("class") == "wide");
  CHECK(figures[1]->all("figcaption").empty());
  CHECK(figures[1]->first("svg").get("style") == "min-width:910px;max-width:1750px");
  const Element& image = groups[1]->first("img");
  CHECK(image.get("src") == plot::impl::data_uri(png));
  CHECK(image.get("alt") == "a square");
  CHECK((image.get("width") == "48" && image.get("height") == "32"));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([] { Report("x").picture("GIF", "a"); }),
             ContainsSubstring("plot::Report::picture: the image is not a PNG file"));
}

TEST_CASE("plot: a sound of a report is in the page") {
  const std::string wav = "RIFF$$$$WAVE" + std::string(40, 'x');
  const Element root = parse_html(Report("x").sound(wav, "a tone", "A tone.").html());
  const Element& audio = root.first("div", "figures").first("figure").first("audio");
  CHECK(audio.get("src") == plot::impl::data_uri(wav, "audio/wav"));
  CHECK(audio.attributes.contains("controls"));
  CHECK(audio.get("aria-label") == "a tone");
  CHECK(root.first("figcaption").text == "A tone.");
  CHECK_THAT(root.all("meta")[2]->get("content"), ContainsSubstring("media-src data:"));
  CHECK(parse_html(Report("x").sound(wav, "a").html()).all("figcaption").empty());
  for (const std::string& other : {std::string(), std::string("RIFF$$$$WAVE"), "RIFX" + wav.substr(4)})
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { Report("x").sound(other, "a"); }),
               ContainsSubstring("plot::Report::sound: the sound is not a WAV file"));
}

TEST_CASE("plot: tables of a report") {
  const Element root = parse_html(full().html());
  const auto tables = root.all("table");
  REQUIRE(tables.size() == 3);
  CHECK(tables[0]->words("th")[0] == "seed");
  CHECK(tables[0]->words("td")[0] == "1");
  CHECK(tables[1]->words("th") == Texts{"epoch", "loss", "note"});
  CHECK(tables[1]->words("td") == Texts{"1", "0.5", "x", "2", "1e-3", ""});
  CHECK(tables[1]->all("td", "n").size() == 4);  // the two columns of numbers
  CHECK(tables[1]->all("th", "n").size() == 2);
  CHECK(tables[1]->first("caption").text == "Epochs");
  CHECK(tables[2]->first("caption").text == "Hyper-parameters");
  CHECK(tables[2]->words("th") == Texts{"rate"});
  // Numbers as C++ writes them, whatever the locale, and parts of a hundred.
  const auto is_number = [](const char* cell) {
    return !parse_html(Report("x").table({"a"}, {{cell}}).html()).all("td", "n").empty();
  };
  for (const char* const cell : {"-1.5", "+2", "3e8", "12 %", "7%", "nan", "1e999"}) CHECK(is_number(cell));
  for (const char* const cell : {"1,5", "1.5x", "%", " ", "1 2", "5 %%"}) CHECK(!is_number(cell));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([] {
               Report("x").table({"a"}, {{"1", "2"}});
             }),
             ContainsSubstring("a row has 2 cells, the head 1"));
  const Element bare = parse_html(Report("x").table({}, {{"1"}, {"2", "a"}}, "Rows").html());
  CHECK(bare.all("thead").empty());
  CHECK(bare.words("td") == Texts{"1", "", "2", "a"});
  CHECK(bare.all("td", "n").size() == 2);
}

TEST_CASE("plot: no text of a report becomes markup, and nothing is loaded") {
  Report r(nasty, nasty);
  r.facts({{nasty, nasty}}).section(nasty).section("b").text(nasty).parameters({{nasty, nasty}}, nasty);
  r.table({nasty}, {{nasty}}, nasty)
      .picture(png, nasty, nasty)
      .sound("RIFF$$$$WAVE" + std::string(40, 'x'), nasty, nasty)
      .figure(plot::lines({}, {.title = nasty}), nasty);
  const std::string html = r.html();
  const Element root = parse_html(html);
  CHECK(root.all("script").empty());
  CHECK(root.first("td").text == "</p></style><script src=\"http://x/y.js\"></script>&\"'\u2402\ufffd");
  // Addresses are links inside of the page, the picture's data and the namespace of SVG.
  std::set<std::string> addresses;
  for (const char* name : {"a", "img", "audio", "svg", "link", "image", "use"})
    for (const Element* e : root.all(name))
      for (const char* attribute : {"href", "src", "xmlns"})
        if (const std::string a = e->get(attribute); !a.empty()) addresses.insert(a.substr(0, a.find_first_of("#,")));
  CHECK(addresses ==
        std::set<std::string>{"", "data:audio/wav;base64", "data:image/png;base64", "http://www.w3.org/2000/svg"});
  CHECK(html.find("url(") == std::string::npos);
  CHECK(html.find("@import") == std::string::npos);
}

TEST_CASE("plot: an empty report, one section, and files") {
  const Element root = parse_html(Report("Nothing").html());
  CHECK(root.all("nav").empty());
  CHECK(root.all("table").empty());
  CHECK(parse_html(Report("One").section("a").html()).all("nav").empty());
  CHECK(parse_html(Report("F").figure(plot::lines({})).section("a").figure(plot::lines({})).html())
            .all("figure")
            .size() == 2);
  const testing::TemporaryFolder folder;
  const Report r = full();
  r.save(folder / "sub/report.html");
  std::ifstream file(folder / "sub/report.html", std::ios::binary);
  CHECK(std::string{std::istreambuf_iterator<char>(file), {}} == r.html());
}

TEST_CASE("plot: facts of the machine") {
  const plot::Facts facts = plot::machine_facts();
  std::set<std::string> names;
  for (const auto& [name, value] : facts) {
    names.insert(name);
    CHECK(!value.empty());
  }
  names.erase("git commit");  // which depends on where the tests run
  CHECK(names == std::set<std::string>{"CPU threads", "Tandem", "compiler", "kernels", "system"});
}

TEST_CASE("plot: facts of the machine have the commit of the folder that the program runs in") {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder / ".git");
  folder.file(".git/HEAD", std::string(40, 'a') + "\n");
  const std::filesystem::path here = std::filesystem::current_path();
  const auto commit_in = [&](const std::string& path) {
    std::filesystem::current_path(path);
    const plot::Facts facts = plot::machine_facts();
    std::filesystem::current_path(here);
    for (const auto& [name, value] : facts)
      if (name == "git commit") return value;
    return std::string();
  };
  CHECK(commit_in(folder.path) == std::string(40, 'a'));
  CHECK(commit_in("/").empty());
}

}  // namespace plot_report_test
