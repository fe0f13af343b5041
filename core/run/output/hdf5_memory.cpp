#include "core/run/output/hdf5_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/error.hpp"

namespace strata::graph {

namespace {

/// The file as given to HDF5, which uses only the first member.
struct Seen {
    H5FD_t of_hdf5;
    MemoryFile* file;
    haddr_t end_of_file;
};

struct Given {  // the content of the access list
    MemoryFile* file;
};

Seen& seen(H5FD_t* file) { return *reinterpret_cast<Seen*>(file); }
const Seen& seen(const H5FD_t* file) { return *reinterpret_cast<const Seen*>(file); }

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) {
    const auto* given = static_cast<const Given*>(H5Pget_driver_info(access));
    return given == nullptr ? nullptr : &(new Seen{{}, given->file, 0})->of_hdf5;
}
herr_t close_file(H5FD_t* file) {
    delete &seen(file);
    return 0;
}
herr_t query_file(const H5FD_t*, unsigned long* features) {
    if (features != nullptr) *features = 0;
    return 0;
}
haddr_t end_set_aside(const H5FD_t* file, H5FD_mem_t) { return seen(file).file->end; }
herr_t set_aside(H5FD_t* file, H5FD_mem_t, haddr_t end) {
    seen(file).file->end = end;
    return 0;
}
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) { return seen(file).end_of_file; }
herr_t read_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t count, void* to) {
    seen(file).file->get(at, count, static_cast<std::byte*>(to));
    return 0;
}
herr_t write_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t count, const void* from) {
    try {
        seen(file).file->put(at, count, static_cast<const std::byte*>(from));
    } catch (const std::bad_alloc&) {
        return -1;
    }
    seen(file).end_of_file = std::max(seen(file).end_of_file, at + count);
    return 0;
}
herr_t end_here(H5FD_t* file, hid_t, hbool_t) {
    seen(file).end_of_file = seen(file).file->end;
    return 0;
}

hid_t driver() {
    static const hid_t id = [] {
        H5FD_class_t own{};  // later versions of HDF5 have further members: zero is "none" for all
#ifdef H5FD_CLASS_VERSION
        own.version = H5FD_CLASS_VERSION;
        own.value = static_cast<H5FD_class_value_t>(512);  // the first value for drivers outside HDF5
#endif
        own.name = "strata_memory";
        own.maxaddr = HADDR_MAX;
        own.fc_degree = H5F_CLOSE_WEAK;
        own.fapl_size = sizeof(Given);
        own.open = open_file;
        own.close = close_file;
        own.query = query_file;
        own.get_eoa = end_set_aside;
        own.set_eoa = set_aside;
        own.get_eof = end_of_file;
        own.read = read_file;
        own.write = write_file;
        own.truncate = end_here;
        const H5FD_mem_t lists[] = H5FD_FLMAP_DICHOTOMY;
        std::copy(std::begin(lists), std::end(lists), own.fl_map);
        return H5FDregister(&own);
    }();
    return id;
}

}  // namespace

MemoryFile::MemoryFile() : access_(H5Pcreate(H5P_FILE_ACCESS)) {
    const Given given{this};
    if (access_ < 0 || H5Pset_driver(access_, driver(), &given) < 0)
        throw Error("HDF5 cannot lay a file out in memory", kFailure);
}

MemoryFile::~MemoryFile() { H5Pclose(access_); }

void MemoryFile::put(haddr_t at, std::size_t count, const std::byte* from) {
    while (count > 0) {
        const std::size_t within = at % kPage, some = std::min(count, kPage - within);
        std::memcpy(pages_[at / kPage].data() + within, from, some);
        at += some, from += some, count -= some;
    }
}

void MemoryFile::get(haddr_t at, std::size_t count, std::byte* to) const {
    while (count > 0) {
        const std::size_t within = at % kPage, some = std::min(count, kPage - within);
        const auto page = pages_.find(at / kPage);
        if (page == pages_.end())
            std::memset(to, 0, some);
        else
            std::memcpy(to, page->second.data() + within, some);
        at += some, to += some, count -= some;
    }
}

void MemoryFile::write_to(const std::filesystem::path& part, const std::filesystem::path& path) const {
    const auto fail = [&](int error_number) {
        throw system_error("the field file could not be written", error_number)
            .at(path.string())
            .remedy("make room, or write elsewhere; files of earlier steps are as they were");
    };
    const int out = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out < 0) fail(errno);
    const auto close = [](const int* file) { ::close(*file); };
    const std::unique_ptr<const int, decltype(close)> closed(&out, close);
    if (::ftruncate(out, static_cast<off_t>(end)) != 0) fail(errno);
    for (const auto& [number, page] : pages_) {
        const haddr_t at = number * kPage;
        for (std::size_t done = 0, count = std::min<haddr_t>(kPage, end - at); done < count;) {
            const ssize_t some =
                ::pwrite(out, page.data() + done, count - done, static_cast<off_t>(at + done));
            if (some < 0 && errno == EINTR) continue;
            if (some <= 0) fail(some < 0 ? errno : ENOSPC);
            done += static_cast<std::size_t>(some);
        }
    }
}

}  // namespace strata::graph
