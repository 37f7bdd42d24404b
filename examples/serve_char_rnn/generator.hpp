// Writes text with a character model for clients, a few characters at a time.
#pragma once
#include <tandem/serving.hpp>

#include <memory>
#include <string>

#include "examples/char_rnn/model.hpp"
#include "examples/support/characters.hpp"

/// A model that was read, and what it knows of characters.
struct Writer {
  CharRnn model;
  Vocabulary vocabulary;
};
/// Reads the best weights of a run of char_rnn. throws what reading raises
std::shared_ptr<const Writer> read_writer(const std::string& run);

/// POST /generate?characters=500&temperature=0.7 with a text: how the model goes on, in pieces of one word or so.
class Generate final : public tandem::serving::HttpRoute {
 public:
  explicit Generate(std::shared_ptr<const Writer> writer) : writer_(std::move(writer)) {}
  tandem::serving::HttpAnswer answer(const tandem::serving::HttpRequest& request) override;

 private:
  const std::shared_ptr<const Writer> writer_;
};
