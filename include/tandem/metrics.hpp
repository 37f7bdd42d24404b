// Metrics that accumulate in Variables: means, accuracies, Precision, Recall, AUC, .... Includes losses.hpp.
#pragma once
#include "tandem/losses.hpp"
#include "tandem/metrics/accuracy.hpp"
#include "tandem/metrics/confusion.hpp"
#include "tandem/metrics/correlation.hpp"
#include "tandem/metrics/curve.hpp"
#include "tandem/metrics/f_score.hpp"
#include "tandem/metrics/mean.hpp"
#include "tandem/metrics/mean_iou.hpp"
#include "tandem/metrics/of_losses.hpp"
#include "tandem/metrics/r2_score.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/metrics/accuracy.inl"
#include "tandem/metrics/confusion.inl"
#include "tandem/metrics/correlation.inl"
#include "tandem/metrics/curve.inl"
#include "tandem/metrics/f_score.inl"
#include "tandem/metrics/mean.inl"
#include "tandem/metrics/mean_iou.inl"
#include "tandem/metrics/metric.inl"
#include "tandem/metrics/of_losses.inl"
#include "tandem/metrics/r2_score.inl"
#endif
