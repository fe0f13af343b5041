// What operations do, as text: halos of particles, requests and answers.
#include "tests/graph/plans/call_data.hpp"
#include "tests/graph/plans/plan_writer.hpp"

namespace strata::tests {

using namespace strata::graph;

bool PlanWriter::add_moving(const Op& op, const std::string& name) {
    if (op.go == HaloRenewal::go)
        add_renewal(as<HaloRenewal>(op.what));
    else if (op.go == HaloCombineCall::go)
        add_halo_combine(as<HaloCombineCall>(op.what));
    else if (op.go == PostCall::go)
        add_requests(*as<PostCall>(op.what).of, name);
    else if (op.go == PackRequestsCall::go) {
        const auto& call = as<PackRequestsCall>(op.what);
        add("  packs requests to processes {} to {} scope {}\n", call.node->first, call.node->last,
            call.scope);
        add_channel(call.node->asks);
    } else if (op.go == ArrivedCall::go)
        add("  lists requests that came, scope {}\n", as<ArrivedCall>(op.what).scope);
    else if (op.go == DeliverCall::go)
        add("  delivers to {} patches\n", as<DeliverCall>(op.what).of->patches);
    else if (op.go == PackAnswersCall::go) {
        const auto& call = as<PackAnswersCall>(op.what);
        add("  packs answers to node {} scope {}\n", call.node, call.scope);
        add_channel(call.of->sends[call.node]);
    } else if (op.go == AnswersMessageCall::go) {
        const auto& call = as<AnswersMessageCall>(op.what);
        add("  {} answers of node {} number {} scope {}\n", call.sends ? "sends" : "receives", call.node,
            call.number, call.scope);
        add_channel((call.sends ? call.of->sends : call.of->receives)[call.node]);
    } else if (op.go == ReturnCall::go)
        add_answers(*as<ReturnCall>(op.what).of);
    else
        return false;
    return true;
}

void PlanWriter::add_addresses(std::string_view what, std::span<const void* const> all) {
    for (const void* each : all) {
        add("  {} ", what);
        add_address(each);
        text_ += '\n';
    }
}

void PlanWriter::add_renewal(const HaloRenewal& call) {
    add("  renews directions {} distance {:.6g} by number {} targets {}\n", call.directions, call.distance,
        int{call.by_number}, call.targets.size());
    for (const HaloSource& link : call.links) {
        text_ += "  link ";
        add_address(link.patch);
        add(" shift {:.6g} {:.6g} {:.6g}\n", link.shift[0], link.shift[1], link.shift[2]);
    }
    for (const ParticleColumn& column : {call.position, call.number, call.renewed}) {
        text_ += "  column";
        add_column(column);
        text_ += '\n';
    }
    const void* const here = call.here;
    add_addresses("of", {&here, 1});
}

void PlanWriter::add_halo_combine(const HaloCombineCall& call) {
    text_ += "  combines";
    add_column(call.column);
    text_ += " of ";
    add_address(call.here);
    text_ += '\n';
    for (const HaloCombineCall::Part& part : call.parts)
        add("  part {} link {} {}\n", part.to.of == nullptr ? "of its own" : "from beside", part.to.link,
            part.begin == nullptr ? "" : "from another node");
}

/// The patches that ask, and where their requests lie.
void PlanWriter::add_requests(const RequestsOnTheWay& of, const std::string& name) {
    add("  requests '{}' of process {} among {} to {}\n", of.set->name(), of.rank, of.first, of.last);
    for (const RequestsOnTheWay::Asker& each : of.askers) {
        add("  asks of patch {}\n", each.patch);
        const void* const places[] = {each.to, each.count, each.questions};
        add_addresses("at", places);
    }
    const std::span<PostedTable>& own = of.tables[static_cast<std::size_t>(of.rank - of.first)];
    add_object(own.data(), own.size(), Whose::node, "posted by " + name);
    for (const std::span<PostedTable>& each : of.tables) {
        const void* const table = each.data();
        add_addresses(fmt::format("{} tables", each.size()), {&table, 1});
    }
    for (const OtherNode& node : of.others)
        add("  {} processes {} to {}\n", node.asks != nullptr ? "asks" : "is asked by", node.first,
            node.last);
}

void PlanWriter::add_answers(const AnswersOnTheWay& of) {
    add("  answers of {} bytes {} shared by {}\n", of.bytes, of.all ? "to all" : "to some", of.shared.size());
    for (const int process : of.asker_of) add("  messages by {}\n", process);
}

}  // namespace strata::tests
