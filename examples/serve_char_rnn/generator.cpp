#include "generator.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <charconv>

#include <tandem/train.hpp>

#include "examples/char_rnn/description.hpp"
#include "examples/char_rnn/learn.hpp"

using namespace tandem;

namespace {

constexpr i64 most_characters = 100'000, most_text = 10'000;

struct Wish {
  std::string text;
  i64 characters = 500;
  double temperature = 0.7;
};
[[noreturn]] void refuse(const std::string& why) { throw errors::InvalidArgumentError("serve_char_rnn", why); }
template <class T>
T number(std::string_view name, std::string_view text, T least, T most) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most))
    refuse(fmt::format("{} must be from {} to {}", name, least, most));
  return value;
}
// "/generate?characters=500&temperature=0.7", and the text.
Wish wish_of(const serving::HttpRequest& request) {
  Wish w{std::string(request.body)};
  if (w.text.size() > most_text) refuse("the text is longer than 10000 bytes");
  std::string_view query = request.target.substr(std::min(request.target.find('?'), request.target.size()));
  while (!query.empty()) {
    query.remove_prefix(1);
    const std::string_view field = query.substr(0, query.find('&'));
    query.remove_prefix(field.size());
    const std::size_t equals = field.find('=');
    const std::string_view name = field.substr(0, equals), value = equals == field.npos ? "" : field.substr(equals + 1);
    if (name == "characters") w.characters = number<i64>(name, value, 0, most_characters);
    else if (name == "temperature") w.temperature = number<double>(name, value, 0, 1e6);
    else refuse("send a text to /generate?characters=500&temperature=0.7");
  }
  return w;
}

// Goes on with a text. Each client has its own state.
class Story final : public serving::HttpStream {
 public:
  Story(std::shared_ptr<const Writer> writer, const Wish& wish) : writer_(std::move(writer)), wish_(wish) {
    const std::vector<std::int32_t> start = writer_->vocabulary.encode(wish_.text);
    if (start.empty())
      throw errors::InvalidArgumentError("serve_char_rnn", "none of the characters of the text is known to the model");
    logits_ = read(constant(start, {.shape = {static_cast<i64>(start.size()), 1}}));
  }
  std::string next() override {
    std::string piece;
    for (; left_ > 0 && (piece.empty() || (piece.back() != ' ' && piece.back() != '\n' && piece.size() < 20)); --left_)
      piece += write();
    return piece;
  }

 private:
  // The logits of the character that follows ids [time, 1].
  Tensor read(const Tensor& ids) {
    const Tensor all = writer_->model(ids, state_);
    return reshape(all[-1], {1, writer_->vocabulary.size()});
  }
  char write() {
    const Tensor id = cast(random::sample_with_temperature(nn::log_softmax(logits_), wish_.temperature), int32);
    logits_ = read(reshape(id, {1, 1}));
    return writer_->vocabulary[id.item<std::int32_t>()];
  }

  const std::shared_ptr<const Writer> writer_;
  const Wish wish_;
  i64 left_ = wish_.characters;
  State state_;
  Tensor logits_;
};

}  // namespace

std::shared_ptr<const Writer> read_writer(const std::string& run) {
  const std::string file = best_weights(run);
  const train::Metadata m = description_of(file);
  const auto writer = std::make_shared<Writer>(Writer{CharRnn(model_of(m)), Vocabulary(m.at("vocabulary"))});
  train::Checkpoint({{"model", writer->model}}).restore(file);
  return writer;
}

serving::HttpAnswer Generate::answer(const serving::HttpRequest& request) {
  return {200,
          {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-store"}},
          {},
          std::make_shared<Story>(writer_, wish_of(request))};
}
