// The table of all ops of the core and of tandem::strings, for loaders: parse_graph(bytes, {.ops =
// strings::all_ops()}). Not in the umbrella header, as op_table.hpp.
#pragma once
#include "tandem/op_table.hpp"
#include "tandem/strings.hpp"

namespace TANDEM_NS::strings {

namespace impl {
inline constexpr auto op_table = tandem::detail::join(
    tandem::detail::op_table, tandem::detail::rows_of(string_ops), tandem::detail::rows_of(regex_ops),
    tandem::detail::rows_of(string_number_ops), tandem::detail::rows_of(codec_ops), tandem::detail::rows_of(lookup_ops),
    tandem::detail::rows_of(unicode_ops), tandem::detail::rows_of(csv_ops), tandem::detail::rows_of(string_hash_ops));
}  // namespace impl

/// Returns every op of the core and of this component.
inline Span<const OpDef* const> all_ops() { return impl::op_table; }

}  // namespace TANDEM_NS::strings
