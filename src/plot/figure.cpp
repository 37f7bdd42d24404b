#include "tandem/plot/figure.inl"
#include "tandem/plot/report.inl"
#include "tandem/plot/values.inl"
