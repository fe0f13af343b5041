#include "report.hpp"

#include <algorithm>
#include <cstring>

namespace inject {

namespace {

constexpr std::size_t kKind = 0, kKernel = 4, kEpoch = 8, kPlace = 12, kWrong = 28, kDamaged = 29, kSeed = 32,
                      kDigest = 56;

constexpr std::uint32_t kGivenUp = 2;

template <class T>
T at(const std::string& report, std::size_t offset) {
    T value{};
    if (offset + sizeof value <= report.size()) std::memcpy(&value, report.data() + offset, sizeof value);
    return value;
}

bool is_text(const std::string& report) { return report.size() <= kDigest + 8; }

std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> turn(const std::string& report) {
    return {at<std::uint32_t>(report, kKernel), at<std::uint32_t>(report, kEpoch),
            at<std::uint32_t>(report, kPlace)};
}

std::pair<std::uint64_t, std::uint64_t> answer(const std::string& report) {
    return {at<std::uint64_t>(report, kSeed), at<std::uint64_t>(report, kDigest)};
}

}  // namespace

void Reports::learn(const std::vector<std::string>& reports) {
    for (const std::string& one : reports)
        if (!is_text(one)) known_.emplace(turn(one), answer(one));
}

bool Reports::finding(const std::vector<std::string>& reports) const {
    return std::ranges::any_of(reports, [&](const std::string& one) {
        if (is_text(one)) return one.find("finding") != std::string::npos;
        if (at<std::uint32_t>(one, kKind) == kGivenUp) return true;  // nobody stops rounds here
        if (at<bool>(one, kWrong) || at<bool>(one, kDamaged)) return true;
        const auto known = known_.find(turn(one));
        return known != known_.end() && known->second != answer(one);
    });
}

bool Reports::have_digests(const std::vector<std::string>& reports) {
    return std::ranges::none_of(reports, is_text);
}

bool Reports::unknown(const std::vector<std::string>& reports) const {
    return std::ranges::any_of(
        reports, [&](const std::string& one) { return !is_text(one) && !known_.contains(turn(one)); });
}

}  // namespace inject
