// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio

/// The options of a program (GOptionContext): which there are, the text of `--help`, and what was given.
///
/// `--help` (`-h`) and `--version` always exist.
package struct ProgramOptions {
    /// An option.
    private struct Option {
        let name: String
        let letter: Character?
        let argument: String?
        var repeats = false
        let description: String
    }

    /// What the help says of an option.
    package struct Description: Equatable, Sendable {
        /// The name, without dashes.
        package let name: String
        /// The letter that does too, if there is one.
        package let letter: Character?
        /// What its argument is called; nil if it takes none.
        package let argument: String?
        /// Whether it may be given more than once.
        package let repeats: Bool
        /// What it does.
        package let description: String
    }

    /// What a command line says.
    package struct Values {
        private var flags: Set<String> = []
        private var texts: [String: [String]] = [:]
        /// What is left after the options are taken out, in order.
        package fileprivate(set) var rest: [String] = []

        fileprivate mutating func insert(_ flag: String) { flags.insert(flag) }
        fileprivate mutating func set(_ name: String, _ given: [String]) { texts[name] = given }

        /// Whether the option `name` was given.
        package func has(_ name: String) -> Bool { flags.contains(name) || texts[name] != nil }
        /// The argument of the option `name`, nil if it was not given.
        package subscript(name: String) -> String? { texts[name]?.last }
        /// The arguments of the option `name`, as often as it was given, in order.
        package func all(_ name: String) -> [String] { texts[name] ?? [] }
    }

    /// Why a command line cannot be understood.
    package struct Failure: Error, CustomStringConvertible, Sendable {
        /// What is wrong, and what to try.
        package let description: String
    }

    private let arguments: String?
    private let summary: String
    private let stopsAtFirstArgument: Bool
    private var options: [Option] = []

    /// The options of a program.
    /// - Parameters:
    ///   - arguments: what follows the options, for the first line of the help; nil if nothing may.
    ///   - summary: what the program does, shown above the options.
    ///   - stopsAtFirstArgument: whether options after the first argument are left alone, because they belong
    ///     to a command.
    package init(arguments: String? = nil, summary: String, stopsAtFirstArgument: Bool = false) {
        self.arguments = arguments
        self.summary = summary
        self.stopsAtFirstArgument = stopsAtFirstArgument
        flag("help", letter: "h", tr("Show this help"))
        flag("version", tr("Show the version"))
    }

    /// The options, in the order in which the help shows them.
    package var all: [Description] {
        options.map {
            Description(
                name: $0.name, letter: $0.letter, argument: $0.argument, repeats: $0.repeats,
                description: $0.description)
        }
    }

    /// Declares the option `--name` without an argument.
    package mutating func flag(_ name: String, letter: Character? = nil, _ description: String) {
        options.append(Option(name: name, letter: letter, argument: nil, description: description))
    }

    /// Declares the option `--name` with an argument that the help calls `argument`.
    package mutating func text(
        _ name: String, letter: Character? = nil, argument: String, _ description: String
    ) {
        options.append(Option(name: name, letter: letter, argument: argument, description: description))
    }

    /// Declares the option `--name`, which may be given more than once, with an argument.
    package mutating func texts(_ name: String, argument: String, _ description: String) {
        options.append(
            Option(name: name, letter: nil, argument: argument, repeats: true, description: description))
    }

    /// The text that `--help` shows; `program` is the name by which it was called.
    package func help(program: String) -> String {
        withContext { context, _ in
            g_set_prgname(program)
            guard let text = g_option_context_get_help(context, 0, nil) else { return "" }
            defer { g_free(text) }
            return String(cString: text)
        }
    }

    /// Parses `commandLine`, which begins with the name of the program.
    /// - Throws: ``Failure`` for an unknown option, a missing argument, and whatever follows the options of a
    ///   program
    ///   without arguments.
    package func parse(_ commandLine: [String]) throws(Failure) -> Values {
        try withContext { (context, storage) throws(Failure) in
            var vector: UnsafeMutablePointer<CText>? = Self.vector(commandLine)
            defer { g_strfreev(vector) }
            do throws(GLibError) {
                _ = try throwingGError { g_option_context_parse_strv(context, &vector, $0) }
            } catch {
                throw Failure(description: "\(error.message). \(advice(on: commandLine))")
            }
            var values = Values()
            for (index, option) in options.enumerated() {
                try Self.take(option, storage[index], into: &values)
            }
            let rest = Self.strings(vector).dropFirst()
            // What belongs to a command, and how, is for that to say.
            values.rest =
                stopsAtFirstArgument
                ? Array(rest.first == "--" ? rest.dropFirst() : rest) : rest.filter { $0 != "--" }
            if arguments == nil, let first = values.rest.first {
                throw Failure(
                    description: tr("Unexpected argument “{argument}”.", ["argument": first]) + " "
                        + tr("Try --help."))
            }
            return values
        }
    }

    /// What to try instead of a command line that was refused.
    private func advice(on commandLine: [String]) -> String {
        let known = options.map(\.name)
        for word in commandLine.dropFirst().prefix(while: { $0 != "--" }) where word.hasPrefix("--") {
            let name = String(word.dropFirst(2).prefix { $0 != "=" })
            guard !known.contains(name) else { continue }
            if let nearest = NearestWord.to(name, among: known) {
                return tr("Did you mean --{option}?", ["option": nearest])
            }
        }
        return tr("Try --help.")
    }

    // MARK: GOptionContext

    private typealias CText = UnsafeMutablePointer<gchar>?

    /// Where GLib puts what it finds: room for a gboolean or a pointer to a string.
    private typealias Storage = UnsafeMutablePointer<CText>

    private static func take(
        _ option: Option, _ found: UnsafeMutablePointer<gchar>?, into values: inout Values
    )
        throws(Failure)
    {
        guard let found else { return }
        if option.argument == nil { return values.insert(option.name) }
        let texts = (option.repeats ? list(found) : [found]).map { String(validatingCString: $0) }
        let valid = texts.compactMap(\.self)
        guard valid.count == texts.count else {
            throw Failure(
                description: tr("The argument of --{option} is not UTF-8 text.", ["option": option.name]))
        }
        values.set(option.name, valid)
    }

    /// The strings that GLib has found for an option that may be repeated: its storage holds the beginning of
    /// a list.
    private static func list(_ found: UnsafeMutablePointer<gchar>) -> [UnsafeMutablePointer<gchar>] {
        let vector = UnsafeMutableRawPointer(found).assumingMemoryBound(to: CText.self)
        return (0..<Int(g_strv_length(vector))).compactMap { vector[$0] }
    }

    private func withContext<Result, E: Error>(
        _ body: (OpaquePointer?, Storage) throws(E) -> Result
    ) throws(E) -> Result {
        let storage = Storage.allocate(capacity: options.count)
        storage.initialize(repeating: nil, count: options.count)
        var names: [UnsafeMutablePointer<gchar>?] = []
        var entries = options.enumerated().map { Self.entry($1, storage + $0, &names) }
        // The end of the list is an entry without a name.
        entries.append(GOptionEntry())
        // GLib copies the entries but not the texts, which live as long as the context.
        let context = g_option_context_new(arguments)
        g_option_context_set_help_enabled(context, 0)
        g_option_context_set_strict_posix(context, stopsAtFirstArgument ? 1 : 0)
        g_option_context_set_summary(context, summary)
        g_option_context_add_main_entries(context, entries, nil)
        // They are in the user's language already. Otherwise the names of arguments would be taken for texts to translate.
        g_option_group_set_translate_func(g_option_context_get_main_group(context), nil, nil, nil)
        defer {
            g_option_context_free(context)
            for name in names { g_free(name) }
            for (index, option) in options.enumerated() where option.argument != nil {
                if option.repeats, let found = storage[index] {
                    g_strfreev(UnsafeMutableRawPointer(found).assumingMemoryBound(to: CText.self))
                } else {
                    g_free(storage[index])
                }
            }
            storage.deallocate()
        }
        return try body(context, storage)
    }

    private static func entry(
        _ option: Option, _ place: Storage, _ names: inout [UnsafeMutablePointer<gchar>?]
    ) -> GOptionEntry {
        func copy(_ text: String) -> UnsafePointer<gchar>? {
            let copy = g_strdup(text)
            names.append(copy)
            return UnsafePointer(copy)
        }
        // A file name is taken as it is, whereas a string would be converted from the character set of the
        // locale.
        let argument = option.repeats ? G_OPTION_ARG_FILENAME_ARRAY : G_OPTION_ARG_FILENAME
        return GOptionEntry(
            long_name: copy(option.name), short_name: gchar(option.letter?.asciiValue ?? 0), flags: 0,
            arg: option.argument == nil ? G_OPTION_ARG_NONE : argument, arg_data: place,
            description: copy(option.description), arg_description: option.argument.flatMap { copy($0) })
    }

    private static func vector(_ strings: [String]) -> UnsafeMutablePointer<CText>? {
        let builder = g_strv_builder_new()
        defer { g_strv_builder_unref(builder) }
        for string in strings { g_strv_builder_add(builder, string) }
        return g_strv_builder_end(builder)
    }

    private static func strings(_ vector: UnsafeMutablePointer<CText>?) -> [String] {
        guard let vector else { return [] }
        return (0..<Int(g_strv_length(vector))).compactMap { index in
            vector[index].map { String(cString: $0) }
        }
    }
}
