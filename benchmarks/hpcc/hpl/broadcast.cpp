#include "benchmarks/hpcc/hpl/broadcast.hpp"

namespace strata::bench::hpcc::linpack {

void PanelBroadcast::begin(int slot, std::span<double> message, int owner) {
    slot_ = slot;
    owner_ = owner;
    message_ = message;
    steps_ = (grid_.column - owner + grid_.columns) % grid_.columns;
    if (steps_ == 0) return send_on();
    coming_ = messages_.begin_receive(rank(steps_ == 2 ? 0 : steps_ - 1), message);
}

void PanelBroadcast::send_on() {
    const auto to = [&](int steps) {
        if (steps < grid_.columns)
            going_[static_cast<std::size_t>(slot_)].push_back(messages_.begin_send(rank(steps), message_));
    };
    if (steps_ == 0) {
        to(1);
        to(2);
    } else if (steps_ > 1) {
        to(steps_ + 1);
    }
}

void PanelBroadcast::poll() {
    // To ask for what goes lets the library move it.
    for (auto& going : going_)
        std::erase_if(going, [&](const Message& message) { return messages_.done(message); });
    if (!coming_ || !messages_.done(*coming_)) return;
    coming_.reset();
    send_on();
}

void PanelBroadcast::arrive() {
    if (!coming_) return;
    messages_.finish(*coming_);
    coming_.reset();
    send_on();
}

void PanelBroadcast::free(int slot) {
    for (const Message& message : going_[static_cast<std::size_t>(slot)]) messages_.finish(message);
    going_[static_cast<std::size_t>(slot)].clear();
}

}  // namespace strata::bench::hpcc::linpack
