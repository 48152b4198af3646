// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import Glibc

/// The text in the user's language, if there is a translation, with each `{name}` in it replaced by the value of that name.
///
/// What is passed has to be a literal, or literals joined by `+`, since it is from the source that texts are collected for
/// translators. Values are inserted as they are, and nothing in them is replaced again.
package func tr(_ text: String, _ values: [String: String] = [:]) -> String {
    Translation.filled(Translation.text(text), values)
}

/// The text for this `count` in the user's language, whose rules of plurals choose the form; `{count}` in it is the count.
///
/// It has a name of its own because whoever collects texts cannot tell it from ``tr(_:_:)`` by its arguments.
package func trn(
    _ one: String, _ many: String, count: Int, _ values: [String: String] = [:]
) -> String {
    let form = Translation.text(one, many, count: count)
    return Translation.filled(form, values.merging(["count": "\(count)"]) { given, _ in given })
}

/// The translations of the texts that people see, made with gettext.
package enum Translation {
    /// The name of the catalogues: `LANGUAGE/LC_MESSAGES/handoff.mo` in ``folder``.
    package static let domain = "handoff"

    /// Where the catalogues are: beside the folder that the program is in, as it was installed.
    private static var folder: String? {
        guard let program = g_file_read_link("/proc/self/exe", nil) else { return nil }
        defer { g_free(program) }
        let parts = String(cString: program).split(separator: "/").dropLast(2)
        return "/" + (parts + ["share", "locale"]).joined(separator: "/")
    }

    /// Takes the languages of the environment from now on. This is meant for the start of a program, before it has
    /// other threads.
    package static func begin() {
        setlocale(LC_ALL, "")
        // Numbers that programs read are written with a point, whatever people are used to.
        setlocale(LC_NUMERIC, "C")
        if let folder { bindtextdomain(domain, folder) }
        bind_textdomain_codeset(domain, "UTF-8")
        // Templates of windows name no domain.
        textdomain(domain)
    }

    fileprivate static func text(_ text: String) -> String {
        text.withCString { String(cString: handoff_dgettext(domain, $0)) }
    }

    fileprivate static func text(_ one: String, _ many: String, count: Int) -> String {
        one.withCString { one in
            many.withCString { many in
                String(cString: handoff_dngettext(domain, one, many, UInt(clamping: count)))
            }
        }
    }

    /// `text` with each `{name}` replaced by the value of that name. A name without a value stays as it is.
    package static func filled(_ text: String, _ values: [String: String]) -> String {
        if values.isEmpty { return text }
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            result += rest[..<open]
            rest = rest[open...]
            guard let close = rest.firstIndex(of: "}"),
                let value = values[String(rest[rest.index(after: open)..<close])]
            else {
                result.append(rest.removeFirst())
                continue
            }
            result += value
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }
}
