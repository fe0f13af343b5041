// Messages from member to member over the network: what a program that lays out its own communication needs,
// beside what all do together (collectives.hpp). Members of one node have the arena instead.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace strata::team {

/// Of one member, for the thread that started its team. Messages of the same two members and tag come in the
/// order in which they were sent. What waits, and done(), throw MemberLost once a member is gone.
class Messages {
  public:
    /// A message under way.
    using Request = int;
    static constexpr Request kNone = -1;
    /// Tags are 0 to this.
    static constexpr int kLastTag = 32766;

    virtual ~Messages() = default;
    /// The data must stay as they are until it is done(). At most 2 GiB - 1. Throws Error for more.
    [[nodiscard]] virtual Request send(int to, int tag, std::span<const std::byte> data) = 0;
    /// The message must be as long as the room for it. Throws Error (here or in done()) where it is longer.
    [[nodiscard]] virtual Request receive(int from, int tag, std::span<std::byte> room) = 0;
    /// Whether it has been sent (the data may be written again), or has come; then `request` is kNone. That
    /// of no message is true.
    [[nodiscard]] virtual bool done(Request& request) = 0;
    /// Until it is done.
    virtual void wait(Request& request) = 0;
    /// Ends a receive for which nothing was sent, nor will be.
    virtual void cancel(Request& request) = 0;
    /// Bytes of the next message of that member and tag, if it has come.
    [[nodiscard]] virtual std::optional<std::size_t> arriving(int from, int tag) = 0;
    /// Collective over all members: [member] -> what it is to have; returns [member] -> what it had for us.
    [[nodiscard]] virtual std::vector<std::vector<std::byte>> exchange(
        const std::vector<std::vector<std::byte>>& to) = 0;
};

}  // namespace strata::team
