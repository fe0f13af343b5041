#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <vector>

#include "core/base/error.hpp"
#include "core/launch/elf.hpp"
#include "core/launch/mpi.hpp"
#include "core/launch/program.hpp"
#include "core/launch/text_pages.hpp"
#include "tests/catch.hpp"
#include "tests/launch/folder.hpp"

using namespace strata;
using launch::Mpi;

namespace {

const std::string kInstalled = TEST_INSTALLED;

}  // namespace

TEST_CASE("the MPI of a program is found through its own libraries and their RUNPATH") {
    const auto program = launch::examine(kInstalled + "/bin/linked", "");
    CHECK(program.mpi == Mpi::open_mpi);
    CHECK(program.mpi_library.find("/lib/libmpi.so.40") != std::string::npos);
}

TEST_CASE("LD_LIBRARY_PATH wins over RUNPATH, as it does for the loader") {
    const TestFolder folder;
    std::ifstream from(kInstalled + "/lib/libmpi.so.40", std::ios::binary);
    std::ofstream(folder.path + "/libmpi.so.40", std::ios::binary) << from.rdbuf();
    const auto program = launch::examine(kInstalled + "/bin/linked", "/nowhere:" + folder.path);
    CHECK(program.mpi_library == folder.path + "/libmpi.so.40");
}

TEST_CASE("a script, a text, a torn file and a program without MPI link no MPI") {
    const TestFolder folder;
    CHECK(launch::examine(folder.file("script", "#!/bin/sh\necho\n"), "").why.find("/bin/sh") !=
          std::string::npos);
    CHECK(launch::examine(folder.file("text", "hello"), "").mpi == Mpi::none);
    CHECK(launch::examine("/bin/sh", "").mpi == Mpi::none);
    std::ifstream from(kInstalled + "/bin/linked", std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(from)), {});
    for (size_t size = 0; size < whole.size(); size += 61) {
        INFO("torn after " << size);
        const auto torn = launch::examine(folder.file("torn", whole.substr(0, size)), "");
        CHECK((torn.mpi == Mpi::none || torn.mpi == Mpi::open_mpi));
    }
}

TEST_CASE("a program's file that its owner shortens meanwhile ends no launcher that reads it") {
    const TestFolder folder;
    std::ifstream from(kInstalled + "/bin/linked", std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(from)), {});
    const std::string program = folder.file("theirs", whole);
    const pid_t reader = fork();
    if (reader == 0) {
        for (int i = 0; i < 3000; ++i) (void)launch::examine(program, "");
        _exit(0);
    }
    const int file = open(program.c_str(), O_WRONLY | O_CLOEXEC);
    int status = 0;
    while (waitpid(reader, &status, WNOHANG) == 0) {
        REQUIRE(ftruncate(file, 0) == 0);
        REQUIRE(pwrite(file, whole.data(), whole.size(), 0) == static_cast<ssize_t>(whole.size()));
    }
    close(file);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

namespace {

Elf64_Phdr segment(Elf64_Word type, Elf64_Off offset, Elf64_Xword bytes) {
    Elf64_Phdr made{};
    made.p_type = type, made.p_flags = PF_X | PF_R, made.p_offset = offset, made.p_filesz = bytes;
    return made;
}

/// A program that claims these segments, and has so many bytes.
std::string claiming(const std::vector<Elf64_Phdr>& segments, size_t bytes) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_phoff = sizeof header, header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(segments.size());
    std::string text(bytes, '\0');
    std::memcpy(text.data(), &header, sizeof header);
    std::memcpy(text.data() + sizeof header, segments.data(), segments.size() * sizeof(Elf64_Phdr));
    return text;
}

}  // namespace

TEST_CASE("of what a program says of itself no more is read than linkers write") {
    const TestFolder folder;
    constexpr size_t kEntries = 100000, kAt = 4096, kBytes = kEntries * sizeof(Elf64_Dyn);
    std::string text = claiming({segment(PT_DYNAMIC, kAt, kBytes), segment(PT_LOAD, 0, kAt)}, kAt + kBytes);
    for (size_t i = 0; i < kEntries; ++i) {
        Elf64_Dyn entry{};
        entry.d_tag = i == 0 ? DT_STRTAB : DT_NEEDED;
        entry.d_un.d_val = i == 0 ? 0 : 1;  // "ELF..."
        std::memcpy(text.data() + kAt + i * sizeof entry, &entry, sizeof entry);
    }
    const auto elf = launch::read_elf(folder.file("many", text));
    REQUIRE(elf);
    CHECK(elf->needed.front().rfind("ELF", 0) == 0);
    CHECK(elf->needed.size() <= 4096);
}

TEST_CASE("pages of a program that are not there are not placed, and end no launcher") {
    const TestFolder folder;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const std::string text = claiming({segment(PT_LOAD, 0, 64 * page)}, page);
    const auto placed = launch::place_text({folder.file("short", text)}, {0});
    REQUIRE(placed.size() == 1);
    CHECK(placed.front().pages == 1);
}

TEST_CASE("all libraries of a program are visited when asked, and found without the loader's index") {
    const auto visited = [](launch::Visit which) {
        std::set<std::string> names;
        const auto take = [&](const std::string& name, const std::string& found) {
            if (!found.empty()) names.insert(name);
            return false;
        };
        launch::visit_libraries("/proc/self/exe", launch::LibraryPaths("", "/nonexistent"), take, which);
        return names;
    };
    CHECK(visited(launch::Visit::all).count("libc.so.6") == 1);
    CHECK(visited(launch::Visit::telling).count("libc.so.6") == 0);
}

TEST_CASE("libraries name their MPI by the interface version they keep") {
    CHECK(launch::mpi_of_library("libmpi.so.40") == Mpi::open_mpi);
    CHECK(launch::mpi_of_library("/x/libmpi.so.40.30.4") == Mpi::open_mpi);
    CHECK(launch::mpi_of_library("libmpi.so.12") == Mpi::mpich);
    CHECK(launch::mpi_of_library("libmpich.so.12") == Mpi::mpich);
    CHECK(launch::mpi_of_library("libmpi.so.400") == Mpi::unknown);
    CHECK(launch::mpi_of_library("libmpi_ibm.so.3") == Mpi::unknown);
    CHECK(launch::mpi_of_library("libc.so.6") == Mpi::none);
}

TEST_CASE("mpirun is taken from beside the program's MPI, and never that of another MPI") {
    const TestFolder folder;
    mkdir((folder.path + "/lib").c_str(), 0755);
    mkdir((folder.path + "/bin").c_str(), 0755);
    mkdir((folder.path + "/other").c_str(), 0755);
    launch::Program program{"./a.out", Mpi::open_mpi, folder.path + "/lib/libmpi.so.40", "test"};
    folder.tool("other/mpirun.mpich");
    CHECK_THROWS_AS(launch::find_mpirun(program, folder.path + "/other"), Error);
    folder.tool("other/mpirun.openmpi");
    CHECK(launch::find_mpirun(program, folder.path + "/other").path == folder.path + "/other/mpirun.openmpi");
    // A plain name says nothing: its neighbours do.
    folder.tool("bin/mpirun");
    folder.tool("bin/hydra_pmi_proxy");
    CHECK(launch::find_mpirun(program, folder.path + "/other").path == folder.path + "/other/mpirun.openmpi");
    unlink((folder.path + "/bin/hydra_pmi_proxy").c_str());
    folder.tool("bin/ompi_info");
    CHECK(launch::find_mpirun(program, folder.path + "/other").path == folder.path + "/bin/mpirun");
}

TEST_CASE("commands are found on PATH as a shell finds them, with its exit codes when they are not") {
    const TestFolder folder;
    folder.file("data", "no program");
    folder.tool("tool");
    CHECK(launch::find_command("tool", "/nowhere:" + folder.path) == folder.path + "/tool");
    CHECK(launch::find_command(folder.path + "/tool", "") == folder.path + "/tool");
    const auto code = [&](const std::string& command) {
        try {
            launch::find_command(command, folder.path);
        } catch (const Error& error) {
            return error.exit_code();
        }
        return 0;
    };
    CHECK(code("nosuch") == 127);
    CHECK(code("./no/such") == 127);
    CHECK(code("") == 127);
    CHECK(code("data") == 126);
    CHECK(code(folder.path) == 127);
}
