// SPDX-License-Identifier: LGPL-2.1-or-later
import AdapterSupport
import DBus
import Platform
import TestSupport
import Testing

@testable import EditorAdapter

@Suite("what goes to and from the plugins of editors")
struct EditorMessageTests {
    private func message(_ text: String) -> PluginMessage<EditorState>? {
        PluginMessage<EditorState>(Array(text.utf8))
    }

    @Test(
        "what an editor would write otherwise than it has read it goes into no other buffer",
        arguments: [
            ("one\ntwo", true), ("", true), ("one\r\ntwo\r\n", false), ("\u{FEFF}one", false),
            ("a\0b", false),
            (String(repeating: "x", count: TextFile.maximumText + 1), false),
        ])
    func texts(_ text: String, _ isText: Bool) throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(text, to: "letter.txt")
        withExtendedLifetime(folder) { #expect(TextFile.text(path) == (isText ? text : nil)) }
    }

    @Test("what a plugin says is understood")
    func understood() throws {
        let place = try #require(TextPlace(3, 5))
        let state = EditorState(document: .file("/home/me/a.txt"), place: place)
        #expect(message(#"{"event":"front","file":"/home/me/a.txt","line":3,"column":5}"#) == .front(state))
        #expect(message(#"{"event":"left"}"#) == .left)
        #expect(message(#"{"event":"closed"}"#) == .closed)
        let full = EditorState(document: .file("/home/me/a.txt"), place: place, text: "Dear\n")
        #expect(
            message(#"{"answer":7,"file":"/home/me/a.txt","line":3,"column":5,"text":"Dear\n"}"#)
                == .state(7, full))
        #expect(message(#"{"answer":7}"#) == .state(7, nil))
        #expect(message(#"{"answer":8,"opened":true}"#) == .opened(8, true))
    }

    @Test(
        "what is not understood is nothing",
        arguments: [
            "", "x", "[]", "{}", #"{"event":"run","file":"/a"}"#, #"{"event":"front"}"#,
            #"{"event":"changed"}"#,
            #"{"event":"front","file":"a.txt","line":1,"column":1}"#,
            #"{"event":"front","file":"/a.txt","line":0,"column":1}"#,
            #"{"event":"front","file":"/a.txt","line":1.5,"column":1}"#,
            #"{"event":"front","file":"/a.txt","line":10000001,"column":1}"#,
            #"{"event":"front","file":"/a.txt","line":"1","column":1}"#,
            #"{"event":"front","file":"/a\nb.txt","line":1,"column":1}"#,
            #"{"event":"front","file":"/home/me/.ssh/id_rsa","line":1,"column":1}"#,
        ])
    func nonsense(_ text: String) { #expect(message(text) == (text.contains("\"front\"") ? .closed : nil)) }

    @Test("what nests ten thousand deep is nothing")
    func deep() {
        let text = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(message(text) == nil)
        #expect(message(#"{"event":"front","file":"# + text + "}") == nil)
    }

    @Test("a text that is too long stays where it is, and the place goes on")
    func longText() throws {
        let text = String(repeating: "a", count: TextFile.maximumText + 1)
        let line = #"{"answer":1,"file":"/a.txt","line":2,"column":3,"text":""# + text + #""}"#
        let place = try #require(TextPlace(2, 3))
        #expect(message(line) == .state(1, EditorState(document: .file("/a.txt"), place: place)))
    }

    @Test("a question is one line, whatever is in it")
    func question() throws {
        let place = try #require(TextPlace(2, 3))
        let state = EditorState(document: .file("/a\"b.txt"), place: place, text: "one\ntwo\r\n")
        let line = PluginPipe<EditorState>.line(EditorQuestion.open(state), 4)
        #expect(line.filter { $0 == UInt8(ascii: "\n") }.count == 1 && line.last == UInt8(ascii: "\n"))
        let value = try JSONValue.read(line)
        #expect(value["ask"]?.text == "open" && value["id"]?.integer == 4)
        #expect(value["file"]?.text == state.document.path && value["text"]?.text == state.text)
        #expect(value["line"]?.integer == 2 && value["column"]?.integer == 3)
    }
}

@Suite("lines of bytes")
struct LineBufferTests {
    @Test("lines come whole, in whatever pieces they arrive")
    func pieces() {
        let bytes = Array("one\n\ntwo\nthree".utf8)
        for size in 1...bytes.count {
            var buffer = LineBuffer(limit: 100)
            var lines: [[UInt8]] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                lines += buffer.add(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(lines.map { String(decoding: $0, as: UTF8.self) } == ["one", "two"])
            #expect(buffer.add("\n".utf8).map { String(decoding: $0, as: UTF8.self) } == ["three"])
        }
    }

    @Test("a line that is too long is left out, takes no room, and what follows is read")
    func tooLong() {
        var buffer = LineBuffer(limit: 10)
        for _ in 0..<1000 {
            #expect(buffer.add(Array(repeating: UInt8(ascii: "x"), count: 1000)).isEmpty)
            #expect(buffer.count <= 10)
        }
        #expect(buffer.add("x\nshort\n".utf8).map { String(decoding: $0, as: UTF8.self) } == ["short"])
    }
}

@Suite("files that editors show")
struct TextFileTests {
    @Test(
        "secrets are known by their names",
        arguments: [
            "/dev/shm/pass.x1/entry.txt", "/proc/self/environ", "/run/user/1000/x", "/home/me/.ssh/config",
            "/home/me/.gnupg/gpg.conf", "/home/me/.password-store/bank.txt", "/home/me/letter.txt.gpg",
            "/home/me/Secret.ASC", "/home/me/server.key", "/home/me/server.pem", "/home/me/id_ed25519",
            "/home/me/id_rsa.pub", "/home/me/.netrc", "/home/me/.aws/credentials", "/home/me/db.kdbx",
            "/etc/shadow", "/tmp/pass.AbC/bank.txt", "/",
        ])
    func secrets(_ path: String) { #expect(PrivateFiles.isPrivate(path)) }

    @Test(
        "other files are not",
        arguments: [
            "/home/me/letter.txt", "/run/media/me/USB/a.txt", "/home/me/keys.txt", "/home/me/passage.txt",
            "/srv/dev/main.c", "/tmp/x",
        ])
    func others(_ path: String) { #expect(!PrivateFiles.isPrivate(path) && UserFile.isUsable(path)) }

    @Test(
        "a name that could steer anything is not used",
        arguments: ["", "a", "-x", "+x", "/a\nb", "/a\u{1B}[0m", "/\u{202E}x"])
    func odd(_ path: String) { #expect(!UserFile.isUsable(path)) }
}

@Suite("starting editors")
struct KnownEditorTests {
    @Test("options of a command line are made of numbers, and neither file nor folder can be taken for one")
    func arguments() throws {
        let place = try #require(TextPlace(10_000_000, 42))
        let file = "/home/me/+quit -c x"
        let state = EditorState(document: .file(file), place: place, folder: "/home/me")
        for editor in KnownEditor.all {
            for inTerminal in [false, true] {
                let words = editor.arguments(state, inTerminal: inTerminal)
                #expect(words.contains("-nw") == (inTerminal && editor.id == "emacs"))
                guard !editor.takesUntitled else {
                    #expect(words == ["/home/me", "--goto", "\(file):10000000:42"])
                    continue
                }
                #expect(words.last == file)
                for word in words.dropLast() where !["--", "-nw", "--line", "--column"].contains(word) {
                    #expect(
                        (word.first == "+" || !editor.takesText)
                            && word.dropFirst().allSatisfy { $0.isASCII && $0.isNumber || $0 == ":" })
                }
            }
        }
    }

    @Test("a text that no file holds goes to an editor that can show one, in the folder of its window")
    func untitled() throws {
        var state = EditorState(document: .untitled("-x"), place: .start, text: "Dear")
        for editor in KnownEditor.all where editor.takesUntitled {
            state.folder = nil
            #expect(editor.arguments(state, inTerminal: false).isEmpty)
            state.folder = "/home/me"
            #expect(editor.arguments(state, inTerminal: false) == ["/home/me"])
        }
        #expect(KnownEditor.all.filter(\.takesUntitled).map(\.id).contains("code"))
        let message = PluginMessage<EditorState>(
            Array(#"{"event":"front","name":"Untitled-1","line":1,"column":1,"folder":"/home/me"}"#.utf8))
        let shown = EditorState(document: .untitled("Untitled-1"), place: .start, folder: "/home/me")
        #expect(message == .front(shown))
        for name in ["", "a\nb", String(repeating: "x", count: 10_000)] {
            #expect(ShownDocument(file: nil, name: name) == nil)
        }
    }

    @Test("the editor that the text comes from is the first, then the user's own")
    func candidates() {
        func ids(_ origin: String, _ preferred: String?, _ hasText: Bool) -> [String] {
            KnownEditor.candidates(origin: origin, preferred: preferred, hasText: hasText).map(\.id)
        }
        #expect(ids("vim", "org.gnome.gedit", false) == ["vim", "org.gnome.gedit"])
        #expect(
            ids("org.xfce.mousepad", nil, false) == []
                && ids("vim", "org.kde.kate", false) == ["vim", "org.kde.kate"])
        #expect(!ids("vim", "org.kde.kate", true).contains("org.kde.kate"))
        #expect(ids("vim", nil, true).prefix(2) == ["vim", "org.gnome.gedit"])
        #expect(Set(ids("vim", nil, true)) == Set(KnownEditor.all.filter(\.takesText).map(\.id)))
    }

    @Test("a place that a device sends is a place, or else the start")
    func places() {
        #expect(TextPlace(["line": .uint32(7), "column": .uint32(9)]) == TextPlace(7, 9))
        for bad: Value in [.uint32(0), .uint32(10_000_001), .int32(-1), .string("quit"), .double(3)] {
            #expect(TextPlace(["line": bad, "column": .uint32(9)]) == .start)
        }
        #expect(TextPlace([:]) == .start)
    }

    @Test("what is kept for an editor arrives as it was")
    func pending() throws {
        let place = try #require(TextPlace(3, 4))
        for text in [nil, "", "Dear\n"] {
            for document in [ShownDocument.file("/a b.txt"), .untitled("Untitled-1")] {
                let state = EditorState(document: document, place: place, text: text, folder: "/home/me")
                #expect(EditingText.pending(EditingText.pending(state)) == state)
            }
        }
    }
}
