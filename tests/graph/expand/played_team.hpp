// Threads that play the processes of a team, for plans: each has a Plan of its own, and those that play one
// node share an arena. So plans over several nodes can be made and compared in one test, without MPI. Nothing
// can be sent or run, since plans need no more than meetings and Messages::exchange().
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "core/graph/expand/assign/members.hpp"
#include "core/team/arena.hpp"
#include "core/team/messages.hpp"

namespace strata::tests {

class PlayedTeam {
  public:
    /// So many processes on so many nodes, each of which has about as many of them as the others. `played`:
    /// the first so many nodes are played; the others exist, but need nothing of them.
    PlayedTeam(int processes, int nodes, int played)
        : processes_(processes), posted_(static_cast<std::size_t>(processes)) {
        for (int node = 0; node <= nodes; ++node)
            firsts_.push_back(static_cast<int>(std::int64_t{node} * processes / nodes));
        for (int node = 0; node < played; ++node) arenas_.push_back(team::Arena::create(kArena));
        played_ = firsts_[static_cast<std::size_t>(played)];
    }
    PlayedTeam(int processes, int nodes) : PlayedTeam(processes, nodes, nodes) {}

    /// Calls body(members) for each process, in a thread of its own. Throws the first error of any.
    void run(const std::function<void(const graph::Members&)>& body) {
        std::vector<std::thread> threads;
        error_ = nullptr;
        for (int rank = 0; rank < played_; ++rank)
            threads.emplace_back([&, rank] {
                try {
                    Exchange messages(*this, rank);
                    body(members_of(rank, messages));
                } catch (...) {
                    fail(std::current_exception());
                }
            });
        for (std::thread& thread : threads) thread.join();
        waiting_ = 0;
        if (error_) std::rethrow_exception(error_);
    }

  private:
    static constexpr std::uint64_t kArena = std::uint64_t{1} << 33;  // bytes of address space
    using Bytes = std::vector<std::byte>;

    class Exchange final : public team::Messages {
      public:
        Exchange(PlayedTeam& team, int rank) : team_(team), rank_(static_cast<std::size_t>(rank)) {}
        Request send(int, int, std::span<const std::byte>) override { throw nothing_runs(); }
        Request receive(int, int, std::span<std::byte>) override { throw nothing_runs(); }
        std::optional<std::size_t> arriving(int, int) override { throw nothing_runs(); }
        bool done(Request&) override { return true; }
        void wait(Request&) override {}
        void cancel(Request&) override {}
        std::vector<Bytes> exchange(const std::vector<Bytes>& to) override {
            team_.posted_[rank_] = &to;
            team_.meet();
            std::vector<Bytes> had;
            for (const std::vector<Bytes>* from : team_.posted_)
                had.push_back(from == nullptr ? Bytes() : (*from)[rank_]);
            team_.meet();
            return had;
        }

      private:
        static std::logic_error nothing_runs() { return std::logic_error("nothing runs on a played team"); }
        PlayedTeam& team_;
        std::size_t rank_;
    };

    graph::Members members_of(int rank, Exchange& messages) {
        graph::Members members;
        members.rank = rank, members.size = processes_;
        members.firsts = firsts_;
        while (firsts_[static_cast<std::size_t>(members.node) + 1] <= rank) ++members.node;
        members.arena = &arenas_[static_cast<std::size_t>(members.node)];
        if (firsts_.size() > 2) members.messages = &messages;
        members.meet = [this] { meet(); };
        return members;
    }

    /// Waits for all, unless one of them has failed: that one does not come.
    void meet() {
        std::unique_lock lock(mutex_);
        const std::uint64_t round = round_;
        if (++waiting_ == played_) {
            waiting_ = 0, ++round_;
            all_.notify_all();
        }
        all_.wait(lock, [&] { return round_ != round || error_; });
        if (round_ == round) throw std::runtime_error("another process has failed");
    }
    void fail(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        all_.notify_all();
    }

    int processes_, played_ = 0;
    std::vector<int> firsts_;
    std::deque<team::Arena> arenas_;
    std::vector<const std::vector<Bytes>*> posted_;
    std::mutex mutex_;
    std::condition_variable all_;
    int waiting_ = 0;
    std::uint64_t round_ = 0;
    std::exception_ptr error_;
};

}  // namespace strata::tests
