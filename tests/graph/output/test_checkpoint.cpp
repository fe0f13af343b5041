#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "core/base/crc32c.hpp"
#include "core/run/checkpoint/reader.hpp"
#include "core/run/checkpoint/writer.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::tests;
namespace fs = std::filesystem;

namespace {

constexpr int kPatches = 12;

CheckpointHead head_at(std::int64_t step) {
    CheckpointHead head;
    head.case_name = "heat \"one\"";
    head.case_hash = "a1b2";
    head.step = step;
    head.time = 0.1 * static_cast<double>(step) + 1.0 / 3;
    head.families = {{"grid", kPatches}};
    head.labels = {{"temperature", "grid", Element::f64, 8, 1, 2},
                   {"id", "grid", Element::i64, 8, 1, 1},
                   {"total", "", Element::f64, 8, 1, 1}};
    head.parameters = {{"cfl", 0.3}};
    head.keys = {{"grid.cells", "[8, 8]"}, {"profile.kind", "\"cosines\""}};
    head.facts = {{"box", {1.0 / 3, 2}}, {"nothing", {}}};
    head.ended = true;
    return head;
}

/// What label `label` has on a patch at a step: any number of bytes, also none.
std::vector<std::byte> values(int label, std::int64_t patch, int generation, std::int64_t step) {
    std::mt19937_64 random(
        static_cast<std::uint64_t>(label * 1000 + patch * 10 + generation + step * 100000));
    const std::size_t count = label == 1 ? static_cast<std::size_t>(patch) * 700 : label == 2 ? 1 : 4096;
    std::vector<std::byte> bytes(count * 8);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t word = random();
        std::memcpy(&bytes[i * 8], &word, 8);
    }
    return bytes;
}

void for_each_chunk(const std::function<void(int label, std::int64_t patch, int generation)>& call) {
    for (std::int64_t patch = 0; patch < kPatches; ++patch)
        call(0, patch, 0), call(0, patch, 1), call(1, patch, 0);
    call(2, 0, 0);
}

void write(const fs::path& folder, std::int64_t step, int parts, int keep = 0) {
    CheckpointWriter::prepare(folder, step);
    for (int part = 0; part < parts; ++part) {
        CheckpointWriter writer(folder, step, part);
        for_each_chunk([&](int label, std::int64_t patch, int generation) {
            const auto bytes = values(label, patch, generation, step);
            if (patch % parts == part)
                writer.add(label, patch, bytes, static_cast<std::int64_t>(bytes.size() / 8), generation);
        });
        writer.finish();
    }
    CheckpointWriter::commit(folder, head_at(step), parts, keep);
}

void require_values(const CheckpointReader& reader, std::int64_t step) {
    REQUIRE(reader.head().step == step);
    for_each_chunk([&](int label, std::int64_t patch, int generation) {
        const auto expected = values(label, patch, generation, step);
        REQUIRE(reader.find(label, patch, generation).value().bytes == expected.size());
        REQUIRE(reader.find(label, patch, generation).value().count ==
                static_cast<std::int64_t>(expected.size() / 8));
        std::vector<std::byte> got(expected.size());
        reader.read(label, patch, got, generation);
        REQUIRE(got == expected);
    });
}

std::string names(const fs::path& folder) {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    std::string text;
    for (const std::string& name : all) text += name + " ";
    return text;
}

void flip(const fs::path& file, std::size_t at) {
    std::string text = text_of(file);
    text.at(at) = static_cast<char>(text[at] ^ 1);
    write_text(file, text);
}

}  // namespace

TEST_CASE("crc32c gives the values that RFC 3720 prints, by instruction and by tables, whole and in parts") {
    const auto of = [](const std::vector<std::uint8_t>& bytes) {
        return crc32c(std::as_bytes(std::span(bytes)));
    };
    std::vector<std::uint8_t> up(32), down(32);
    for (std::size_t i = 0; i < 32; ++i)
        up[i] = static_cast<std::uint8_t>(i), down[i] = static_cast<std::uint8_t>(31 - i);
    CHECK(of(std::vector<std::uint8_t>(32, 0)) == 0x8A9136AA);  // RFC 3720, B.4, bytes in order of sending
    CHECK(of(std::vector<std::uint8_t>(32, 0xFF)) == 0x62A8AB43);
    CHECK(of(up) == 0x46DD794E);
    CHECK(of(down) == 0x113FDB5C);
    const std::string digits = "123456789";
    CHECK(crc32c(std::as_bytes(std::span(digits))) == 0xE3069283);

    std::mt19937_64 random(7);
    std::vector<std::byte> bytes(100'003);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    for (const std::size_t length : {0UL, 1UL, 7UL, 12287UL, 12288UL, 12289UL, 40000UL, 99'000UL}) {
        const auto part = std::span(bytes).subspan(random() % 1000, length);
        CHECK(crc32c(part) == crc32c_by_tables(part));
        const std::size_t cut = length == 0 ? 0 : random() % length;
        CHECK(crc32c(part.subspan(cut), crc32c(part.first(cut))) == crc32c(part));
    }
}

TEST_CASE("a checkpoint comes back bit by bit, however many processes wrote it") {
    const int parts = GENERATE(1, 3);
    const TemporaryFolder folder;
    write(folder.path(), 500, parts);
    CHECK(names(folder.path()) == "checkpoint-000500 ");
    const CheckpointReader reader(checkpoint_path(folder.path(), 500));
    require_values(reader, 500);
    CHECK(reader.check() > 0);
    const CheckpointHead& head = reader.head();
    CHECK(head.case_name == "heat \"one\"");
    CHECK(head.time == head_at(500).time);
    CHECK(head.families == head_at(500).families);
    CHECK(head.labels == head_at(500).labels);
    CHECK(head.parameters == head_at(500).parameters);
    CHECK(head.keys == head_at(500).keys);
    CHECK(head.facts == head_at(500).facts);
    CHECK(head.ended);
    REQUIRE(head.key("profile.kind") != nullptr);
    CHECK(*head.key("profile.kind") == "\"cosines\"");
    CHECK(head.key("grid") == nullptr);
    CHECK((head.fact("box") != nullptr && head.fact("box")->at(0) == 1.0 / 3));
    CHECK(head.label("id") == 1);
    CHECK_FALSE(reader.find(0, kPatches).has_value());
    CHECK(has(refusal([&] {
                  std::byte b;
                  reader.read(0, kPatches, {&b, 1});
              }),
              "no label 'temperature' on patch 12"));
    CHECK(has(refusal([&] {
                  std::byte b;
                  reader.read(0, 2, {&b, 1});
              }),
              "another size"));
}

TEST_CASE("chunks may come from several threads; the index does not show it") {
    const TemporaryFolder one, several;
    write(one.path(), 1, 1);
    CheckpointWriter::prepare(several.path(), 1);
    {
        CheckpointWriter writer(several.path(), 1, 0);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                for_each_chunk([&](int label, std::int64_t patch, int generation) {
                    const auto bytes = values(label, patch, generation, 1);
                    if (patch % 4 == t)
                        writer.add(label, patch, bytes, static_cast<std::int64_t>(bytes.size() / 8),
                                   generation);
                });
            });
        for (std::thread& thread : threads) thread.join();
        writer.finish();
    }
    CheckpointWriter::commit(several.path(), head_at(1), 1, 0);
    require_values(CheckpointReader(checkpoint_path(several.path(), 1)), 1);
    const auto sums = [](const fs::path& folder) {
        std::string index = text_of(checkpoint_path(folder, 1) / "part-0000.index"), sums;
        for (std::size_t at = 0; (at = index.find("\"crc32c\":\"", at)) != std::string::npos; at += 10)
            sums += index.substr(at + 10, 8);
        return sums.substr(0, sums.size() - 8);  // without the seal, which covers the offsets
    };
    CHECK(sums(one.path()) == sums(several.path()));
}

TEST_CASE("the last N are kept, and one of the same step is replaced") {
    const TemporaryFolder folder;
    for (const int step : {100, 200, 300, 1200300}) write(folder.path(), step, 2, 2);
    CHECK(names(folder.path()) == "checkpoint-000300 checkpoint-1200300 ");
    CHECK(checkpoint_steps(folder.path()) == std::vector<std::int64_t>{300, 1200300});
    write(folder.path(), 300, 1, 2);
    CHECK(names(folder.path()) == "checkpoint-000300 checkpoint-1200300 ");
    CHECK_FALSE(fs::exists(checkpoint_path(folder.path(), 300) / "part-0001.data"));
    require_values(CheckpointReader::latest(folder.path()).value(), 1200300);
    CHECK_FALSE(CheckpointReader::latest(folder.path() / "none").has_value());
}

TEST_CASE("a changed bit in the data is refused by label and patch") {
    const TemporaryFolder folder;
    write(folder.path(), 5, 2);
    const fs::path checkpoint = checkpoint_path(folder.path(), 5);
    flip(checkpoint / "part-0001.data", 40);  // the first chunk of part 1: label 0, patch 1
    const CheckpointReader reader(checkpoint);
    std::vector<std::byte> bytes(reader.find(0, 1).value().bytes);
    const std::string said = refusal([&] { reader.read(0, 1, bytes); });
    CHECK(has(said, "label 'temperature' on patch 1 is damaged"));
    CHECK(has(said, "part-0001.data"));
    CHECK(has(refusal([&] { (void)reader.check(); }), "patch 1"));
    reader.read(0, 3, bytes);  // the rest is as good as before
    CHECK(bytes == values(0, 3, 0, 5));
}

TEST_CASE("a damaged head or index, a lost part and a cut file are refused, and the one before is found") {
    const TemporaryFolder folder;
    write(folder.path(), 1, 2);
    write(folder.path(), 2, 2);
    const fs::path checkpoint = checkpoint_path(folder.path(), 2);
    std::string expected;
    SECTION("a digit of the head") {
        const std::string head = text_of(checkpoint / "checkpoint.json");
        flip(checkpoint / "checkpoint.json", head.find("\"time\":") + 9);
        expected = "head is damaged";
    }
    SECTION("half a head") {
        const std::string head = text_of(checkpoint / "checkpoint.json");
        write_text(checkpoint / "checkpoint.json", head.substr(0, head.size() / 2));
        expected = "not JSON";
    }
    SECTION("another program's file") {
        write_text(checkpoint / "checkpoint.json", "{\"format\":\"other/2\"}");
        expected = "not a checkpoint that this version reads";
    }
    SECTION("a digit of an index") {
        flip(checkpoint / "part-0000.index", 60);
        expected = "index is damaged";
    }
    SECTION("half an index") {
        const std::string index = text_of(checkpoint / "part-0000.index");
        write_text(checkpoint / "part-0000.index", index.substr(0, index.find('\n', index.size() / 2) + 1));
        expected = "index is damaged";
    }
    SECTION("a part") {
        fs::remove(checkpoint / "part-0001.data");
        expected = "cannot be opened";
    }
    SECTION("the end of a part") {
        fs::resize_file(checkpoint / "part-0001.data", fs::file_size(checkpoint / "part-0001.data") - 1);
        expected = "cut short";
    }
    const std::string said = refusal([&] { (void)CheckpointReader(checkpoint); });
    INFO(said);
    CHECK(has(said, expected));
    std::vector<std::string> passed_over;
    require_values(CheckpointReader::latest(folder.path(), &passed_over).value(), 1);
    REQUIRE(passed_over.size() == 1);
    CHECK(has(passed_over[0], expected));
}

TEST_CASE("the first format is read, a later one is refused") {
    const TemporaryFolder folder;
    write(folder.path(), 1, 1);
    const fs::path file = checkpoint_path(folder.path(), 1) / "checkpoint.json";
    const auto rewrite = [&](const std::string& format) {
        std::string text = text_of(file);
        const std::size_t at = text.find("strata.checkpoint/");
        text.replace(at, text.find('"', at) - at, format);
        text.erase(text.rfind(",\n\"crc32c\":"));
        const std::uint32_t sum = crc32c(std::as_bytes(std::span(text)));
        write_text(file, text + fmt::format(",\n\"crc32c\":\"{:08x}\"}}\n", sum));
    };
    CHECK(CheckpointReader(checkpoint_path(folder.path(), 1)).head().format == 2);
    rewrite("strata.checkpoint/1");
    const CheckpointReader first(checkpoint_path(folder.path(), 1));
    CHECK(first.head().format == 1);
    require_values(first, 1);
    rewrite("strata.checkpoint/3");
    const std::string said = refusal([&] { CheckpointReader(checkpoint_path(folder.path(), 1)); });
    CHECK(has(said, "given: strata.checkpoint/3"));
    CHECK(has(said, "allowed: strata.checkpoint/1, strata.checkpoint/2"));
}

TEST_CASE("another case's checkpoint is refused with what differs") {
    const TemporaryFolder folder;
    write(folder.path(), 1, 1);
    const CheckpointReader reader(checkpoint_path(folder.path(), 1));
    CheckpointHead now = head_at(1);
    CHECK_NOTHROW(reader.expect(now));
    now.case_hash = "ffff";
    CHECK_NOTHROW(reader.expect(now));  // keys say more, and the case compares them
    now.keys.clear();
    CHECK(has(refusal([&] { reader.expect(now); }), "another case"));
    now.case_hash = "";
    CHECK_NOTHROW(reader.expect(now));
    now = head_at(1);
    now.families[0].patches = 8;
    CHECK(has(refusal([&] { reader.expect(now); }), "family 'grid' is divided otherwise"));
    now = head_at(1);
    now.labels[0].element = Element::f32;
    now.labels[0].bytes = 4;
    CHECK(has(refusal([&] { reader.expect(now); }), "label 'temperature' is another"));
    now = head_at(1);
    now.labels.push_back({"pressure", "grid", Element::f64, 8, 1, 1});
    CHECK(has(refusal([&] { reader.expect(now); }), "no label 'pressure'"));
}

TEST_CASE("a part that was not finished cannot be committed, and leaves nothing") {
    const TemporaryFolder folder;
    write(folder.path(), 1, 1);
    CheckpointWriter::prepare(folder.path(), 2);
    { const CheckpointWriter writer(folder.path(), 2, 0); }
    CHECK(has(refusal([&] { CheckpointWriter::commit(folder.path(), head_at(2), 1, 1); }),
              "not been finished"));
    CheckpointWriter::abandon(folder.path(), 2);
    CHECK(names(folder.path()) == "checkpoint-000001 ");
    require_values(CheckpointReader::latest(folder.path()).value(), 1);
}
