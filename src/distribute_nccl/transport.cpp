#include "tandem/distribute_nccl/transport.inl"
