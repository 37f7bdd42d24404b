// Every loss, every metric, and every mask, weight and length that a public header declares has a case in this folder:
// a new one without a case fails here.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/source_folder.hpp"

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
std::string cases() {
  std::string all;
  for (const char* name : {"losses_test.cpp", "layers_test.cpp", "ops_test.cpp"})
    all += text_of(fs::path(testing::source_folder()) / "tests/masked" / name);
  return all;
}
const fs::path headers = fs::path(testing::source_folder()) / "include/tandem";

template <class F>
void each_match(const std::string& text, const char* pattern, const F& f) {
  const std::regex regex(pattern);
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) f(*i);
}

// The case of each mask, by header and name; "-" with the reason where nothing that is ignored is read.
const std::map<std::string, std::string> known = {
    {"ops/attention/attention.hpp mask", "nn::scaled_dot_product_attention.mask"},
    {"ops/rnn/lstm.hpp sequence_length", "nn::lstm.sequence_length"},
    {"ops/rnn/gru.hpp sequence_length", "nn::gru.sequence_length"},
    {"ops/embedding/embedding.hpp weights", "nn::embedding_lookup_sparse.weights"},
    {"ops/softmax/information.hpp mask", "nn::perplexity.mask"},
    {"ops/rnn/last_relevant.hpp lengths", "nn::last_relevant.lengths"},
    {"ops/softmax/ctc.hpp label_length", "-: labels are integers"},
    {"ops/softmax/ctc.hpp logit_length", "nn::ctc_loss.logit_length"},
    {"ops/softmax/ctc.hpp row_lengths", "-: a result"},
    {"ops/index/sets.hpp row_lengths", "-: a result"},
    {"ops/softmax/ctc.hpp sequence_length", "nn::ctc_greedy_decoder.sequence_length"},
    {"ops/norm/weighted_moments.hpp mask", "nn::masked_mean.mask"},
    {"ops/norm/weighted_moments.hpp frequency_weights", "nn::weighted_moments.frequency_weights"},
    {"ops/softmax/cross_entropy.hpp pos_weight", "-: a factor of labels that are 1, not of examples"},
    {"ops/rnn/common.hpp lengths", "nn::lstm.sequence_length"},
    {"ops/random/sampled_loss.hpp weights", "-: of a layer"},
    {"ops/create/range.hpp lengths", "-: sequence_mask makes the mask"},
    {"ops/index/reverse_sequence.hpp lengths", "reverse_sequence.lengths"},
    {"ops/index/count.hpp weights", "bincount.weights"},
    {"ops/index/mask.hpp mask", "boolean_mask.mask"},
    {"losses/loss.hpp sample_weight", "losses::Loss"},
    {"losses/pair.hpp weights", "losses::Loss"},
    {"layers/activation.hpp mask", "layers::Softmax.mask"},
    {"layers/attention.hpp attention_mask", ".attention_mask"},
    {"layers/attention.hpp query_mask", ".query_mask"},
    {"layers/attention.hpp value_mask", ".value_mask"},
    {"layers/attention.hpp mask", ".attention_mask"},
    {"layers/bidirectional.hpp mask", "layers::Bidirectional.mask"},
    {"layers/bidirectional.hpp sequence_length", "layers::Bidirectional.sequence_length"},
    {"layers/bidirectional.hpp lengths", "layers::Bidirectional.sequence_length"},
    {"layers/multi_head_attention.hpp mask", "layers::MultiHeadAttention"},
    {"layers/normalization.hpp mask", "layers::BatchNormalization.mask"},
    {"layers/pooling.hpp mask", "layers::GlobalAveragePooling1D.mask"},
    {"layers/preprocessing.hpp count_weights", "-: categories are integers"},
    {"layers/preprocessing.hpp weights", "-: categories are integers"},
    {"layers/rnn.hpp lengths", "layers::RNN"},
    {"layers/rnn_call.hpp mask", "layers::LSTM"},
    {"layers/rnn_call.hpp sequence_length", "layers::LSTM"},
    {"layers/rnn_cells.hpp lengths", "layers::RNN"},
    {"layers/rnn_dropout.hpp lengths", "layers::LSTM"},
    {"layers/rnn_projected.hpp lengths", "layers::SimpleRNN"},
    {"layers/rnn_steps.hpp lengths", "layers::RNN"},
    {"layers/rnn_steps.hpp mask", "layers::LSTM"},
    {"layers/rnn_unfused.hpp lengths", "layers::GRU"},
    {"layers/sequence_mask.hpp mask", "layers::Sequential"},
    {"layers/transformer.hpp attention_mask", "layers::TransformerBlock.attention_mask"},
    {"layers/transformer.hpp mask", "layers::TransformerBlock.padding_mask"},
    {"layers/transformer.hpp padding_mask", "layers::TransformerBlock.padding_mask"},
};

}  // namespace

TEST_CASE("Every loss and every metric has a case of weight 0") {
  const std::string tests = cases();
  int classes = 0;
  for (const char* const folder : {"losses", "metrics"})
    for (const fs::directory_entry& file : fs::directory_iterator(headers / folder)) {
      if (file.path().extension() != ".hpp") continue;
      each_match(text_of(file.path()), R"((?:struct|class) TANDEM_API (\w+) : (?:public )?(?:Loss|\w+Metric)\b)",
                 [&](const std::smatch& m) {
                   const std::string name = std::string(folder) + "::" + m[1].str();
                   if (m[1].str() == "ValueMetric" || m[1].str() == "PredictionMetric") return;
                   CAPTURE(name);
                   CHECK((tests.find(name + "(") != std::string::npos || tests.find(name + " ") != std::string::npos));
                   ++classes;
                 });
    }
  CHECK(classes > 50);
}
TEST_CASE("Every mask, weight and length of a public header has a case") {
  const std::string tests = cases();
  std::set<std::string> found;
  for (const char* const folder : {"ops", "layers", "losses"})
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(headers / folder)) {
      if (file.path().extension() != ".hpp") continue;
      const std::string path = fs::relative(file.path(), headers).generic_string();
      each_match(
          text_of(file.path()),
          R"((?:\n *(?:Tensor|RnnMask) |const (?:Tensor|RnnMask)& )(\w*(?:mask|weights?|lengths?))(?: =|,|\)|;))",
          [&](const std::smatch& m) { found.insert(path + " " + m[1].str()); });
    }
  for (const std::string& f : found) {
    CAPTURE(f);
    const auto at = known.find(f);
    if (at == known.end()) {
      FAIL_CHECK("add a case to this folder, and its name to the list in this file");
      continue;
    }
    CHECK((at->second.rfind("-: ", 0) == 0 || tests.find(at->second) != std::string::npos));
  }
  for (const auto& [name, which] : known) {
    CAPTURE(name);
    CHECK(found.count(name) == 1);
  }
}
