#include "benchmarks/team/channels.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace strata::bench::team_layer {
namespace {

/// Whether a count that only grows, modulo 2^32, has come to `least`.
bool reached(std::uint32_t count, std::uint32_t least) {
    return static_cast<std::int32_t>(count - least) >= 0;
}

}  // namespace

ChannelMessages::ChannelMessages(std::span<Channel> channels, int rank, int size,
                                 const team::Patience& patience, Allocate allocate)
    : channels_(channels),
      rank_(rank),
      size_(size),
      patience_(patience),
      allocate_(std::move(allocate)),
      sent_(static_cast<std::size_t>(size)),
      received_(static_cast<std::size_t>(size)) {}

Channel& ChannelMessages::channel(int from, int to) const {
    return channels_[static_cast<std::size_t>(from) * static_cast<std::size_t>(size_) +
                     static_cast<std::size_t>(to)];
}

Message ChannelMessages::begin_send(int to, std::span<const double> data) {
    Channel& way = channel(rank_, to);
    const std::uint32_t number = sent_[static_cast<std::size_t>(to)]++;
    team::wait_until(
        way.taken, [&](std::uint32_t taken) { return reached(taken + Channel::kOpen, number + 1); },
        patience_);
    way.posts[number % Channel::kOpen] = {data.data(), data.size()};
    team::publish(way.posted, number + 1);
    return {to, true, number};
}

Message ChannelMessages::begin_receive(int from, std::span<double> data) {
    return {from, false, received_[static_cast<std::size_t>(from)]++, data};
}

void ChannelMessages::take(const Message& message) {
    Channel& way = channel(message.peer, rank_);
    const Channel::Post& post = way.posts[message.number % Channel::kOpen];
    if (post.count != message.into.size() || way.taken.value.load() != message.number)
        throw std::logic_error("a message of another size or out of turn");
    std::copy_n(post.data, post.count, message.into.data());
    team::publish(way.taken, message.number + 1);
}

bool ChannelMessages::done(const Message& message) {
    Channel& way = message.outgoing ? channel(rank_, message.peer) : channel(message.peer, rank_);
    const team::Word& word = message.outgoing ? way.taken : way.posted;
    if (!reached(word.value.load(std::memory_order_acquire), message.number + 1)) return false;
    if (!message.outgoing) take(message);
    return true;
}

void ChannelMessages::finish(const Message& message) {
    Channel& way = message.outgoing ? channel(rank_, message.peer) : channel(message.peer, rank_);
    team::wait_until(
        message.outgoing ? way.taken : way.posted,
        [&](std::uint32_t count) { return reached(count, message.number + 1); }, patience_);
    if (!message.outgoing) take(message);
}

}  // namespace strata::bench::team_layer
