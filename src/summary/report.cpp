#include "tandem/summary/report.inl"
