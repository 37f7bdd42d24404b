// The files that a run writes for other programs, and its picture.
#pragma once
#include <tandem/tandem.hpp>

#include <string>

#include "vectors.hpp"
#include "vocabulary.hpp"

/// Writes embeddings.npy [words, size] next to vocabulary.txt; vectors.txt in the text format of word2vec; and
/// vectors.tsv with vectors.metadata.tsv, which projector.tensorflow.org loads, and with an event file and
/// projector_config.pbtxt TensorBoard.
///   throws  as tandem::io::write_file
void write_vectors(const std::string& folder, const Vocabulary& vocabulary, const tandem::Tensor& table);

/// Draws `count` words as dots at their positions along two principal components, with their names as far as there is
/// room. The 50 most frequent words, which say little, are left out if enough others are there.
void write_picture(const std::string& path, const Vocabulary& vocabulary, const Vectors& vectors, std::int64_t count);
