#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/team/team.hpp"

namespace strata::team {

/// Returns the text of member `rank` in all members. Collective.
[[nodiscard]] inline std::string text_from(Team& team, int rank, std::string mine) {
    std::uint64_t size = mine.size();
    team.together().broadcast(std::span(&size, 1), rank);
    mine.resize(size);
    team.together().broadcast(std::span(mine.data(), mine.size()), rank);
    return mine;
}

}  // namespace strata::team
