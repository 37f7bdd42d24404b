#include "tandem/distribute/combine.inl"
#include "tandem/distribute/communicator.inl"
#include "tandem/distribute/communicator_checks.inl"
#include "tandem/distribute/launch.inl"
