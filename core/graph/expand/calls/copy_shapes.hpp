// Copies whose shapes are kept once.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/graph/expand/calls/calls.hpp"
#include "core/graph/expand/memory/stock.hpp"

namespace strata::graph::detail {

class CopyShapes {
  public:
    explicit CopyShapes(Stock& store) : store_(store) {}

    /// `of`: with the addresses of the first values as bases.
    [[nodiscard]] ValueCopy keep(CopyShape of) {
        ValueCopy copy;
        copy.from = std::exchange(of.from.base, nullptr);
        copy.to = std::exchange(of.to.base, nullptr);
        constexpr int far = 1 << ValueCopy::Extent::kBits;
        if (const Int3& box = of.box.extent; box[0] < far && box[1] < far && box[2] < far) {
            copy.extent.x = static_cast<std::uint64_t>(box[0]);
            copy.extent.y = static_cast<std::uint64_t>(box[1]);
            copy.extent.z = static_cast<std::uint64_t>(box[2]);
            of.box.extent = {};
        }
        const auto same = std::find_if(recent_.rbegin(), recent_.rend(),
                                       [&](const CopyShape* each) { return *each == of; });
        if (same != recent_.rend()) {
            copy.shape = *same;
            return copy;
        }
        if (recent_.size() == kRecent) recent_.erase(recent_.begin());
        recent_.push_back(&(store_.one<CopyShape>() = of));
        copy.shape = recent_.back();
        return copy;
    }

  private:
    /// Blocks have 26 neighbours at most; and a look at all ever kept would take long.
    static constexpr std::size_t kRecent = 32;
    Stock& store_;
    std::vector<const CopyShape*> recent_;
};

}  // namespace strata::graph::detail
