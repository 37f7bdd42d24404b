#include "chunk.hpp"

Chunk chunk_of(std::string_view text, const Vocabulary& vocabulary, const Subsampling& keep, const ChunkOptions& o,
               Random random) {
  Chunk c;
  c.random = random;
  WordReader reader(text);
  std::int64_t line = 0, begin = 0;
  const auto end_text = [&] {
    c.begin.resize(c.ids.size(), begin);
    c.end.resize(c.ids.size(), c.size());
    begin = c.size();
  };
  for (std::string_view word = reader.next(); !word.empty(); word = reader.next()) {
    ++c.words;
    if (o.lines && line != reader.line()) end_text();
    line = reader.line();
    const std::int32_t id = vocabulary.find(word);
    if (id != 0 && keep.keeps(id, c.random)) c.ids.push_back(id);
  }
  end_text();
  for (std::size_t i = 0; i < c.ids.size(); ++i)
    c.radius.push_back(1 + static_cast<int>(c.random() % static_cast<std::uint64_t>(o.window)));
  return c;
}
