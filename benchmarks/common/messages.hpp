// Messages that are on their way while their processes compute.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <stdexcept>

#include "benchmarks/common/buffer.hpp"

namespace strata::bench {

/// A message that was begun, until it was found done.
struct Message {
    int peer = 0;
    bool outgoing = false;
    std::uint32_t number = 0;
    std::span<double> into{};
};

/// One process's messages. Those from one process to another stay in order; who receives several from one
/// process finds them done in the order in which it began to receive. A process alone has nobody to write to.
class Messages {
  public:
    Messages() = default;
    virtual ~Messages() = default;
    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;

    /// What is sent must lie in memory() and stay as it is until the message is done.
    [[nodiscard]] virtual Message begin_send(int to, std::span<const double> data) {
        (void)to, (void)data;
        throw std::logic_error("a message to nobody");
    }
    [[nodiscard]] virtual Message begin_receive(int from, std::span<double> data) {
        (void)from, (void)data;
        throw std::logic_error("a message from nobody");
    }
    /// Whether it has gone or come; not to be asked again once it has.
    [[nodiscard]] virtual bool done(const Message& message) {
        (void)message;
        return true;
    }
    /// Waits until it has.
    virtual void finish(const Message& message) { (void)message; }

    /// Memory from which this process sends, for as long as this object lives. Its pages are there already:
    /// no first message waits for them.
    [[nodiscard]] std::span<double> memory(std::size_t count) {
        const std::span<double> fresh = allocate(count);
        std::fill(fresh.begin(), fresh.end(), 0.0);
        return fresh;
    }

    void send(int to, std::span<const double> data) { finish(begin_send(to, data)); }
    void receive(int from, std::span<double> data) { finish(begin_receive(from, data)); }

  protected:
    [[nodiscard]] virtual std::span<double> allocate(std::size_t count) {
        return own_.emplace_back(count).span();
    }

  private:
    std::list<Array<double>> own_;
};

}  // namespace strata::bench
