#include "core/graph/declare/collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/counted.hpp"
#include "core/base/error.hpp"

namespace strata::graph {

Collect::Collect(std::string name, const Family& source, const Family& target)
    : Relation(std::move(name), source, target, Shape::whole),
      all_(static_cast<std::size_t>(source.patches())) {
    std::iota(all_.begin(), all_.end(), 0);
}

Collect::Collect(std::string name, const Family& source, const Family& target, Sources sources)
    : Relation(std::move(name), source, target, Shape::whole), sources_(std::move(sources)) {
    if (sources_.size() != static_cast<std::size_t>(target.patches()))
        throw Error(fmt::format("relation '{}' must say for each patch of '{}' whose values it collects",
                                this->name(), target.name()))
            .given(counted(static_cast<std::int64_t>(sources_.size()), "list of patches", "lists of patches"))
            .allowed(fmt::format("{}, one a patch", target.patches()));
    for (std::size_t to = 0; to < sources_.size(); ++to) {
        std::vector<int>& from = sources_[to];
        std::sort(from.begin(), from.end());
        for (std::size_t i = 0; i < from.size(); ++i) {
            const bool twice = i > 0 && from[i] == from[i - 1];
            if (!twice && from[i] >= 0 && from[i] < source.patches()) continue;
            throw Error(fmt::format("relation '{}': patch {} of '{}' cannot collect from patch {}{}",
                                    this->name(), to, target.name(), from[i], twice ? " twice" : ""))
                .given(fmt::format("patch {} of '{}'", from[i], source.name()))
                .allowed(fmt::format("each of 0 to {} once", source.patches() - 1));
        }
    }
}

std::span<const int> Collect::sources(int to) const {
    return sources_.empty() ? all_ : sources_[static_cast<std::size_t>(to)];
}

std::vector<Piece> Collect::pieces(int to, On /*on*/) const {
    std::vector<Piece> all;
    for (const int from : sources(to)) all.emplace_back().from = from;
    return all;
}

Gather::Table Collect::back(const std::function<std::int64_t(int)>& entries) const {
    struct Place {
        int patch;
        std::int64_t first;
    };
    std::vector<std::vector<Place>> places(static_cast<std::size_t>(source().patches()));
    for (int to = 0; to < target().patches(); ++to) {
        std::int64_t next = 0;
        for (const int from : sources(to)) {
            places[static_cast<std::size_t>(from)].push_back({to, next});
            next += entries(from);
        }
        if (next > std::numeric_limits<std::int32_t>::max())
            throw Error(fmt::format("relation '{}': too many values on patch {} of '{}'", name(), to,
                                    target().name()))
                .given(fmt::format("{}", next))
                .allowed("below 2^31")
                .remedy("collect them on more patches");
    }
    Gather::Table table(places.size());
    for (std::size_t p = 0; p < places.size(); ++p) {
        if (places[p].empty()) continue;
        const auto& [patch, first] = places[p][p * places[p].size() / places.size()];
        for (std::int64_t i = 0; i < entries(static_cast<int>(p)); ++i)
            table[p].push_back({patch, static_cast<std::int32_t>(first + i)});
    }
    return table;
}

}  // namespace strata::graph
