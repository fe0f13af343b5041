// The calls of strata/mlp.h for crews.
#include <fmt/format.h>

#include <algorithm>

#include "core/team/mlp/session.hpp"

using namespace strata;
using namespace strata::team;
using strata::team::mlp::answer;
using strata::team::mlp::team_for;

namespace {

Crew& crew_for(const char* call) { return team_for(call).crew(); }

template <class Body>
void refuse_null(const char* call, Body body) {
    if (body == nullptr) throw Error(fmt::format("{} needs a function to call", call)).given("NULL");
}

}  // namespace

int mlp_crew_count(int member) {
    int count = -1;
    answer([&] {
        const std::vector<int> counts = crew_for("mlp_crew_count").counts();
        if (member < 0 || member >= static_cast<int>(counts.size()))
            throw Error("a team has no such member")
                .given(std::to_string(member))
                .allowed(fmt::format("0 to {}", counts.size() - 1));
        count = counts[static_cast<std::size_t>(member)];
    });
    return count;
}

int mlp_crew_counts(int* counts, int members) {
    return answer([&] {
        const std::vector<int> all = crew_for("mlp_crew_counts").counts();
        if (counts == nullptr || members != static_cast<int>(all.size()))
            throw Error("mlp_crew_counts needs room for the count of each member")
                .given(counts == nullptr ? "NULL" : std::to_string(members))
                .allowed(std::to_string(all.size()));
        std::copy(all.begin(), all.end(), counts);
    });
}

int mlp_crew_set_count(int member, int n) {
    return answer([&] { crew_for("mlp_crew_set_count").set_count(member, n); });
}

int mlp_crew_set_counts(const int* counts, int members) {
    return answer([&] {
        Crew& crew = crew_for("mlp_crew_set_counts");
        crew.set_counts({counts, counts == nullptr ? 0 : static_cast<std::size_t>(std::max(0, members))});
    });
}

int mlp_crew_move(int from, int to, int n) {
    return answer([&] { crew_for("mlp_crew_move").move(from, to, n); });
}

int mlp_crew_prepare(void) {
    return answer([] { crew_for("mlp_crew_prepare").prepare(); });
}

int mlp_parallel(mlp_body body, void* arg) {
    return answer([&] {
        Crew& crew = crew_for("mlp_parallel");
        refuse_null("mlp_parallel", body);
        crew.parallel_region([&](int thread, int threads) { body(thread, threads, arg); });
    });
}

int mlp_parallel_for(int64_t begin, int64_t end, int64_t chunk, mlp_block body, void* arg) {
    return answer([&] {
        Crew& crew = crew_for("mlp_parallel_for");
        refuse_null("mlp_parallel_for", body);
        if (chunk < 0)
            throw Error("a loop cannot be divided into such chunks")
                .given(std::to_string(chunk))
                .allowed("1 or more iterations, or 0 for a block of equal length for each thread");
        const auto block = [&](std::int64_t first, std::int64_t last) { body(first, last, arg); };
        if (chunk == 0)
            crew.parallel_for(begin, end, block);
        else
            crew.parallel_for(begin, end, block, Dynamic{chunk});
    });
}

int mlp_lend_to_openmp(void) {
    int threads = -1;
    answer([&] { threads = crew_for("mlp_lend_to_openmp").lend_to_openmp(); });
    return threads;
}
