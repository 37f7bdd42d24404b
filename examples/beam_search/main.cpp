// beam_search: compares beam search with greedy search on two models.
//   beam_search                 continues texts with a character model: one of char_rnn (--run), or a small one that it
//                               trains at first use
//   beam_search dates           trains a model with attention that writes dates in ISO 8601, and shows its attention
#include <CLI/CLI.hpp>

#include <tandem/tandem.hpp>

#include "date_task.hpp"
#include "examples/support/arguments.hpp"
#include "examples/support/program.hpp"
#include "text_task.hpp"

namespace {

void add_text_options(CLI::App& app, TextOptions& o) {
  o.train.data = "/usr/share/common-licenses", o.train.run = "beam_search_run";
  o.train.epochs = 5, o.train.steps_per_epoch = 200, o.train.batch = 50;
  training::add_options(app, o.train, "a text file, plain or compressed by gzip, or a folder of them", "windows");
  app.add_option("--prompt", o.prompt, "a text to continue; default: texts of the corpus");
  arguments::add(app, "--prompts", o.prompts, 1, "how many of those");
  arguments::add(app, "--width", o.width, 1, "hypotheses of the beam");
  arguments::add(app, "--length", o.length, 1, "characters to write");
}
void add_date_options(CLI::App& app, DateOptions& o) {
  o.run = "dates_run", o.epochs = 18, o.steps_per_epoch = 500, o.batch = 100;
  training::add_options(app, o, "", "dates");
  app.add_option("--date", o.date, "the date to show")->capture_default_str();
  app.add_option("--picture", o.picture, "where the model looks for it")->capture_default_str();
  arguments::add(app, "--tests", o.tests, 1, "dates to test it with");
  arguments::add(app, "--width", o.width, 1, "hypotheses of the beam");
}

}  // namespace

int main(int argc, char** argv) {
  TextOptions text;
  DateOptions date;
  CLI::App app("Beam search with a character model, and with a model that writes dates in ISO 8601.");
  add_text_options(app, text);
  app.require_subcommand(0, 1);
  CLI::App* const dates = app.add_subcommand("dates", "train and show the model of dates");
  add_date_options(*dates, date);
  return program::run("beam_search", app, argc, argv, [&] {
    const auto scope = tandem::device(*dates ? date.device : text.train.device);
    return *dates ? translate_dates(date) : continue_texts(text);
  });
}
