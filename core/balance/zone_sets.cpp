// Sets of zones as described in the papers: published figures are met, the rest is drawn at random.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/balance/zones.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace strata::balance {
namespace {

constexpr double kBytesEachPoint = 5 * sizeof(double);  // the five conserved variables of compressible flow
constexpr double kFilled = 1.3;                         // volumes of all boxes over that of the cube
constexpr double kTwoPi = 6.283185307179586;

/// Random numbers in (0, 1). Not by the standard library: its distributions differ between implementations.
double uniform(std::mt19937_64& random) { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; }

double normal(std::mt19937_64& random) {
    const double radius = std::sqrt(-2 * std::log(uniform(random)));
    return radius * std::cos(kTwoPi * uniform(random));
}

std::vector<std::int64_t> draw_sizes(const ZoneSet& set, std::mt19937_64& random) {
    std::vector<double> logs;
    for (int i = 0; i < set.zones; ++i) logs.push_back(set.spread * normal(random));
    // The largest and the smallest draw become the published extremes.
    const auto top = std::max_element(logs.begin(), logs.end()) - logs.begin();
    const auto bottom = std::min_element(logs.begin(), logs.end()) - logs.begin();
    const auto sizes_at = [&](double centre) {
        std::vector<std::int64_t> sizes;
        for (const double value : logs) {
            const double size = std::clamp(std::exp(centre + value), double(set.least), double(set.most));
            sizes.push_back(std::llround(size));
        }
        sizes[static_cast<size_t>(bottom)] = set.least;
        sizes[static_cast<size_t>(top)] = set.most;
        return sizes;
    };
    const auto total = [](const std::vector<std::int64_t>& sizes) {
        return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    };
    const double reach = 40 * (1 + set.spread);  // far: at the ends all sizes are least, or all are most
    double low = std::log(double(set.least)) - reach, high = std::log(double(set.most)) + reach;
    for (int i = 0; i < 100; ++i) {
        const double middle = 0.5 * (low + high);
        (total(sizes_at(middle)) < set.points ? low : high) = middle;
    }
    std::vector<std::int64_t> sizes = sizes_at(low);
    // The remainder of rounding is spread over the zones between the extremes.
    std::int64_t missing = set.points - total(sizes);
    for (bool changed = true; missing != 0 && changed;) {
        changed = false;
        for (size_t i = 0; i < sizes.size() && missing != 0; ++i) {
            const std::int64_t step = missing > 0 ? 1 : -1;
            if (static_cast<long>(i) == top || static_cast<long>(i) == bottom || sizes[i] + step > set.most ||
                sizes[i] + step < set.least)
                continue;
            sizes[i] += step;
            missing -= step;
            changed = true;
        }
    }
    return sizes;
}

/// A box of this volume, at a random place in the unit cube, with sides that differ by up to a factor of two.
Box place(double volume, std::mt19937_64& random) {
    Point sides{};
    double product = 1;
    for (double& side : sides) product *= side = std::exp2(uniform(random));
    Box box{};
    for (size_t d = 0; d < 3; ++d) {
        const double side = std::min(1.0, sides[d] * std::cbrt(volume / product));
        box.low[d] = (1 - side) * uniform(random);
        box.high[d] = box.low[d] + side;
    }
    return box;
}

/// Bytes for the points on the surface of the common part of two boxes, at the density of the coarser one.
double bytes_in_common(const Box& a, const Box& b, double density) {
    Point side{};
    for (size_t d = 0; d < 3; ++d) side[d] = std::min(a.high[d], b.high[d]) - std::max(a.low[d], b.low[d]);
    const double surface = 2 * (side[0] * side[1] + side[1] * side[2] + side[2] * side[0]);
    return std::floor(kBytesEachPoint * surface * std::pow(density, 2.0 / 3.0));
}

}  // namespace

const std::vector<ZoneSet>& published_sets() {
    static const std::vector<ZoneSet> sets = {
        {"origin2000", 160, 35'000'000, 11'000, 1'400'000, 1.0,
         "OVERFLOW-MLP's transport aircraft (Ciotti, Taft, Petersohn 2000): zones, points, least and most as "
         "published"},
        {"overflow-d", 1679, 75'000'000, 2'000, 600'000, 1.0,
         "OVERFLOW-D's hovering rotors (Biswas et al. 2005): zones and points as published, least and most "
         "assumed"},
        {"ins3d", 267, 66'000'000, 20'000, 1'500'000, 0.9,
         "INS3D's fuel pump (Biswas et al. 2005): zones and points as published, least and most assumed"}};
    return sets;
}

ZoneSet find_set(std::string_view text) {
    std::string names;
    for (const ZoneSet& set : published_sets()) {
        if (set.name == text) return set;
        names += set.name + ", ";
    }
    std::vector<double> numbers;
    for (const std::string_view part : split(text, ':'))
        numbers.push_back(std::floor(parse_number<double>(part, 1, 1e15).value_or(0)));
    const bool sound = numbers.size() == 4 &&
                       std::find(numbers.begin(), numbers.end(), 0.0) == numbers.end() && numbers[0] >= 2 &&
                       numbers[0] <= 1e7 && numbers[2] <= numbers[3];
    // Both extremes occur, and the others lie between them.
    if (!sound || numbers[1] < numbers[2] * (numbers[0] - 1) + numbers[3] ||
        numbers[1] > numbers[3] * (numbers[0] - 1) + numbers[2])
        throw Error("there is no such set of zones, and it cannot be made")
            .given(std::string(text))
            .allowed(names + "or ZONES:POINTS:LEAST:MOST that can be met, such as 160:35e6:11e3:1.4e6");
    return {std::string(text),
            static_cast<int>(numbers[0]),
            static_cast<std::int64_t>(numbers[1]),
            static_cast<std::int64_t>(numbers[2]),
            static_cast<std::int64_t>(numbers[3]),
            1.0,
            "zones, points, least and most as given"};
}

Zones generate(const ZoneSet& set, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Zones zones;
    zones.generated = true;
    zones.source = fmt::format("generated: {}, seed {}; {}; sizes are log-normal, places random", set.name,
                               seed, set.about);
    const std::vector<std::int64_t> sizes = draw_sizes(set, random);
    const int digits = static_cast<int>(fmt::format("{}", set.zones).size());
    std::vector<Box> boxes;
    for (size_t i = 0; i < sizes.size(); ++i) {
        const auto points = static_cast<double>(sizes[i]);
        zones.names.push_back(fmt::format("zone{:0{}}", i + 1, digits));
        zones.problem.costs.push_back(points);
        boxes.push_back(place(kFilled * points / static_cast<double>(set.points), random));
        Point centre{};
        for (size_t d = 0; d < 3; ++d) centre[d] = 0.5 * (boxes[i].low[d] + boxes[i].high[d]);
        zones.problem.centres.push_back(centre);
    }
    zones.problem.exchanged = overlaps(boxes);
    const double density = static_cast<double>(set.points) / kFilled;
    for (Exchanged& e : zones.problem.exchanged)
        e.bytes = bytes_in_common(boxes[static_cast<size_t>(e.a)], boxes[static_cast<size_t>(e.b)], density);
    return zones;
}

}  // namespace strata::balance
