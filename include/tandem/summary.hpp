// Summaries: what a program writes for TensorBoard (scalars, histograms, images, texts, sound, curves, graphs,
// hyperparameters, embeddings), and reading such files. The component tandem::summary.
#pragma once
#include "tandem/summary/event.hpp"
#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/functions.hpp"
#include "tandem/summary/hparams.hpp"
#include "tandem/summary/options.hpp"
#include "tandem/summary/reader.hpp"
#include "tandem/summary/report.hpp"
#include "tandem/summary/tensor_board.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/image.hpp"
#include "tandem/io.hpp"
#include "tandem/plot.hpp"
#include "tandem/summary/embedding.inl"
#include "tandem/summary/event.inl"
#include "tandem/summary/event_file.inl"
#include "tandem/summary/file_writer.inl"
#include "tandem/summary/graph.inl"
#include "tandem/summary/hparams.inl"
#include "tandem/summary/live.inl"
#include "tandem/summary/media.inl"
#include "tandem/summary/pr_curve.inl"
#include "tandem/summary/reader.inl"
#include "tandem/summary/recorder.inl"
#include "tandem/summary/report.inl"
#include "tandem/summary/scalar.inl"
#include "tandem/summary/tensor_board.inl"
#include "tandem/summary/tensor_view.inl"
#include "tandem/tandem.hpp"
#include "tandem/train.hpp"
#endif
