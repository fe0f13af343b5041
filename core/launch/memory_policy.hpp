// The memories for a process' pages: the request, the memories that follow from it, and telling the kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::machine {
struct Machine;
}

namespace strata::launch {

/// Numbers of a user's list, in the order given. Those of PUs and memories are the system's; `marked` by
/// "os:" before them, which only cores have another meaning without.
struct Numbers {
    bool marked = false;
    std::vector<int> list;
    std::string text;
};
/// Reads "0-3,8", "6,4,2" (order kept), "0-14:2" or the same after "os:"; nothing for any other text.
std::optional<Numbers> parse_numbers(std::string_view text);

enum class Policy {
    inherit,      // nothing asked: what the launcher itself was given
    first_touch,  // the kernel's default: in the domain of the thread that first touches a page
    interleave,   // page by page over memories
    local,        // only in the memories of the domains that the process' threads sit in
    bind          // only in the memories listed
};

/// The request, for all processes.
struct MemoryWish {
    Policy policy = Policy::inherit;
    Numbers list;  // of bind, and of interleave where given
};
/// Reads "first-touch", "interleave", "interleave:LIST", "local" or "bind:LIST". Throws Error.
MemoryWish parse_memory(std::string_view text);
std::string to_text(const MemoryWish& wish);

/// Transparent huge pages: as the system has them, asked for by malloc, or never.
enum class Huge { as_is, on, off };
/// Reads "as-is", "on" or "off". Throws Error.
Huge parse_huge(std::string_view text);

/// The policy of one process and its memories, by the system's numbers.
struct Memories {
    Policy policy = Policy::inherit;
    std::vector<int> nodes;
    Huge huge = Huge::as_is;
    std::vector<int> near = {};  // of first touch: where its own threads put pages, as far as there is room
};
std::string to_text(const Memories& memories);
/// As one word without '@', ':' or ';', and back.
std::string encode(const Memories& memories);
Memories decode_memories(std::string_view word);

/// The memories that a list names, each once and ascending. `key` names the list in the Error for one that is
/// not there or not allowed to this process.
std::vector<int> memories_named(const machine::Machine& machine, const Numbers& list, const std::string& key);

/// The ordinary memories of the domains that hold `pus`: DRAM where a domain also has HBM, CXL or NVM.
std::vector<int> memories_near(const machine::Machine& machine, const std::vector<int>& pus);

/// The memories that follow from a wish for a process on `own`, in a placement over `all` PUs.
Memories memories_for(const machine::Machine& machine, const MemoryWish& wish, const std::vector<int>& own,
                      const std::vector<int>& all);

/// Sets this thread's policy (set_mempolicy(2), and PR_SET_THP_DISABLE where huge pages are off), which its
/// children and the program it becomes inherit. False when the kernel refuses (errno says why); a kernel
/// without memory policies is no refusal where there is but one memory.
bool hold_memory(const Memories& memories);

/// The policy that this process was itself given, in words as of numactl; empty for the kernel's default.
std::string inherited_policy();

}  // namespace strata::launch
