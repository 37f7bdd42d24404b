#include "tandem/serving/guard.inl"
#include "tandem/serving/http_server.inl"
#include "tandem/serving/page.inl"
#include "tandem/serving/server.inl"
