#include "core/graph/execute/waits.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/base/error.hpp"

namespace strata::graph {

namespace {

/// In flags. They may lie in memory of different processes.
std::int64_t distance(const Flag* from, const Flag* to) {
    return (reinterpret_cast<std::intptr_t>(to) - reinterpret_cast<std::intptr_t>(from)) /
           static_cast<std::int64_t>(sizeof(Flag));
}

[[noreturn]] void too_many(const char* what, std::size_t most) {
    throw Error(fmt::format("a program has too many {}", what), kFailure)
        .given(fmt::format("{}", most + 1))
        .allowed(fmt::format("{}", most));
}

}  // namespace

std::uint16_t Waits::round_of(const Wait& wait) {
    for (std::size_t i = rounds.size(); i-- > 0;)
        if (rounds[i].scope == wait.scope && rounds[i].lag == wait.lag) return static_cast<std::uint16_t>(i);
    constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    if (rounds.size() == most) too_many("scopes that operations wait for", most);
    rounds.push_back({wait.scope, wait.lag});
    return static_cast<std::uint16_t>(rounds.size() - 1);
}

void Waits::push_back(const Wait& wait) {
    using Near = std::numeric_limits<std::int32_t>;
    const std::uint16_t round = round_of(wait);
    for (std::size_t i = 0;; ++i) {
        if (i == std::numeric_limits<std::uint8_t>::max()) too_many("places of flags, 8 GiB apart", i);
        if (i == spaces.size()) spaces.push_back(wait.flag);
        const std::int64_t at = distance(spaces[i], wait.flag);
        if (at < Near::min() || at > Near::max()) continue;
        runs.push_back({static_cast<std::int32_t>(at), round, static_cast<std::uint8_t>(i), 1});
        return;
    }
}

bool Waits::extend(const Wait& wait) {
    Run& last = runs.back();
    const Round& round = rounds[last.round];
    if (last.count == std::numeric_limits<std::uint8_t>::max() || round.scope != wait.scope ||
        round.lag != wait.lag || flag(last) + last.count != wait.flag)
        return false;
    ++last.count;
    return true;
}

}  // namespace strata::graph
