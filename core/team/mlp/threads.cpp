#include "core/team/mlp/threads.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace strata::team::mlp {
namespace {

// The program's OpenMP runtime, if any, is known only at run time. libgomp (GCC 9 and later), libomp (LLVM)
// and libiomp5 (Intel) all have these functions, of OpenMP 5.0 and 2.5.
constexpr int kPauseHard = 2;  // omp_pause_hard: LLVM's runtime keeps its threads for the other value

template <class Function>
Function* found(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

std::vector<std::string> seen() {
    std::vector<std::string> names;
    std::error_code gone;  // threads end while they are counted
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
        if (task.path().filename() == std::to_string(gettid())) continue;
        std::string name;
        std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
        if (!name.empty()) names.push_back(name);
    }
    return names;
}

}  // namespace

bool release_openmp_threads() {
    auto* const pause = found<int(int)>("omp_pause_resource_all");
    return pause == nullptr || pause(kPauseHard) == 0;
}

std::vector<std::string> other_threads() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    std::vector<std::string> names = seen();
    while (!names.empty() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        names = seen();
    }
    return names;
}

bool openmp_binds() {
    auto* const binding = found<int()>("omp_get_proc_bind");
    return binding != nullptr && binding() != 0;
}

void set_openmp_threads(int threads) {
    if (auto* const set = found<void(int)>("omp_set_num_threads"); set != nullptr) set(threads);
}

}  // namespace strata::team::mlp
