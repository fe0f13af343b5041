#include "benchmarks/graph/peers.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif
#if __has_include(<taskflow/taskflow.hpp>)
#include <taskflow/taskflow.hpp>
#define HAVE_TASKFLOW
#endif
#if __has_include(<oneapi/tbb/flow_graph.h>)
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <oneapi/tbb/version.h>
#define HAVE_TBB
#endif

#include <fmt/format.h>

#include <deque>

#include "benchmarks/graph/chain.hpp"
#include "core/launch/bind.hpp"

namespace strata::bench::graph_layer {
namespace {

void task_of(std::int64_t work_steps) {
    if (work_steps > 0)
        work(work_steps);
    else
        asm volatile("");
}

/// Calls edge(from, to) for the patches of `task` that patch `to` needs of the task before.
template <class Edge>
void inputs(int task, int to, Edge edge) {
    for (int d = -1; d <= 1; ++d)
        if (to + d >= 0 && to + d < kPatches && (d == 0 || needs_neighbours(task))) edge(to + d);
}

#ifdef _OPENMP
/// OpenMP's threads stay where they once were bound.
void bind_openmp(const std::vector<int>& pus) {
#pragma omp parallel num_threads(static_cast <int>(pus.size()))
    launch::bind_to({pus[static_cast<std::size_t>(omp_get_thread_num())]});
}

class OpenmpDepend final : public Peer {
  public:
    explicit OpenmpDepend(const std::vector<int>& pus) : threads_(static_cast<int>(pus.size())) {
        bind_openmp(pus);
    }
    void run(int steps, std::int64_t work_steps) override {
        static char made[kTasks][kPatches + 2];
#pragma omp parallel num_threads(threads_)
#pragma omp single
        for (int step = 0; step < steps; ++step)
            for (int task = 0; task < kTasks; ++task) {
                [[maybe_unused]] const char* before = made[(task + kTasks - 1) % kTasks];
                [[maybe_unused]] char* now = made[task];
                for (int p = 1; p <= kPatches; ++p) {
                    if (needs_neighbours(task)) {
#pragma omp task depend(in                                                    \
                        : before[p - 1], before[p], before[p + 1]) depend(out \
                                                                          : now[p]) firstprivate(work_steps)
                        task_of(work_steps);
                    } else {
#pragma omp task depend(in : before[p]) depend(out : now[p]) firstprivate(work_steps)
                        task_of(work_steps);
                    }
                }
            }
    }

  private:
    int threads_;
};

/// No graph: a loop for each task, and a barrier where neighbours are needed.
class OpenmpLoops final : public Peer {
  public:
    explicit OpenmpLoops(const std::vector<int>& pus) : threads_(static_cast<int>(pus.size())) {
        bind_openmp(pus);
    }
    void run(int steps, std::int64_t work_steps) override {
#pragma omp parallel num_threads(threads_)
        for (int step = 0; step < steps; ++step)
            for (int task = 0; task < kTasks; ++task) {
                if (needs_neighbours(task)) {
#pragma omp barrier
                }
#pragma omp for schedule(static) nowait
                for (int p = 0; p < kPatches; ++p) task_of(work_steps);
            }
    }

  private:
    int threads_;
};
#endif

/// A graph of several steps: calls make() for each task, in order, and edge(from, to) with their numbers.
/// Going through a graph ends when all its tasks have; within one of several steps, a patch may be a step
/// ahead of another, as in ours. No edge keeps a task from overwriting what others still read: those above
/// imply that.
template <class Make, class Edge>
void unroll(int steps, Make make, Edge edge) {
    for (int stage = 0; stage < steps * kTasks; ++stage)
        for (int patch = 0; patch < kPatches; ++patch) {
            make();
            if (stage == 0) continue;
            inputs(stage % kTasks, patch, [&](int from) {
                edge(static_cast<std::size_t>((stage - 1) * kPatches + from),
                     static_cast<std::size_t>(stage * kPatches + patch));
            });
        }
}

#ifdef HAVE_TASKFLOW
class BindWorkers final : public tf::WorkerInterface {
  public:
    explicit BindWorkers(std::vector<int> pus) : pus_(std::move(pus)) {}
    void scheduler_prologue(tf::Worker& worker) override { launch::bind_to({pus_[worker.id()]}); }
    void scheduler_epilogue(tf::Worker&, std::exception_ptr) override {}

  private:
    std::vector<int> pus_;
};

template <int kSteps>
class Taskflow final : public Peer {
  public:
    explicit Taskflow(const std::vector<int>& pus)
        : executor_(pus.size(), tf::make_worker_interface<BindWorkers>(pus)) {
        std::vector<tf::Task> tasks;
        unroll(
            kSteps, [&] { tasks.push_back(flow_.emplace([this] { task_of(work_steps_); })); },
            [&](std::size_t from, std::size_t to) { tasks[from].precede(tasks[to]); });
    }
    void run(int steps, std::int64_t work_steps) override {
        work_steps_ = work_steps;
        executor_.run_n(flow_, static_cast<std::size_t>(steps / kSteps)).wait();
    }

  private:
    std::int64_t work_steps_ = 0;
    tf::Executor executor_;
    tf::Taskflow flow_;
};
#endif

#ifdef HAVE_TBB
template <int kSteps>
class Tbb final : public Peer {
  public:
    explicit Tbb(const std::vector<int>& pus)
        : limit_(tbb::global_control::max_allowed_parallelism, pus.size()),
          arena_(static_cast<int>(pus.size())),
          binding_(arena_, pus) {
        arena_.execute([&] {
            graph_ = std::make_unique<tbb::flow::graph>();
            unroll(
                kSteps,
                [&] {
                    nodes_.emplace_back(*graph_, [this](tbb::flow::continue_msg) { task_of(work_steps_); });
                },
                [&](std::size_t from, std::size_t to) { tbb::flow::make_edge(nodes_[from], nodes_[to]); });
        });
    }
    void run(int steps, std::int64_t work_steps) override {
        work_steps_ = work_steps;
        arena_.execute([&] {
            for (int step = 0; step < steps; step += kSteps) {
                for (std::size_t patch = 0; patch < kPatches; ++patch)
                    nodes_[patch].try_put(tbb::flow::continue_msg());
                graph_->wait_for_all();
            }
        });
    }

  private:
    class Binding final : public tbb::task_scheduler_observer {
      public:
        Binding(tbb::task_arena& arena, std::vector<int> pus)
            : tbb::task_scheduler_observer(arena), pus_(std::move(pus)) {
            observe(true);
        }
        ~Binding() override { observe(false); }
        void on_scheduler_entry(bool) override {
            const auto slot = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
            if (slot < pus_.size()) launch::bind_to({pus_[slot]});
        }

      private:
        std::vector<int> pus_;
    };
    std::int64_t work_steps_ = 0;
    tbb::global_control limit_;
    tbb::task_arena arena_;
    Binding binding_;
    std::unique_ptr<tbb::flow::graph> graph_;
    std::deque<tbb::flow::continue_node<tbb::flow::continue_msg>> nodes_;
};
#endif

template <class Kind>
PeerKind kind(std::string name) {
    return {std::move(name), [](const std::vector<int>& pus) { return std::make_unique<Kind>(pus); }};
}

}  // namespace

std::vector<PeerKind> peers() {
    std::vector<PeerKind> all;
#ifdef _OPENMP
    all.push_back(kind<OpenmpLoops>("OpenMP loops, static (no graph)"));
    all.push_back(kind<OpenmpDepend>("OpenMP tasks with depend"));
#endif
#ifdef HAVE_TASKFLOW
    const std::string taskflow =
        fmt::format("Taskflow {}.{}.{}", TF_VERSION / 100000, TF_VERSION / 100 % 1000, TF_VERSION % 100);
    all.push_back(kind<Taskflow<1>>(taskflow));
    all.push_back(kind<Taskflow<kStepsAtOnce>>(fmt::format("{}, {} steps a graph", taskflow, kStepsAtOnce)));
#endif
#ifdef HAVE_TBB
    const std::string tbb = fmt::format("oneTBB {}.{}", TBB_VERSION_MAJOR, TBB_VERSION_MINOR);
    all.push_back(kind<Tbb<1>>(tbb));
    all.push_back(kind<Tbb<kStepsAtOnce>>(fmt::format("{}, {} steps a graph", tbb, kStepsAtOnce)));
#endif
    return all;
}

}  // namespace strata::bench::graph_layer
