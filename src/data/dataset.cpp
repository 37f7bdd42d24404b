// Data sets: what does not depend on the type of their elements.
#include "tandem/data/dataset.inl"
#include "tandem/data/dataset/ahead.inl"
#include "tandem/data/dataset/element.inl"
#include "tandem/data/dataset/report.inl"
#include "tandem/data/dataset/seek_points.inl"
#include "tandem/data/dataset/to_device.inl"
