// The words in shared memory by which the members of a team learn that one of them is gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace strata::team {

/// Two cache lines: processors fetch lines in pairs, so two members' words in one pair would still disturb
/// each other.
inline constexpr std::size_t kApart = 128;

/// Thrown by every wait once a member is gone. The message names the member and the way it ended.
class MemberLost : public Error {
  public:
    MemberLost(int member, std::string message) : Error(std::move(message), kFailure), member_(member) {}
    [[nodiscard]] int member() const { return member_; }

  private:
    int member_;
};

/// The word that every wait polls, and the member that it is about. Lies in memory that all members share,
/// starts as zeros. Written by the process that watches the members (the team's parent; their keepers under
/// mpirun; a test). Only the first call counts.
class Failure {
  public:
    /// Tells all members that one is gone, e.g. tell(3, 4711, "was killed by SIGKILL"). Returns false,
    /// without effect, after the first time.
    bool tell(int member, int pid, std::string_view how) noexcept;
    [[nodiscard]] bool told() const noexcept { return told_.load(std::memory_order_acquire) == kTold; }
    /// Throws MemberLost if a member is gone.
    void check() const {
        if (told()) raise();
    }
    /// "member 3 (process 4711) was killed by SIGKILL"; empty while all is well.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] int member() const noexcept { return member_; }

  private:
    [[noreturn]] void raise() const;

    static constexpr std::uint32_t kTelling = 1, kTold = 2;

    alignas(kApart) std::atomic<std::uint32_t> told_{0};
    std::int32_t member_ = 0, pid_ = 0;
    char how_[kApart * 3 - 12] = {};
};

/// The members that have left the team in good order, with their number of barriers: a wait in a later
/// barrier would never end. Lies in shared memory, starts as zeros; the marks of the members follow it.
class Departures {
  public:
    [[nodiscard]] static std::size_t bytes(int members) {
        return sizeof(Departures) + sizeof(Mark) * static_cast<std::size_t>(members);
    }
    /// Members are numbered from 0 here; messages give their number in the whole team.
    void number_from(int first_rank) noexcept { first_ = first_rank; }
    void leave(int member, std::uint32_t barriers) noexcept;
    /// The number of members that have left.
    [[nodiscard]] int count() const noexcept { return static_cast<int>(count_.load()); }
    [[nodiscard]] bool left(int member) const noexcept { return marks()[member].left.load() != 0; }
    /// Throws MemberLost when a member has left before it came to barrier number `barrier` (from 1).
    void check(std::uint32_t barrier, int members) const;

  private:
    struct Mark {
        std::atomic<std::uint32_t> left{0};
        std::uint32_t barriers = 0;
    };
    [[nodiscard]] Mark* marks() noexcept { return reinterpret_cast<Mark*>(this + 1); }
    [[nodiscard]] const Mark* marks() const noexcept { return reinterpret_cast<const Mark*>(this + 1); }

    alignas(kApart) std::atomic<std::uint32_t> count_{0};
    std::int32_t first_ = 0;
};

}  // namespace strata::team
