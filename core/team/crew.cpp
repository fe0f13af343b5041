#include "core/team/crew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/team/crew_threads.hpp"

namespace strata::team {
namespace {

void check_member(const CrewTable& table, int member) {
    if (member >= 0 && member < table.members()) return;
    throw Error("a team has no such member")
        .given(std::to_string(member))
        .allowed(fmt::format("0 to {}", table.members() - 1));
}

}  // namespace

Crew::Crew(void* table, int member, std::vector<std::vector<int>> pus, const Patience& patience)
    : table_(table), member_(member), pus_(std::move(pus)), patience_(patience) {
    check_member(table_, member);
    if (!pus_.empty() && pus_.size() != static_cast<std::size_t>(table_.places()))
        throw Error("each place of a crew needs its PUs")
            .given(fmt::format("{} places", pus_.size()))
            .allowed(fmt::format("{}, or none", table_.places()));
    threads_ = std::make_unique<CrewThreads>(table_, member_, pus_, patience_);
}

Crew::~Crew() = default;

void Crew::set_count(int member, int n) {
    check_member(table_, member);
    threads_->send(table_.change(
        [&](std::vector<int>& counts) { counts[static_cast<std::size_t>(member)] = n; }, patience_));
}

void Crew::set_counts(std::span<const int> counts) {
    if (counts.size() != static_cast<std::size_t>(table_.members()))
        throw Error("each member of a team needs a count")
            .given(fmt::format("{} counts", counts.size()))
            .allowed(std::to_string(table_.members()));
    threads_->send(table_.change(
        [&](std::vector<int>& all) { std::copy(counts.begin(), counts.end(), all.begin()); }, patience_));
}

void Crew::move(int from, int to, int n) {
    check_member(table_, from);
    check_member(table_, to);
    if (n < 0) throw Error("a number of threads is not negative").given(std::to_string(n));
    if (from == to || n == 0) return;
    threads_->send(table_.change(
        [&](std::vector<int>& counts) {
            counts[static_cast<std::size_t>(from)] -= n;
            counts[static_cast<std::size_t>(to)] += n;
        },
        patience_, from));
}

void Crew::run(CrewTask task, void* held) { threads_->run(task, held); }
void Crew::prepare() { threads_->prepare(); }
int Crew::lend_to_openmp() { return threads_->lend_to_openmp(); }

}  // namespace strata::team
