#include "benchmarks/hpcc/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"

namespace strata::bench::hpcc {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

}  // namespace

void fill(std::span<std::byte> message, std::uint64_t seed) {
    for (std::size_t i = 0; i < message.size(); i += kWord) {
        const std::uint64_t word = mixed(seed + i);
        std::memcpy(message.data() + i, &word, std::min(kWord, message.size() - i));
    }
}

std::uint64_t differences(std::span<const std::byte> message, std::uint64_t seed) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < message.size(); i += kWord) {
        const std::uint64_t word = mixed(seed + i);
        const std::size_t bytes = std::min(kWord, message.size() - i);
        if (std::memcmp(message.data() + i, &word, bytes) == 0) continue;
        const auto* expected = reinterpret_cast<const std::byte*>(&word);
        for (std::size_t b = 0; b < bytes; ++b) count += message[i + b] != expected[b];
    }
    return count;
}

long calls_for(double seconds, double seconds_per_call) {
    return static_cast<long>(std::clamp(seconds / std::max(seconds_per_call, 1e-9), 2.0, 1e5));
}

void require_two(const Group& group, const char* name) {
    if (group.size() >= 2) return;
    throw Error(fmt::format("{} needs at least 2 processes", name))
        .given("1 process")
        .allowed("2 processes or more")
        .remedy("--layout 2x1");
}

}  // namespace strata::bench::hpcc
