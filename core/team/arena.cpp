#include "core/team/arena.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "core/base/units.hpp"
#include "core/team/arena_table.hpp"

namespace strata::team {
namespace {

constexpr std::uint64_t kHuge = 2ULL << 20, kGiB = 1ULL << 30;
constexpr std::uint64_t kSmallPart = 8;  // the first eighth is for small arrays

/// Far from the addresses of programs, heaps, libraries and stacks on Linux, and from those of
/// AddressSanitizer on x86-64 (up to 0x10007fff8000). The last two suit processors with 39 bits of address.
constexpr std::array<std::uintptr_t, 8> kAddresses = {0x200000000000, 0x280000000000, 0x300000000000,
                                                      0x380000000000, 0x400000000000, 0x480000000000,
                                                      0x2000000000,   0x3000000000};

std::size_t page_size() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

/// Returns nullptr when the address is in use.
void* map_at(int descriptor, std::uintptr_t address, std::uint64_t capacity) {
    void* wanted = reinterpret_cast<void*>(address);
    // Without NORESERVE, a kernel that does not overcommit would count the whole address space as used.
    void* got = mmap(wanted, capacity, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, descriptor, 0);
    if (got == wanted) {
        madvise(static_cast<char*>(got) + capacity / kSmallPart, capacity - capacity / kSmallPart,
                MADV_HUGEPAGE);
        return got;
    }
    const int why = errno;
    if (got != MAP_FAILED) {
        munmap(got, capacity);  // a kernel that does not know NOREPLACE takes the address as a wish
        return nullptr;
    }
    // ENOMEM means a limit on address space or, without such a limit, an address beyond the processor's.
    rlimit limit{};
    const bool limited = getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
    if (why == EEXIST || why == EINVAL || (why == ENOMEM && !limited)) return nullptr;
    throw system_error("the arena cannot be mapped", why)
        .given(fmt::format("{} of address space", print_size(capacity)))
        .remedy("ulimit -v unlimited");
}

struct Extent {
    std::uint64_t begin, end;
};

/// The first gap of `size` in `all` between the taken parts.
std::optional<std::uint64_t> first_gap(std::vector<Extent> taken, Extent all, std::uint64_t size) {
    std::sort(taken.begin(), taken.end(), [](Extent a, Extent b) { return a.begin < b.begin; });
    std::uint64_t at = all.begin;
    for (const Extent& each : taken) {
        if (each.begin < all.begin || each.begin >= all.end) continue;
        if (each.begin - at >= size) return at;
        at = each.end;
    }
    if (all.end - at >= size) return at;
    return std::nullopt;
}

}  // namespace

Arena Arena::create(std::uint64_t capacity) {
    const auto memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * page_size();
    capacity = rounded(capacity != 0 ? capacity : 2 * memory, capacity != 0 ? kSmallPart * kHuge : kGiB);
    const int descriptor = memfd_create("strata-arena", MFD_CLOEXEC);
    if (descriptor < 0) throw system_error("no memory file can be made", errno);
    Arena arena(descriptor, nullptr, capacity);
    const std::uint64_t header = rounded(sizeof(Header), page_size());
    if (ftruncate(descriptor, static_cast<off_t>(header)) != 0)
        throw system_error("the arena's file cannot grow", errno);
    if (!arena.move_on())
        throw Error("no address for the arena is free in this process", kFailure)
            .given(print_size(capacity))
            .remedy("a smaller capacity");
    new (arena.header_) Header;  // leaves the table as it is: zeros
    arena.header_->file_bytes = header;
    return arena;
}

bool Arena::move_on() {
    auto next = std::find(kAddresses.begin(), kAddresses.end(), address());
    next = header_ == nullptr || next == kAddresses.end() ? kAddresses.begin() : next + 1;
    if (header_ != nullptr) munmap(header_, capacity_);
    header_ = nullptr;
    for (; next != kAddresses.end() && header_ == nullptr; ++next)
        header_ = static_cast<Header*>(map_at(descriptor_, *next, capacity_));
    return header_ != nullptr;
}

std::optional<Arena> Arena::join(int descriptor, std::uintptr_t address, std::uint64_t capacity) {
    void* const at = map_at(descriptor, address, capacity);
    if (at == nullptr) return std::nullopt;
    return Arena(descriptor, static_cast<Header*>(at), capacity);
}

Arena Arena::view(int descriptor, std::uint64_t capacity) {
    void* const at =
        mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    if (at == MAP_FAILED)
        throw system_error("the arena cannot be mapped", errno)
            .given(fmt::format("{} of address space", print_size(capacity)))
            .remedy("ulimit -v unlimited");
    return {descriptor, static_cast<Header*>(at), capacity};
}

Arena::Arena(Arena&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      header_(std::exchange(other.header_, nullptr)),
      capacity_(other.capacity_) {}

Arena& Arena::operator=(Arena&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(header_, other.header_);
    std::swap(capacity_, other.capacity_);
    return *this;
}

Arena::~Arena() {
    if (header_ != nullptr) munmap(header_, capacity_);
    if (descriptor_ >= 0) close(descriptor_);
}

Failure& Arena::failure() const { return header_->failure; }

Arena::Entry* Arena::entry(std::string_view name) const noexcept {
    for (Entry& entry : header_->entries())
        if (entry.used.load(std::memory_order_acquire) != 0 && name == entry.name) return &entry;
    return nullptr;
}

void* Arena::find(std::string_view name) const noexcept {
    const Entry* there = entry(name);
    return there == nullptr ? nullptr : reinterpret_cast<char*>(header_) + there->offset;
}

std::uint64_t Arena::promised() const {
    std::uint64_t bytes = 0;
    for (const Entry& entry : header_->entries())
        if (entry.used.load(std::memory_order_acquire) != 0) bytes += entry.reserved;
    return bytes;
}

std::uint64_t Arena::resident() const {
    struct stat file {};
    constexpr std::uint64_t block = 512;  // unit of st_blocks, in all file systems (stat(2))
    return fstat(descriptor_, &file) == 0 ? static_cast<std::uint64_t>(file.st_blocks) * block : 0;
}

/// The array of this name, which must have this size; null when there is none.
Arena::Entry* Arena::made_before(std::string_view name, std::uint64_t bytes) const {
    Entry* const there = entry(name);
    if (there != nullptr && there->bytes != bytes)
        throw Error("an array has been asked for with two sizes")
            .at(fmt::format("array {}", name))
            .given(fmt::format("{} bytes", bytes))
            .allowed(fmt::format("{} bytes, as it was made", there->bytes));
    return there;
}

/// The number of the first entry without an array: that of all known ones when each has one.
std::size_t Arena::free_entry(std::string_view name) const {
    const auto known = header_->entries();
    const auto unused =
        std::find_if(known.begin(), known.end(), [](const Entry& each) { return each.used.load() == 0; });
    const auto number = static_cast<std::size_t>(unused - known.begin());
    if (number == kMostArrays)
        throw Error("the arena has no room for another name", kFailure)
            .at(fmt::format("array {}", name))
            .allowed(fmt::format("{} arrays", kMostArrays));
    return number;
}

/// The first gap that is large enough, in the part of the arena that fits the size.
std::uint64_t Arena::free_offset(std::uint64_t bytes, std::size_t page) const {
    const bool small = page < kHuge;
    const std::uint64_t begin = small ? rounded(sizeof(Header), page) : capacity_ / kSmallPart;
    std::vector<Extent> taken;
    for (const Entry& entry : header_->entries())
        if (entry.used.load(std::memory_order_relaxed) != 0)
            taken.push_back({entry.offset, entry.offset + entry.reserved});
    return first_gap(std::move(taken), {begin, small ? capacity_ / kSmallPart : capacity_}, bytes)
        .value_or(0);
}

/// The offset of an array's reserved bytes, within the file.
std::uint64_t Arena::make_room(std::string_view name, std::uint64_t bytes, std::uint64_t reserved,
                               std::size_t page) {
    const std::uint64_t offset = reserved > capacity_ ? 0 : free_offset(reserved, page);
    if (offset == 0)
        throw Error("the arena's address space is used up", kFailure)
            .at(fmt::format("array {}", name))
            .given(print_size(bytes))
            .allowed(fmt::format("{} in all, an eighth of it for arrays below 2 MiB", print_size(capacity_)))
            .remedy(
                "fewer cells, particles or values, or more nodes; a program of one's own may ask for more "
                "(team::Options::capacity)");
    if (offset + reserved > header_->file_bytes) {
        if (ftruncate(descriptor_, static_cast<off_t>(offset + reserved)) != 0)
            throw system_error("the arena's file cannot grow", errno).remedy("ulimit -f unlimited");
        header_->file_bytes = offset + reserved;
    }
    return offset;
}

/// A place in the table with room for the memories of an array's owners.
std::uint32_t Arena::room_for_owners(std::string_view name, std::size_t count) const {
    std::vector<Extent> taken;
    for (const Entry& entry : header_->entries())
        if (entry.used.load(std::memory_order_relaxed) != 0 && entry.owners > 0)
            taken.push_back({entry.first_owner, std::uint64_t{entry.first_owner} + entry.owners});
    const auto at = first_gap(std::move(taken), {0, Header::kMostOwners}, count);
    if (!at)
        throw Error("the arena has no room for the owners of another array", kFailure)
            .at(fmt::format("array {}", name))
            .given(fmt::format("{} owners", count))
            .allowed(fmt::format("{} for all arrays that are bound or blocked", Header::kMostOwners));
    return static_cast<std::uint32_t>(*at);
}

void* Arena::allocate(std::string_view name, std::uint64_t bytes, const Placing& placing) {
    if (name.empty() || name.size() > kLongestName || bytes == 0)
        throw Error("an array needs a name and a size")
            .given(fmt::format("\"{}\", {} bytes", name, bytes))
            .allowed(fmt::format("1 to {} characters, at least one byte", kLongestName));
    const Holding hold(header_->lock, Patience::crowded(&header_->failure));
    char* const base = reinterpret_cast<char*>(header_);
    if (const Entry* there = made_before(name, bytes)) return base + there->offset;
    const std::size_t number = free_entry(name);
    const auto known = header_->entries();
    Entry* const slot = known.data() + number;
    const Placing where = settled(placing, std::string(name));
    const std::size_t page = bytes >= kHuge ? kHuge : page_size();
    const std::uint64_t reserved = bytes > capacity_ ? bytes : rounded(bytes, page);
    // A huge page lies in one memory, so blocks end on the borders of huge pages where there are such pages.
    const std::size_t grain = page == kHuge && why_no_huge_pages().empty() ? kHuge : page_size();
    const bool owned = where.where == Placing::Where::bound || where.where == Placing::Where::blocked;
    const std::size_t owners = owned ? where.memories.size() : 0;
    const std::uint32_t first_owner = room_for_owners(name, owners);
    refuse_what_cannot_be(name, reserved, grain, where);
    const std::uint64_t offset = make_room(name, bytes, reserved, page);
    place_pages(base + offset, reserved, grain, where);
    std::copy_n(where.memories.begin(), owners, header_->owners + first_owner);
    slot->where = where.where;
    slot->first_owner = first_owner;
    slot->owners = static_cast<std::uint32_t>(owners);
    slot->grain = grain;
    slot->offset = offset;
    slot->bytes = bytes;
    slot->reserved = reserved;
    std::memcpy(slot->name, name.data(), name.size());
    slot->name[name.size()] = '\0';
    slot->used.store(1, std::memory_order_release);
    if (number == known.size())
        header_->known.store(static_cast<std::uint32_t>(number + 1), std::memory_order_release);
    return base + offset;
}

void Arena::release(std::string_view name) {
    const Holding hold(header_->lock, Patience::crowded(&header_->failure));
    Entry* const gone = entry(name);
    if (gone == nullptr) throw Error("there is no such array").at(fmt::format("array {}", name));
    // Pages go back to the system, and the next array at this place finds zeros.
    if (fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(gone->offset),
                  static_cast<off_t>(gone->reserved)) != 0)
        throw system_error("the array's memory cannot be given back", errno)
            .at(fmt::format("array {}", name));
    gone->used.store(0, std::memory_order_release);
}

void Arena::describe(const void* address, char* text, std::size_t size) const noexcept {
    const std::uint64_t at = reinterpret_cast<std::uintptr_t>(address) - this->address();
    const Entry* nearest = nullptr;
    for (const Entry& entry : header_->entries())
        if (entry.used.load(std::memory_order_acquire) != 0 && entry.offset <= at &&
            (nearest == nullptr || entry.offset > nearest->offset))
            nearest = &entry;
    // Formats numbers and text into the caller's memory: no allocation, no locale.
    fmt::format_to_n_result<char*> end{text, 0};
    if (nearest == nullptr)
        end = fmt::format_to_n(text, size - 1, "the arena, below all arrays");
    else if (at - nearest->offset < nearest->bytes)
        end = fmt::format_to_n(text, size - 1, "array '{}', byte {} of {}",
                               static_cast<const char*>(nearest->name), at - nearest->offset, nearest->bytes);
    else
        end =
            fmt::format_to_n(text, size - 1, "the arena, {} bytes beyond the end of array '{}'",
                             at - nearest->offset - nearest->bytes, static_cast<const char*>(nearest->name));
    *end.out = '\0';
}

}  // namespace strata::team
