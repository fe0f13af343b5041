#include "solvers/md/outside/groups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace strata::md {

std::optional<std::int32_t> Groups::bit(std::string_view name) const {
    if (name == "all") return 0;
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    return std::int32_t{1} << (found - names_.begin());
}

std::string Groups::add(std::string_view line) {
    const std::size_t colon = line.find(':');
    const auto name = words_of(line.substr(0, colon));
    if (colon == std::string_view::npos || name.size() != 1) return "no group is named";
    const auto bit_of_line = bit(name[0]);
    if (!bit_of_line || *bit_of_line == 0) return fmt::format("there is no group '{}'", name[0]);
    Line made{*bit_of_line, {}};
    std::vector<std::string_view> words = words_of(line.substr(colon + 1));
    for (;;) {
        const std::string first = words.empty() ? "" : std::string(words[0]);
        const auto next = term(words);
        if (!next) return fmt::format("'{}' begins no term", first);
        made.terms.push_back(*next);
        if (words.empty()) break;
        if (words[0] != "and") return fmt::format("'{}' is not \"and\"", words[0]);
        words.erase(words.begin());
    }
    lines_.push_back(std::move(made));
    return "";
}

std::optional<Groups::Term> Groups::term(std::vector<std::string_view>& words) const {
    Term made;
    std::size_t used = 0;
    const auto word = [&] { return used < words.size() ? words[used++] : std::string_view(); };
    const auto numbers = [&](std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) {
            const auto number = real_of(word());
            if (!number) return false;
            made.numbers[k] = *number;
        }
        return true;
    };
    std::string_view what = word();
    if (what == "not") made.negated = true, what = word();
    bool right = true;
    if (what == "all") {
        made.what = What::all;
    } else if (what == "kind") {
        made.what = What::kind;
        const auto kind = std::find(kinds_.begin(), kinds_.end(), word());
        right = kind != kinds_.end();
        made.from = kind - kinds_.begin();
    } else if (what == "id") {
        made.what = What::id;
        const auto from = whole_of(word());
        std::optional<std::int64_t> to = from;
        if (used < words.size() && words[used] == "to") ++used, to = whole_of(word());
        right = from && to && *from <= *to;
        if (right) made.from = *from, made.to = *to;
    } else if (what == "x" || what == "y" || what == "z") {
        const std::string_view sign = word();
        made.what = sign == "<" ? What::below : What::above;
        made.from = what[0] - 'x';
        right = (sign == "<" || sign == ">") && numbers(1);
    } else if (what == "box") {
        made.what = What::box;
        right = numbers(6);
        for (std::size_t a = 0; right && a < 3; ++a) right = made.numbers[2 * a] < made.numbers[2 * a + 1];
    } else if (what == "sphere") {
        made.what = What::sphere;
        right = numbers(4) && made.numbers[3] > 0;
    } else if (what == "group") {
        made.what = What::group;
        const auto other = bit(word());
        right = other && *other != 0;
        made.from = other.value_or(0);
    } else {
        right = false;
    }
    if (!right) return std::nullopt;
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(used));
    return made;
}

std::optional<std::string> Groups::empty() const {
    for (const std::string& name : names_)
        if (std::none_of(lines_.begin(), lines_.end(),
                         [&](const Line& line) { return line.bit == *bit(name); }))
            return name;
    return std::nullopt;
}

bool Groups::holds(const Term& term, std::int64_t id, std::int32_t kind, const std::array<double, 3>& x,
                   std::int32_t bits) {
    const auto at = static_cast<std::size_t>(term.from);
    const std::array<double, 6>& n = term.numbers;
    switch (term.what) {
        case What::all:
            return true;
        case What::kind:
            return kind == term.from;
        case What::id:
            return id >= term.from && id <= term.to;
        case What::below:
            return x[at] < n[0];
        case What::above:
            return x[at] > n[0];
        case What::box:
            return x[0] >= n[0] && x[0] < n[1] && x[1] >= n[2] && x[1] < n[3] && x[2] >= n[4] && x[2] < n[5];
        case What::sphere: {
            double square = 0;
            for (std::size_t a = 0; a < 3; ++a) square += (x[a] - n[a]) * (x[a] - n[a]);
            return square < n[3] * n[3];
        }
        case What::group:
            return (bits & term.from) != 0;
    }
    return false;
}

std::int32_t Groups::of(std::int64_t id, std::int32_t kind, const std::array<double, 3>& x,
                        std::int64_t* found) const {
    std::int32_t bits = 0;
    for (std::size_t k = 0; k < lines_.size(); ++k) {
        const Line& line = lines_[k];
        if (!std::all_of(line.terms.begin(), line.terms.end(),
                         [&](const Term& term) { return holds(term, id, kind, x, bits) != term.negated; }))
            continue;
        bits |= line.bit;
        if (found != nullptr) ++found[k];
    }
    return bits;
}

}  // namespace strata::md
