#include "solvers/md/outside/walls.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace strata::md {

std::optional<Wall> Wall::of(const std::vector<std::string_view>& words) {
    constexpr std::array<const char*, 4> kForms{"lj126", "lj93", "harmonic", "reflect"};
    constexpr std::size_t kNumbers[] = {3, 3, 2, 0};
    if (words.size() < 2) return std::nullopt;
    const auto face = std::find(kFaces.begin(), kFaces.end(), words[0]);
    const auto form = std::find(kForms.begin(), kForms.end(), words[1]);
    if (face == kFaces.end() || form == kForms.end()) return std::nullopt;
    Wall wall;
    wall.face_ = static_cast<std::size_t>(face - kFaces.begin());
    const auto which = static_cast<std::size_t>(form - kForms.begin());
    wall.form_ = static_cast<Form>(which);
    std::vector<double> numbers;
    for (std::size_t w = 2; w < words.size(); ++w) {
        const auto number = real_of(words[w]);
        // epsilon may be 0, no other.
        if (!number || *number < 0 || (w > 2 && *number == 0)) return std::nullopt;
        numbers.push_back(*number);
    }
    if (numbers.size() != kNumbers[which]) return std::nullopt;
    if (numbers.empty()) return wall;
    wall.epsilon_ = numbers.front();
    wall.cutoff_ = numbers.back();
    if (wall.is_hard()) wall.sigma_ = numbers[1], wall.shift_ = wall.plain(wall.cutoff_).energy;
    return wall;
}

Wall::Value Wall::plain(double r) const {
    if (form_ == Form::harmonic)
        return {epsilon_ * (r - cutoff_) * (r - cutoff_), 2 * epsilon_ * (cutoff_ - r)};
    const double s = sigma_ / r, s3 = s * s * s;
    if (form_ == Form::lj126) {
        const double s6 = s3 * s3;
        return {4 * epsilon_ * s6 * (s6 - 1), 24 * epsilon_ / r * s6 * (2 * s6 - 1)};
    }
    const double s9 = s3 * s3 * s3;
    return {epsilon_ * (2.0 / 15 * s9 - s3), epsilon_ / r * (1.2 * s9 - 3 * s3)};
}

Wall::Value Wall::at(double r) const {
    if (r >= cutoff_) return {0, 0};
    Value value = plain(r);
    value.energy -= shift_;
    return value;
}

}  // namespace strata::md
