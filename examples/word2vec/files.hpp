// The files that a run writes for other programs, and its picture.
#pragma once
#include <tandem/tandem.hpp>

#include <string>

#include "vocabulary.hpp"

/// Writes embeddings.npy [words, size] next to vocabulary.txt; vectors.txt in the text format of word2vec; and
/// vectors.tsv with metadata.tsv, which projector.tensorflow.org and TensorBoard load. throws as
/// tandem::io::replace_file
void write_vectors(const std::string& folder, const Vocabulary& vocabulary, const tandem::Tensor& table);

/// Writes an SVG with the most frequent words at their positions `places` [count, 2].
void write_picture(const std::string& path, const Vocabulary& vocabulary, const tandem::Tensor& places);
