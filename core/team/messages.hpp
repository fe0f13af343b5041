// Messages from member to member over the network: for programs with communication patterns of their own,
// beside the collective operations (collectives.hpp). Members of one node have the arena instead.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace strata::team {

/// One member's messages, for the thread that started its team. Messages of the same two members and tag
/// arrive in the order in which they were sent. All waits, and done(), throw MemberLost once a member is
/// gone.
class Messages {
  public:
    /// A message under way.
    using Request = int;
    static constexpr Request kNone = -1;
    /// Tags are 0 to this.
    static constexpr int kLastTag = 32766;

    virtual ~Messages() = default;
    /// The data must not change until the request is done. At most 2 GiB - 1. Throws Error for more.
    [[nodiscard]] virtual Request send(int to, int tag, std::span<const std::byte> data) = 0;
    /// The message may be at most as long as `room`. Throws Error (here or in done()) where it is longer.
    [[nodiscard]] virtual Request receive(int from, int tag, std::span<std::byte> room) = 0;
    /// Whether the message has been sent (its data may be written again) or received; then `request` becomes
    /// kNone. True for kNone.
    [[nodiscard]] virtual bool done(Request& request) = 0;
    /// Waits until the request is done.
    virtual void wait(Request& request) = 0;
    /// Moves on what is sent and received: MPI moves a long message only while both ends call it. To be
    /// called now and then by a member that waits for something else than a message.
    virtual void progress() {}
    /// Waits until all that was sent has left. To be called before a member waits elsewhere for long.
    virtual void finish_sending() {}
    /// Ends a receive without a matching message, now or later.
    virtual void cancel(Request& request) = 0;
    /// The size in bytes of the next message of that member and tag, if it has arrived.
    [[nodiscard]] virtual std::optional<std::size_t> arriving(int from, int tag) = 0;
    /// Collective over all members. `to`: [member] -> the bytes for it. Returns [member] -> its bytes for
    /// this member.
    [[nodiscard]] virtual std::vector<std::vector<std::byte>> exchange(
        const std::vector<std::vector<std::byte>>& to) = 0;
};

}  // namespace strata::team
