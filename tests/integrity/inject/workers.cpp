#include "workers.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

namespace inject {

Workers Workers::seize(const std::vector<pid_t>& pids) {
    Workers all;
    for (const pid_t pid : pids) all.each_.push_back(Tracee::seize(pid, true));
    return all;
}

void Workers::turn() { std::rotate(each_.begin(), each_.begin() + 1, each_.end()); }

void Workers::go() {
    for (Tracee& one : each_) one.go();
}

bool Workers::stop_in_user_code() {
    if (each_.size() == 1) return struck().stop_in_user_code();
    constexpr int kTries = 10;
    std::size_t stopped = 0;
    while (stopped < each_.size() && each_[stopped].stop_in_user_code(kTries, stopped > 0)) ++stopped;
    if (stopped == each_.size()) return true;
    while (stopped > 0) each_[--stopped].go();
    return false;
}

void Workers::reap() {
    for (Tracee& one : each_) one.reap();
}

Workers Workers::twins() {
    const int file = each_.size() > 1 ? struck().shared_copy() : -1;
    Workers others;
    for (Tracee& one : each_) others.each_.push_back(one.twin(file));
    if (file >= 0) close(file);
    return others;
}

bool Workers::shared(std::uintptr_t address) const {
    const std::vector<Mapping> all = mappings(struck().pid());
    return std::ranges::any_of(
        all, [&](const Mapping& each) { return each.shared && each.begin <= address && address < each.end; });
}

void Workers::watch(std::uintptr_t address) {
    const bool by_all = shared(address);
    for (Tracee& one : each_)
        if (by_all || &one == &struck()) one.watch(address);
}

bool Workers::touched() const { return std::ranges::any_of(each_, &Tracee::touched); }

Ended Workers::run_to_write(std::uint64_t limit) {
    std::vector<std::optional<Ran>> ran(each_.size());
    for (Tracee& one : each_) one.run(limit);
    Ended ended;
    for (std::size_t there = 0; there < each_.size(); usleep(200))
        for (std::size_t i = 0; i < each_.size(); ++i) {
            if (ran[i] || !(ran[i] = each_[i].there())) continue;
            ++there;
            if (ran[i]->stop == Stop::kWrite) {
                ended.reports.push_back(ran[i]->text);
                continue;
            }
            // Its partner would wait for ever.
            ended.stop = ran[i]->stop;
            ended.touched = touched();
            return ended;
        }
    ended.touched = touched();
    return ended;
}

void Workers::leave_write_out() {
    for (Tracee& one : each_) one.leave_write_out();
}

void Workers::kill() {
    for (Tracee& one : each_) one.kill();
}

std::uint64_t Workers::cpu_time() const {
    std::uint64_t sum = 0;
    for (const Tracee& one : each_) sum += inject::cpu_time(one.pid());
    return sum;
}

Difference Workers::difference(const Workers& others, const Noise& noise) const {
    Difference found;
    for (std::size_t i = 0; i < each_.size(); ++i) {
        const Difference one = inject::difference(each_[i], others.each_[i], noise);
        found.words.insert(found.words.end(), one.words.begin(), one.words.end());
        found.registers |= one.registers << (kRegisters * i);
        found.mappings |= one.mappings;
    }
    // What they share was compared for each.
    std::sort(found.words.begin(), found.words.end());
    found.words.erase(std::unique(found.words.begin(), found.words.end()), found.words.end());
    return found;
}

void Workers::invert_what_differs(const Workers& others, const Noise& noise) {
    std::set<std::uintptr_t> of_all;
    for (std::size_t i = 0; i < each_.size(); ++i)
        for (const std::uintptr_t word : inject::difference(each_[i], others.each_[i], noise).words) {
            if (shared(word) && !of_all.insert(word).second)
                continue;  // inverted twice, it would be as before
            std::uint64_t value = 0;
            read_memory(each_[i].pid(), word, &value, sizeof value);
            value = ~value;
            write_memory(each_[i].pid(), word, &value, sizeof value);
        }
}

}  // namespace inject
