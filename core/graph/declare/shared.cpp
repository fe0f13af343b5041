#include "core/graph/declare/shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/counted.hpp"
#include "core/base/error.hpp"

namespace strata::graph {

namespace {

using Link = Shared::Link;

auto key(const Link& link) { return std::tuple(link.patch, link.entry, link.their_entry); }
bool less(const Link& a, const Link& b) { return key(a) < key(b); }

}  // namespace

Shared::Shared(std::string name, const Family& family, std::vector<std::vector<Link>> links)
    : Relation(std::move(name), family, family, Shape::list), links_(std::move(links)) {
    const auto refuse = [&](int patch, const Link& link, const char* why) {
        return Error(
            fmt::format("relation '{}' of '{}': entry {} of patch {} is shared with entry {} of patch {}, {}",
                        this->name(), family.name(), link.entry, patch, link.their_entry, link.patch, why));
    };
    if (links_.size() != static_cast<std::size_t>(family.patches()))
        throw Error(fmt::format("relation '{}' must say for each patch of '{}' what it shares", this->name(),
                                family.name()))
            .given(counted(static_cast<std::int64_t>(links_.size()), "list of links", "lists of links"))
            .allowed(fmt::format("{}, one a patch", family.patches()));
    for (std::vector<Link>& own : links_) std::sort(own.begin(), own.end(), less);
    for (int patch = 0; patch < family.patches(); ++patch) {
        const Link* before = nullptr;
        for (const Link& link : links_[static_cast<std::size_t>(patch)]) {
            if (link.patch < 0 || link.patch >= family.patches())
                throw refuse(patch, link, "which does not exist")
                    .allowed(fmt::format("patches 0 to {} of '{}'", family.patches() - 1, family.name()));
            if (link.patch == patch)
                throw refuse(patch, link, "which is the same patch").allowed("entries of other patches");
            if (link.entry < 0 || link.their_entry < 0)
                throw refuse(patch, link, "and there is no such entry").allowed("entries from 0 on");
            if (before != nullptr && key(*before) == key(link))
                throw refuse(patch, link, "twice").remedy("say each link once in the list of its patch");
            const std::vector<Link>& theirs = links_[static_cast<std::size_t>(link.patch)];
            if (!std::binary_search(theirs.begin(), theirs.end(), Link{link.their_entry, patch, link.entry},
                                    less))
                throw refuse(patch, link, "which does not have the link back")
                    .remedy("give each shared value a link from every patch that has it to every other");
            before = &link;
        }
    }
}

std::vector<Piece> Shared::pieces(int to, On /*on*/) const {
    std::vector<Piece> all;
    std::int64_t at = 0;
    for (const Link& link : links(to)) {
        if (all.empty() || all.back().from != link.patch) {
            all.emplace_back();
            all.back().from = link.patch;
            all.back().at = at;
        }
        all.back().entries.push_back(link.their_entry);
        ++at;
    }
    return all;
}

std::int64_t Shared::length(int to) const { return static_cast<std::int64_t>(links(to).size()); }

}  // namespace strata::graph
