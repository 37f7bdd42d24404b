// Definitions of serving/guard.hpp.
#pragma once
#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <fstream>

#include "tandem/base/error.hpp"
#include "tandem/serving/guard.hpp"
#include "tandem/serving/http_text.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE std::vector<Token> read_tokens(const std::string& path) {
  constexpr std::string_view admin = "admin:";
  std::ifstream in(path);
  if (!in) errors::raise<errors::NotFoundError>("serving", "cannot read the file of tokens " + path);
  std::vector<Token> r;
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    const bool is_admin = line.starts_with(admin);
    if (is_admin) line.erase(0, admin.size());
    if (!line.empty()) r.push_back({std::move(line), is_admin});
  }
  if (r.empty()) errors::raise<errors::InvalidArgumentError>("serving", "the file of tokens " + path + " has none");
  return r;
}

TANDEM_INLINE Guard::Guard(const Options& o) : path_(o.auth_token_file) {
  reload();
  boost::system::error_code error;
  const boost::asio::ip::address address = boost::asio::ip::make_address(o.bind, error);
  if (error)
    errors::raise<errors::InvalidArgumentError>("serving", "'" + o.bind + "' is not an IP address to listen on");
  if (!tokens_ && o.ssl_config_file.empty() && !address.is_loopback() && !o.allow_insecure)
    errors::raise<errors::InvalidArgumentError>(
        "serving", "others reach " + o.bind + ": give a file of tokens or an ssl_config_file, or say that everybody " +
                       "may use the server (allow_insecure)");
}
TANDEM_INLINE void Guard::reload() {
  if (path_.empty()) return;
  Tokens read = std::make_shared<const std::vector<Token>>(read_tokens(path_));
  const std::lock_guard lock(mutex_);
  tokens_.swap(read);
}
TANDEM_INLINE Guard::Tokens Guard::tokens() const {
  if (path_.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  return tokens_;
}
// Compares all bytes of the token, whatever they are.
TANDEM_INLINE bool equal_in_constant_time(std::string_view given, std::string_view token) {
  unsigned difference = given.size() != token.size();
  for (std::size_t i = 0; i < token.size(); ++i)
    difference |= static_cast<unsigned char>(token[i]) ^ static_cast<unsigned char>(i < given.size() ? given[i] : '\0');
  return difference == 0;
}
// Whether the header has one of the tokens, or one of those that are for administrators.
TANDEM_INLINE bool has_token(const std::vector<Token>& tokens, std::string_view authorization, bool as_admin) {
  constexpr std::string_view scheme = "bearer ";
  const bool has_scheme = equal_without_case(authorization.substr(0, scheme.size()), scheme);
  const std::string_view given = has_scheme ? authorization.substr(scheme.size()) : std::string_view();
  bool known = false;
  for (const Token& token : tokens) known |= equal_in_constant_time(given, token.text) && (!as_admin || token.is_admin);
  return has_scheme && known;
}
TANDEM_INLINE bool Guard::lets_in(std::string_view authorization) const {
  const Tokens all = tokens();
  return !all || has_token(*all, authorization, false);
}
TANDEM_INLINE bool Guard::is_admin(std::string_view authorization) const {
  const Tokens all = tokens();
  return all && has_token(*all, authorization, true);
}

}  // namespace TANDEM_NS::serving::impl
