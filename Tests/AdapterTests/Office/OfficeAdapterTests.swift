// SPDX-License-Identifier: LGPL-2.1-or-later
import AdapterSupport
import DBus
import Glibc
import TestSupport
import Testing

@testable import OfficeAdapter

@Suite("what goes to and from the office")
struct OfficeMessageTests {
    private func message(_ text: String) -> PluginMessage<OfficeState>? {
        PluginMessage<OfficeState>(Array(text.utf8))
    }

    @Test("what the extension says is understood")
    func understood() throws {
        let page = try #require(PageNumber(3))
        let state = OfficeState(application: .writer, document: .file("/home/me/a.odt"), place: .page(page))
        let words = #""application":"libreoffice-writer","file":"/home/me/a.odt","page":3"#
        #expect(message("{\"event\":\"front\",\(words)}") == .front(state))
        #expect(message(#"{"event":"left"}"#) == .left && message(#"{"event":"closed"}"#) == .closed)
        var copied = state
        copied.copy = "/run/x/a.odt"
        #expect(message("{\"answer\":7,\(words),\"copy\":\"/run/x/a.odt\"}") == .state(7, copied))
        #expect(message(#"{"answer":7}"#) == .state(7, nil))
        #expect(message(#"{"answer":8,"opened":false}"#) == .opened(8, false))
    }

    @Test(
        "what is not understood is nothing",
        arguments: [
            "", "[]", #"{"event":"run"}"#, #"{"event":"front","application":"xterm","file":"/a.odt"}"#,
            #"{"event":"front","application":"libreoffice-writer","file":"a.odt"}"#,
            #"{"event":"front","application":"libreoffice-writer","file":"/home/me/.ssh/a.odt"}"#,
            #"{"event":"front","application":"libreoffice-writer","name":"a\nb"}"#,
        ])
    func nonsense(_ text: String) { #expect(message(text) == (text.contains("\"front\"") ? .closed : nil)) }

    @Test(
        "a place that is none is left out",
        arguments: [
            #""page":0"#, #""page":1000000"#, #""slide":"1""#, #""sheet":"A","cell":"7C""#,
            #""sheet":"A","cell":"C07""#, #""sheet":"A","cell":"C7:D8""#, #""sheet":"A\u001b","cell":"C7""#,
            #""sheet":"","cell":"C7""#, #""sheet":"A""#,
        ])
    func places(_ text: String) throws {
        let words = #"{"event":"front","application":"libreoffice-calc","file":"/a.ods","# + text + "}"
        let state = OfficeState(application: .calc, document: .file("/a.ods"), place: nil)
        #expect(message(words) == .front(state))
    }

    @Test(
        "a place is the same after its way to another device, and what is kept for the office is what it was")
    func travels() throws {
        let number = try #require(PageNumber(7))
        let folder = try TemporaryDirectory()
        let path = try folder.write("{\\rtf1}", to: "a b.rtf")
        for place in [
            nil, OfficePlace.page(number), .slide(number), .cell(sheet: "Übersicht 1", cell: "AB12"),
        ] {
            #expect(OfficePlace(place?.entries ?? [:]) == place)
            let kept: [String: Value] = [
                "Path": .string(path), "Mode": .string("unsaved"), "Name": .string("Letter"),
                "Place": .properties(place?.entries ?? [:]),
            ]
            let task = try #require(OfficeTask(pending: kept))
            #expect(
                task.place == place && task.mode == .unsaved("Letter") && task.application == .writer)
            #expect(OfficeTask(pending: task.pending) == task)
        }
        #expect(OfficeTask(pending: [:]) == nil)
        #expect(OfficeTask(pending: ["Path": .string("/etc/passwd"), "Mode": .string("edit")]) == nil)
        withExtendedLifetime(folder) {}
    }
}

@Suite("documents of the office")
struct OfficeFormatTests {
    private func package(_ mimetype: String) -> [UInt8] {
        [0x50, 0x4B, 3, 4] + Array(repeating: 0, count: 26) + Array("mimetype\(mimetype)PK".utf8)
    }

    @Test("are known by how they are called and how they begin, and templates are none")
    func formats() {
        let compound: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]
        let text = package("application/vnd.oasis.opendocument.text")
        func application(_ name: String, _ bytes: [UInt8]) -> OfficeApplication? {
            OfficeFormat(name: name, bytes: bytes)?.application
        }
        #expect(application("a.odt", text) == .writer && application("A.ODS", text) == .calc)
        #expect(
            application("a.docx", package("")) == .writer && application("a.pptx", package("")) == .impress)
        #expect(application("a.xls", compound) == .calc)
        #expect(application("a.rtf", Array("{\\rtf1".utf8)) == .writer)
        #expect(application("a.odt", package("application/vnd.oasis.opendocument.text-template")) == nil)
        for (name, bytes) in [
            ("a.ott", text), ("a.csv", Array("1,2".utf8)), ("a.odt", compound), ("a.odb", text), ("a", text),
            ("a.odt", []), ("a.fodt", Array("<?xml ".utf8)), ("a.desktop", Array("[Desktop Entry]".utf8)),
            ("a.docm", package("")),
        ] { #expect(application(name, bytes) == nil, "\(name)") }
    }

    @Test("a copy goes along only from the folder that it was to be left in, and only if it is one")
    func copies() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("{\\rtf1}", to: "a.rtf")
        let own = String(path.dropLast("/a.rtf".count))
        #expect(OfficeCopies.url(path, in: own) != nil)
        #expect(OfficeCopies.url(path, in: own + "/other") == nil && OfficeCopies.url(own, in: own) == nil)
        #expect(OfficeCopies.url("\(own)/../\(own.split(separator: "/").last ?? "")/a.rtf", in: own) == nil)
        #expect(symlink(path, "\(own)/b.rtf") == 0 && OfficeCopies.url("\(own)/b.rtf", in: own) == nil)
        #expect(OfficeCopies.url(try folder.write("no", to: "c.odt"), in: own) == nil)
        withExtendedLifetime(folder) {}
    }

    @Test("the folders of the last four copies stay, until all are over")
    func folders() {
        var copies = OfficeCopies()
        let made = (0..<6).map { _ in copies.next() }
        #expect(made.map(\.old.count) == [0, 0, 0, 0, 1, 1] && Set(made.map(\.folder)).count == 6)
        #expect(made[4].old == [made[0].folder])
        #expect(copies.forget().count == 5 && copies.forget().count == 1)
    }
}
