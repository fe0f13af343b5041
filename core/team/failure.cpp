#include "core/team/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace strata::team {

bool Failure::tell(int member, int pid, std::string_view how) noexcept {
    std::uint32_t nobody = 0;
    if (!told_.compare_exchange_strong(nobody, kTelling)) return false;
    member_ = member;
    pid_ = pid;
    const std::size_t length = std::min(how.size(), sizeof how_ - 1);
    std::memcpy(how_, how.data(), length);
    how_[length] = '\0';
    told_.store(kTold, std::memory_order_release);
    return true;
}

std::string Failure::text() const {
    if (!told()) return "";
    return pid_ > 0 ? fmt::format("member {} (process {}) {}", member_, pid_, how_)
                    : fmt::format("member {} {}", member_, how_);
}

void Failure::raise() const { throw MemberLost(member_, text()); }

void Departures::leave(int member, std::uint32_t barriers) noexcept {
    Mark& mark = marks()[member];
    mark.barriers = barriers;
    mark.left.store(1);
    count_.fetch_add(1);
}

void Departures::check(std::uint32_t barrier, int members) const {
    if (count_.load() == 0) return;
    for (int member = 0; member < members; ++member) {
        const Mark& mark = marks()[member];
        // Numbers of barriers wrap around, so their difference is compared.
        if (mark.left.load() == 0 || static_cast<std::int32_t>(mark.barriers - barrier) >= 0) continue;
        throw MemberLost(first_ + member,
                         fmt::format("member {} left the team after {} barriers; barrier {} waits for "
                                     "it in vain",
                                     first_ + member, mark.barriers, barrier));
    }
}

}  // namespace strata::team
