// The calls of strata/mlp.h.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/team/lock.hpp"
#include "core/team/mlp/session.hpp"

using namespace strata;
using namespace strata::team;
using strata::team::mlp::answer;
using strata::team::mlp::session;
using strata::team::mlp::team_for;

namespace {

Placing placing_of(int placing, const int* memories, int count) {
    const std::vector<int> list(memories, memories + (memories == nullptr ? 0 : std::max(0, count)));
    const bool needs_some = placing == MLP_BOUND || placing == MLP_BLOCKED;
    if (placing < MLP_FIRST_TOUCH || placing > MLP_BLOCKED || (needs_some && list.empty()))
        throw Error("a placing that does not exist, or without its memories")
            .given(fmt::format("{} with {} memories", placing, list.size()))
            .allowed("MLP_FIRST_TOUCH, MLP_INTERLEAVE, MLP_BOUND or MLP_BLOCKED; the last two need memories");
    switch (placing) {
        case MLP_INTERLEAVE:
            return Placing::interleave(list);
        case MLP_BOUND:
            return Placing::bound(list.front());
        case MLP_BLOCKED:
            return Placing::blocked(list);
        default:
            return Placing::first_touch();
    }
}

void* array(const char* call, const char* name, std::size_t bytes, const Placing& placing) {
    return team_for(call).arena().allocate(name == nullptr ? "" : name, bytes, placing);
}

template <class T>
T* named(const char* call, const char* name) {
    T* found = nullptr;
    answer([&] { found = static_cast<T*>(array(call, name, sizeof(T), {})); });
    return found;
}

template <class T>
T combined(T a, T b, int operation) {
    if constexpr (std::is_floating_point_v<T>) {
        if (operation != MLP_SUM && std::isnan(a)) return a;
        if (operation != MLP_SUM && std::isnan(b)) return b;
        if (operation == MLP_SUM) return a + b;
    } else if (operation == MLP_SUM) {
        return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    }
    return operation == MLP_MIN ? std::min(a, b) : std::max(a, b);
}

template <class T>
int reduce(const char* call, T* values, std::size_t count, int operation) {
    return answer([&] {
        Team& team = team_for(call);
        if (operation < MLP_SUM || operation > MLP_MAX)
            throw Error("an operation that does not exist")
                .given(std::to_string(operation))
                .allowed("MLP_SUM, MLP_MIN or MLP_MAX");
        team.together().reduce(std::span<T>(values, count),
                               [operation](T a, T b) { return combined(a, b, operation); });
    });
}

Lock& as(mlp_lock* lock) { return *reinterpret_cast<Lock*>(lock); }
Counter& as(mlp_counter* counter) { return *reinterpret_cast<Counter*>(counter); }
const Counter& as(const mlp_counter* counter) { return *reinterpret_cast<const Counter*>(counter); }
Signal& as(mlp_signal* signal) { return *reinterpret_cast<Signal*>(signal); }
const Signal& as(const mlp_signal* signal) { return *reinterpret_cast<const Signal*>(signal); }

int number_of(const char* call, int (*number)(Team&)) {
    int result = -1;
    answer([&] { result = number(team_for(call)); });
    return result;
}

}  // namespace

int mlp_start(int argc, char** argv) {
    return answer([&] {
        if (session().team) throw Error("mlp_start has been called before, or this is a member by FORKIT");
        if (session().before)
            throw Error("mlp_start comes after GETMEM").remedy("FORKIT, or mlp_start first of all in main()");
        std::vector<std::string> words;
        std::vector<char*> pointers;
        if (argv == nullptr) {
            words = mlp::own_arguments();
            for (std::string& word : words) pointers.push_back(word.data());
            argc = static_cast<int>(words.size());
            argv = pointers.data();
        }
        session().team.reset(new Team(start(argc, argv)));
    });
}

int mlp_finish(void) {
    return answer([] {
        static_cast<void>(team_for("mlp_finish"));
        session().team.reset();
    });
}

int mlp_rank(void) {
    return number_of("mlp_rank", [](Team& team) { return team.rank(); });
}
int mlp_size(void) {
    return number_of("mlp_size", [](Team& team) { return team.size(); });
}
int mlp_threads(void) {
    return number_of("mlp_threads", [](Team& team) { return team.placement().layout.threads; });
}

int mlp_errors_return(int yes) { return std::exchange(session().errors_return, yes != 0) ? 1 : 0; }

void mlp_fail(int status, const char* reason) {
    Reason why = reason_of(reason == nullptr ? "" : reason);
    why.status = std::clamp(status, 1, 255);
    mlp::end_with(why);
}

void* mlp_array(const char* name, size_t bytes) {
    void* found = nullptr;
    answer([&] { found = array("mlp_array", name, bytes, {}); });
    return found;
}

void* mlp_array_placed(const char* name, size_t bytes, int placing, const int* memories, int count) {
    void* found = nullptr;
    answer([&] { found = array("mlp_array_placed", name, bytes, placing_of(placing, memories, count)); });
    return found;
}

int mlp_release(const char* name) {
    return answer([&] { team_for("mlp_release").arena().release(name == nullptr ? "" : name); });
}

int mlp_barrier(void) {
    return answer([] { team_for("mlp_barrier").barrier(); });
}

int mlp_broadcast(void* data, size_t bytes, int root) {
    return answer([&] {
        Team& team = team_for("mlp_broadcast");
        if (root < 0 || root >= team.size())
            throw Error("a broadcast from a member that does not exist")
                .given(std::to_string(root))
                .allowed(fmt::format("0 to {}", team.size() - 1));
        team.together().broadcast(std::span<std::byte>(static_cast<std::byte*>(data), bytes), root);
    });
}

int mlp_reduce_double(double* values, size_t count, int operation) {
    return reduce("mlp_reduce_double", values, count, operation);
}
int mlp_reduce_int64(int64_t* values, size_t count, int operation) {
    return reduce("mlp_reduce_int64", values, count, operation);
}

int mlp_exact_sum(const double* values, size_t count, double* sum) {
    return answer(
        [&] { *sum = team_for("mlp_exact_sum").together().sum(std::span<const double>(values, count)); });
}

mlp_lock* mlp_lock_named(const char* name) {
    return reinterpret_cast<mlp_lock*>(named<Lock>("mlp_lock_named", name));
}
mlp_counter* mlp_counter_named(const char* name) {
    return reinterpret_cast<mlp_counter*>(named<Counter>("mlp_counter_named", name));
}
mlp_signal* mlp_signal_named(const char* name) {
    return reinterpret_cast<mlp_signal*>(named<Signal>("mlp_signal_named", name));
}

int mlp_lock_acquire(mlp_lock* lock) {
    return answer([&] { as(lock).acquire(team_for("mlp_lock_acquire").patience()); });
}
int mlp_lock_release(mlp_lock* lock) {
    as(lock).release();
    return MLP_OK;
}

int64_t mlp_counter_take(mlp_counter* counter, int64_t step) { return as(counter).take(step); }
int64_t mlp_counter_value(const mlp_counter* counter) { return as(counter).value(); }
void mlp_counter_set(mlp_counter* counter, int64_t value) { as(counter).set(value); }

uint32_t mlp_signal_raise(mlp_signal* signal) { return as(signal).raise(); }
uint32_t mlp_signal_number(const mlp_signal* signal) { return as(signal).number(); }
int mlp_signal_wait(mlp_signal* signal, uint32_t number) {
    return answer([&] { as(signal).wait_for(number, team_for("mlp_signal_wait").patience()); });
}
