// Definitions of plot/report.hpp.
#pragma once
#include <sys/utsname.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/io/file.hpp"
#include "tandem/io/git_commit.hpp"
#include "tandem/ops/debug/cpu_features.hpp"
#include "tandem/plot/png.hpp"
#include "tandem/plot/report.hpp"
#include "tandem/plot/svg.hpp"
#include "tandem/util/parse_number.hpp"

namespace TANDEM_NS::plot {

namespace impl {

// Wide tables and pictures scroll inside of the page, which never does sideways.
inline constexpr std::string_view report_style =
    ":root{color-scheme:light dark}*{box-sizing:border-box}"
    "body{margin:0 auto;padding:1rem;max-width:80rem;font:1rem/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto "
    "Sans',"
    "sans-serif;color:#1f2328;background:#fff;overflow-wrap:anywhere}"
    "h1{font-size:1.7rem;line-height:1.25;margin:.5rem 0 1rem}h2{font-size:1.25rem;margin:2rem 0 "
    ".5rem;padding-top:.5rem;"
    "border-top:1px solid #d0d7de}"
    "p{max-width:45rem;margin:.6rem 0}a{color:#0969da}nav ul{padding:0;margin:1rem 0;list-style:none;display:flex;"
    "flex-wrap:wrap;gap:.25rem 1.25rem}"
    ".figures{display:grid;gap:0 "
    "1.5rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));align-items:start}"
    ".wide{grid-column:1/-1}"
    "figure{margin:.75rem 0;min-width:0}figcaption,caption{color:#57606a;font-size:.9rem;text-align:left;padding:.3rem "
    "0}"
    ".scroll{overflow-x:auto;max-width:100%}.scroll>svg{display:block;width:100%;height:auto}"
    "img{max-width:100%;height:auto}audio{display:block;width:100%;max-width:27rem}.small{image-rendering:pixelated}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.25rem .9rem .25rem "
    "0;text-align:left;"
    "vertical-align:top;border-bottom:1px solid #d0d7de}"
    "th{overflow-wrap:break-word}tbody th{white-space:nowrap}thead th,.facts "
    "th{font-weight:600}th.n,td.n{text-align:right}td{overflow-wrap:normal}.facts "
    "td{overflow-wrap:anywhere}"
    "@media(prefers-color-scheme:dark){body{color:#e6e9ed;background:#14171c}h2,th,td{border-color:#373e47}"
    "figcaption,caption{color:#a3adb8}a{color:#6cb6ff}}"
    "@media print{body{max-width:none}figure,tr{break-inside:avoid}}";

inline std::string element(std::string_view name, std::string_view words) {
  std::string s = "<";
  (((s += name) += ">") += escaped(words)) += "</";
  return (s += name) += ">";
}

TANDEM_INLINE bool is_number(const std::string& cell) {
  std::string_view number = cell;
  if (number.ends_with('%')) number.remove_suffix(1);
  double x = 0;
  return tandem::detail::parse_number(number, x);
}

TANDEM_INLINE std::string facts_table(const Facts& rows, std::string_view caption) {
  std::string s = "<div class=\"scroll\"><table class=\"facts\">\n";
  if (!caption.empty()) s += element("caption", caption) + "\n";
  s += "<tbody>\n";
  for (const auto& [name, value] : rows)
    s += "<tr><th scope=\"row\">" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>\n";
  return s + "</tbody></table></div>\n";
}

// Texts of a figure stay between 9 and 18 pixels: a wide one scrolls on a narrow page, a small one is not blown up.
TANDEM_INLINE std::string size_style(const Figure& f) {
  return "min-width:" + position(f.width() * 0.65) + "px;max-width:" + position(f.width() * 1.25) + "px";
}

}  // namespace impl

TANDEM_INLINE Facts machine_facts() {
  const std::string version = std::to_string(TANDEM_VERSION_MAJOR) + "." + std::to_string(TANDEM_VERSION_MINOR) + "." +
                              std::to_string(TANDEM_VERSION_PATCH);
  Facts facts{{"Tandem", version + (TANDEM_IS_HEADER_ONLY ? ", header-only" : ", compiled")}};
#if defined(__clang__)
  facts.emplace_back("compiler", "clang " __clang_version__);
#else
  facts.emplace_back("compiler", "g++ " __VERSION__);
#endif
  if (utsname u; ::uname(&u) == 0)
    facts.emplace_back("system", std::string(u.sysname) + " " + u.release + " " + u.machine);
  facts.emplace_back("CPU threads", std::to_string(std::thread::hardware_concurrency()));
  facts.emplace_back("kernels", config::cpu_features().kernels);
  if (std::string commit = io::git_commit(); !commit.empty()) facts.emplace_back("git commit", std::move(commit));
  return facts;
}

TANDEM_INLINE Report::Report(std::string title, std::string language)
    : title_(std::move(title)), language_(std::move(language)) {}

TANDEM_INLINE std::string& Report::body(bool in_figures) {
  if (in_figures != in_figures_) body_ += in_figures ? "<div class=\"figures\">\n" : "</div>\n";
  in_figures_ = in_figures;
  return body_;
}

TANDEM_INLINE Report& Report::facts(const Facts& rows) {
  facts_.insert(facts_.end(), rows.begin(), rows.end());
  return *this;
}
TANDEM_INLINE Report& Report::section(std::string title) {
  sections_.push_back(std::move(title));
  body() += in_section_ ? "</section>\n" : "";
  in_section_ = true;
  body_ +=
      "<section id=\"s" + std::to_string(sections_.size()) + "\">\n" + impl::element("h2", sections_.back()) + "\n";
  return *this;
}
TANDEM_INLINE Report& Report::text(std::string_view words) {
  std::string lines(words);
  std::erase(lines, '\r');  // of lines that end as on Windows
  for (std::string_view rest = lines; !rest.empty();) {
    const std::size_t end = rest.find("\n\n");
    const std::string_view paragraph = rest.substr(0, end);
    if (paragraph.find_first_not_of(" \t\n") != paragraph.npos) body() += impl::element("p", paragraph) + "\n";
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 2);
  }
  return *this;
}
TANDEM_INLINE Report& Report::figure(const Figure& figure, std::string_view caption) {
  std::string svg = figure.inline_svg();
  svg.insert(4, " style=\"" + impl::size_style(figure) + "\"");
  body(true) += "<figure" + std::string(figure.width() > 700 ? " class=\"wide\"" : "") + "><div class=\"scroll\">\n" +
                svg + "</div>\n";
  if (!caption.empty()) body_ += impl::element("figcaption", caption) + "\n";
  body_ += "</figure>\n";
  return *this;
}
TANDEM_INLINE Report& Report::picture(std::string_view png, std::string_view alt, std::string_view caption) {
  const impl::PngSize size = impl::png_size("plot::Report::picture", png);
  body(true) += "<figure><img alt=\"" + impl::escaped(alt) + "\" width=\"" +
                std::to_string(static_cast<long>(size.width)) + "\" height=\"" +
                std::to_string(static_cast<long>(size.height)) + "\" src=\"" + impl::data_uri(png) + "\">\n";
  if (!caption.empty()) body_ += impl::element("figcaption", caption) + "\n";
  body_ += "</figure>\n";
  return *this;
}
TANDEM_INLINE Report& Report::sound(std::string_view wav, std::string_view label, std::string_view caption) {
  if (wav.size() < 44 || !wav.starts_with("RIFF") || wav.substr(8, 4) != "WAVE")  // a header has 44 bytes at least
    errors::raise<errors::InvalidArgumentError>("plot::Report::sound", "the sound is not a WAV file");
  body(true) += "<figure><audio controls=\"\" aria-label=\"" + impl::escaped(label) + "\" src=\"" +
                impl::data_uri(wav, "audio/wav") + "\"></audio>\n";
  if (!caption.empty()) body_ += impl::element("figcaption", caption) + "\n";
  body_ += "</figure>\n";
  return *this;
}
TANDEM_INLINE Report& Report::table(const std::vector<std::string>& head,
                                    const std::vector<std::vector<std::string>>& rows, std::string_view caption) {
  std::size_t columns = head.size();
  for (const std::vector<std::string>& row : rows)
    if (head.empty()) columns = std::max(columns, row.size());
  std::vector<bool> numbers(columns, !rows.empty());
  for (const std::vector<std::string>& row : rows) {
    if (row.size() > columns)
      errors::raise<errors::InvalidArgumentError>(
          "plot::Report::table",
          "a row has " + std::to_string(row.size()) + " cells, the head " + std::to_string(head.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      if (!row[i].empty() && !impl::is_number(row[i])) numbers[i] = false;
  }
  std::string& to = body();
  to += "<div class=\"scroll\"><table>\n";
  if (!caption.empty()) to += impl::element("caption", caption) + "\n";
  const auto cells = [&](const std::vector<std::string>& texts, const std::string& name) {
    for (std::size_t i = 0; i < columns; ++i)
      to += "<" + name + (name == "th" ? " scope=\"col\"" : "") + (numbers[i] ? " class=\"n\">" : ">") +
            (i < texts.size() ? impl::escaped(texts[i]) : std::string()) + "</" + name + ">";
  };
  if (!head.empty()) to += "<thead><tr>", cells(head, "th"), to += "</tr></thead>\n";
  to += "<tbody>\n";
  for (const std::vector<std::string>& row : rows) to += "<tr>", cells(row, "td"), to += "</tr>\n";
  to += "</tbody></table></div>\n";
  return *this;
}
TANDEM_INLINE Report& Report::parameters(const Facts& rows, std::string_view caption) {
  body() += impl::facts_table(rows, caption);
  return *this;
}

TANDEM_INLINE std::string Report::html() const {
  std::string s =
      "<!DOCTYPE html>\n<html lang=\"" + impl::escaped(language_) + "\">\n<head>\n<meta charset=\"utf-8\">\n";
  s += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  // Whatever a page of data contains, it loads nothing.
  s += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; media-src "
       "data:; style-src 'unsafe-inline'\">\n";
  s += impl::element("title", title_) + "\n<style>";
  (((s += impl::report_style) += "\n") += Figure::style_sheet()) += "</style>\n</head>\n<body>\n<main>\n";
  s += impl::element("h1", title_) + "\n";
  if (!facts_.empty()) s += impl::facts_table(facts_, {});
  if (sections_.size() > 1) {
    s += "<nav aria-label=\"Sections\"><ul>\n";
    for (std::size_t i = 0; i < sections_.size(); ++i)
      s += "<li><a href=\"#s" + std::to_string(i + 1) + "\">" + impl::escaped(sections_[i]) + "</a></li>\n";
    s += "</ul></nav>\n";
  }
  return s + body_ + (in_figures_ ? "</div>\n" : "") + (in_section_ ? "</section>\n" : "") +
         "</main>\n</body>\n</html>\n";
}
TANDEM_INLINE void Report::save(const std::string& path) const { io::write_file(path, html()); }

}  // namespace TANDEM_NS::plot
