// SPDX-License-Identifier: LGPL-2.1-or-later
import Platform
import Testing

@Suite("The options of a program")
struct ProgramOptionsTests {
    private func options(arguments: String? = nil, stops: Bool = false) -> ProgramOptions {
        var options = ProgramOptions(
            arguments: arguments, summary: "Does something.", stopsAtFirstArgument: stops)
        options.flag("loud", letter: "l", "Make noise")
        options.text("place", letter: "p", argument: "PLACE", "Where to be")
        return options
    }

    @Test("flags and texts are found, with both ways of writing them")
    func parse() throws {
        for line in [
            ["x", "--loud", "--place", "here"], ["x", "-l", "-p", "here"], ["x", "--place=here", "-l"],
        ] {
            let values = try options().parse(line)
            #expect(values.has("loud") && values["place"] == "here" && values.rest == [])
        }
        let none = try options().parse(["x"])
        #expect(!none.has("loud") && none["place"] == nil && !none.has("help"))
        #expect(try options().parse(["x", "--place", ""])["place"] == "")
        #expect(try options().parse(["x", "--place", "ü"])["place"] == "ü")
    }

    @Test("help and version are options of every program")
    func always() throws {
        #expect(try options().parse(["x", "-h"]).has("help"))
        #expect(try options().parse(["x", "--version"]).has("version"))
        let text = options().help(program: "thing")
        for part in ["thing", "Does something.", "--loud", "-p, --place=PLACE", "Where to be", "--version"] {
            #expect(text.contains(part))
        }
    }

    @Test(
        "what is not known, lacks its argument or has one too many is refused",
        arguments: [["--unknown"], ["-z"], ["--place"], ["extra"], ["--", "extra"]])
    func refused(line: [String]) {
        #expect(throws: ProgramOptions.Failure.self) { _ = try options().parse(["x"] + line) }
    }

    @Test("what follows the first argument is left alone if that is wanted")
    func rest() throws {
        let values = try options(arguments: "COMMAND", stops: true).parse([
            "x", "-l", "go", "--place", "there",
        ])
        #expect(values.has("loud") && values["place"] == nil && values.rest == ["go", "--place", "there"])
        let mixed = try options(arguments: "FILE…").parse(["x", "a", "-l", "b"])
        #expect(mixed.has("loud") && mixed.rest == ["a", "b"])
    }

    @Test("an option that is nearly right is suggested")
    func nearlyRight() throws {
        for (typed, meant) in [("--lodu", "--loud"), ("--plaec=x", "--place")] {
            let failure = #expect(throws: ProgramOptions.Failure.self) { try options().parse(["x", typed]) }
            #expect(failure?.description.hasSuffix("Did you mean \(meant)?") == true)
        }
        let failure = #expect(throws: ProgramOptions.Failure.self) {
            try options().parse(["x", "--frobnicate"])
        }
        #expect(failure?.description.hasSuffix("Try --help.") == true)
    }
}
