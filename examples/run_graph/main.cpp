// Runs a graph that another program saved; this program contains none of the traced code.
//   run_graph FILE             prints the graph
//   run_graph --replay FILE    shows again the error of a call that tandem::io::call_or_save has kept
//   run_graph FILE 1,2,3 ...   runs it; one list of numbers per argument, in row-major order
#include <fmt/core.h>
#include <cctype>
#include <charconv>
#include <string_view>
#include <vector>

#include <tandem/function.hpp>
#include <tandem/io.hpp>
#include <tandem/op_table.hpp>
#include "examples/support/program.hpp"

namespace {

std::vector<double> numbers(const std::string& text) {
  std::vector<double> r;
  for (const char *p = text.data(), *end = p + text.size(); p < end; ++p) {
    const auto [stop, error] = std::from_chars(p, end, r.emplace_back());
    if (error != std::errc() || (stop != end && *stop != ','))
      throw std::invalid_argument(fmt::format("'{}' is not a list of numbers, such as 1,2.5,-3", text));
    p = stop;
  }
  return r;
}
// The values as an argument of this spec; one unknown dimension is inferred from the number of values.
tandem::Tensor argument(const std::vector<double>& values, const tandem::Spec& spec) {
  std::vector<tandem::i64> dims;
  for (const tandem::i64 d : spec.shape) dims.push_back(d == tandem::none ? -1 : d);
  return cast(reshape(tandem::constant(values), dims), spec.dtype);
}
// Whether an argument looks like an option, but is not one of CLI11's own: a number may begin with -, too.
bool is_option(const std::string& text) {
  const bool is_number = text.size() > 1 && (std::isdigit(static_cast<unsigned char>(text[1])) || text[1] == '.');
  const bool is_infinite = text.starts_with("-inf") || text.starts_with("-nan");
  return text.starts_with("-") && !is_number && !is_infinite && text != "-h" && text != "--help" && text != "--";
}
// A failure file comes from elsewhere, and print can append to any file (`file://`).
std::vector<const tandem::OpDef*> ops_without_print() {
  std::vector<const tandem::OpDef*> r;
  for (const tandem::OpDef* op : tandem::all_ops())
    if (std::string_view(op->name) != "print") r.push_back(op);
  return r;
}
// Whether an error is the recorded one, which may name the layer and where it is instead of the op.
bool is_same(const std::string& error, const std::string& recorded) {
  const std::size_t colon = error.find(": ");
  return colon != std::string::npos && recorded.find(error.substr(colon)) != std::string::npos;
}
// Shows a failure again. Returns 0 if the error is the same.
int replay(const std::string& file) {
  const std::vector<const tandem::OpDef*> ops = ops_without_print();
  const tandem::io::Failure failure = tandem::io::load_failure(file, {.ops = ops});
  fmt::print("recorded by {}, kernels {}:\n  {}\n", failure.producer, failure.kernels, failure.error);
  if (!failure.has_values) fmt::print("its values were left out; they are zeros here\n");
  const std::string error = tandem::io::replay_failure(failure);
  fmt::print("here, kernels {}:\n  {}\n", tandem::config::cpu_features().kernels, error.empty() ? "no error" : error);
  return is_same(error, failure.error) ? 0 : 1;
}
int run(const std::string& file, const std::vector<std::string>& texts) {
  const tandem::Ref<tandem::Graph> graph = tandem::io::load_graph(file, {.ops = tandem::all_ops()});
  if (texts.empty() && !graph->arguments.empty()) {
    fmt::print("{}", to_string(*graph));
    return 0;
  }
  if (texts.size() != graph->arguments.size())
    throw std::invalid_argument(
        fmt::format("the graph takes {} arguments, not {}", graph->arguments.size(), texts.size()));
  std::vector<tandem::Tensor> arguments;
  for (std::size_t i = 0; i < texts.size(); ++i)
    arguments.push_back(argument(numbers(texts[i]), graph->spec(graph->arguments[i])));
  const auto function = tandem::make_ref<tandem::ConcreteFunction>(graph);
  for (const tandem::Tensor& t : (*function)(arguments)) fmt::print("{}\n", to_string(t));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  bool is_failure = false;
  CLI::App app(
      "run_graph FILE [NUMBERS ...]: runs a graph that another program saved, or prints it if there are no NUMBERS.\n"
      "They are a list for each argument, such as 1,2.5,-3, in row-major order.");
  app.add_option("FILE", file, "the graph, as tandem::io::save_graph wrote it")->required();
  app.add_flag("--replay", is_failure, "FILE has a call that has failed: it is made again");
  app.prefix_command();                     // all behind FILE are numbers, some of which begin with -
  app.preparse_callback([&](std::size_t) {  // CLI11 would take what follows an unknown option for FILE
    for (int i = 1; i < argc; ++i)
      if (is_option(argv[i]) && argv[i] != std::string_view("--replay")) throw CLI::ExtrasError({argv[i]});
  });
  return program::run("run_graph", app, argc, argv, [&] {
    if (is_failure && !app.remaining().empty()) throw std::invalid_argument("--replay takes no NUMBERS");
    return is_failure ? replay(file) : run(file, app.remaining());
  });
}
