// Definitions of serving/guard.hpp.
#pragma once
#include <boost/asio/ip/address.hpp>
#include <fstream>

#include "tandem/base/error.hpp"
#include "tandem/serving/guard.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE std::vector<std::string> read_tokens(const std::string& path) {
  std::ifstream in(path);
  if (!in) errors::raise<errors::NotFoundError>("serving", "cannot read the file of tokens " + path);
  std::vector<std::string> r;
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) r.push_back(std::move(line));
  }
  if (r.empty()) errors::raise<errors::InvalidArgumentError>("serving", "the file of tokens " + path + " has none");
  return r;
}

TANDEM_INLINE Guard::Guard(const Options& o) {
  if (!o.auth_token_file.empty()) tokens_ = read_tokens(o.auth_token_file);
  boost::system::error_code error;
  const boost::asio::ip::address address = boost::asio::ip::make_address(o.bind, error);
  if (error)
    errors::raise<errors::InvalidArgumentError>("serving", "'" + o.bind + "' is not an IP address to listen on");
  if (tokens_.empty() && !address.is_loopback() && !o.allow_insecure)
    errors::raise<errors::InvalidArgumentError>(
        "serving", "others reach " + o.bind + ": give a file of tokens, or say that everybody may use the server " +
                       "(allow_insecure)");
}
// Compares all bytes of the token, whatever they are.
TANDEM_INLINE bool equal_in_constant_time(std::string_view given, std::string_view token) {
  unsigned difference = given.size() != token.size();
  for (std::size_t i = 0; i < token.size(); ++i)
    difference |= static_cast<unsigned char>(token[i]) ^ static_cast<unsigned char>(i < given.size() ? given[i] : '\0');
  return difference == 0;
}
TANDEM_INLINE bool Guard::lets_in(std::string_view authorization) const {
  constexpr std::string_view scheme = "Bearer ";
  if (tokens_.empty()) return true;
  const bool has_scheme = authorization.starts_with(scheme);
  const std::string_view given = has_scheme ? authorization.substr(scheme.size()) : std::string_view();
  bool known = false;
  for (const std::string& token : tokens_) known |= equal_in_constant_time(given, token);
  return has_scheme && known;
}

}  // namespace TANDEM_NS::serving::impl
