// Whole lists of many patches on one patch or a few: the coarse problem of a two-level method.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/declare/relation.hpp"

namespace strata::graph {

/// A target patch sees all values of its source patches, one patch after the other, whatever their numbers
/// are: of a list its entries, of a field the values that a patch owns, x fastest. Example: 3 subdomains with
/// 2, 1 and 2 coarse vectors each have a list of as many numbers; the coarse patch sees 5, those of subdomain
/// 2 from number 3 on.
class Collect final : public Relation {
  public:
    /// [target patch] -> its source patches, in any order.
    using Sources = std::vector<std::vector<int>>;
    /// Each target patch sees all patches of the source.
    Collect(std::string name, const Family& source, const Family& target);
    /// Throws Error where there is not one list for each target patch, or a list names a patch twice or one
    /// that does not exist.
    Collect(std::string name, const Family& source, const Family& target, Sources sources);

    /// Ascending: their values follow each other in this order.
    [[nodiscard]] std::span<const int> sources(int to) const;
    [[nodiscard]] std::vector<Piece> pieces(int to, On on) const override;

    /// The way back: a table for a Gather from the target to the source. `entries(patch)` values go to each
    /// source patch, those in its place of a list that has so many of each, one patch after the other (as
    /// sources() has them). A patch that several target patches collect takes its own from one of them: of
    /// two the first half of the patches from the first one, the others from the second. Throws Error where a
    /// list would have 2^31 entries or more.
    [[nodiscard]] Gather::Table back(const std::function<std::int64_t(int)>& entries) const;

  private:
    std::vector<int> all_;
    Sources sources_;  // empty: all_ for each
};

}  // namespace strata::graph
