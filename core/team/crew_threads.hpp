// The threads of a Crew: their creation, their calls into regions, their end.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "core/team/crew.hpp"

namespace strata::team {

class CrewThreads {
  public:
    CrewThreads(const CrewTable& table, int member, const std::vector<std::vector<int>>& pus,
                const Patience& patience);
    ~CrewThreads();
    CrewThreads(const CrewThreads&) = delete;
    CrewThreads& operator=(const CrewThreads&) = delete;

    void run(CrewTask task, void* held);
    void prepare();
    int lend_to_openmp();
    /// Wakes the threads that are to have these places, where no thread is awake.
    void send(const std::vector<int>& places);

  private:
    struct Worker {
        std::thread thread;
        std::exception_ptr thrown;
        std::atomic<bool> gone{false};
    };
    /// A region. Each called thread reads it once, when `sequence` is that region's number.
    struct Region {
        alignas(kApart) std::atomic<std::uint32_t> sequence{0};
        CrewTask task = nullptr;
        void* held = nullptr;
        int threads = 1;
    };

    // For the leader.
    [[nodiscard]] bool leads() const;
    void refresh();
    void make(const std::vector<int>& places);
    [[nodiscard]] bool claim(int place, PlaceWord::State state, int number);
    void join(int place);
    [[nodiscard]] std::uint32_t next_sequence() const {
        return (region_.sequence.load(std::memory_order_relaxed) + 1) % PlaceWord::kSequences;
    }
    void give_back_lent(bool all);
    // For a place's thread.
    void live(int place, Worker& worker);
    [[nodiscard]] bool wait_for_work(std::atomic<std::uint64_t>& word, int place, PlaceWord& seen);
    void work(int place, const PlaceWord& seen, Worker& worker);
    // For both.
    bool leave(std::atomic<std::uint64_t>& word, int place, std::uint64_t& bits);
    [[nodiscard]] bool look(const std::atomic<std::uint64_t>& word, std::uint64_t bits) const;

    CrewTable table_;
    int member_;
    std::uint32_t me_;
    const std::vector<std::vector<int>>& pus_;
    Patience patience_;
    const void* leader_;
    std::uint32_t seen_changes_ = 0;
    bool fresh_ = true;
    std::vector<int> own_, claimed_, asleep_, lent_;
    std::vector<std::unique_ptr<Worker>> workers_;  // [place]; null: not made yet
    std::vector<int> bound_for_openmp_;             // places that OpenMP's threads are bound to
    Region region_;
    alignas(kApart) std::atomic<bool> ending_{false};
    std::atomic<bool> thrown_{false};
};

}  // namespace strata::team
