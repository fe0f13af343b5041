#include "report.hpp"

#include <cstring>

namespace inject {

namespace {

constexpr std::size_t kKernel = 4, kEpoch = 8, kPlace = 12, kWrong = 28, kDamaged = 29, kSeed = 32,
                      kDigest = 56;

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

void Reports::learn(const std::string& report) {
    if (!is_text(report)) known_.emplace(turn(report), answer(report));
}

bool Reports::finding(const std::string& report) const {
    if (is_text(report)) return report.find("finding") != std::string::npos;
    if (at<bool>(report, kWrong) || at<bool>(report, kDamaged)) return true;
    const auto known = known_.find(turn(report));
    return known != known_.end() && known->second != answer(report);
}

bool Reports::has_digest(const std::string& report) { return !is_text(report); }

bool Reports::unknown(const std::string& report) const {
    return !is_text(report) && !known_.contains(turn(report));
}

}  // namespace inject
