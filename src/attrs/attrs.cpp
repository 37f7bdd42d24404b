#include "tandem/attrs/attrs.inl"
