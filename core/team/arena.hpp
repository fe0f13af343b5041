// Memory that every process of a team on a node maps at one address. All processes see each other's writes,
// and a pointer into it is valid in all of them.
//
// It is an unnamed memory file (memfd_create(2)): the kernel frees it when the last process that has it ends,
// in whatever way. Address space is reserved once, for more than the machine's memory. Arrays take parts of
// it by name, and pages are allocated when they are touched. So a new array costs the other processes
// nothing.
//
// Small arrays lie in the first eighth. The others lie in the rest, on 2 MiB borders, with huge pages
// requested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/team/failure.hpp"
#include "core/team/pages.hpp"
#include "core/team/waiting.hpp"

namespace strata::team {

class Note;

class Arena {
  public:
    static constexpr std::size_t kMostArrays = 8192, kLongestName = 63;

    /// A new arena of `capacity` bytes of address space (0: twice this machine's memory), at an address that
    /// is likely to be free in every process. Throws Error.
    [[nodiscard]] static Arena create(std::uint64_t capacity = 0);
    /// The arena of another process, by its descriptor (which this object then owns), at its address there.
    /// None where that address is in use here. Throws Error when the system refuses for another reason.
    [[nodiscard]] static std::optional<Arena> join(int descriptor, std::uintptr_t address,
                                                   std::uint64_t capacity);
    /// The same at any free address: for the process that watches members and uses no pointers into the
    /// arena.
    [[nodiscard]] static Arena view(int descriptor, std::uint64_t capacity);
    /// Maps the arena at the next address that is free here; returns false when no address is left to try.
    /// For finding an address that suits all processes, before any pointers into it exist.
    [[nodiscard]] bool move_on();

    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();

    /// The array of that name, zeroed when new. The first process that asks makes it, the others get the same
    /// one, in any order. Pages are placed by the first one's `placing`. Throws Error when the name is taken
    /// by an array of another size, when memory does not suffice (with the need and the supply), or when the
    /// table is full; MemberLost when another member is gone.
    [[nodiscard]] void* allocate(std::string_view name, std::uint64_t bytes, const Placing& placing = {});
    /// The same as `count` elements of T. They may hold pointers into the arena, but none to code or to
    /// private memory.
    template <class T>
    [[nodiscard]] std::span<T> array(std::string_view name, std::size_t count, const Placing& placing = {}) {
        static_assert(std::is_trivially_destructible_v<T>, "nobody would call its destructor");
        return {static_cast<T*>(allocate(name, count * sizeof(T), placing)), count};
    }
    /// An array's address; null when there is none of that name.
    [[nodiscard]] void* find(std::string_view name) const noexcept;
    /// Frees the array's memory for all members at once; none of them may use it afterwards. Throws Error
    /// when there is no such array.
    void release(std::string_view name);

    /// Describes an address: "array 'x', byte 4096 of 8192", or the nearest array. Safe in signal handlers.
    void describe(const void* address, char* text, std::size_t size) const noexcept;

    [[nodiscard]] bool contains(const void* address) const noexcept {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        return at >= this->address() && at - this->address() < capacity_;
    }
    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(header_); }
    [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
    /// Bytes promised to arrays, and bytes that have pages.
    [[nodiscard]] std::uint64_t promised() const;
    [[nodiscard]] std::uint64_t resident() const;
    /// The failure word that every wait of this arena's members polls.
    [[nodiscard]] Failure& failure() const;

  private:
    struct Entry;
    struct Header;

    Arena(int descriptor, Header* header, std::uint64_t capacity)
        : descriptor_(descriptor), header_(header), capacity_(capacity) {}
    [[nodiscard]] Entry* entry(std::string_view name) const noexcept;
    [[nodiscard]] Entry* made_before(std::string_view name, std::uint64_t bytes) const;
    [[nodiscard]] std::size_t free_entry(std::string_view name) const;
    [[nodiscard]] std::uint64_t free_offset(std::uint64_t bytes, std::size_t page) const;
    [[nodiscard]] std::uint64_t make_room(std::string_view name, std::uint64_t bytes, std::uint64_t reserved,
                                          std::size_t page);
    [[nodiscard]] std::uint32_t room_for_owners(std::string_view name, std::size_t count) const;
    [[nodiscard]] Placing placing_of(const Entry& entry) const;
    [[nodiscard]] std::uint64_t promised_in(int memory) const;
    void refuse_what_cannot_be(std::string_view name, std::uint64_t bytes, std::size_t grain,
                               const Placing& placing) const;

    int descriptor_ = -1;
    Header* header_ = nullptr;
    std::uint64_t capacity_ = 0;
};

/// From now on a fault in the arena's memory (SIGBUS: no page was available) is explained with the array's
/// name, in `note` or, when that is null, on standard error. Then the process ends as it would have without
/// this. The arena must outlive this; one arena at a time.
void explain_faults(const Arena& arena, Note* note);
/// Ends explain_faults(). To be called before the arena is destroyed.
void explain_no_faults();

}  // namespace strata::team
