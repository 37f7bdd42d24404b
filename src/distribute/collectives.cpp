#include "tandem/distribute/collectives.inl"
