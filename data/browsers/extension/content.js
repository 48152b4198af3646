// SPDX-License-Identifier: LGPL-2.1-or-later
// In each page: reads where its user is when asked to, and goes there when the page was opened for that.

(() => {
    const api = globalThis.browser ?? globalThis.chrome;
    const {handoff} = globalThis;
    // It may have been put into this page twice.
    if (handoff.isHere)
        return;
    handoff.isHere = true;
    const {isVisible} = handoff;

    // What is read of forms at most: fields, and characters of one and of all together.
    const MAXIMUM_FIELDS = 64;
    const MAXIMUM_TEXT = 5000;
    const MAXIMUM_ALL = 20000;
    // How long a page may grow while it is kept at its place, in milliseconds.
    const SETTLING = 5000;
    // By which part two heights of a page may differ for it to be the same page, set with other fonts.
    const ALIKE = 0.05;

    const TYPED = new Set([
        'text', 'search', 'email', 'url', 'tel', 'number', 'date', 'time', 'month', 'week', 'datetime-local',
        'textarea', 'select-one',
    ]);
    const TICKED = new Set(['checkbox', 'radio']);
    const PAYMENT = /^cc-/u;
    const SECRET = /^(?:cc-.*|one-time-code|current-password|new-password|transaction-.*|off)$/u;
    // Names of fields that pages forget to mark.
    const SECRET_NAME = new RegExp(
        'pass(?:w|phrase|code)|pwd|kennwort|haslo|secret|token|csrf|cvv|cvc|csc|card|iban|ssn|otp|2fa|mfa|totp' +
        '|(?:^|[^a-z])(?:pin|tan|code)(?:$|[^a-z])', 'iu');

    const tell = message => api.runtime.sendMessage(message).catch(() => null);

    // Fields

    // Those that were of a password once, which pages turn into text to show it. Where the user came first, nobody knows them.
    const passwords = new WeakSet();
    const notice = event => {
        const [field] = event.composedPath();
        if (field?.type === 'password')
            passwords.add(field);
    };
    addEventListener('focusin', notice, {capture: true, passive: true});
    addEventListener('input', notice, {capture: true, passive: true});

    const tokens = field => (field.getAttribute('autocomplete') ?? '').toLowerCase().split(/\s+/u);
    const isSecret = field => field.type === 'password' || passwords.has(field);
    const isPayment = field => tokens(field).some(token => PAYMENT.test(token));

    // Whether a form asks who somebody is, or for money: nothing of it goes anywhere.
    function isGuarded(form) {
        return form !== null && [...form.elements].some(field => isSecret(field) || isPayment(field));
    }

    function isUsable(field) {
        return (TYPED.has(field.type) || TICKED.has(field.type)) && !isSecret(field) &&
            !tokens(field).some(token => SECRET.test(token)) && !SECRET_NAME.test(`${field.name} ${field.id}`) &&
            !field.readOnly && !field.matches(':disabled') && isVisible(field) && !isGuarded(field.form);
    }

    function* namedFields() {
        const counts = new Map();
        for (const field of document.querySelectorAll('input, textarea, select')) {
            const name = field.name || field.id;
            if (!name)
                continue;
            const number = counts.get(name) ?? 0;
            counts.set(name, number + 1);
            yield {name, number, field};
        }
    }

    function isChanged(field) {
        if (TICKED.has(field.type))
            return field.checked !== field.defaultChecked;
        if (field.type !== 'select-one')
            return field.value !== field.defaultValue;
        const byDefault = [...field.options].findIndex(option => option.defaultSelected);
        return field.selectedIndex !== Math.max(byDefault, 0);
    }

    function readFields() {
        const fields = [];
        let room = MAXIMUM_ALL;
        for (const {name, number, field} of namedFields()) {
            if (fields.length === MAXIMUM_FIELDS)
                break;
            if (name.length > 64 || !isChanged(field) || !isUsable(field))
                continue;
            if (TICKED.has(field.type)) {
                fields.push({name, number, ticked: field.checked});
            } else if (field.value.length <= Math.min(MAXIMUM_TEXT, room)) {
                room -= field.value.length;
                fields.push({name, number, text: field.value});
            }
        }
        return fields;
    }

    // Whether nobody has filled in a field: neither the user nor the page, which may have put there what it stands on.
    function isEmpty(field) {
        if (isChanged(field))
            return false;
        if (field.type === 'checkbox')
            return !field.checked;
        if (field.type === 'radio')
            return !inGroup(field).some(other => other.checked || other.defaultChecked);
        if (field.type === 'select-one') {
            return field.selectedIndex === 0 &&
                (field.value === '' || ![...field.options].some(option => option.defaultSelected));
        }
        // What is typed but is no number or date yet does not count as the value.
        return field.value === '' && !field.validity.badInput;
    }

    // The buttons of which only one can be ticked.
    function inGroup(field) {
        return [...document.querySelectorAll('input[type=radio]')].filter(
            other => other === field || field.name && other.name === field.name && other.form === field.form);
    }

    // Fills in what is empty. No event tells the page of it, since some send a form when they are told.
    function fill(fields) {
        const named = new Map([...namedFields()].map(one => [`${one.number} ${one.name}`, one.field]));
        for (const {name, number, text, ticked} of fields) {
            const field = named.get(`${number} ${name}`);
            if (!field || !isUsable(field) || !isEmpty(field))
                continue;
            if (TICKED.has(field.type)) {
                if (ticked === true)
                    field.checked = true;
            } else if (typeof text === 'string') {
                if (field.type !== 'select-one' || hasChoice(field, text))
                    field.value = text;
            }
        }
    }

    // Whether the user could choose a value: setting it chooses the first option that has it.
    function hasChoice(field, value) {
        const option = [...field.options].find(one => one.value === value);
        return option !== undefined && !option.matches(':disabled');
    }

    // Places

    const withoutFragment = address => address.replace(/#.*$/su, '');

    function read(forms) {
        const height = document.scrollingElement?.scrollHeight ?? 0;
        return {
            url: location.href,
            place: {x: scrollX, y: scrollY, height, fields: forms && !handoff.isLate ? readFields() : []},
        };
    }

    function scroll({x, y, height}) {
        const now = document.scrollingElement?.scrollHeight ?? 0;
        // Where the page is set quite differently, what is as far down in it is shown.
        const ratio = height > 0 && now > 0 ? now / height : 1;
        scrollTo({left: x, top: Math.abs(ratio - 1) < ALIKE ? y : y * ratio, behavior: 'instant'});
    }

    function go(place) {
        fill(place.fields ?? []);
        if (!place.x && !place.y)
            return;
        scroll(place);
        // What loads late moves the rest, until the user does.
        const stop = new AbortController();
        const again = new ResizeObserver(() => scroll(place));
        const end = () => {
            stop.abort();
            again.disconnect();
        };
        again.observe(document.documentElement);
        const options = {capture: true, passive: true, signal: stop.signal};
        for (const event of ['wheel', 'touchstart', 'keydown', 'mousedown'])
            addEventListener(event, end, options);
        addEventListener('load', () => scroll(place), options);
        setTimeout(end, SETTLING);
    }

    // What is said to this page, and by it

    api.runtime.onMessage.addListener((message, sender, reply) => {
        if (sender.id !== api.runtime.id || sender.tab)
            return false;
        if (message.message === 'read')
            reply(read(message.forms === true));
        if (message.message === 'go' && withoutFragment(location.href) === withoutFragment(message.url)) {
            go(message.place);
            reply(true);
        }
        return false;
    });

    if (window === top) {
        addEventListener('focus', event => event.target === window && tell({message: 'focus', focus: true}));
        addEventListener('blur', event => event.target === window && tell({message: 'focus', focus: false}));
        if (document.hasFocus())
            tell({message: 'focus', focus: true});
        tell({message: 'place'}).then(place => place && go(place));
    }
})();
