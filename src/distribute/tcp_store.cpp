#include "tandem/distribute/tcp_store.inl"
#include "tandem/distribute/liveness.inl"
#include "tandem/distribute/raised_errors.inl"
#include "tandem/distribute/tcp_store_server.inl"
