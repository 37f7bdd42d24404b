// serve_char_rnn: writes text for clients with a model of char_rnn, and sends it while it is written.
//   char_rnn train
//   serve_char_rnn --run char_rnn_run
//   curl -N -d 'The ' 'localhost:8501/generate?characters=500'
#include <fmt/core.h>
#include <csignal>

#include <tandem/serving.hpp>

#include "examples/support/program.hpp"
#include "generator.hpp"

using namespace tandem;

namespace {

int serve(const std::string& run, int port) {
  serving::ShutdownSignals signals;
  serving::Server server({.models = {},
                          .rest_api_port = port,
                          .routes = {{"/generate", std::make_shared<Generate>(read_writer(run))}},
                          .drain_seconds = 0});
  fmt::print("send texts to http://127.0.0.1:{}/generate\n", server.rest_port());
  while (signals.wait() == SIGHUP) {
  }
  server.stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string run = "char_rnn_run";
  int port = 8501;
  CLI::App app("serve_char_rnn: writes text for clients with a model of char_rnn");
  app.add_option("--run", run, "the folder of the run of char_rnn")->capture_default_str();
  app.add_option("--port", port, "0: one that is free")->capture_default_str();
  return program::run("serve_char_rnn", app, argc, argv, [&] { return serve(run, port); });
}
