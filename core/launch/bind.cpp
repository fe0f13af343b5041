#include "core/launch/bind.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/error.hpp"
#include "core/launch/program.hpp"

namespace strata::launch {
namespace {

/// A CPU set of any size: cpu_set_t alone ends at 1024 PUs.
class CpuSet {
  public:
    explicit CpuSet(int highest) : count_(highest + 1), set_(CPU_ALLOC(static_cast<size_t>(count_))) {
        CPU_ZERO_S(bytes(), set_);
    }
    ~CpuSet() { CPU_FREE(set_); }
    CpuSet(const CpuSet&) = delete;
    CpuSet& operator=(const CpuSet&) = delete;

    [[nodiscard]] size_t bytes() const { return CPU_ALLOC_SIZE(static_cast<size_t>(count_)); }
    [[nodiscard]] cpu_set_t* get() const { return set_; }
    void add(int pu) { CPU_SET_S(static_cast<size_t>(pu), bytes(), set_); }
    [[nodiscard]] bool has(int pu) const { return CPU_ISSET_S(static_cast<size_t>(pu), bytes(), set_); }

  private:
    int count_;
    cpu_set_t* set_;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
}

}  // namespace

std::vector<int> affinity_of(int pid) {
    std::vector<int> pus;
    // The kernel refuses a set smaller than its own (EINVAL), whatever the machine has.
    for (int count = 1024; count <= 1 << 16; count *= 4) {
        const CpuSet set(count - 1);
        if (sched_getaffinity(pid, set.bytes(), set.get()) != 0) {
            if (errno == EINVAL) continue;
            break;
        }
        for (int pu = 0; pu < count; ++pu)
            if (set.has(pu)) pus.push_back(pu);
        break;
    }
    return pus;
}

bool bind_to(const std::vector<int>& pus) {
    if (pus.empty()) return true;
    CpuSet set(*std::max_element(pus.begin(), pus.end()));
    for (const int pu : pus) set.add(pu);
    return sched_setaffinity(0, set.bytes(), set.get()) == 0;
}

int become(const std::string& path, const std::vector<std::string>& arguments,
           const std::vector<std::string>& environment) {
    const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
    execve(path.c_str(), argv.data(), envp.data());
    return errno;
}

void refuse_start(const std::string& path, int why) {
    // A text file without "#!" is what shells run themselves; the kernel does not know it.
    const bool no_format = why == ENOEXEC;
    throw Error(fmt::format("the command cannot be run: {}", std::strerror(why)),
                why == ENOENT ? kNotFound : kNotRunnable)
        .given(path)
        .allowed("a program of this machine, or a script whose first line names its interpreter (#!/bin/sh)")
        .remedy(no_format ? fmt::format("sh {}, if it is a shell script", path)
                          : "check that its interpreter or loader exists (file, ldd)");
}

}  // namespace strata::launch
