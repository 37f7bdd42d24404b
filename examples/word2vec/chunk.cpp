#include "chunk.hpp"

Chunk read_chunk(WordReader& reader, const Vocabulary& vocabulary, const Subsampling& keep, const ChunkOptions& o,
                 std::int64_t epoch, std::int64_t number, Place end) {
  Chunk c;
  std::seed_seq seed{o.seed, epoch, number};
  c.random.seed(seed);
  std::int64_t line = reader.line(), begin = 0;
  const auto end_text = [&] {
    c.begin.resize(c.ids.size(), begin);
    c.end.resize(c.ids.size(), c.size());
    begin = c.size();
  };
  while (c.words < o.words && reader.place() < end) {
    const std::string_view word = reader.next();
    if (word.empty()) break;
    ++c.words;
    if (o.lines && line != reader.line()) end_text();
    line = reader.line();
    const std::int32_t id = vocabulary.find(word);
    if (id != 0 && keep.keeps(id, c.random)) c.ids.push_back(id);
  }
  end_text();
  c.after = reader.place();
  for (std::size_t i = 0; i < c.ids.size(); ++i)
    c.radius.push_back(1 + static_cast<int>(c.random() % static_cast<std::uint64_t>(o.window)));
  return c;
}

void skip_chunk(WordReader& reader, const ChunkOptions& o, Place end) {
  for (std::int64_t words = 0; words < o.words && reader.place() < end && !reader.next().empty();) ++words;
}
