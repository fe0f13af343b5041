// The worker processes: started, stopped, continued, ended.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <sys/types.h>

#include "benchmarks/integrity/idle_group.hpp"
#include "benchmarks/integrity/kernel.hpp"
#include "benchmarks/integrity/places.hpp"
#include "benchmarks/integrity/settings.hpp"
#include "benchmarks/integrity/shared.hpp"

namespace strata::integrity {

struct Member {
    Place place;
    pid_t pid = -1;
    int reports = -1;
    bool stopped = false, given_up = false;
    int crashes = 0;
    double stopped_since_s = 0, stopped_s = 0, quiet_since_s = 0;
    std::uint64_t stops = 0;
};

class Crew {
  public:
    Crew(const Settings& settings, std::vector<Place> places, const IdleGroup* group);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    void start(int worker);
    /// All may begin.
    void go() { shared_->start = 1; }
    void stop(int worker, double now_s);
    void go_on(int worker, double now_s);
    void end(int worker);
    /// The next worker that has ended by itself, with its wait status.
    [[nodiscard]] std::optional<std::pair<int, int>> ended();
    /// The next report of a worker, where there is one.
    [[nodiscard]] bool report(int worker, Report& report);
    /// CPU time of a worker; 0 where it has ended.
    [[nodiscard]] double cpu_s(int worker) const;
    void give_memory_back();

    [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
    /// A kernel for two cores needs two workers.
    [[nodiscard]] bool can_run(const Kernel& kernel) const { return kernel.use != Use::pair || size() > 1; }
    [[nodiscard]] Member& member(int worker) { return members_[static_cast<std::size_t>(worker)]; }
    [[nodiscard]] const Member& member(int worker) const {
        return members_[static_cast<std::size_t>(worker)];
    }
    [[nodiscard]] Desk& desk(int worker) { return desks_[static_cast<std::size_t>(worker)]; }
    [[nodiscard]] Shared& shared() { return *shared_; }
    [[nodiscard]] const std::vector<Place>& places() const { return places_; }
    [[nodiscard]] bool is_free(int worker) {
        return !member(worker).given_up && !member(worker).stopped &&
               desk(worker).ordered == desk(worker).served;
    }
    /// Hands an order to a worker that is free.
    void order(int worker, const Order& order);

  private:
    const Settings& settings_;
    std::vector<Place> places_;
    const IdleGroup* group_;
    std::vector<Member> members_;
    Shared* shared_ = nullptr;
    std::span<Desk> desks_;
    std::span<std::byte> memory_;
};

}  // namespace strata::integrity
