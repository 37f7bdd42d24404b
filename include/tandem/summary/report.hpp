// write_report: event files as one page, for people without TensorBoard. Part of the component tandem::summary.
#pragma once
#include <string>
#include <vector>

#include "tandem/base/dtype.hpp"
#include "tandem/plot/figure.hpp"
#include "tandem/plot/report.hpp"

namespace TANDEM_NS::summary {

struct ReportOptions {
  std::string title = {};  ///< default: the name of the folder
  double smoothing = 0.6;  ///< of curves, as TensorBoard's slider; in [0, 1)
  plot::Facts facts = {};  ///< below the title: flags, seed, data
  /// Below the facts: what the program draws itself, such as plot::confusion_matrix.
  std::vector<plot::Figure> figures = {};
  i64 max_sound_bytes = 8 << 20;  ///< of all WAV files in the page; a text says of the others that they are left out
};

namespace detail {
/// Raises for those that no report would take.
TANDEM_API void check_report_options(const char* op, const ReportOptions& options);
}  // namespace detail

/// Writes what the event files of a folder and of the folders in it have as one HTML page that opens offline: a
/// picture for each tag of scalars, with a curve for each folder (dashed for one named "validation"), and of
/// histograms, precision-recall curves, images, sounds and texts (a tensor of them is a table) the latest of each tag.
/// Tags with the same text before their first '/' are a section. Before them is a table of the folders that have
/// hyperparameters, with how the run has ended and the last values of the scalars that the experiment names as metrics
/// (hparams_config), or else of the first eight tags; behind them each graph. What a run that went on has done again
/// replaces what was done before. In the place of a value that cannot be drawn, such as an image that is not PNG, a
/// sound that is not WAV or a histogram with counts that are not numbers, a line of text says why. Folders that may not
/// be read are passed over.
///   logdir   as for FileWriter and for TensorBoard: logs/run1/train and logs/run1/validation are two curves
///   path     of the page; default: report.html in logdir
///   returns  the path
///   throws   errors::NotFoundError if there are no event files; errors::InvalidArgumentError for another smoothing, a
///            negative max_sound_bytes, or a logdir that is a file; errors::UnavailableError if the system cannot list
///            a folder; otherwise as EventReader and io::write_file
TANDEM_API std::string write_report(const std::string& logdir, const std::string& path = {}, const ReportOptions& = {});
/// The page, which is not written to a file.
///   throws  as write_report
TANDEM_API std::string report_html(const std::string& logdir, const ReportOptions& = {});

}  // namespace TANDEM_NS::summary
