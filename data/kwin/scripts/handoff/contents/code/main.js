// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells the agent of Handoff which window has the focus. For KWin 5.27 and 6.
//
// It tells nobody else, and a program in a sandbox that has taken the agent's name is not the agent. A script in KWin can
// look into no process. So it asks the user's systemd which process it has started as handoff-agent.service, and tells that
// one alone. Where there is no systemd, and of an agent that somebody has started by hand, it knows nothing and says nothing.

const AGENT = 'org.example.Handoff.Agent';
const AGENT_PATH = '/org/example/Handoff/Agent';
const UNIT_PATH = '/org/freedesktop/systemd1/unit/handoff_2dagent_2eservice';
const BUS = 'org.freedesktop.DBus';
const BUS_PATH = '/org/freedesktop/DBus';
// How long, in milliseconds, changes of a title are gathered.
const SETTLING = 500;

// What a title may not have in it, and how much of it is told.
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;
const MAXIMUM_TITLE = 256;

let current = null;
// The connection that was found to be the agent. Unique names are never used again.
let agent = '';
let settling = null;

// What is said of `window`: see FocusChanged in org.example.Handoff.Agent.xml.
function describe(window) {
    const about = {};
    if (!window)
        return about;
    const id = `${window.desktopFileName || ''}`.replace(/^.*\//, '').replace(/\.desktop$/, '');
    if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}$/.test(id))
        about.ApplicationId = id;
    about.Title = `${window.caption || ''}`.slice(0, MAXIMUM_TITLE).replace(UNFIT, ' ');
    if (window.pid > 0)
        about.ProcessId = window.pid;
    return about;
}

// Calls `found` with the agent's unique name, if it is the agent.
function withAgent(found) {
    callDBus(BUS, BUS_PATH, BUS, 'GetNameOwner', AGENT, owner => {
        if (owner === agent) {
            found(owner);
            return;
        }
        callDBus(BUS, BUS_PATH, BUS, 'GetConnectionUnixProcessID', owner, process => {
            callDBus('org.freedesktop.systemd1', UNIT_PATH, `${BUS}.Properties`, 'Get', 'org.freedesktop.systemd1.Service',
                'MainPID', main => {
                    if (main > 0 && main === process) {
                        agent = owner;
                        found(owner);
                    }
                });
        });
    });
}

function tell() {
    withAgent(owner => callDBus(owner, AGENT_PATH, AGENT, 'FocusChanged', describe(current)));
}

function titleChanged() {
    if (!settling) {
        settling = new QTimer();
        settling.singleShot = true;
        settling.interval = SETTLING;
        settling.timeout.connect(tell);
    }
    if (!settling.active)
        settling.start();
}

function activated(window) {
    if (current) {
        try {
            current.captionChanged.disconnect(titleChanged);
        } catch (error) {
            // It is gone already.
        }
    }
    current = window;
    if (current)
        current.captionChanged.connect(titleChanged);
    tell();
}

// The names of version 6, and those of 5.
(workspace.windowActivated || workspace.clientActivated).connect(activated);
activated(workspace.activeWindow || workspace.activeClient || null);
