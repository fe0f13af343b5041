// Messages between processes that share memory: the sender says where its data lie, the receiver copies them
// from there. So each message is copied once and needs no place of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "benchmarks/common/messages.hpp"
#include "core/team/waiting.hpp"

namespace strata::bench::team_layer {

/// From one process to another; lies in memory that both share, as zeros in the beginning.
struct Channel {
    static constexpr std::uint32_t kOpen = 16;  // messages that may wait for their receiver
    struct Post {
        const double* data;
        std::size_t count;
    };
    team::Word posted, taken;  // how many, since the beginning
    Post posts[kOpen];
};

class ChannelMessages : public Messages {
  public:
    using Allocate = std::function<std::span<double>(std::size_t count)>;

    /// `channels`: [from * size + to]; `allocate` makes memory that all processes have at one address.
    ChannelMessages(std::span<Channel> channels, int rank, int size, const team::Patience& patience,
                    Allocate allocate);

    [[nodiscard]] Message begin_send(int to, std::span<const double> data) override;
    [[nodiscard]] Message begin_receive(int from, std::span<double> data) override;
    [[nodiscard]] bool done(const Message& message) override;
    void finish(const Message& message) override;

  protected:
    [[nodiscard]] std::span<double> allocate(std::size_t count) override { return allocate_(count); }

  private:
    [[nodiscard]] Channel& channel(int from, int to) const;
    void take(const Message& message);

    std::span<Channel> channels_;
    int rank_, size_;
    team::Patience patience_;
    Allocate allocate_;
    std::vector<std::uint32_t> sent_, received_;  // begun, by the other process
};

}  // namespace strata::bench::team_layer
