#include "benchmarks/integrity/worker.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "core/base/error.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::integrity {
namespace {

/// How long a worker stays with a kernel: long enough that a switch costs nothing.
constexpr std::int64_t kTurnNs = 200'000'000;
/// New seeds come when their references take less than 1/20 of the time.
constexpr std::uint64_t kRoundsToReference = 20;

void rest(long milliseconds) {
    const timespec t{0, milliseconds * 1'000'000};
    nanosleep(&t, nullptr);
}

/// Where a byte lies in physical memory (root alone is told); 0 where that is not known.
std::uint64_t physical_address(const std::byte* at) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    std::uint64_t entry = 0;
    const bool read_it =
        pread(fd, &entry, sizeof entry, static_cast<off_t>(address / page * 8)) == sizeof entry;
    close(fd);
    const std::uint64_t frame = entry & ((std::uint64_t{1} << 55U) - 1);  // pagemap.rst
    return read_it && frame != 0 ? frame * page + address % page : 0;
}

class Worker {
  public:
    explicit Worker(const WorkerPart& part)
        : part_(part),
          shared_(*part.shared),
          desk_(desk_of(part.index)),
          scratch_(scratch_for_all()),
          done_(kMostKernels, 0) {}

    [[noreturn]] void go_round() {
        for (std::size_t turn = 0, idle = 0;; ++turn) {
            serve_all();
            if (part_.chosen.empty() || idle >= part_.chosen.size()) {
                begin(Doing::idle, desk_.kernel, desk_.seed);
                rest(5);
            }
            if (part_.chosen.empty()) continue;
            const std::uint32_t kernel = part_.chosen[turn % part_.chosen.size()];
            if (may_run(kernel)) {
                idle = 0;
                // What orders take is not the kernel's: else one that often follows an order would have short
                // turns.
                for (std::int64_t left = kTurnNs; left > 0 && may_run(kernel);) {
                    serve_all();
                    const std::int64_t before = own_cpu_ns();
                    next_round(kernel);
                    left -= own_cpu_ns() - before;
                }
            } else {
                ++idle;
            }
        }
    }

  private:
    [[nodiscard]] const Kernel& kernel_of(std::uint32_t kernel) const { return kernels()[kernel]; }

    [[nodiscard]] bool may_run(std::uint32_t kernel) const {
        const Use use = kernel_of(kernel).use;
        if (use == Use::pair) return false;  // by order alone
        if (use == Use::memory && shared_.memory_allowed.load(std::memory_order_relaxed) == 0) return false;
        return part_.rounds == 0 || done_[kernel] < part_.rounds;
    }

    void begin(Doing doing, std::uint32_t kernel, std::uint64_t seed) {
        desk_.kernel = kernel;
        desk_.seed = seed;
        desk_.began_cpu_ns = own_cpu_ns();
        desk_.doing = static_cast<std::uint32_t>(doing);
    }

    [[nodiscard]] Round round_of(std::uint64_t seed) const {
        Round round;
        round.seed = seed;
        round.scratch = scratch_;
        round.block = share_of(part_.memory, part_.index, part_.desks.size());
        round.abandon = &desk_.abandon;
        return round;
    }

    Trace reference(std::uint32_t kernel, const Round& round) {
        begin(Doing::reference, kernel, round.seed);
        const std::int64_t before = own_cpu_ns();
        Trace trace;
        Round calm = round;
        calm.abandon = nullptr;
        kernel_of(kernel).reference(calm, trace);
        shared_.reference_ns[kernel] += static_cast<std::uint64_t>(own_cpu_ns() - before);
        return trace;
    }

    /// The known answer of a seed, from another worker or from here.
    Answer answer(std::uint32_t kernel, std::uint32_t epoch, std::uint32_t k, const Round& round) {
        Known& known = shared_.known[kernel][epoch % 2][k][round.side];
        Answer answer;
        if (known.state.load(std::memory_order_acquire) == 2) {
            answer = known.answer;
            std::atomic_thread_fence(std::memory_order_acquire);
            if (known.state.load() == 2 && answer.seed == round.seed) return answer;
        }
        answer.one = reference(kernel, round);
        answer.two = answer.one;
        answer.seed = round.seed;
        answer.maker = part_.index;
        for (std::uint32_t from : {0U, 2U}) {
            if (!known.state.compare_exchange_strong(from, 1)) continue;
            if (from == 0 || known.answer.seed != round.seed) known.answer = answer;
            known.state.store(2, std::memory_order_release);
            break;
        }
        return answer;
    }

    void next_round(std::uint32_t kernel) {
        const std::uint32_t epoch = shared_.epoch[kernel].load();
        const auto k = static_cast<std::uint32_t>(done_[kernel] % kPool);
        const Round round = round_of(round_seed(part_.seed, kernel, epoch, k));
        const Answer right = answer(kernel, epoch, k, round);
        Report report;
        report.epoch = epoch;
        report.k = k;
        if (computed(kernel, round, right, report, part_.index)) {
            ++done_[kernel];
            renew(kernel, epoch, static_cast<std::uint64_t>(1e9 * report.cpu_s));
        }
        send(report);
    }

    /// One round, compared with its answer; false where it was abandoned. `owner` is whose memory is tested.
    bool computed(std::uint32_t kernel, const Round& round, const Answer& right, Report& report, int owner) {
        const bool tests_memory = kernel_of(kernel).use == Use::memory;
        report.kernel = kernel;
        report.seed = round.seed;
        if (tests_memory && !takes_memory(owner)) {
            report.kind = Report::Kind::abandoned;
            return false;
        }
        begin(Doing::round, kernel, round.seed);
        const std::uint32_t given_back = shared_.memory_given_back.load();
        Trace trace;
        const std::int64_t before = own_cpu_ns();
        const bool whole = kernel_of(kernel).run(round, trace);
        report.cpu_s = 1e-9 * static_cast<double>(own_cpu_ns() - before);
        if (tests_memory) desk_of(owner).block_user = -1;
        report.round = done_[kernel];
        report.side = round.side;
        report.maker = right.maker;
        report.work = trace.work();
        report.hash = trace.hash();
        report.answer_hash = right.one.hash();
        report.answer_damaged = right.two.hash() != report.answer_hash;
        report.wrong = report.hash != report.answer_hash || report.answer_damaged;
        if (!whole || (tests_memory && shared_.memory_given_back.load() != given_back)) {
            report.kind = Report::Kind::abandoned;
            return false;
        }
        if (report.wrong) {
            report.mismatch = difference(right.one, trace);
            if (report.mismatch.offset >= 0)
                report.physical = physical_address(round.block.data() + report.mismatch.offset);
        }
        return true;
    }

    [[nodiscard]] Desk& desk_of(int worker) const { return part_.desks[static_cast<std::size_t>(worker)]; }

    /// Waits until nobody else tests this memory: two would find each other's patterns.
    bool takes_memory(int owner) {
        for (std::int32_t nobody = -1;
             !desk_of(owner).block_user.compare_exchange_strong(nobody, part_.index); nobody = -1) {
            if (desk_.abandon.load() != 0) return false;
            rest(1);
        }
        return true;
    }

    /// Gives a kernel new seeds when those it has were used long enough.
    void renew(std::uint32_t kernel, std::uint32_t epoch, std::uint64_t ns) {
        const std::uint64_t all = shared_.round_ns[kernel] += ns;
        if (all < kRoundsToReference * shared_.reference_ns[kernel].load() || done_[kernel] % kPool != 0)
            return;
        if (!shared_.epoch[kernel].compare_exchange_strong(epoch, epoch + 1)) return;
        shared_.round_ns[kernel] = 0;
        shared_.reference_ns[kernel] = 0;
    }

    void serve_all() {
        while (desk_.served.load() != desk_.ordered.load(std::memory_order_acquire)) serve();
    }

    void serve() {
        const std::uint32_t id = desk_.ordered.load(std::memory_order_acquire);
        const Order order = desk_.order;
        Round round = round_of(order.seed);
        round.side = order.side;
        if (order.block_of >= 0) round.block = share_of(part_.memory, order.block_of, part_.desks.size());
        Report report;
        report.partner = order.partner;
        Answer right;
        if (order.again) {
            right.one = right.two = reference(order.kernel, round);
            right.maker = part_.index;
        } else {
            // The seed's place among the known answers is where the supervisor took it from.
            report.epoch = shared_.epoch[order.kernel].load();
            for (report.k = 0; report.k + 1 < kPool; ++report.k)
                if (round_seed(part_.seed, order.kernel, report.epoch, report.k) == order.seed) break;
            right = answer(order.kernel, report.epoch, report.k, round);
        }
        if (order.partner >= 0) {
            const int first = order.side == 0 ? part_.index : order.partner;
            round.ground = &desk_of(first).ground;
            if (!meet(id, order)) {
                report.kind = Report::Kind::abandoned;
                report.kernel = order.kernel;
                report.seed = order.seed;
                report.order = id;
                desk_.served = id;
                return send(report);
            }
        }
        const bool whole =
            computed(order.kernel, round, right, report, order.block_of >= 0 ? order.block_of : part_.index);
        if (whole && order.again) report.kind = Report::Kind::again;
        if (whole && !order.again) {
            ++done_[order.kernel];
            renew(order.kernel, report.epoch, static_cast<std::uint64_t>(1e9 * report.cpu_s));
        }
        report.order = id;
        desk_.served = id;
        send(report);
    }

    /// Waits for the other side; false where the supervisor has given it up.
    bool meet(std::uint32_t id, const Order& order) {
        Desk& other = desk_of(order.partner);
        desk_.doing = static_cast<std::uint32_t>(Doing::idle);
        desk_.at_ground.store(id, std::memory_order_release);
        while (other.at_ground.load(std::memory_order_acquire) != id) {
            if (desk_.abandon.load() != 0) return false;
            rest(1);
        }
        return true;
    }

    void send(Report& report) {
        desk_.doing = static_cast<std::uint32_t>(Doing::idle);
        if (report.kind == Report::Kind::abandoned) desk_.abandon = 0;
        ssize_t written = 0;
        while ((written = write(part_.reports, &report, sizeof report)) < 0 && errno == EINTR) {
        }
        // A core that goes wrong may have lost where the report is: a worker that ends is a finding.
        if (written != static_cast<ssize_t>(sizeof report)) std::abort();
    }

    const WorkerPart& part_;
    Shared& shared_;
    Desk& desk_;
    std::span<std::byte> scratch_;
    std::vector<std::uint64_t> done_;
};

void settle(const WorkerPart& part) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int ignored : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(ignored, SIG_IGN);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    machine::write_file("/proc/self/oom_score_adj",
                        "1000");  // memory that gets scarce is taken from here first
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(part.place.pu), &set);
    sched_setaffinity(0, sizeof set, &set);
    const sched_param param{};
    if (part.yields) sched_setscheduler(0, SCHED_IDLE, &param);
    while (part.shared->start.load() == 0) rest(1);
}

}  // namespace

std::span<std::byte> share_of(std::span<std::byte> memory, int index, std::size_t count) {
    const std::size_t page = std::size_t{1} << 16U, each = memory.size() / count / page * page;
    return memory.subspan(static_cast<std::size_t>(index) * each, each);
}

std::int64_t own_cpu_ns() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

std::span<std::byte> scratch_for_all() {
    std::size_t bytes = 0;
    for (const Kernel& kernel : kernels()) bytes = std::max(bytes, kernel.scratch_bytes);
    void* room =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (room == MAP_FAILED) throw system_error("no memory to compute in", errno);
    return {static_cast<std::byte*>(room), bytes};
}

void work(const WorkerPart& part) {
    settle(part);
    Worker(part).go_round();
}

}  // namespace strata::integrity
