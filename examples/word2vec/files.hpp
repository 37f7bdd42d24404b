// The files that a run leaves for other programs, and its picture.
#pragma once
#include <tandem/tandem.hpp>

#include <string>

#include "vocabulary.hpp"

/// embeddings.npy [words, size] beside vocabulary.txt; vectors.txt, the text format of word2vec; and vectors.tsv with
/// metadata.tsv, which projector.tensorflow.org and TensorBoard load. throws as tandem::io::replace_file
void write_vectors(const std::string& folder, const Vocabulary& vocabulary, const tandem::Tensor& table);

/// An SVG in which the most frequent words stand at their places [count, 2].
void write_picture(const std::string& path, const Vocabulary& vocabulary, const tandem::Tensor& places);
