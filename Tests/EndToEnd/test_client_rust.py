# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the client in Rust has that those of other languages have not: a loop that is the application's, and types of values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from buses import STANDARD_ERROR, entries, let_pass, typed
from conforming import broker, bus  # noqa: F401  pylint: disable=unused-import
from driven import CLIENTS, compile_rust, missing, written
from gi.repository import GLib
from scripted_broker import TYPE, ScriptedBroker
from support import SANITIZED, Machine, private_memory
from test_client_examples import Example
from test_notices import switches

# The fixtures have the names under which tests ask for them.
# pylint: disable=redefined-outer-name
# The loop of the application knows nothing but the descriptor.
PROGRAM = f"""
#[path = "{CLIENTS}/rust/handoff.rs"]
mod handoff;
use handoff::{{HandoffApplication, UserActivity, UserInfo, Value}};
use std::time::{{Duration, UNIX_EPOCH}};

fn main() {{
    let notes = HandoffApplication::new("org.example.Notes", &["{TYPE}"]);
    notes.declare("Team", 5i64);
    let editing = UserActivity::new(&notes, "{TYPE}", "Shopping");
    editing.on_failure(|_, error| println!("{{}}: {{}}", error.name, error.message));
    editing.on_will_save(|_, state| {{
        let mut inner = UserInfo::new();
        inner.set("real", 0.5);
        state.set("text", "milk");
        state.set("flag", true);
        state.set("small", 7u8);
        state.set("number", -5i64);
        state.set("bytes", b"\\0\\xff".to_vec());
        state.set("names", vec!["a", "b"]);
        state.set("list", Value::List(vec!["a".into(), 1u32.into()]));
        state.set("set", Value::set(vec![1i32.into()]));
        state.set("inner", inner);
        state.set("when", UNIX_EPOCH - Duration::from_micros(1_500_000));
        state.set("page", Value::url("https://example.com/"));
        state.set("nothing", Value::null());
        Ok(())
    }});
    notes.on_continue(|activity, device| {{
        let state = activity.user_info();
        let get = |key: &str| state.get(key).cloned().unwrap_or(Value::null());
        println!("{{:?}} {{:?}} {{:?}}", state.text("text"), state.text("flag"), get("flag").as_bool());
        println!("{{:?}} {{:?}} {{:?}}", get("small").as_i64(), get("number").as_i64(), get("huge").as_i64());
        println!("{{:?}} {{:?}}", get("bytes").as_bytes(), get("real").as_f64());
        println!("{{:?}}", get("when").as_date() == Some(UNIX_EPOCH - Duration::from_micros(1_500_000)));
        println!("{{:?}} {{:?}}", get("early").as_date().is_some(), get("page").as_url());
        println!("{{:?}} {{:?}}", get("set").as_list(), get("names").as_list().map(<[Value]>::len));
        println!("{{:?}}", get("inner").as_dictionary().and_then(|inner| inner.text("a")).map(str::to_owned));
        println!("{{:?}} from {{}}", activity.origin().map(|origin| origin.name.clone()), device.name);
        Ok(true)
    }});
    notes.start();
    editing.become_current();
    editing.set("Titel", "x");
    editing.set("Keywords", "milk");
    editing.set("Keywords", vec!["milk"]);
    editing.set_title("mi\\0lk");
    editing.set_user_info(UserInfo::new());
    loop {{
        let mut polled = libc::pollfd {{ fd: handoff::descriptor(), events: libc::POLLIN, revents: 0 }};
        unsafe {{ libc::poll(&mut polled, 1, -1) }};
        handoff::dispatch();
    }}
}}
"""


@pytest.fixture
def begin(bus: Machine) -> Iterator[Callable[[], Example]]:
    """Starts the program."""
    if missing("Rust"):
        pytest.skip(missing("Rust"))
    program = compile_rust(written("own-loop.rs", PROGRAM), "own-loop-rust")
    started: list[Example] = []

    def start() -> Example:
        started.append(Example(bus, [str(program)]))
        return started[-1]

    yield start
    for example in started:
        running = example.process.poll() is None
        example.end()
        assert running and "panicked" not in example.log.read_text(), example.log.read_text()


SAVED = {
    "text": ("s", "milk"), "flag": ("b", True), "small": ("y", 7), "number": ("x", -5),
    "bytes": ("ay", [("y", 0), ("y", 255)]), "names": ("as", [("s", "a"), ("s", "b")]),
    "list": ("av", [("v", ("s", "a")), ("v", ("u", 1))]),
    "set": ("(sv)", [("s", "set"), ("v", ("av", [("v", ("i", 1))]))]),
    "inner": ("a{sv}", {"real": ("v", ("d", "3fe0000000000000"))}),
    "when": ("(sv)", [("s", "date"), ("v", ("x", -1_500_000))]),
    "page": ("(sv)", [("s", "url"), ("v", ("s", "https://example.com/"))]),
    "nothing": ("(sv)", [("s", "null"), ("v", ("b", False))]),
}
COMES = {
    "text": GLib.Variant("s", "bread"), "flag": GLib.Variant("b", True), "small": GLib.Variant("n", -3),
    "number": GLib.Variant("t", 5), "huge": GLib.Variant("t", 1 << 63), "bytes": GLib.Variant("ay", b""),
    "real": GLib.Variant("i", 2), "when": GLib.Variant("(sv)", ("date", GLib.Variant("x", -1_500_000))),
    "early": GLib.Variant("(sv)", ("date", GLib.Variant("x", -(1 << 63)))),
    "page": GLib.Variant("(sv)", ("url", GLib.Variant("s", "https://example.com/"))),
    "set": GLib.Variant("(sv)", ("set", GLib.Variant("av", [GLib.Variant("b", True)]))),
    "names": GLib.Variant("as", ["a", "b"]), "inner": GLib.Variant("a{sv}", {"a": GLib.Variant("s", "b")}),
}
SHOWN = """Some("bread") None Some(true)
Some(-3) Some(5) None
Some([]) Some(2.0)
true
true Some("https://example.com/")
Some([Bool(true)]) Some(2)
Some("b")
Some("lap") from lap
"""


def test_any_loop_will_do(begin: Callable[[], Example], broker: ScriptedBroker) -> None:
    """A loop that knows nothing but the descriptor has all of it done, and values go and come with the types of Rust."""
    example = begin()
    broker.wait_for("BecomeCurrent")
    answer = broker.save()()
    state = entries(answer.get_child_value(0))["UserInfo"]
    assert {key: typed(value) for key, value in entries(state).items()} == SAVED
    number, _shows = broker.announce()
    assert broker.hand_over(number, UserInfo=GLib.Variant("a{sv}", COMES))().unpack() == (True,)
    example.wait_for(SHOWN)


def test_names_and_types_that_are_none(begin: Callable[[], Example], broker: ScriptedBroker) -> None:
    """A misspelt name, a value of another type and a text with a NUL character are refused, each with a sentence."""
    example = begin()
    known = broker.known[broker.wait_for("BecomeCurrent").path]
    for sentence in (f'{STANDARD_ERROR}.InvalidArgs: There is no "Titel". Names are written as in handoff.rs.',
                     f"{STANDARD_ERROR}.InvalidArgs: Keywords must have the type as, not s.",
                     "Title holds a text with a NUL character, which D-Bus does not have. Use bytes.",
                     "org.example.Notes: Team must have the type s, not x."):
        example.wait_for(sentence)
    assert known["Keywords"].unpack() == ["milk"] and known["Title"].unpack() == "Shopping"
    assert "Team" not in broker.called("RegisterApplication")[0].arguments.unpack()[3]


def test_rust_rests(begin: Callable[[], Example], broker: ScriptedBroker) -> None:
    """A program on the client in Rust wakes up for nothing, has one thread, and takes at most a megabyte for itself; what it
    was handed and has not kept takes none."""
    process = begin().process.pid
    broker.wait_for("BecomeCurrent")
    state = GLib.Variant("a{sv}", {"text": GLib.Variant("s", "a" * 100_000)})

    def hand_over() -> None:
        for _time in range(50):
            assert broker.hand_over(broker.announce()[0], UserInfo=state)().unpack() == (True,)

    hand_over()
    memory = private_memory(process)
    hand_over()
    assert SANITIZED or private_memory(process) - memory < 200_000
    # What it does after its last answer is done by then.
    let_pass(0.5)
    before = switches(process)
    # Long enough for what repeats itself every second to be seen.
    let_pass(2.5)
    assert switches(process) == before
    assert len(os.listdir(f"/proc/{process}/task")) == 1
    assert SANITIZED or private_memory(process) <= 1 << 20


STARVED = f"""
#[path = "{CLIENTS}/rust/handoff.rs"]
mod handoff;
use handoff::HandoffApplication;

fn main() {{
    let limit = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let few = libc::rlimit {{ rlim_cur: limit, rlim_max: limit }};
    unsafe {{ libc::setrlimit(libc::RLIMIT_NOFILE, &few) }};
    HandoffApplication::new("org.example.Notes", &["{TYPE}"]).start();
    handoff::run();
}}
"""


@pytest.mark.parametrize("limit", [3, 4, 5])
def test_without_descriptors(bus: Machine, limit: int) -> None:
    """A program that begins without a descriptor left is told that, and goes on without Handoff."""
    if what := missing("Rust"):
        pytest.skip(what)
    example = Example(bus, [str(compile_rust(written("starved.rs", STARVED), "starved")), str(limit)])
    example.wait_for("Handoff: The application has no descriptor left.")
    assert example.process.poll() is None
    example.end()


ODD = f"""
#[path = "{CLIENTS}/rust/handoff.rs"]
mod handoff;
use handoff::{{HandoffApplication, UserActivity, UserInfo, Value}};
use std::time::{{Duration, UNIX_EPOCH}};

fn main() {{
    let notes = HandoffApplication::new("org.example.Notes", &["{TYPE}"]);
    let editing = UserActivity::new(&notes, "{TYPE}", "Shopping");
    let moments = [UNIX_EPOCH - Duration::from_micros(1u64 << 63), UNIX_EPOCH + Duration::from_secs(1u64 << 50)];
    for moment in moments {{
        let value = Value::date(moment);
        println!("{{:?}}", value.as_date().map(|read| Value::date(read) == value));
    }}
    editing.on_failure(|_, error| println!("{{}}", error.name));
    let mut state = UserInfo::new();
    state.set("bulk", vec![0u8; (64 << 20) + 1]);
    editing.set_user_info(state);
    let again = notes.clone();
    notes.on_failure(move |_, error| {{
        println!("{{}}", error.name);
        again.start();
    }});
    let stopping = notes.clone();
    editing.on_was_continued(move |_, _| stopping.stop());
    notes.start();
    editing.become_current();
    handoff::run();
}}
"""


def test_odd_values_and_a_start_within_a_stop(broker: ScriptedBroker, bus: Machine) -> None:
    """Moments that no number tells become the nearest, a state of 64 MiB is refused, and an application that starts again while
    it is being stopped is registered with the next broker too."""
    if what := missing("Rust"):
        pytest.skip(what)
    example = Example(bus, [str(compile_rust(written("odd.rs", ODD), "odd"))])
    for line in ("Some(true)", "Some(true)", "UserInfoTooLarge"):
        example.wait_for(line)
    broker.wait_for("BecomeCurrent")
    broker.announce()
    broker.ask("org.example.Handoff.ActivityDelegate", "WasContinued", GLib.Variant("(oa{sv})", (broker.activities[0], {})))()
    example.wait_for("ConnectionUnavailable")
    broker.wait_for("RegisterApplication", 2)
    example.end()
