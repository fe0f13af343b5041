#include "core/run/profile/measured.hpp"

#include <algorithm>
#include <utility>

namespace strata::graph {

namespace {

constexpr int kRehearsals = 201;

class Measured final : public Counting {
  public:
    Measured(std::vector<std::string> events, std::string from, Readings& (*of_this_thread)())
        : Counting(events.size()),
          events_(std::move(events)),
          from_(std::move(from)),
          of_this_thread_(of_this_thread) {}

    void follow(const Program& program, int threads) override {
        Counting::follow(program, threads);
        while (threads_.size() < static_cast<std::size_t>(threads))
            threads_.push_back(std::make_unique<One>());
    }
    void begin() override {}
    Counts end() override;
    void batch(int thread, void (*work)(void*), void* held) override;
    bool around(std::uint32_t op, int thread, bool (*part)(void*), void* held) override;

  private:
    struct alignas(128) One {
        Readings* readings = nullptr;
        std::int64_t batches = 0;
        std::vector<long long> now;    // [event]
        std::vector<double> overhead;  // [event]: difference of two readings in a row
    };
    void rehearse(One& one) const;

    std::vector<std::string> events_;
    std::string from_;
    Readings& (*of_this_thread_)();
    std::vector<std::unique_ptr<One>> threads_;
};

void Measured::rehearse(One& one) const {
    one.now.resize(events_.size());
    std::vector<std::vector<long long>> gaps(events_.size());
    for (int i = 0; i < kRehearsals; ++i) {
        one.readings->read(one.now.data());
        const std::vector<long long> before = one.now;
        one.readings->read(one.now.data());
        for (std::size_t e = 0; e < gaps.size(); ++e) gaps[e].push_back(one.now[e] - before[e]);
    }
    for (auto& of : gaps) {
        std::nth_element(of.begin(), of.begin() + kRehearsals / 2, of.end());
        one.overhead.push_back(static_cast<double>(of[kRehearsals / 2]));
    }
}

void Measured::batch(int thread, void (*work)(void*), void* held) {
    One& one = *threads_[static_cast<std::size_t>(thread)];
    one.readings = &of_this_thread_();  // a thread's number may change from batch to batch
    one.readings->start(events_);
    if (one.overhead.empty()) rehearse(one);
    Tally& mine = tally(thread);
    one.readings->read(one.now.data());
    for (std::size_t e = 0; e < events_.size(); ++e) mine.all[e] -= one.now[e];
    work(held);
    one.readings->read(one.now.data());
    for (std::size_t e = 0; e < events_.size(); ++e) mine.all[e] += one.now[e];
    ++one.batches;
}

bool Measured::around(std::uint32_t op, int thread, bool (*part)(void*), void* held) {
    One& one = *threads_[static_cast<std::size_t>(thread)];
    Tally& mine = tally(thread);
    const std::uint32_t at = slot(op);
    long long* const sums = mine.events.data() + at * events_.size();
    one.readings->read(one.now.data());
    for (std::size_t e = 0; e < events_.size(); ++e) sums[e] -= one.now[e];
    const bool done = part(held);
    one.readings->read(one.now.data());
    for (std::size_t e = 0; e < events_.size(); ++e) sums[e] += one.now[e];
    ++mine.readings[at];
    if (done) count_call(mine, op, at);
    return done;
}

Counts Measured::end() {
    Counts counts;
    counts.mode = "measured";
    counts.from = from_;
    counts.events = events_;
    counts.rows = rows();
    counts.runtime.resize(events_.size());
    for (std::size_t t = 0; t < tallies().size(); ++t) {
        const Tally& of = *tallies()[t];
        const One& one = *threads_[t];
        if (one.overhead.empty()) continue;  // this thread had no part in any batch
        for (std::size_t e = 0; e < events_.size(); ++e) {
            double between =
                static_cast<double>(of.all[e]) - static_cast<double>(one.batches) * one.overhead[e];
            for (std::size_t s = 0; s < counts.rows.size(); ++s) {
                const auto raw = static_cast<double>(of.events[s * events_.size() + e]);
                const double reading = static_cast<double>(of.readings[s]) * one.overhead[e];
                counts.rows[s].events[e] += raw - reading;
                // Two readings surround an operation. The cost of one falls inside, the cost of the other
                // outside.
                between -= raw + reading;
            }
            counts.runtime[e] += between;
        }
    }
    // The cost of readings varies, so an event that did not occur may come out slightly below zero.
    for (Counts::Row& row : counts.rows)
        for (double& value : row.events) value = std::max(0.0, value);
    for (double& value : counts.runtime) value = std::max(0.0, value);
    std::erase_if(counts.rows, [](const Counts::Row& row) { return row.calls == 0; });
    return counts;
}

}  // namespace

std::unique_ptr<Counting> make_measured_counting(std::vector<std::string> events, std::string from,
                                                 Readings& (*of_this_thread)()) {
    return std::make_unique<Measured>(std::move(events), std::move(from), of_this_thread);
}

}  // namespace strata::graph
