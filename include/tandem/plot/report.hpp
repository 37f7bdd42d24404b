// Report: one HTML page of pictures, tables and texts.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/plot/figure.hpp"

namespace TANDEM_NS::plot {

/// Names and values, in the order in which they are shown.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// This machine and this build: version, build mode, compiler, operating system, CPU threads, instruction set of the
/// kernels; "git commit", if the program runs in a folder of a git repository (io::git_commit). For the facts of a
/// report.
TANDEM_API Facts machine_facts();

/// A page that opens offline, in any browser, on a phone too: one file without scripts, fonts or links to others. Its
/// parts appear in the order in which they are added, each after the section() that was added last. All texts are
/// escaped.
///
///   plot::Report report("Digits");
///   report.facts({{"seed", "1"}}).facts(plot::machine_facts());
///   report.section("Training").figure(plot::lines({{"loss", losses}}), "The loss of each step.");
///   report.save("report.html");
class TANDEM_API Report {
 public:
  ///   language  of the texts, for screen readers: "en", "pt-BR" (BCP 47)
  explicit Report(std::string title, std::string language = "en");

  /// Adds rows to the table of facts below the title: machine, flags, seed, versions.
  Report& facts(const Facts& rows);
  /// Begins a section; a list of links to the sections is at the top if there are several.
  Report& section(std::string title);
  /// A paragraph. Blank lines divide it into several.
  Report& text(std::string_view words);
  Report& figure(const Figure& figure, std::string_view caption = {});
  /// An image file.
  ///   png     the bytes, as image::encode_png makes them (component image)
  ///   alt     what it shows, for those who do not see it
  ///   throws  errors::InvalidArgumentError if it is not a PNG file
  Report& picture(std::string_view png, std::string_view alt, std::string_view caption = {});
  /// A sound with the browser's controls to play it.
  ///   wav     the bytes of a WAV file
  ///   label   what it is, for those who do not see the page
  ///   throws  errors::InvalidArgumentError if it is not a WAV file
  Report& sound(std::string_view wav, std::string_view label, std::string_view caption = {});
  /// Columns of numbers are aligned to the right. Without a head there are as many columns as the longest row has
  /// cells.
  ///   throws  errors::InvalidArgumentError for a row with more cells than the head; one with fewer is filled up
  Report& table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                std::string_view caption = {});
  /// A table of names and values, such as hyper-parameters.
  Report& parameters(const Facts& rows, std::string_view caption = "Hyper-parameters");

  /// The page.
  std::string html() const;
  /// Writes html() to a file, atomically. Missing folders are made.
  ///   throws  as io::write_file (io/file.hpp)
  void save(const std::string& path) const;

 private:
  /// Opens or closes the group of successive figures, which are side by side on a wide page; returns the end of the
  /// page.
  std::string& body(bool in_figures = false);
  std::string title_, language_, body_;
  Facts facts_;
  std::vector<std::string> sections_;
  bool in_section_ = false, in_figures_ = false;  // what is open at the end of body_
};

}  // namespace TANDEM_NS::plot
