#include "benchmarks/integrity/supervisor.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <memory>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/integrity/crew.hpp"
#include "benchmarks/integrity/events.hpp"
#include "benchmarks/integrity/finding.hpp"
#include "benchmarks/integrity/others.hpp"
#include "benchmarks/integrity/pairs.hpp"
#include "benchmarks/integrity/progress.hpp"
#include "benchmarks/integrity/trials.hpp"
#include "core/base/error.hpp"
#include "core/machine/machine.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::integrity {
namespace {

using bench::now;

constexpr double kTickS = 0.02, kRestingTickS = 0.1;
/// A PU is in use where others had more than this share of three ticks; it is free again after as long as
/// this.
constexpr double kInUse = 0.25, kQuietS = 0.2;
/// Memory kernels, and all kernels without a group, run only while all others together have less than this.
constexpr double kMachineInUse = 0.25, kMachineQuietS = 0.5;
/// A round that takes so much more CPU time than the longest before hangs.
constexpr double kHangs = 20, kLeastLimitS = 5, kMostLimitS = 300;
/// A reference takes at most so many times as long as its kernel.
constexpr double kSlowest = 50;
/// Less than this share of memory available to others: the memory under test is given back.
constexpr double kScarce = 0.1, kMemoryLooksS = 0.5;
constexpr int kMostCrashes = 5;
constexpr std::size_t kHashesKept = 4096;

volatile std::sig_atomic_t ending = 0;

void end_soon(int) { ending = 1; }

class Supervisor {
  public:
    Supervisor(const Settings& settings, std::vector<Place> places, std::string mode, const IdleGroup* group)
        : settings_(settings),
          mode_(std::move(mode)),
          alone_(settings.alone || mode_ == "alone only"),
          crew_(settings, std::move(places), group),
          pairs_(settings, crew_),
          trials_(crew_, pairs_),
          progress_(settings, crew_, mode_) {}

    int run() {
        for (int worker = 0; worker < crew_.size(); ++worker) crew_.start(worker);
        began_s_ = now();
        next_progress_s_ = began_s_ + settings_.progress_s;
        memory_quiet_since_s_ = began_s_;
        progress_.start();
        order_replays();
        crew_.go();
        while (ending == 0 && !is_over()) {
            rest();
            tick(now());
        }
        for (int worker = 0; worker < crew_.size(); ++worker) drain(worker);
        trials_.end();
        progress_.sums("end", findings_);
        return findings_ == 0 ? kSuccess : kFailure;
    }

  private:
    void rest() const {
        bool all_stopped = true;
        for (int worker = 0; worker < crew_.size(); ++worker)
            all_stopped = all_stopped && (crew_.member(worker).stopped || crew_.member(worker).given_up);
        const double seconds = all_stopped ? kRestingTickS : kTickS;
        const timespec t{0, static_cast<long>(1e9 * seconds)};
        nanosleep(&t, nullptr);
    }

    [[nodiscard]] bool is_over() const {
        if (!progress_.heard()) return true;
        if (settings_.seconds > 0 && now() - began_s_ >= settings_.seconds) return true;
        if (!trials_.empty()) return false;
        bool all_given_up = true;
        for (int worker = 0; worker < crew_.size(); ++worker)
            all_given_up = all_given_up && crew_.member(worker).given_up;
        if (all_given_up) return true;
        if (!settings_.replays.empty()) return replays_.empty();
        if (settings_.rounds == 0) return false;
        for (int worker = 0; worker < crew_.size(); ++worker)
            for (const std::uint32_t kernel : settings_.kernels)
                if (!crew_.member(worker).given_up && crew_.can_run(kernels()[kernel]) &&
                    progress_.rounds(worker, kernel) < settings_.rounds)
                    return false;
        return true;
    }

    void tick(double now_s) {
        look_at_memory(now_s);
        if (settings_.yields)
            give_way(now_s);
        else
            allow_memory(!memory_scarce_);
        for (int worker = 0; worker < crew_.size(); ++worker) drain(worker);
        while (const auto ended = crew_.ended()) bury(ended->first, ended->second);
        watch();
        trials_.go_on(now_s);
        go_on_with_replays();
        if (settings_.replays.empty())
            pairs_.go_on(now_s, [&](std::uint32_t kernel, int worker) {
                return settings_.rounds == 0 || progress_.rounds(worker, kernel) < settings_.rounds;
            });
        if (now_s >= next_progress_s_) {
            progress_.sums("progress", findings_);
            next_progress_s_ += settings_.progress_s;
        }
    }

    // Giving way.

    [[nodiscard]] Doing doing(int worker) { return static_cast<Doing>(crew_.desk(worker).doing.load()); }

    void give_way(double now_s) {
        std::map<int, OwnUse> own;
        int own_running = 1;  // this process
        for (int worker = 0; worker < crew_.size(); ++worker) {
            const Member& member = crew_.member(worker);
            if (member.pid <= 0) continue;
            const bool computes = !member.stopped && doing(worker) != Doing::idle;
            own[member.place.pu] = {crew_.cpu_s(worker), computes};
            own_running += computes ? 1 : 0;
        }
        others_.look(now_s, own);
        const bool machine_in_use = others_.all() > kMachineInUse;
        // Without a group others are seen at once, by what can run now; one look may be a passing task.
        waiting_ = others_.running() > own_running ? waiting_ + 1 : 0;
        const bool leave_all = alone_ && (machine_in_use || waiting_ >= 2);
        if (machine_in_use || leave_all) memory_quiet_since_s_ = now_s;
        allow_memory(now_s - memory_quiet_since_s_ >= kMachineQuietS && !memory_scarce_);
        for (int worker = 0; worker < crew_.size(); ++worker) {
            Member& member = crew_.member(worker);
            const bool in_use =
                leave_all || std::any_of(member.place.siblings.begin(), member.place.siblings.end(),
                                         [&](int pu) { return others_.share(pu) > kInUse; });
            if (in_use) {
                member.quiet_since_s = now_s;
                if (!member.stopped) yield(worker, now_s);
            } else if (member.stopped &&
                       now_s - member.quiet_since_s >= (alone_ ? kMachineQuietS : kQuietS)) {
                crew_.go_on(worker, now_s);
                if (settings_.verbose) progress_.yielded(worker, now_s - member.stopped_since_s);
            }
            // Those for whom a worker stops for long may need what is held here.
            if (member.stopped && now_s - member.stopped_since_s > 1) give_memory_back();
        }
    }

    void yield(int worker, double now_s) {
        crew_.stop(worker, now_s);
        leave(worker);
    }

    /// Its partner may have gone on to other kernels when it is told.
    void leave(int worker) {
        pairs_.leave(worker);
        for (int each = 0; each < crew_.size(); ++each) ++told_[each];
    }

    void allow_memory(bool allowed) {
        if (allowed) memory_held_ = true;
        if (crew_.shared().memory_allowed.exchange(allowed ? 1 : 0) == (allowed ? 1U : 0U) || allowed) return;
        for (int worker = 0; worker < crew_.size(); ++worker)
            if (kernels()[crew_.desk(worker).kernel].use == Use::memory && doing(worker) == Doing::round)
                crew_.desk(worker).abandon = 1, ++told_[worker];
    }

    void give_memory_back() {
        if (!memory_held_) return;
        crew_.give_memory_back();
        memory_held_ = false;
        for (int worker = 0; worker < crew_.size(); ++worker) ++told_[worker];
    }

    void look_at_memory(double now_s) {
        if (now_s < next_memory_look_s_) return;
        next_memory_look_s_ = now_s + kMemoryLooksS;
        const std::string text = machine::read_file("/proc/meminfo").value_or("");
        const auto all = machine::number_after(text, "MemTotal:"),
                   left = machine::number_after(text, "MemAvailable:");
        if (!all || !left) return;
        const double share = static_cast<double>(*left) / static_cast<double>(*all);
        // Twice as much must be there before it is taken again.
        memory_scarce_ = share < (memory_scarce_ ? 2 * kScarce : kScarce);
        if (!memory_scarce_) return;
        allow_memory(false);
        give_memory_back();
    }

    // What workers say.

    void drain(int worker) {
        Report report;
        while (crew_.report(worker, report)) hear(worker, report);
    }

    void hear(int worker, const Report& report) {
        if (report.kernel >= kernels().size()) return suspect(worker, report, "a report of no kernel");
        if (report.kind == Report::Kind::abandoned) return given_up(worker, report);
        if (report.kind == Report::Kind::again) {
            if (!trials_.answered(worker, report)) replayed(worker, report);
            return;
        }
        progress_.add(worker, report);
        usual_s_[report.kernel] = std::max(usual_s_[report.kernel], report.cpu_s);
        if (report.answer_damaged) return suspect(worker, report, "a known answer changed in memory");
        if (report.wrong) return suspect(worker, report, "wrong answer");
        if (report.seed != round_seed(settings_.seed, report.kernel, report.epoch, report.k))
            return suspect(worker, report, "another seed than its turn's");
        compare_between_cores(worker, report);
    }

    /// A worker gives a round up where it was told to, and never else: a core that goes wrong may as well
    /// take the way that skips the check.
    void given_up(int worker, const Report& report) {
        trials_.forget(report.order);
        const Use use = kernels()[report.kernel].use;
        const bool told = use == Use::pair     ? pairs_.left(report.order)
                          : use == Use::memory ? told_[worker] > 0 && told_[worker]-- > 0
                                               : false;
        if (!told) suspect(worker, report, "a round given up that nobody stopped");
    }

    /// All cores must have the same answer to a seed; what one of them says of itself is not enough.
    void compare_between_cores(int worker, const Report& report) {
        const auto key = std::pair{report.seed, report.side};
        const auto [known, is_new] = hashes_.try_emplace(key, report.hash);
        if (is_new) {
            hash_order_.push_back(key);
            if (hash_order_.size() > kHashesKept) {
                hashes_.erase(hash_order_.front());
                hash_order_.pop_front();
            }
        } else if (known->second != report.hash) {
            Report differs = report;
            differs.mismatch = {-1, known->second, report.hash, -1};
            suspect(worker, differs, "cores differ");
        }
    }

    void suspect(int worker, const Report& report, const std::string& what) {
        ++findings_;
        Suspect one;
        one.id = findings_;
        one.worker = worker;
        one.what = what;
        one.report = report;
        if (one.report.kernel >= kernels().size()) one.report.kernel = settings_.kernels.front();
        one.since_s = now();
        trials_.add(std::move(one));
    }

    // Replays.

    void order_replays() {
        for (const Replay& replay : settings_.replays)
            for (int worker = 0; worker < crew_.size(); ++worker)
                if (replay.pu < 0 || replay.pu == crew_.member(worker).place.pu)
                    for (std::uint64_t n = 0; n < std::max<std::uint64_t>(1, settings_.rounds); ++n)
                        replays_.push_back({replay, worker, 0});
        if (!settings_.replays.empty() && replays_.empty())
            throw Error("none of the cores under test is the one of the finding")
                .remedy("name it by --cores");
    }

    void go_on_with_replays() {
        for (auto& [replay, worker, order_id] : replays_) {
            if (order_id != 0 || !crew_.is_free(worker)) continue;
            if (kernels()[replay.kernel].use == Use::pair) {
                order_id = pairs_.again(worker, replay.kernel, replay.seed);
                continue;
            }
            Order order;
            order.id = order_id = pairs_.next_id();
            order.kernel = replay.kernel;
            order.seed = replay.seed;
            order.again = true;
            crew_.order(worker, order);
        }
    }

    void replayed(int worker, const Report& report) {
        const auto found = std::find_if(replays_.begin(), replays_.end(), [&](const Asked& asked) {
            return asked.order == report.order && asked.worker == worker;
        });
        if (found == replays_.end()) return;
        replays_.erase(found);
        progress_.add(worker, report);
        if (report.wrong) suspect(worker, report, "wrong answer");
    }

    // Crashes and hangs.

    void bury(int worker, int status) {
        drain(worker);
        Member& member = crew_.member(worker);
        leave(worker);
        Report report;
        const Desk& desk = crew_.desk(worker);
        report.kernel = desk.kernel.load();
        report.seed = desk.seed.load();
        report.maker = -1;
        report.wrong = true;
        const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        const bool killed = signal == SIGKILL && !hung_[worker];
        const std::uint32_t order = desk.ordered != desk.served ? desk.ordered.load() : 0;
        if (killed) {
            give_memory_back();
            progress_.of_core("killed", worker);
        } else {
            report.mismatch.obtained = static_cast<std::uint64_t>(status);
            const std::string what = hung_[worker] ? "hang"
                                     : signal != 0 ? fmt::format("crash: {}", strsignal(signal))
                                                   : "the worker ended";
            hung_[worker] = false;
            if (!trials_.crashed(worker, order)) suspect(worker, report, what);
            std::erase_if(replays_,
                          [&](const Asked& asked) { return asked.order == order && asked.worker == worker; });
        }
        if (++member.crashes > kMostCrashes) {
            member.given_up = true;
            std::erase_if(replays_, [&](const Asked& asked) { return asked.worker == worker; });
            progress_.of_core("given up", worker);
            return;
        }
        crew_.start(worker);
    }

    /// A worker that takes far more CPU time than its round should is ended; bury() makes it a finding.
    void watch() {
        for (int worker = 0; worker < crew_.size(); ++worker) {
            const Desk& desk = crew_.desk(worker);
            if (crew_.member(worker).pid <= 0 || hung_[worker]) continue;
            const std::uint32_t kernel = std::min<std::uint32_t>(desk.kernel, kMostKernels - 1);
            const double slow = doing(worker) == Doing::round ? 1 : kSlowest, usual = usual_s_[kernel];
            const double limit =
                usual > 0 ? std::clamp(kHangs * slow * usual, kLeastLimitS, kMostLimitS) : kMostLimitS;
            const double since = 1e-9 * static_cast<double>(desk.began_cpu_ns.load());
            if (crew_.cpu_s(worker) - since < limit) continue;
            hung_[worker] = true;
            kill(crew_.member(worker).pid, SIGKILL);
        }
    }

    struct Asked {
        Replay replay;
        int worker;
        std::uint32_t order;
    };

    const Settings& settings_;
    std::string mode_;
    bool alone_;
    Crew crew_;
    Pairs pairs_;
    Trials trials_;
    Others others_;
    Progress progress_;
    std::vector<Asked> replays_;
    std::map<std::pair<std::uint64_t, std::int32_t>, std::uint64_t> hashes_;
    std::deque<std::pair<std::uint64_t, std::int32_t>> hash_order_;
    std::array<double, kMostKernels> usual_s_{};
    std::map<int, bool> hung_;
    std::map<int, int> told_;  // how often to give a round up, without rounds that were given up
    double began_s_ = 0, next_progress_s_ = 0, memory_quiet_since_s_ = 0, next_memory_look_s_ = 0;
    int waiting_ = 0;
    bool memory_held_ = false, memory_scarce_ = false;
    std::uint64_t findings_ = 0;
};

void end_by_signals() {
    struct sigaction action {};
    action.sa_handler = end_soon;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaction(signal, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

int supervise(const Settings& settings) {
    machine::Source source;
    source.with_devices = false;
    std::vector<Place> cores = places(machine::read_machine(source), settings.pus);
    end_by_signals();
    std::unique_ptr<IdleGroup> group;
    std::string mode = settings.yields ? "alone only" : "ordinary";
    if (settings.cgroup != "none") {
        group = std::make_unique<IdleGroup>(settings.cgroup == "auto" ? "" : settings.cgroup);
        if (!group->mode().empty()) {
            mode = group->mode();
        } else if (settings.cgroup != "auto") {
            throw Error("no control group can be made here: " + group->why()).given(settings.cgroup);
        } else {
            fmt::print(stderr,
                       "strata-integrity: no control group for idle work ({}), so it tests only while nobody "
                       "else runs\n",
                       group->why());
            group.reset();
        }
    }
    return Supervisor(settings, std::move(cores), mode, group.get()).run();
}

}  // namespace strata::integrity
