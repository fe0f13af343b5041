// What the members of a team have to say, printed by one of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/team/team.hpp"

namespace strata::graph::testing {

/// A line for each of the patches that a member has; rank 0 prints those of all members, by rank.
inline void print_all(team::Team& team, const std::string& mine) {
    for (int rank = 0; rank < team.size(); ++rank) {
        std::string text = mine;
        std::uint64_t size = text.size();
        team.together().broadcast(std::span(&size, 1), rank);
        text.resize(size);
        team.together().broadcast(std::span(text.data(), text.size()), rank);
        if (team.rank() == 0) std::fputs(text.c_str(), stdout);
    }
    std::fflush(stdout);
}

/// In an order that does not depend on who has which patch.
inline std::string sorted_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    std::string sorted;
    for (const std::string& line : lines) sorted += line + "\n";
    return sorted;
}

}  // namespace strata::graph::testing
