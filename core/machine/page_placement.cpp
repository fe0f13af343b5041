#include "core/machine/page_placement.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace strata::machine {

PagePlacement try_page_placement(int memory_os_index) {
    PagePlacement result;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        result.why = "no memory for a trial page";
        return result;
    }
    constexpr size_t bits = 8 * sizeof(unsigned long);
    std::vector<unsigned long> mask(static_cast<size_t>(memory_os_index) / bits + 1, 0UL);
    mask[static_cast<size_t>(memory_os_index) / bits] = 1UL << (static_cast<size_t>(memory_os_index) % bits);
    // The kernel reads one bit less than it is told (get_nodes() in mm/mempolicy.c).
    result.mbind = syscall(SYS_mbind, memory, page, MPOL_BIND, mask.data(), mask.size() * bits + 1, 0UL) == 0;
    if (!result.mbind) result.why = fmt::format("mbind: {}", std::strerror(errno));
    *static_cast<volatile char*>(memory) = 1;

    int status = -1;
    const long moved = syscall(SYS_move_pages, 0, 1UL, &memory, nullptr, &status, 0);
    result.move_pages = moved == 0 && status >= 0;
    if (!result.move_pages) {
        const int error = moved != 0 ? errno : -status;
        result.why += fmt::format("{}move_pages: {}", result.why.empty() ? "" : "; ", std::strerror(error));
    } else if (result.mbind && status != memory_os_index) {
        result.move_pages = false;
        result.why =
            fmt::format("a page bound to memory {} is reported in memory {}", memory_os_index, status);
    }
    munmap(memory, page);
    return result;
}

}  // namespace strata::machine
