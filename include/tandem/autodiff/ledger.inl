// Computes which op saved which bytes first, and which bytes only it saved.
#pragma once
#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include "tandem/autodiff/ledger.hpp"

#include "tandem/autodiff/log.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/util/lean_vector.hpp"
#include "tandem/util/sort.hpp"

namespace TANDEM_NS {

namespace detail {

// The memory range of one saved tensor. Views share memory, so ranges may overlap in any way.
struct SavedStretch {
  const char *begin, *end;
  std::size_t entry, row;
};
// Sweeps over the endpoints of all ranges, left to right: between two endpoints the set of owners is constant.
TANDEM_INLINE void share_out(const LeanVector<SavedStretch>& stretches, std::vector<TapeMemory>& rows) {
  struct End {
    const char* at;
    const SavedStretch* of;
  };
  LeanVector<End> ends;
  for (const SavedStretch& s : stretches) ends.push_back({s.begin, &s}), ends.push_back({s.end, &s});
  const LeanVector<std::size_t> by_place =
      stable_order(ends.size(), [&](std::size_t a, std::size_t b) { return ends[a].at < ends[b].at; });
  std::map<std::pair<std::size_t, std::size_t>, int> saving;  // {entry, row} -> number of its tensors
  std::map<std::size_t, int> saving_rows;
  const char* from = nullptr;
  for (const std::size_t i : by_place) {
    const End& e = ends[i];
    if (!saving.empty() && e.at > from) {
      rows[saving.begin()->first.second].bytes += e.at - from;
      if (saving_rows.size() == 1) rows[saving_rows.begin()->first].own += e.at - from;
    }
    from = e.at;
    const std::pair key(e.of->entry, e.of->row);
    if (e.at == e.of->begin) {
      ++saving[key], ++saving_rows[key.second];
    } else {
      if (--saving[key] == 0) saving.erase(key);
      if (--saving_rows[key.second] == 0) saving_rows.erase(key.second);
    }
  }
}

}  // namespace detail

TANDEM_INLINE void GradientTape::Log::note(const Applied& a) {
  notes_.push_back({a.options ? a.options->where : SourceLocation{}, context.scope ? context.scope : ""});
}
TANDEM_INLINE std::vector<TapeMemory> GradientTape::Log::memory() const {
  LeanVector<Entry*> entries;
  for (Entry* e = last_; e; e = e->prev) entries.push_back(e);
  std::reverse(entries.begin(), entries.end());
  std::vector<TapeMemory> rows;
  std::map<std::tuple<std::string, std::string, std::string, std::uint32_t>, std::size_t> known;  // by row
  LeanVector<detail::SavedStretch> stretches;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& e = *entries[i];
    const std::string op = display_name(*e.op);
    const detail::LedgerNote note = i < notes_.size() ? notes_[i] : detail::LedgerNote{};
    const std::string file = note.where.file ? note.where.file : "";
    const auto [at, is_new] =
        known.try_emplace({op, note.scope, file, static_cast<std::uint32_t>(note.where.line)}, rows.size());
    if (is_new) rows.push_back({op, note.scope, note.where});
    const std::size_t row = at->second;
    ++rows[row].count;
    for (const Tensor& t : e.all_saved()) {
      if (!t.is_set() || t.is_symbolic() || !t.spec().bytes()) continue;
      const auto* data = static_cast<const char*>(t.raw());
      stretches.push_back({data, data + t.spec().bytes(), i, row});
    }
  }
  detail::share_out(stretches, rows);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TapeMemory& a, const TapeMemory& b) { return a.bytes > b.bytes; });
  return rows;
}

TANDEM_INLINE std::string to_string(Span<const TapeMemory> rows) {
  std::string s = "op                      count           bytes     only its own  where\n";
  TapeMemory sum{.op = "total", .scope = {}, .where = {}};
  const auto add = [&](const TapeMemory& r) {
    char line[128];
    std::snprintf(line, sizeof line, "%-20.20s %8d %15lld %16lld", r.op.c_str(), r.count,
                  static_cast<long long>(r.bytes), static_cast<long long>(r.own));
    s += line;
    if (r.where.file) s += "  " + std::string(r.where.file) + ":" + std::to_string(r.where.line);
    if (!r.scope.empty()) s += "  " + r.scope;
    s += "\n";
  };
  for (const TapeMemory& r : rows) {
    add(r);
    sum.count += r.count, sum.bytes += r.bytes, sum.own += r.own;
  }
  add(sum);
  return s;
}

}  // namespace TANDEM_NS
