// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells the host which page is in front and which tabs are beside it, reads a page when asked to, and opens pages and windows
// of other devices.

import {api, opensUnloaded, tellsLostFocus} from './api.js';
import {choices, onChoice} from './choices.js';
import {ask, enter} from './entering.js';
import {Host} from './host.js';
import {Pace} from './pace.js';
import {described, isExcluded, isOfferable, isSamePage, origin} from './pages.js';
import {meant, toldTabs, waitingAddress} from './windows.js';

// In milliseconds: how often the page in front is told, and the tabs of its window, how long the focus may be between two
// places, and how long a page that was opened may take to ask where in it its user was.
const PAUSE = 100;
const WINDOW_PAUSE = 1000;
const BETWEEN = 250;
const OPENING = 60000;
// How many pages that the browser was started with may be waited for.
const MOST_EXPECTED = 8;
// What waits in a tab for its user to turn to it.
const WAITING = api.runtime.getURL('waiting.html');

// What the host says; `missing` while there is none.
let standing = 'missing';
let offers = [];
let outcome = null;
// What the user has chosen. Nothing is read before it is known.
let chosen = null;
let hasFocus = false;
// The page that the host was told of last, and the whole message.
let front = null;
let told = '';
// The window that was in front last, and the message that the host was told of one last.
let behind = null;
let toldWindow = '';
// The places in pages that are being opened, by tab, and what has to be over before it is known which tab that is.
const places = new Map();
// The places in pages that the browser was started with, and that no tab shows yet.
let expected = [];
let opening = Promise.resolve();
const popups = new Set();

const mayRead = () => chosen !== null && (standing === 'ready' || standing === 'off');

// The page in front

const pace = new Pace(PAUSE, () => void report());

async function report() {
    if (!mayRead())
        return;
    const [tab] = await api.tabs.query({active: true, lastFocusedWindow: true});
    if (!mayRead())
        return;
    const page = described(meant(WAITING, tab), chosen.sites);
    const message = {message: 'front', page, focus: hasFocus};
    const text = JSON.stringify(message);
    if (text === told)
        return;
    if (page && page.tab !== front?.tab)
        void enter(page.tab);
    [front, told] = [page, text];
    host.send(message);
}

// The tabs of the window in front

const windowPace = new Pace(WINDOW_PAUSE, () => void reportWindow());

// The normal window that was in front last; null if it is gone. A private one is not told, and stands in front of it.
async function windowInFront() {
    const options = {populate: true};
    const window = await api.windows.getLastFocused({...options, windowTypes: ['normal']}).catch(() => null);
    if (window && !window.incognito && window.type === 'normal') {
        behind = window.id;
        return window;
    }
    return behind === null ? null : api.windows.get(behind, options).catch(() => null);
}

async function reportWindow() {
    if (!mayRead())
        return;
    const window = await windowInFront();
    if (!mayRead())
        return;
    const tabs = (window?.tabs ?? []).map(tab => meant(WAITING, tab));
    const message = {message: 'window', tabs: toldTabs(tabs, chosen.sites)};
    const text = JSON.stringify(message);
    if (text === toldWindow)
        return;
    toldWindow = text;
    host.send(message);
}

// Something in front may be another page, or another window.
function changed() {
    pace.changed();
    windowPace.changed();
}

let leaving = null;

function setFocus(has) {
    clearTimeout(leaving);
    if (hasFocus === has)
        return;
    hasFocus = has;
    pace.changed();
}

// The focus goes from one window of the browser to another by way of none.
function loseFocus() {
    clearTimeout(leaving);
    leaving = setTimeout(() => setFocus(false), BETWEEN);
}

function focusChanged(window) {
    if (window === api.windows.WINDOW_ID_NONE)
        return loseFocus();
    setFocus(true);
    changed();
}

async function lookForFocus() {
    const window = await api.windows.getLastFocused().catch(() => null);
    if (window?.focused && !window.incognito)
        setFocus(true);
    changed();
}

async function choicesChanged() {
    chosen = await choices();
    changed();
    tellPopups();
}

// What the host asks

function answer(question, members) {
    host.send({message: 'answer', id: question.id, ...members});
}

async function save(question) {
    const tab = front?.tab;
    let read = null;
    if (mayRead() && tab !== undefined)
        read = await ask(tab, {message: 'read', forms: chosen.forms});
    const isFit = read && mayRead() && isOfferable(read.url) && !isExcluded(read.url, chosen.sites);
    answer(question, isFit ? {url: read.url, place: read.place} : {});
}

async function open(question) {
    if (!isOfferable(question.url))
        return answer(question, {done: false});
    const opened = show(question.url);
    opening = opened.catch(() => null);
    try {
        const tab = await opened;
        const until = Date.now() + OPENING;
        places.set(tab.id, {origin: origin(question.url), place: question.place, until});
        answer(question, {done: true});
        setFocus(true);
        await api.windows.update(tab.windowId, {focused: true});
    } catch {
        answer(question, {done: false});
    }
}

// Opens a tab in the window that was used last, or a window if there is none.
async function show(url) {
    const window = await api.windows.getLastFocused({windowTypes: ['normal']}).catch(() => null);
    if (window && !window.incognito)
        return api.tabs.create({url, active: true, windowId: window.id});
    return (await api.windows.create({url})).tabs[0];
}

// Opens a window with these tabs, of which only the one in front is loaded.
async function openWindow(question) {
    const front = question.tabs.find(tab => tab.front);
    if (!front || !isOfferable(front.url))
        return answer(question, {done: false});
    try {
        const [first] = (await api.windows.create({url: front.url})).tabs;
        answer(question, {done: true});
        setFocus(true);
        void addAround(first.id, question.tabs);
    } catch {
        answer(question, {done: false});
    }
}

// Adds the others of these tabs to the window of the tab that shows the one in front, in their order and not loaded.
async function addAround(front, tabs = []) {
    // Those behind the one in front follow each other, beginning with it.
    let last = null;
    for (const tab of tabs.filter(one => isOfferable(one.url))) {
        try {
            let id = front;
            if (!tab.front) {
                const {windowId, index} = await api.tabs.get(last ?? front);
                const place = {windowId, index: last === null ? index : index + 1, active: false};
                ({id} = await api.tabs.create({...place, ...unloaded(tab)}));
            }
            if (tab.front || last !== null)
                last = id;
            // One that is pinned goes behind those that are.
            if (tab.pinned)
                await api.tabs.update(id, {pinned: true});
        } catch {
            // What the browser refuses costs no other tab.
        }
    }
}

function unloaded({url, title}) {
    if (opensUnloaded)
        return {url, title: title || url, discarded: true};
    return {url: waitingAddress(WAITING, {url, title})};
}

// The browser was started with a page, which may be there, on its way, or not even asked for yet.
function expect(message) {
    if (isOfferable(message.url))
        opening = arrange(message).catch(() => null);
}

async function arrange({url, place, tabs}) {
    const until = Date.now() + OPENING;
    const tab = (await api.tabs.query({})).find(one => !one.incognito &&
        (isSamePage(one.url, url) || isSamePage(one.pendingUrl, url)));
    if (!tab) {
        expected = [...expected, {url, place, tabs, until}].slice(-MOST_EXPECTED);
        return;
    }
    void addAround(tab.id, tabs);
    // A page that is there already has asked before this was known.
    const isThere = await api.tabs.sendMessage(tab.id, {message: 'go', url, place}, {frameId: 0}).catch(() => false);
    if (isThere === true)
        return;
    places.set(tab.id, {origin: origin(url), place, until});
    // One that the add-on was not in asks now.
    void enter(tab.id);
}

// Where in the page its user was, for a tab that was opened for it; once, and to no other origin.
async function placeFor(tab, address) {
    await opening;
    expected = expected.filter(one => one.until >= Date.now());
    const wanted = expected.find(one => isSamePage(address, one.url));
    if (wanted) {
        expected = expected.filter(one => one !== wanted);
        void addAround(tab, wanted.tabs);
        return wanted.place;
    }
    for (const [id, one] of places) {
        if (one.until < Date.now())
            places.delete(id);
    }
    const found = places.get(tab);
    places.delete(tab);
    return found && found.origin === origin(address) ? found.place : null;
}

// What is shown on the button

function tellPopups() {
    for (const popup of popups)
        popup.postMessage({standing, offers, outcome, page: front});
}

function showOffers() {
    const count = standing === 'ready' ? offers.length : 0;
    api.action.setBadgeText({text: count > 0 ? String(count) : ''});
    api.action.setTitle({title: count > 0 ? `Handoff: ${api.i18n.getMessage('pagesThere')}` : 'Handoff'});
    tellPopups();
}

const said = {
    standing(message) {
        standing = message.standing;
        // A host that has just begun to listen knows of no page.
        told = toldWindow = '';
        changed();
        showOffers();
    },
    offers(message) {
        ({offers} = message);
        if (outcome && !offers.some(offer => offer.id === outcome.offer))
            outcome = null;
        showOffers();
    },
    outcome(message) {
        outcome = message.error ? message : null;
        tellPopups();
    },
    place: expect,
    save,
    open,
    openWindow,
};

const host = new Host(
    message => void said[message.message]?.(message),
    () => {
        [standing, offers, outcome, front, told, toldWindow] = ['missing', [], null, null, '', ''];
        showOffers();
    });

// What pages and the popup say

api.runtime.onMessage.addListener((message, sender, reply) => {
    if (sender.id !== api.runtime.id || !sender.tab || sender.frameId !== 0)
        return false;
    switch (message.message) {
    case 'place':
        placeFor(sender.tab.id, sender.url).then(reply);
        return true;
    case 'focus':
        if (message.focus)
            setFocus(true);
        else if (!tellsLostFocus)
            loseFocus();
        return false;
    }
    return false;
});

api.runtime.onConnect.addListener(popup => {
    if (popup.sender?.id !== api.runtime.id || popup.sender.url !== api.runtime.getURL('popup.html'))
        return popup.disconnect();
    popups.add(popup);
    popup.onDisconnect.addListener(() => popups.delete(popup));
    popup.onMessage.addListener(message => {
        if (message.message !== 'continue')
            return;
        outcome = null;
        host.send({message: 'continue', offer: message.offer});
    });
    tellPopups();
});

api.tabs.onActivated.addListener(() => {
    clearTimeout(leaving);
    changed();
});
api.tabs.onUpdated.addListener((id, change, tab) => {
    if (change.status === 'complete' && isOfferable(tab.url))
        void enter(id);
    const shows = change.url !== undefined || change.title !== undefined || change.status === 'complete';
    if (tab.active && shows)
        pace.changed();
    if (shows || change.pinned !== undefined)
        windowPace.changed();
});
api.tabs.onRemoved.addListener(id => {
    places.delete(id);
    pace.changed();
    // The window may still have it.
    setTimeout(() => windowPace.changed(), BETWEEN);
});
for (const event of [api.tabs.onCreated, api.tabs.onMoved, api.tabs.onAttached, api.tabs.onDetached])
    event.addListener(() => windowPace.changed());
api.windows.onFocusChanged.addListener(focusChanged);
onChoice(() => void choicesChanged());
// Being told that the browser starts is what starts this script.
api.runtime.onStartup.addListener(() => {});
api.runtime.onInstalled.addListener(() => {});

host.connect();
void choicesChanged();
void lookForFocus();
