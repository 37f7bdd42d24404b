#include "tandem/util/at_fork.inl"
