// Values that several patches of a plain family share: the unknowns on the interfaces of subdomains.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/declare/relation.hpp"

namespace strata::graph {

/// For each patch: its entries that are also entries of other patches. In a need, this relation gives the
/// neighbours' values, in the order of `links`. In a sum, it adds the neighbours' contributions to the own
/// entries, all in the order of patches.
///   Example: entry 9 of patch 0 and entry 0 of patch 1 are the same unknown. Patch 0 has the link {9, 1, 0},
///   patch 1 the link {0, 0, 9}.
class Shared final : public Relation {
  public:
    struct Link {
        std::int32_t entry;               // of this patch
        std::int32_t patch, their_entry;  // the same unknown there
    };
    /// [patch] -> its links, in any order; they are kept sorted by patch, then by own entry. Throws Error
    /// where a link has no link back, occurs twice, leads to the same patch or to one that does not exist, or
    /// names a negative entry.
    Shared(std::string name, const Family& family, std::vector<std::vector<Link>> links);
    [[nodiscard]] std::vector<Piece> pieces(int to, On on) const override;
    [[nodiscard]] std::int64_t length(int to) const override;
    [[nodiscard]] const std::vector<Link>& links(int patch) const {
        return links_[static_cast<std::size_t>(patch)];
    }

  private:
    std::vector<std::vector<Link>> links_;
};

}  // namespace strata::graph
