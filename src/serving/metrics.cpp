#include "tandem/serving/metrics.inl"
