#include "campaign.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "difference.hpp"
#include "report.hpp"
#include "stuck.hpp"
#include "workers.hpp"

namespace inject {

namespace {

constexpr int kCalibrations = 4, kRoundsTimed = 10, kRoundsAfter = 3;

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Fault {
    Place place;
    std::string kind, what;
    int forced = 0;  // results that a stuck lane changed
};

// What became of a fault. `found`: by a check, a crash, or because the worker went on for ever. `masked`: the
// twin ends the round in the state of the original, so the fault was overwritten or made no difference; or
// what was flipped is all that differs and is not read ("unread"); or all results are right, and what differs
// beside them is not read again ("left behind"). `missed`: anything else, whether a result or not.
struct Outcome {
    const char* verdict = "missed";
    const char* by = "";
    int rounds = 0;
    std::uint64_t cpu_ns = 0;
    Difference left;
    bool missed() const { return verdict == std::string("missed"); }
    bool touched = false;  // the flipped byte of memory was accessed
    bool digest = false;   // the report has one of all results, and it is right
    bool unknown = false;  // the twin did another round than the original
};

class Campaign {
  public:
    Campaign(const std::vector<pid_t>& workers, const Asked& asked)
        : asked_(asked), workers_(Workers::seize(workers)), random_(asked.seed) {
        // Twins get no orders: two sides that meet do one round.
        if (asked.pair) asked_.rounds = 1;
    }

    void run();

  private:
    void calibrate();
    void stop_somewhere();
    bool in_one_round();
    Outcome follow(Workers& twin, const Place* watched, std::optional<Workers>& spare);
    bool of_no_account(Outcome& outcome, const Fault& fault, const Workers& twin, Workers& spare);
    bool left_behind(const Outcome& outcome, const Workers& twin, Workers& spare);
    bool same_rounds(Workers& twin, int rounds);
    void doubt(Outcome& outcome, const Workers& twin, const Place* place, Workers& spare);
    bool holds_nothing(const Place& place, int rounds, Workers& spare);
    std::optional<Fault> harm(Workers& twin, Kind kind);
    void right_round();
    void learn(const Difference& noise) {
        for (const std::uintptr_t word : noise.words) noise_.lines.insert(line_of(word));
        noise_.registers |= noise.registers | noise.registers >> kRegisters;
    }
    // One that waits for its partner takes CPU time while that one gets none.
    std::uint64_t limit() const { return 20 * round_ + (asked_.pair ? 3'000'000'000 : 200'000'000); }

    Asked asked_;
    Workers workers_;
    std::mt19937_64 random_;
    std::uint64_t round_ = 0;  // CPU time of a round in nanoseconds
    Noise noise_;
    Reports reports_;
};

// How long a round takes, and what differs between two runs of one round without a fault.
void Campaign::calibrate() {
    stop_somewhere();
    noise_.lines.insert(line_of(workers_.struck().number_of_core()));
    std::vector<std::uint64_t> times;
    round_ = 3'000'000'000;
    for (int i = 0; i < kRoundsTimed; ++i) {
        const std::uint64_t began = workers_.cpu_time();
        right_round();
        if (i > 0) times.push_back(workers_.cpu_time() - began);
    }
    std::sort(times.begin(), times.end());
    round_ = times[times.size() / 2];
    workers_.go();
    for (int i = 0; i < kCalibrations; ++i) {
        stop_somewhere();
        Workers twin = workers_.twins();
        for (int round = 0; round < asked_.rounds; ++round) {
            right_round();
            const Ended copy = twin.run_to_write(limit());
            if (copy.stop != Stop::kWrite || reports_.finding(copy.reports))
                fail("a twin without a fault does not end its round as the worker does");
            learn(workers_.difference(twin, noise_));
            if (round + 1 < asked_.rounds) twin.leave_write_out();
        }
        twin.kill();
        workers_.go();
    }
    std::printf(R"({"event":"calibrated","round_ns":%llu,"noise_lines":%zu})"
                "\n",
                static_cast<unsigned long long>(round_), noise_.lines.size());
}

void Campaign::stop_somewhere() {
    do {
        std::uint64_t wait = std::uniform_int_distribution<std::uint64_t>(0, round_)(random_);
        if (asked_.pair) wait += 20'000'000;  // their supervisor brings them together, now and then
        const timespec time{static_cast<time_t>(wait / 1'000'000'000),
                            static_cast<long>(wait % 1'000'000'000)};
        nanosleep(&time, nullptr);
    } while (!workers_.stop_in_user_code() || !in_one_round());
    workers_.reap();
}

// Of a pair, one side may have done its write while the other is still before its own. It would wait for
// that one, which the injector holds at its write: no fault of theirs.
bool Campaign::in_one_round() {
    if (!asked_.pair) return true;
    Workers twin = workers_.twins();
    const bool both = twin.run_to_write(limit()).stop == Stop::kWrite;
    twin.kill();
    if (!both) workers_.go();
    return both;
}

// The worker without a fault ends its round.
void Campaign::right_round() {
    const Ended ran = workers_.run_to_write(limit());
    if (ran.stop != Stop::kWrite) fail("the worker without a fault does not end its round with a write");
    if (reports_.finding(ran.reports)) fail("the worker without a fault has a finding");
    reports_.learn(ran.reports);
}

std::optional<Fault> Campaign::harm(Workers& twin, Kind kind) {
    if (asked_.stuck) {
        const Stuck lane = draw_lane(twin.struck(), random_);
        const int forced = run_stuck(twin.struck(), lane, asked_.steps);
        if (forced == 0) return std::nullopt;
        return Fault{{}, "stuck", lane.text(), forced};
    }
    const Place place = draw(kind, twin.struck(), twin.struck().registers(), random_);
    flip(twin.struck(), place);
    return Fault{place, name(kind), place.name, 1};
}

// `spare`: another twin from the same instant, made when it may be needed.
Outcome Campaign::follow(Workers& twin, const Place* watched, std::optional<Workers>& spare) {
    Outcome found;
    if (watched) twin.watch(watched->address);
    const std::uint64_t began = twin.cpu_time();
    const int rounds = asked_.stuck ? 1 : asked_.rounds;
    for (found.rounds = 1;; ++found.rounds) {
        const Ended ran = twin.run_to_write(limit());
        found.cpu_ns = twin.cpu_time() - began;
        found.touched = ran.touched;
        if (ran.stop != Stop::kWrite || reports_.finding(ran.reports)) {
            found.verdict = "found";
            found.by = ran.stop == Stop::kWrite ? "check" : ran.stop == Stop::kHang ? "hang" : "crash";
            return found;
        }
        if (!spare) spare = workers_.twins();
        right_round();
        if (reports_.finding(ran.reports)) {  // by what the worker without a fault found meanwhile
            found.verdict = "found", found.by = "check";
            return found;
        }
        found.digest = Reports::have_digests(ran.reports);
        found.unknown = reports_.unknown(ran.reports);
        found.left = workers_.difference(twin, noise_);
        if (found.left.none()) {
            found.verdict = "masked";
            return found;
        }
        const bool untouched = watched && !ran.touched && found.left.only(watched->address);
        const bool in_registers = !watched && found.left.words.empty() && !found.left.mappings;
        if (found.rounds == rounds || !(untouched || in_registers)) {
            if (untouched) found.verdict = "masked", found.by = "unread";
            return found;
        }
        twin.leave_write_out();
    }
}

// So many rounds of a twin whose faults are of no interest; false where it does not do them as it should.
bool Campaign::same_rounds(Workers& twin, int rounds) {
    for (int round = 1; round <= rounds; ++round) {
        const Ended ran = twin.run_to_write(limit());
        if (ran.stop != Stop::kWrite || reports_.finding(ran.reports)) return false;
        if (round < rounds) twin.leave_write_out();
    }
    return true;
}

// A twin without a fault from the same instant shows whether what is left differs by chance. The worker
// stands where it stood when the fault counted as missed.
void Campaign::doubt(Outcome& outcome, const Workers& twin, const Place* place, Workers& spare) {
    Workers sound = spare.twins();
    if (same_rounds(sound, outcome.rounds)) learn(workers_.difference(sound, noise_));
    sound.kill();
    outcome.left = workers_.difference(twin, noise_);
    if (outcome.left.none() && !outcome.unknown) outcome.verdict = "masked";
    if (place != nullptr && !outcome.touched && outcome.left.only(place->address))
        outcome.verdict = "masked", outcome.by = "unread";
}

// Whether a register that alone still differs held nothing that is read: then another twin, in which all its
// bits are inverted at the same instant, comes to the same state but for that register as well.
bool Campaign::holds_nothing(const Place& place, int rounds, Workers& spare) {
    for (std::size_t byte = place.offset / 8 * 8; byte < place.offset / 8 * 8 + 8; ++byte)
        for (unsigned bit = 0; bit < 8; ++bit)
            flip(spare.struck(), {Kind::kInteger, place.name, byte, 0, bit});
    if (!same_rounds(spare, rounds)) return false;
    const Difference left = workers_.difference(spare, noise_);
    return left.words.empty() && !left.mappings && std::popcount(left.registers) == 1;
}

// Whether what is left was of no account: the report is right, and where all those words are inverted at the
// end of the round, nothing else changes in the rounds that follow.
bool Campaign::left_behind(const Outcome& outcome, const Workers& twin, Workers& spare) {
    if (!outcome.digest || outcome.unknown || outcome.left.registers != 0 || outcome.left.mappings)
        return false;
    if (asked_.pair) {
        // Twins get no orders for another round: the two workers go on with those words. Each report has to
        // be right, else this campaign ends.
        workers_.invert_what_differs(twin, noise_);
        for (int round = 0; round < kRoundsAfter; ++round) right_round();
        return true;
    }
    if (!same_rounds(spare, outcome.rounds)) return false;
    spare.invert_what_differs(twin, noise_);
    spare.leave_write_out();
    for (int round = 0; round < asked_.rounds; ++round) right_round();
    if (!same_rounds(spare, asked_.rounds)) return false;
    const Difference after = workers_.difference(spare, noise_);
    return after.registers == 0 && !after.mappings &&
           std::includes(outcome.left.words.begin(), outcome.left.words.end(), after.words.begin(),
                         after.words.end());
}

bool Campaign::of_no_account(Outcome& outcome, const Fault& fault, const Workers& twin, Workers& spare) {
    const bool in_register = fault.kind == name(Kind::kInteger) &&
                             std::popcount(outcome.left.registers) == 1 && outcome.left.words.empty() &&
                             !outcome.left.mappings;
    const bool found =
        in_register ? holds_nothing(fault.place, outcome.rounds, spare) : left_behind(outcome, twin, spare);
    if (found) outcome.by = in_register ? "unread" : "left behind";
    return found;
}

std::string quoted(const std::string& text) {
    std::string found;
    for (const char c : text)
        if (c == '"' || c == '\\')
            found += std::string("\\") + c;
        else if (c >= ' ' && c < 127)
            found += c;
    return '"' + found + '"';
}

void print(int number, const Fault& fault, const Outcome& outcome) {
    std::printf(
        R"({"event":"fault","number":%d,"place":"%s","name":%s,"bit":%u,"verdict":"%s","by":"%s","rounds":%d,"cpu_ns":%llu)",
        number, fault.kind.c_str(), quoted(fault.what).c_str(), fault.place.bit, outcome.verdict, outcome.by,
        outcome.rounds, static_cast<unsigned long long>(outcome.cpu_ns));
    if (fault.place.kind == Kind::kMemory)
        std::printf(R"(,"address":"0x%llx")", static_cast<unsigned long long>(fault.place.address));
    if (fault.kind == "stuck") std::printf(R"(,"forced":%d)", fault.forced);
    if (outcome.missed()) {
        std::printf(R"(,"left_words":%zu,"left_registers":%u,"another_round":%s,"left":[)",
                    outcome.left.words.size(), outcome.left.registers, outcome.unknown ? "true" : "false");
        for (std::size_t i = 0; i < std::min<std::size_t>(8, outcome.left.words.size()); ++i)
            std::printf(R"(%s"0x%llx")", i ? "," : "",
                        static_cast<unsigned long long>(outcome.left.words[i]));
        std::printf("]");
    }
    std::printf("}\n");
    std::fflush(stdout);
}

void Campaign::run() {
    calibrate();
    const double end = now() + asked_.seconds;
    int idle = 0, used = 0;
    for (int number = 0;
         number < asked_.count && used < asked_.used && (asked_.seconds == 0 || now() < end);) {
        workers_.turn();  // one side is struck, then the other
        stop_somewhere();
        Workers twin = workers_.twins();
        const Kind kind =
            asked_.kinds[std::uniform_int_distribution<std::size_t>(0, asked_.kinds.size() - 1)(random_)];
        if (const std::optional<Fault> fault = harm(twin, kind)) {
            const Place* memory = fault->kind == name(Kind::kMemory) ? &fault->place : nullptr;
            std::optional<Workers> spare;
            Outcome outcome = follow(twin, memory, spare);
            if (outcome.missed()) doubt(outcome, twin, memory, *spare);
            if (outcome.missed() && of_no_account(outcome, *fault, twin, *spare)) outcome.verdict = "masked";
            print(number++, *fault, outcome);
            used += outcome.verdict != std::string("masked");
            idle = 0;
            if (spare) spare->kill();
        } else if (++idle == 200) {
            fail("no vector instruction writes a result that a stuck lane could change");
        }
        twin.kill();
        workers_.go();
    }
    workers_.kill();
}

}  // namespace

void campaign(const std::vector<pid_t>& workers, const Asked& asked) { Campaign(workers, asked).run(); }

}  // namespace inject
