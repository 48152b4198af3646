// SPDX-License-Identifier: LGPL-2.1-or-later
import ContactsModel
import FoundationEssentials
import Testing

struct ContactStreamTests {
    /// All that is sent for these.
    private func sent(_ contacts: [Contact]) -> Data {
        ContactStream.Pieces(contacts).reduce(into: Data()) { $0 += $1 }
    }

    @Test("contacts arrive as they were sent, in pieces of any size", arguments: [1, 2, 7, 4_096, 1 << 20])
    func pieces(size: Int) throws {
        let contacts = (0..<50).map { contact("Zoë “\($0)” \\ \u{1F600}", [.note: "one\ntwo\tthree"]) }
        let bytes = sent(contacts)
        var reader = ContactStreamReader()
        for start in stride(from: 0, to: bytes.count, by: size) {
            let former = reader.progress
            try reader.read(bytes[start..<min(bytes.count, start + size)])
            #expect(reader.progress >= former)
        }
        #expect(reader.progress == 1)
        #expect(try reader.finish() == contacts)
    }

    @Test("no contacts are complete as well")
    func none() throws {
        var reader = ContactStreamReader()
        #expect(reader.progress == 0)
        try reader.read(sent([]))
        #expect(try reader.finish().isEmpty)
        #expect(reader.progress == 1)
    }

    @Test("what is cut off anywhere is no list of contacts")
    func cut() throws {
        let bytes = sent([contact("Ada"), contact("Zoë")])
        for end in 0..<bytes.count {
            var reader = ContactStreamReader()
            try reader.read(bytes[..<end])
            #expect(throws: ContactStreamReader.Failure.self) { try reader.finish() }
        }
    }

    @Test("of contacts without end no more are kept than the file may have")
    func endless() throws {
        let bytes = sent((0..<50).map { contact("Ada \($0)", [.note: String(repeating: "x", count: 1_000)]) })
        var reader = ContactStreamReader(maximumSize: bytes.count)
        try reader.read(bytes)
        let failure = #expect(throws: ContactStreamReader.Failure.self) { try reader.read(Data("\n".utf8)) }
        #expect(failure?.description == "More than \(bytes.count) bytes of contacts have arrived.")
    }

    @Test(
        "a contact that another device says was changed after now is as old as now, so that it wins no merge for ever"
    )
    func notYet() throws {
        let future = contact("Ada", modified: .max)
        var reader = ContactStreamReader(latest: 1_000)
        try reader.read(sent([future, contact("Zoë", modified: 7)]))
        let arrived = try reader.finish()
        #expect(arrived.map(\.modified) == [1_000, 7])
        var list = ContactList(arrived)
        let later = contact("Ada King", modified: 1_001, id: future.id)
        #expect(list.merge([later]) == .init(updated: 1))
        #expect(list[future.id] == later)
        var now = ContactStreamReader()
        try now.read(sent([future]))
        #expect(try now.finish()[0].modified <= Moment.now)
    }

    @Test(
        "what is no contact is refused, saying so",
        arguments: [
            ("nonsense\n", "is not contacts"), ("{\"version\":1}\n", "is not contacts"),
            ("{\"version\":2,\"count\":0}\n", "another version"),
            ("{\"version\":1,\"count\":-1}\n", "more than"),
            ("{\"version\":1,\"count\":100001}\n", "more than"),
            ("{\"version\":1,\"count\":1}\n{}\n", "Contact 1"),
            ("{\"version\":1,\"count\":0}\n{}\n", "More contacts"),
            ("{\"version\":1,\"count\":1}\n{\"id\":\"../../x\",\"modified\":1,\"values\":{}}\n", "Contact 1"),
            ("{\"version\":1,\"count\":1}\n" + String(repeating: "x", count: 700_000), "longer than"),
        ])
    func refusals(text: String, reason: String) {
        var reader = ContactStreamReader()
        let failure = #expect(throws: ContactStreamReader.Failure.self) { try reader.read(Data(text.utf8)) }
        #expect(failure?.description.contains(reason) == true)
    }
}

struct ContactFormTests {
    private func decoded(_ values: [String: String]) throws -> Contact {
        struct Form: Encodable {
            let id = "0123456789abcdef0123456789abcdef"
            let modified = 1
            let values: [String: String]
        }
        return try JSONDecoder().decode(Contact.self, from: JSONEncoder().encode(Form(values: values)))
    }

    @Test("what is too long or too much for a contact is refused, what just fits is taken")
    func limits() throws {
        let name = String(repeating: "x", count: 4_096)
        #expect(try decoded(["name": name])[.name] == name)
        #expect(throws: DecodingError.self) { try decoded(["name": name + "x"]) }
        let note = String(repeating: "x", count: 65_536)
        #expect(try decoded(["note": note])[.note] == note)
        #expect(throws: DecodingError.self) { try decoded(["note": note, "future": note]) }
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("key\($0)", "") })
        #expect(throws: DecodingError.self) { try decoded(many) }
    }

    @Test("what a newer version has added stays, and characters that fake others don't")
    func text() throws {
        let contact = try decoded(["name": "A\u{202e}d\u{7}a\nB", "note": "one\ntwo\u{0}", "pronouns": "she"])
        #expect(contact[.name] == "A d a B")
        #expect(contact[.note] == "one\ntwo ")
        #expect(contact.values["pronouns"] == "she")
    }
}
