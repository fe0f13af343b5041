#include "core/graph/execute/executor.hpp"

#include <algorithm>
#include <thread>

#include "core/base/error.hpp"
#include "core/graph/execute/shared.hpp"
#include "core/graph/execute/thread.hpp"

namespace strata::graph {
namespace detail {

Shared::Shared(Program& of, const ExecutorOptions& with, int threads)
    : program(of),
      options(with),
      plan(of, threads, with.speaker),
      counts(static_cast<std::size_t>(plan.scopes)),
      usage(static_cast<std::size_t>(plan.threads)),
      rate(tick_rate()) {
    for (int thread = 0; thread < plan.threads && options.records > 0; ++thread)
        rings.push_back(std::make_unique<Ring>(options.records));
    if (plan.threads == 1) return;  // nobody looks at what follows
    const auto decisions = static_cast<std::size_t>(plan.decisions) + 1;
    const bool moldable =
        std::any_of(of.ops.begin(), of.ops.end(), [](const Op& op) { return op.threads > 1; });
    asked.reserve(static_cast<std::size_t>(plan.threads));
    for (int thread = 0; thread < plan.threads; ++thread) {
        positions.push_back(std::make_unique<ThreadPosition>(counts.size()));
        if (moldable) loops.push_back(std::make_unique<SharedLoop>());
        asked.emplace_back(decisions);
    }
    for (std::size_t i = 0; i < decisions; ++i) answers.push_back(std::make_unique<Answers>());
}

void Shared::fail(std::exception_ptr exception) {
    const std::lock_guard lock(mutex_);
    if (!thrown_) thrown_ = std::move(exception);
    attention.fetch_or(kEnded);
}

std::exception_ptr Shared::failed() {
    const std::lock_guard lock(mutex_);
    return thrown_;
}

}  // namespace detail

struct Executor::State {
    Program& program;
    ExecutorOptions options;
    team::Crew* crew;
    std::unique_ptr<detail::Shared> shared;

    /// Makes the plan for another number of threads; the counts of rounds stay.
    void prepare(int threads) {
        if (shared && shared->plan.threads == threads) return;
        auto next = std::make_unique<detail::Shared>(program, options, threads);
        const std::vector<Epoch>& before = shared ? shared->counts : options.counts;
        std::copy_n(before.begin(), std::min(before.size(), next->counts.size()), next->counts.begin());
        shared = std::move(next);
        if (options.meter != nullptr) options.meter->follow(program, threads);
    }

    /// Runs the work of all threads once. Returns false where the crew has another number of threads now.
    bool work(std::uint32_t steps, const Decision& go_on) {
        const int threads = shared->plan.threads;
        shared->finished.store(0);
        shared->steps = 0;
        const auto one = [&](int thread) {
            auto work = [&] { detail::Thread(*shared, thread).work(steps, go_on); };
            if (options.meter == nullptr) return work();
            options.meter->batch(
                thread, [](void* held) { (*static_cast<decltype(work)*>(held))(); }, &work);
        };
        if (crew != nullptr) {
            int came = threads;
            crew->parallel_region([&](int thread, int of) {
                if (of == threads)
                    one(thread);
                else if (thread == 0)
                    came = of;
            });
            if (came != threads) prepare(came);
            return came == threads;
        }
        std::vector<std::thread> others;
        try {
            for (int thread = 1; thread < threads; ++thread) others.emplace_back(one, thread);
        } catch (...) {
            shared->fail(std::current_exception());
        }
        one(0);
        for (std::thread& other : others) other.join();
        return true;
    }
};

Executor::Executor(Program& program, ExecutorOptions options, team::Crew* crew)
    : state_(std::make_unique<State>(State{program, std::move(options), crew, nullptr})) {
    state_->prepare(crew != nullptr ? crew->count() : program.threads);
}

Executor::~Executor() = default;

Batch Executor::run(std::uint32_t steps, const Decision& go_on) {
    if (state_->shared->failed())
        throw Error("a program that was ended by an error runs no further", kFailure)
            .remedy("read a checkpoint and begin anew");
    const std::uint64_t begin = ticks();
    if (state_->crew != nullptr) state_->prepare(state_->crew->count());
    while (!state_->work(steps, go_on)) {
    }
    detail::Shared& shared = *state_->shared;
    if (const std::exception_ptr thrown = shared.failed()) std::rethrow_exception(thrown);
    return {shared.steps, static_cast<double>(ticks() - begin) * shared.rate.seconds, shared.usage};
}

std::vector<Record> Executor::records(int thread) const {
    const detail::Shared& shared = *state_->shared;
    const auto at = static_cast<std::size_t>(thread);
    return at < shared.rings.size() ? shared.rings[at]->read(tick_rate()) : std::vector<Record>{};
}

int Executor::threads() const { return state_->shared->plan.threads; }

Epoch Executor::epoch(std::uint16_t scope) const { return state_->shared->counts.at(scope); }

}  // namespace strata::graph
