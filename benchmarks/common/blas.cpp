#include "benchmarks/common/blas.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "core/base/error.hpp"
#include "core/machine/sysfs.hpp"

extern char** environ;

namespace strata::bench {
namespace {

// CBLAS's constants (the reference implementation's cblas.h).
constexpr int kRowMajor = 101, kNoTranspose = 111, kLower = 122, kUnit = 132, kLeft = 141;

template <class Int>
using Dgemm = void (*)(int, int, int, Int, Int, Int, double, const double*, Int, const double*, Int, double,
                       double*, Int);

template <class Int>
using Dtrsm = void (*)(int, int, int, int, int, Int, Int, double, const double*, Int, double*, Int);

/// How libraries name their functions: plain, and SciPy's builds of OpenBLAS with a prefix and, for 64-bit
/// integers, a suffix.
struct Naming {
    const char *prefix, *suffix;
    bool wide;
};
constexpr Naming kNamings[] = {
    {"", "", false}, {"scipy_", "", false}, {"scipy_", "64_", true}, {"", "64_", true}};

void* symbol(void* library, const Naming& naming, const char* name) {
    return dlsym(library, fmt::format("{}{}{}", naming.prefix, name, naming.suffix).c_str());
}

/// The file that a loaded function came from.
std::string file_of(void* function) {
    Dl_info info{};
    if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return "";
    std::error_code failed;
    const auto real = std::filesystem::canonical(info.dli_fname, failed);
    return failed ? info.dli_fname : real.string();
}

std::vector<std::string> lines_of(const std::string& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (!line.empty()) lines.push_back(line);
    return lines;
}

std::string own_folder() {
    std::error_code failed;
    return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().string();
}

/// OpenBLAS's kernels for processors with what this one has; one generation's name stands for its like.
std::vector<std::string> other_kernels() {
    std::vector<std::string> cores;
    const std::string flags = machine::read_file("/proc/cpuinfo").value_or("").substr(0, 8192);
    const auto has = [&flags](const char* flag) {
        return flags.find(std::string(" ") + flag + " ") != std::string::npos;
    };
    if (has("avx512f") && has("avx512dq") && has("avx512vl")) cores.emplace_back("SkylakeX");
    if (has("avx2") && has("fma")) cores.emplace_back("Haswell");
    return cores;
}

/// The OpenBLAS wheel of the environment that this program was installed into by pip, or that was installed
/// with it by setup --install.
std::string beside_in_environment() {
    std::error_code failed;
    for (const char* folder : {"/../../lib", "/../../python/lib"})
        for (const auto& entry : std::filesystem::directory_iterator(own_folder() + folder, failed)) {
            const auto library = entry.path() / "site-packages/scipy_openblas32/lib/libscipy_openblas.so";
            if (std::filesystem::exists(library, failed))
                return std::filesystem::canonical(library, failed).string();
        }
    return "";
}

int narrow(std::int64_t value) { return static_cast<int>(value); }

bool is_openblas(const std::string& path) { return path.find("openblas") != std::string::npos; }

void add(std::vector<BlasChoice>& list, const std::string& path) {
    const auto same = [&](const BlasChoice& choice) { return choice.path == path; };
    if (std::none_of(list.begin(), list.end(), same)) list.push_back({path, ""});
}

}  // namespace

Blas::Blas(const BlasChoice& choice) {
    if (choice.core == kOwnKernels) {
        unsetenv("OPENBLAS_CORETYPE");
    } else if (!choice.core.empty()) {
        setenv("OPENBLAS_CORETYPE", choice.core.c_str(), 1);
    }
    // One thread a call: the benchmark's own bound threads each call it on their part.
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("MKL_NUM_THREADS", "1", 1);
    setenv("BLIS_NUM_THREADS", "1", 1);
    void* library = dlopen(choice.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw Error("the BLAS cannot be opened")
            .given(choice.path)
            .allowed("a shared library with CBLAS names, such as libopenblas.so.0")
            .remedy("strata doctor says how to get one");
    }
    const Naming* found = nullptr;
    for (const Naming& naming : kNamings) {
        dgemm_ = symbol(library, naming, "cblas_dgemm");
        dtrsm_ = symbol(library, naming, "cblas_dtrsm");
        found = &naming;
        if (dgemm_ != nullptr && dtrsm_ != nullptr) break;
    }
    if (dgemm_ == nullptr || dtrsm_ == nullptr)
        throw Error("this library has no cblas_dgemm and cblas_dtrsm").given(choice.path);
    wide_ = found->wide;
    if (void* set = symbol(library, *found, "openblas_set_num_threads"); set != nullptr)
        reinterpret_cast<void (*)(int)>(set)(1);
    used_.path = file_of(dgemm_);
    if (void* core = symbol(library, *found, "openblas_get_corename"); core != nullptr)
        used_.core = reinterpret_cast<char* (*)()>(core)();
    if (void* config = symbol(library, *found, "openblas_get_config"); config != nullptr) {
        std::stringstream words(reinterpret_cast<char* (*)()>(config)());  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
        std::string name, number;
        words >> name >> number;
        used_.version = name + " " + number;
    }
}

void Blas::dgemm(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const double* a,
                 std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c,
                 std::int64_t ldc) const {
    if (wide_) {
        reinterpret_cast<Dgemm<std::int64_t>>(dgemm_)(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, alpha,
                                                      a, lda, b, ldb, beta, c, ldc);
        return;
    }
    reinterpret_cast<Dgemm<int>>(dgemm_)(kRowMajor, kNoTranspose, kNoTranspose, narrow(m), narrow(n),
                                         narrow(k), alpha, a, narrow(lda), b, narrow(ldb), beta, c,
                                         narrow(ldc));
}

void Blas::solve_unit_lower(std::int64_t m, std::int64_t n, const double* l, std::int64_t ldl, double* b,
                            std::int64_t ldb) const {
    if (wide_) {
        reinterpret_cast<Dtrsm<std::int64_t>>(dtrsm_)(kRowMajor, kLeft, kLower, kNoTranspose, kUnit, m, n,
                                                      1.0, l, ldl, b, ldb);
        return;
    }
    reinterpret_cast<Dtrsm<int>>(dtrsm_)(kRowMajor, kLeft, kLower, kNoTranspose, kUnit, narrow(m), narrow(n),
                                         1.0, l, narrow(ldl), b, narrow(ldb));
}

std::vector<BlasChoice> blas_candidates() {
    std::vector<BlasChoice> list;
    if (const char* named = std::getenv("STRATA_BLAS"); named != nullptr && *named != '\0') {
        add(list, named);
    } else {
        for (const std::string& path : lines_of(own_folder() + "/../../share/strata/blas-candidates"))
            add(list, path);
        std::stringstream paths(
            std::getenv("STRATA_BLAS_CANDIDATES") != nullptr ? std::getenv("STRATA_BLAS_CANDIDATES") : "");
        for (std::string path; std::getline(paths, path, ':');)
            if (!path.empty()) add(list, path);
        if (const std::string path = beside_in_environment(); !path.empty()) add(list, path);
        for (const char* name :
             {"libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4", "libarmpl_lp64.so", "libcblas.so.3"})
            add(list, name);
    }
    const std::size_t libraries = list.size();
    for (std::size_t i = 0; i < libraries; ++i) {
        if (!is_openblas(list[i].path)) continue;
        if (std::getenv("OPENBLAS_CORETYPE") != nullptr) list.push_back({list[i].path, kOwnKernels});
        for (const std::string& core : other_kernels()) list.push_back({list[i].path, core});
    }
    return list;
}

int blas_trial(const BlasChoice& choice) {
    constexpr std::int64_t n = 512;
    constexpr int repeats = 4;
    try {
        const Blas blas(choice);
        const Array<double> a(n * n), b(n * n), c(n * n);
        for (std::int64_t i = 0; i < n * n; ++i) {
            a[static_cast<std::size_t>(i)] = 1.0 / static_cast<double>(1 + i % 7);
            b[static_cast<std::size_t>(i)] = 1.0 / static_cast<double>(1 + i % 5);
        }
        double best = 1e300;
        for (int i = 0; i < repeats; ++i) {
            const double start = now();
            blas.dgemm(n, n, n, 1.0, a.data(), n, b.data(), n, 0.0, c.data(), n);
            best = std::min(best, now() - start);
        }
        fmt::print("{}\n", 2e-9 * n * n * n / best);
        return 0;
    } catch (const Error&) {
        return kFailure;  // not to be had here: no candidate
    }
}

namespace {

/// This process's environment without its OpenMP settings: a trial runs on the one core that it inherits,
/// where places for several threads only make the OpenMP runtime complain.
std::vector<std::string> trial_environment() {
    std::vector<std::string> set = {"OMP_NUM_THREADS=1"};
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (std::string(*entry).rfind("OMP_", 0) != 0) set.emplace_back(*entry);
    return set;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> list;
    for (std::string& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    return list;
}

}  // namespace

std::vector<double> try_candidates(const std::vector<BlasChoice>& candidates) {
    const std::string program = own_folder() + "/strata-bench";
    std::vector<std::string> environment = trial_environment();
    std::vector<double> rates;
    for (const BlasChoice& choice : candidates) {
        std::vector<std::string> words = {program, "blas-trial", choice.path, choice.core};
        const std::vector<char*> argv = pointers(words), variables = pointers(environment);
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("no pipe", errno);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        pid_t child = 0;
        const int failed =
            posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), variables.data());
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        char text[64] = {};
        if (failed == 0) {
            const ssize_t got = read(ends[0], text, sizeof text - 1);
            int status = 0;
            waitpid(child, &status, 0);
            rates.push_back(got > 0 && status == 0 ? std::strtod(text, nullptr) : 0.0);
        } else {
            rates.push_back(0.0);
        }
        close(ends[0]);
    }
    return rates;
}

}  // namespace strata::bench
