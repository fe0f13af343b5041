#include "benchmarks/integrity/crew.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <new>

#include "benchmarks/integrity/worker.hpp"
#include "core/base/error.hpp"

namespace strata::integrity {
namespace {

void* shared_memory(std::size_t bytes) {
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw system_error("no memory to share with workers", errno);
    return memory;
}

}  // namespace

Crew::Crew(const Settings& settings, std::vector<Place> places, const IdleGroup* group)
    : settings_(settings), places_(std::move(places)), group_(group), members_(places_.size()) {
    for (std::size_t i = 0; i < places_.size(); ++i) members_[i].place = places_[i];
    shared_ = new (shared_memory(sizeof(Shared))) Shared;
    auto* desks = static_cast<Desk*>(shared_memory(places_.size() * sizeof(Desk)));
    for (std::size_t i = 0; i < places_.size(); ++i) new (desks + i) Desk;
    desks_ = {desks, places_.size()};
    // Each worker's share is whole pieces of 64 KiB, at least one.
    const std::size_t piece = std::size_t{1} << 16U;
    const std::size_t bytes = std::max(settings.memory_bytes / piece, places_.size()) * piece;
    memory_ = {static_cast<std::byte*>(shared_memory(bytes)), bytes};
}

Crew::~Crew() {
    if (group_ != nullptr) group_->hurry();
    for (int worker = 0; worker < size(); ++worker) end(worker);
    munmap(memory_.data(), memory_.size());
    munmap(desks_.data(), desks_.size_bytes());
    munmap(shared_, sizeof(Shared));
}

void Crew::start(int worker) {
    Member& one = member(worker);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("no pipe to a worker", errno);
    desk(worker).doing = static_cast<std::uint32_t>(Doing::idle);
    desk(worker).abandon = 0;
    desk(worker).served = desk(worker).ordered.load();
    for (Desk& owner : desks_)
        if (owner.block_user == worker) owner.block_user = -1;
    WorkerPart part;
    part.index = worker;
    part.place = one.place;
    part.seed = settings_.seed;
    if (settings_.replays.empty()) part.chosen = settings_.kernels;
    part.yields = settings_.yields;
    part.rounds = settings_.rounds;
    part.shared = shared_;
    part.desks = desks_;
    part.memory = memory_;
    part.reports = ends[1];
    const pid_t pid = fork();
    if (pid < 0) throw system_error("no process for a worker", errno);
    if (pid == 0) work(part);
    if (group_ != nullptr && !group_->take(pid))
        throw system_error("a worker cannot be put into " + group_->path(), errno);
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (one.reports >= 0) close(one.reports);
    one.pid = pid;
    one.reports = ends[0];
    one.stopped = false;
}

void Crew::stop(int worker, double now_s) {
    Member& one = member(worker);
    if (one.stopped || one.pid < 0) return;
    kill(one.pid, SIGSTOP);
    one.stopped = true;
    one.stopped_since_s = now_s;
    ++one.stops;
}

void Crew::go_on(int worker, double now_s) {
    Member& one = member(worker);
    if (!one.stopped || one.pid < 0) return;
    kill(one.pid, SIGCONT);
    one.stopped = false;
    one.stopped_s += now_s - one.stopped_since_s;
}

void Crew::end(int worker) {
    Member& one = member(worker);
    if (one.pid > 0) {
        const sched_param param{};
        sched_setscheduler(one.pid, SCHED_OTHER, &param);
        kill(one.pid, SIGKILL);
        while (waitpid(one.pid, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    one.pid = -1;
}

std::optional<std::pair<int, int>> Crew::ended() {
    for (int worker = 0; worker < size(); ++worker) {
        Member& one = member(worker);
        int status = 0;
        if (one.pid <= 0 || waitpid(one.pid, &status, WNOHANG) != one.pid) continue;
        one.pid = -1;
        return std::pair{worker, status};
    }
    return std::nullopt;
}

bool Crew::report(int worker, Report& report) {
    const int from = member(worker).reports;
    return from >= 0 && read(from, &report, sizeof report) == static_cast<ssize_t>(sizeof report);
}

double Crew::cpu_s(int worker) const {
    clockid_t clock{};
    timespec t{};
    const pid_t pid = member(worker).pid;
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void Crew::give_memory_back() {
    // Counted before and after: a round that overlaps with it, at either end, sees another count at its end.
    ++shared_->memory_given_back;
    madvise(memory_.data(), memory_.size(), MADV_REMOVE);
    ++shared_->memory_given_back;
}

void Crew::order(int worker, const Order& order) {
    desk(worker).order = order;
    desk(worker).ordered.store(order.id, std::memory_order_release);
}

}  // namespace strata::integrity
